"""Multiple-try Metropolis: several random-walk moves at once, one of which is proposed.

    x          position                                      (chains, dim)
    y_1..y_M   tries, normal about x                         (chains, M, dim)
    x*_1..x*_M reference points: M - 1 about the chosen try, and x   (chains, M, dim)
    q          step size: a move is q eta                    ()
    w          weight of a try, its density pi(y)            (chains, M), in logarithms

    Liu, Liang and Wong (2000), "The multiple-try method and local optimization in Metropolis
    sampling", JASA 95; with the weights of a symmetric proposal, as in Zhu (2019), "Sample adaptive
    MCMC", section 4.

Deviations: the papers tune q by hand; here the rule of `rwm` steers it towards an acceptance rate
of 0.48, which Zhu reports for three tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.samplers.base import Info, Need, State
from probmodel.samplers.metropolis import decide, evaluate_value
from probmodel.samplers.settings import MOST_STEPS, check_whole
from probmodel.samplers.step_size import Params, StepSizeSampler
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class MultipleTry(StepSizeSampler):
    """Multiple-try Metropolis.

    Parameters
    ----------
    step_size : float, optional
        Initial step size q; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for q, between 0 and 1.
    step_rate : float
        Robbins-Monro rate, between 0 and 1.
    tries : int
        M, at least 1; with 1 the method is `rwm`. A transition takes 2 M - 1 log densities.
    """

    target_accept: float = 0.48
    step_rate: float = 0.01
    tries: int = 3

    name: ClassVar[str] = "mtm"
    summary: ClassVar[str] = "multiple-try Metropolis, no gradients"
    paper: ClassVar[str] = "Liu, Liang and Wong (2000)"
    needs: ClassVar[Need] = "log density"
    learns: ClassVar[str] = "step size"
    cost: ClassVar[str] = "2M - 1 log densities"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "tries", self.tries, least=1, most=MOST_STEPS)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One multiple-try transition of every chain."""
        y, log_w = _tries(rng, density, state.x, params.step_size, self.tries)
        if self.tries == 1:
            proposal = State(y[:, 0], log_w[:, 0], np.zeros_like(state.x))
            return decide(rng, _difference(log_w[:, 0], state.logp), state, proposal, n_grad=0)
        chains = np.arange(len(y))
        j = _choose(rng, log_w)
        proposal = State(y[chains, j], log_w[chains, j], np.zeros_like(state.x))
        _, log_reference = _tries(rng, density, proposal.x, params.step_size, self.tries - 1)
        log_reference = np.column_stack([log_reference, state.logp])
        log_ratio = _difference(
            np.logaddexp.reduce(log_w, axis=1), np.logaddexp.reduce(log_reference, axis=1)
        )
        return decide(rng, log_ratio, state, proposal, n_grad=0)


def _tries(
    rng: np.random.Generator, density: LogDensity, x: Array, step_size: float, count: int
) -> tuple[Array, Array]:
    """Draw ``count`` moves about each chain: (chains, count, dim), and their log densities."""
    chains, dim = x.shape
    y = x[:, None, :] + step_size * rng.standard_normal((chains, count, dim))
    logp = evaluate_value(density, y.reshape(chains * count, dim)).logp
    return y, logp.reshape(chains, count)


def _choose(rng: np.random.Generator, log_w: Array) -> Array:
    """Pick one try of each chain with probability in proportion to its weight: (chains,)."""
    largest = log_w.max(axis=1, keepdims=True)
    weights = np.exp(log_w - np.where(np.isfinite(largest), largest, 0.0))
    cumulative = np.cumsum(weights, axis=1)
    u = rng.random(len(log_w)) * cumulative[:, -1]
    return np.minimum((cumulative <= u[:, None]).sum(axis=1), log_w.shape[1] - 1)


def _difference(a: Array, b: Array) -> Array:
    """Return ``a - b``; NaN where both are minus infinity, which is a rejection."""
    with np.errstate(invalid="ignore"):
        return np.asarray(a - b)
