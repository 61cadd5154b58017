"""Random-walk Metropolis: normal moves of one scale, without gradients.

    x, y       position, proposal                      (chains, dim)
    sigma      step size: a move is sigma eta          ()
    delta      sigma^2                                 ()
    a          whether the proposal was accepted       (chains,)

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 4.

Deviations: the first step size is found by trying, where the paper's code starts at
delta = 0.5/dim, and chains that share a step size apply the rule for it once each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.robbins_monro import rm_ratio
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.metropolis import adaptable, check_start, decide, evaluate_value
from probmodel.samplers.settings import check_number
from probmodel.types import Array, LogDensity


class Params(NamedTuple):
    """Step size, sigma."""

    step_size: float


class Adaptation(NamedTuple):
    """Logarithm of delta = sigma^2."""

    log_delta: float


@dataclass(frozen=True)
class RandomWalk(Sampler):
    """Random-walk Metropolis.

    Parameters
    ----------
    step_size : float, optional
        Where sigma starts; found by trying if not given.
    target_accept : float
        Acceptance rate that sigma aims at, between 0 and 1.
    step_rate : float
        Robbins-Monro rate eta, above 0; the factor ``1 - eta`` of a rejection must stay positive,
        so below 1.

    Raises
    ------
    SamplerError
        If a setting is out of its range.
    """

    step_size: float | None = None
    target_accept: float = 0.25
    step_rate: float = 0.01

    name: ClassVar[str] = "rwm"
    summary: ClassVar[str] = "random-walk Metropolis, no gradients"
    paper: ClassVar[str] = "Titsias and Dellaportas (2019)"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 2000
    default_draws: ClassVar[int] = 5000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(self.name, "step_rate", self.step_rate, above=0.0, below=1.0)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points; its gradient is zeros."""
        return check_start(self.name, evaluate_value(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One random-walk transition of every chain."""
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = evaluate_value(density, y)
        with np.errstate(over="ignore"):
            log_ratio = proposal.logp - state.logp
        return decide(rng, log_ratio, state, proposal, n_grad=0)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start from ``step_size``, or from a step accepted at the target rate."""

        def acceptance_at(step_size: float) -> float:
            _, info = self.step(rng, density, state, Params(step_size))
            return float(np.mean(info.accept_prob))

        sigma = self.step_size or initial_step(acceptance_at, crossing=self.target_accept)
        return Adaptation(2.0 * np.log(sigma))

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Multiply delta by 1 + eta (a - alpha*) / alpha*."""
        a = adaptable(info.accepted, info).astype(float)
        return Adaptation(rm_ratio(adaptation.log_delta, a, self.target_accept, self.step_rate))

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size of the next transition."""
        return Params(float(np.exp(0.5 * adaptation.log_delta)))
