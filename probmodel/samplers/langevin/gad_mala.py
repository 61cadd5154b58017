"""Gradient-based adaptive Langevin: the preconditioner ascends the generalised speed measure.

    x, y      position, proposal                                    (chains, dim)
    g         gradient of the log density                           (chains, dim)
    eps       standard normal noise                                 (chains, dim)
    L         root: a move is 1/2 L L'g(x) + L eps                  (dim, dim), or (dim,)
    w         1/2 L'g(x) + eps                                      (chains, dim)
    beta      weight of the proposal's entropy                      ()

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 2.3.

This is the fast variant: in the ratio of the proposals g(y) counts as a constant when the ratio is
differentiated in L, which saves a Hessian-vector product (`gad_mala_exact` takes it).

Deviations: the gradient is averaged over the chains of a group. The floor of the diagonal of L
follows where L starts, so that scales below the 1e-3 of the paper's code can be learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.numerics.roots import transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.gradient_adaptive import GradientAdaptive, Params
from probmodel.samplers.langevin.kernel import noisy_langevin_step
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class GradientAdaptiveMALA(GradientAdaptive):
    """Gradient-based adaptive Metropolis-adjusted Langevin, fast variant.

    Its settings are those of `GradientAdaptive`.
    """

    name: ClassVar[str] = "gad_mala"
    summary: ClassVar[str] = "Langevin with a preconditioner learned by gradient ascent"
    paper: ClassVar[str] = "Titsias and Dellaportas (2019)"
    learns: ClassVar[str] = "dense preconditioner, by gradients"
    cost: ClassVar[str] = "1 gradient, 3 O(d²)"

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One Langevin transition of every chain, with L as the root and a step size of one."""
        return noisy_langevin_step(rng, density, state, params.root)

    def factors(
        self, density: LogDensity, root: Array, previous: State, proposal: State, eps: Array
    ) -> tuple[Array, Array]:
        """Rows of 1/2 (g(y) - g(x)) (w - 1/2 L'g(y))', to which six outer products collapse."""
        increment = proposal.grad - previous.grad
        return 0.5 * increment, eps - 0.5 * transposed_times(root, increment)
