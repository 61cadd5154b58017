"""Common base of the gradient-based adaptive samplers: the adaptation of their proposals.

    x, y      position, proposal                        (chains, dim)
    g         gradient of the log density               (chains, dim)
    eps       standard normal noise that led to y       (chains, dim)
    L         root of the proposal's covariance         (dim, dim) lower triangular, or (dim,)
    beta      weight of the proposal's entropy          ()
    a         whether the proposal was accepted         (chains,)

In each iteration of the warm-up L takes one step along the gradient of the generalised speed
measure (`probmodel.adaptation.speed_measure`), at the noise that made the proposal. The first term
of the measure, ``min(0, log ratio)``, has a gradient where the ratio is below one, whether or not
the proposal was accepted. Then beta is steered so that the acceptance rate meets its target. A
proposal whose log density is not finite has no gradient and is left out of the mean; where there is
no other, L shrinks.

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", Algorithm 1.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.speed_measure import (
    SpeedMeasure,
    ascend,
    ratio_gradient,
    shrunk,
    weigh_entropy,
)
from probmodel.samplers.base import Coupling, Info, Remark, Sampler, State
from probmodel.samplers.metropolis import adaptable, check_start, evaluate
from probmodel.samplers.settings import check_number, check_types
from probmodel.types import Array, LogDensity

INITIAL_SCALE = 0.1  # over sqrt(dim)
FLOOR = 1e-3  # of the diagonal of L, in units of where it started (of one, if that was larger)
NEAR = 1.01  # a diagonal below that times the floor lies on it


class Params(NamedTuple):
    """Root of the proposal's covariance, weight of the entropy, and whether L is still learned."""

    root: Array
    beta: float
    learning: bool


@dataclass(frozen=True)
class GradientAdaptive(Sampler):
    """Base of samplers whose proposals ascend the generalised speed measure in the warm-up.

    Parameters
    ----------
    target_accept : float
        Target acceptance rate for beta, between 0 and 1.
    learning_rate : float
        eta, above 0: roughly the change of an entry of L in one iteration, so that L needs at least
        the largest scale of the posterior over eta iterations.
    entropy_rate : float
        rho of beta, between 0 and 1.
    initial_scale : float, optional
        The initial L is this times the identity; 0.1/sqrt(dim) if not given.
    diagonal : bool
        Whether to learn scales only.
    """

    target_accept: float = 0.55
    learning_rate: float = 1.5e-4
    entropy_rate: float = 0.02
    initial_scale: float | None = None
    diagonal: bool = False

    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 20_000
    default_draws: ClassVar[int] = 5000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(self.name, "learning_rate", self.learning_rate, above=0.0)
        check_number(self.name, "entropy_rate", self.entropy_rate, above=0.0, below=1.0)
        check_number(self.name, "initial_scale", self.initial_scale, above=0.0, optional=True)

    @abstractmethod
    def factors(
        self, density: LogDensity, root: Array, previous: State, proposal: State, eps: Array
    ) -> tuple[Array, Array]:
        """Rows l and r, with sum l r' the gradient of the log ratios in L (lower triangle).

        Parameters
        ----------
        density : the target
        root : L
        previous, proposal, eps : of the chains whose ratio is below one

        Returns
        -------
        left, right : (k chains, dim) each: the rows of all chains, k times
        """

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        return check_start(self.name, evaluate(density, x))

    def adapt_init(
        self, rng: np.random.Generator, density: LogDensity, state: State
    ) -> SpeedMeasure:
        """Start with short moves of equal size in all directions."""
        dim = state.x.shape[1]
        scale = self._start(dim)
        L = np.full(dim, scale) if self.diagonal else scale * np.eye(dim)
        return SpeedMeasure(L, None, 1.0)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: SpeedMeasure,
        state: State,
        info: Info,
    ) -> SpeedMeasure:
        """Climb the measure with L, then steer beta (Algorithm 1)."""
        measure, floor = adaptation, self._floor(len(adaptation.L))
        finite = np.isfinite(info.proposal.logp)
        if finite.any():
            gradient = self._gradient(density, measure, info, finite)
            measure = ascend(measure, gradient, self.learning_rate, floor)
        else:
            measure = shrunk(measure, floor)
        a = float(np.mean(adaptable(info.accepted, info)))
        beta = weigh_entropy(measure.beta, a, self.target_accept, self.entropy_rate)
        return measure._replace(beta=beta)

    def params(self, adaptation: SpeedMeasure, final: bool = False) -> Params:
        """Root of the next transition."""
        return Params(adaptation.L, adaptation.beta, not final)

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Complain of a diagonal of L that lies on its floor."""
        dim = len(params.root)
        least = self._floor(dim)
        scales = params.root if params.root.ndim == 1 else np.diagonal(params.root)
        count = int(np.sum(scales <= NEAR * least))
        if not count:
            return []
        message = (
            f"{count} of {dim} scales of {self.name} ended at the least that is allowed, "
            f"{least:.2g}: the posterior is narrower than that there, and the chains move slowly. "
            "Standardise the data, lower initial_scale, or use fisher_mala."
        )
        return [Remark("scale_floor", message)]

    def _start(self, dim: int) -> float:
        """Return the diagonal that L starts with."""
        return INITIAL_SCALE / dim**0.5 if self.initial_scale is None else self.initial_scale

    def _floor(self, dim: int) -> float:
        """Return the least diagonal of L."""
        return FLOOR * min(1.0, self._start(dim))

    def _gradient(
        self, density: LogDensity, measure: SpeedMeasure, info: Info, finite: Array
    ) -> Array:
        """Gradient of the mean of ``min(0, log ratio)`` over the chains with a finite proposal."""
        below = np.flatnonzero(finite & (info.accept_prob < 1.0))
        previous, proposal = (
            State(s.x[below], s.logp[below], s.grad[below]) for s in (info.previous, info.proposal)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self.factors(density, measure.L, previous, proposal, info.record[below])
        bad = ~(np.isfinite(left).all(axis=1) & np.isfinite(right).all(axis=1))
        chains = int(finite.sum())
        if bad.any():  # second derivatives may fail where the density is finite
            lost = bad.reshape(-1, max(len(below), 1)).any(axis=0)
            kept = ~np.tile(lost, len(left) // len(below))
            left, right, chains = left[kept], right[kept], max(chains - int(lost.sum()), 1)
        return ratio_gradient(left, right, chains, self.diagonal)
