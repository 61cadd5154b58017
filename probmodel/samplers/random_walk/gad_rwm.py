"""Gradient-based adaptive random walk: the covariance ascends the generalised speed measure.

    x, y      position, proposal                        (chains, dim)
    g         gradient of the log density               (chains, dim)
    eps       standard normal noise                     (chains, dim)
    L         root of the proposal's covariance: a move is L eps   (dim, dim), or (dim,)
    beta      weight of the proposal's entropy          ()

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 2.2.

The warm-up adapts L with gradients of the log density; afterwards the log density is enough.

Deviations: the gradient is averaged over the chains of a group. The floor of the diagonal of L
follows where L starts, so that scales below the 1e-3 of the paper's code can be learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.numerics.roots import times
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.gradient_adaptive import GradientAdaptive, Params
from probmodel.samplers.metropolis import decide, evaluate, evaluate_value
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class GradientAdaptiveRandomWalk(GradientAdaptive):
    """Gradient-based adaptive random-walk Metropolis.

    Its settings are those of `GradientAdaptive`.
    """

    target_accept: float = 0.25
    learning_rate: float = 5e-5

    name: ClassVar[str] = "gad_rwm"
    summary: ClassVar[str] = "random walk with a covariance learned from gradients"
    paper: ClassVar[str] = "Titsias and Dellaportas (2019)"
    learns: ClassVar[str] = "dense covariance, by gradients"
    cost: ClassVar[str] = "1 log density, 1 O(d²)"

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One random-walk transition of every chain."""
        eps = rng.standard_normal(state.x.shape)
        y = state.x + times(params.root, eps)
        proposal = evaluate(density, y) if params.learning else evaluate_value(density, y)
        with np.errstate(over="ignore"):
            log_ratio = proposal.logp - state.logp
        new, info = decide(rng, log_ratio, state, proposal, n_grad=int(params.learning))
        return new, info._replace(record=eps)

    def factors(
        self, density: LogDensity, root: Array, previous: State, proposal: State, eps: Array
    ) -> tuple[Array, Array]:
        """Rows of g(y) eps' (eq. 7)."""
        return proposal.grad, eps
