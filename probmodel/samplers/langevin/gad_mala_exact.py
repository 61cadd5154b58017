"""Gradient-based adaptive Langevin with the exact gradient of its ratio.

    x, y      position, proposal                                    (chains, dim)
    g         gradient of the log density                           (chains, dim)
    eps       standard normal noise                                 (chains, dim)
    L         root: a move is 1/2 L L'g(x) + L eps                  (dim, dim), or (dim,)
    w         1/2 L'g(x) + eps                                      (chains, dim)
    u         w + 1/2 L'g(y)                                        (chains, dim)
    k         Hessian of the log density at y times L u             (chains, dim)
    beta      weight of the proposal's entropy                      ()

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 2.3.

Unlike `gad_mala` it differentiates through g(y) too, which takes a Hessian-vector product for every
chain whose ratio is below one, in each iteration of the warm-up.

Moves and deviations are those of `gad_mala`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from probmodel.numerics.roots import times, transposed_times
from probmodel.samplers.base import Need, State
from probmodel.samplers.langevin.gad_mala import GradientAdaptiveMALA
from probmodel.types import Array


@dataclass(frozen=True)
class GradientAdaptiveMALAExact(GradientAdaptiveMALA):
    """Gradient-based adaptive Metropolis-adjusted Langevin, exact gradient.

    Its settings are those of `GradientAdaptive`.
    """

    name: ClassVar[str] = "gad_mala_exact"
    summary: ClassVar[str] = "gad_mala with the exact gradient, by Hessian-vector products"
    needs: ClassVar[Need] = "hvp"

    def factors(
        self, density: Any, root: Array, previous: State, proposal: State, eps: Array
    ) -> tuple[Array, Array]:
        """Rows of the fast gradient, and of -1/2 [k w' + 1/2 g(x) (L'k)'] through g(y)."""
        increment = proposal.grad - previous.grad
        w = 0.5 * transposed_times(root, previous.grad) + eps
        u = w + 0.5 * transposed_times(root, proposal.grad)
        k = density.hvp(proposal.x, times(root, u)) if len(u) else u
        left = [0.5 * increment, -0.5 * k, -0.25 * previous.grad]
        right = [eps - 0.5 * transposed_times(root, increment), w, transposed_times(root, k)]
        return np.concatenate(left), np.concatenate(right)
