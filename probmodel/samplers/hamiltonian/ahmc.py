"""Adaptive Hamiltonian Monte Carlo: step size and length of trajectories by Bayesian optimisation.

    x         position                                                    (chains, dim)
    epsilon   step size
    L         most leapfrog steps; an iteration takes L_r of them, uniform on 1..L
    r         momentum, standard normal: the mass matrix is the identity  (chains, dim)

    Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
    samplers", Algorithms 1 and 2. The adaptation is that of `bayes_adaptive`.

Deviations. In Algorithm 1 kicks carry the sign of an ascent in energy; here as everywhere they
follow the log density. L_r is drawn once for all chains, and they share one search: the reward is
their mean. The chains start at their initial values: the search for a mode that the authors' code
begins with is left out. A trajectory that leaves ``bounds`` on its way is rejected too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.hamiltonian.bayes_adaptive import BayesAdaptiveSampler
from probmodel.samplers.hamiltonian.dynamics import hamiltonian_step
from probmodel.samplers.metropolis import check_start, evaluate
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class AdaptiveHMC(BayesAdaptiveSampler):
    """Hamiltonian Monte Carlo that keeps adapting its step size and number of steps.

    Parameters
    ----------
    step_range, steps_range, k, alpha, kappa, delta, sigma_f, noise, spacing, freeze, bounds,
    reward, budget : as in `BayesAdaptiveSampler`
    """

    name: ClassVar[str] = "ahmc"
    summary: ClassVar[str] = "Hamiltonian, step size and length by Bayesian optimisation"
    cost: ClassVar[str] = "up to L gradients"

    def start(self, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        state: State = check_start(self.name, evaluate(density, x))
        return state

    def move(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: Any,
        step_size: float,
        n_steps: int,
    ) -> tuple[State, Info]:
        """One transition of Hamiltonian Monte Carlo with an identity mass matrix."""
        return hamiltonian_step(rng, density, state, None, step_size, n_steps)
