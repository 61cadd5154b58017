"""Adaptive Riemannian manifold HMC: step size and length of trajectories by Bayesian optimisation.

    x         position                                                    (chains, dim)
    G(x)      metric, the mass matrix at x                                (chains, dim, dim)
    epsilon   step size of the generalised leapfrog
    L         most of its steps; an iteration takes L_r of them, uniform on 1..L

    Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
    samplers", Algorithm 2 around the kernel of Girolami and Calderhead (2011), "Riemann manifold
    Langevin and Hamiltonian Monte Carlo methods". The kernel is that of `riemannian`, the
    adaptation that of `bayes_adaptive`.

Deviations. L_r is drawn once for all chains, and they share one search: the reward is their mean.
It measures jumps in the units of x, as that of `ahmc` does. A trajectory that leaves ``bounds`` on
its way is rejected too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from probmodel.samplers.base import Info, Need, Remark
from probmodel.samplers.hamiltonian.bayes_adaptive import BayesAdaptiveSampler
from probmodel.samplers.riemannian.manifold import (
    RiemannianState,
    failure_remarks,
    riemannian_start,
    riemannian_step,
)
from probmodel.samplers.riemannian.metrics import Metric, MetricName
from probmodel.samplers.settings import check_number
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class AdaptiveRiemannianHMC(BayesAdaptiveSampler):
    """Riemannian manifold HMC that keeps adapting its step size and number of steps.

    Parameters
    ----------
    steps_range : (int, int)
        Smallest and largest number of steps to choose from, at least 1; equal numbers fix it. Each
        trajectory has a random number of steps, from 1 up to the chosen one.
    metric : {"fisher", "neg_hessian", "softabs"}
        The density's own metric (for a model the expected Fisher information of what is observed,
        minus the Hessian of the other terms), minus its Hessian, or that made positive definite.
    softness : float
        For ``"softabs"``, above 0: eigenvalues of the Hessian below about 1/softness in absolute
        value become 1/softness.
    check_reversibility : bool
        Whether the equations of every step are also solved from its end, at almost twice the cost,
        and the trajectory rejected if that does not lead to where it began. Without, the draws may
        be biased.
    step_range, k, alpha, kappa, delta, sigma_f, noise, spacing, freeze, bounds,
    reward, budget : as in `BayesAdaptiveSampler`
    """

    steps_range: tuple[int, int] = (1, 12)
    metric: MetricName = "fisher"
    softness: float = 1e6
    check_reversibility: bool = True

    name: ClassVar[str] = "armhmc"
    summary: ClassVar[str] = "Riemannian HMC, step size and length by Bayesian optimisation"
    needs: ClassVar[Need] = "metric"
    cost: ClassVar[str] = "up to L steps of rmhmc"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.name, "softness", self.softness, above=0.0)

    def start(self, density: LogDensity, x: Array) -> RiemannianState:
        """State at the starting points, with the metric there."""
        return riemannian_start(self.name, self._metric, density, x)

    def move(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: Any,
        step_size: float,
        n_steps: int,
    ) -> tuple[RiemannianState, Info]:
        """One transition of Riemannian manifold Hamiltonian Monte Carlo."""
        return riemannian_step(
            rng, density, state, self._metric, step_size, n_steps, self.check_reversibility
        )

    def remarks(self, params: Any, stats: dict[str, Array]) -> list[Remark]:
        """Add to those of the search whether many trajectories were given up."""
        shorter = "Lower the largest step size that may be chosen (step_range)"
        found = failure_remarks(self._metric, stats["fixed_point_failed"], shorter)
        return super().remarks(params, stats) + found

    @cached_property
    def _metric(self) -> Metric:
        return Metric(self.metric, self.softness)
