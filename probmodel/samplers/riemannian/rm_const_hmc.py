"""Hamiltonian Monte Carlo in a constant metric: prior precision plus expected information.

    x         position                                                     (chains, dim)
    G, K      metric, the mass matrix, and its Cholesky factor: G = K K'   (dim, dim)
    R         K^-T, so that R R' = G^-1                                    (dim, dim)
    r         whitened momentum R'p, standard normal                       (chains, dim)
    epsilon   step size                                                    ()
    L         leapfrog steps                                               ()
    alpha     Metropolis-Hastings probability                              (chains,)

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2), section 9: for a log-Gaussian Cox process the metric is averaged over the prior,
    whereupon the generalised leapfrog becomes the plain one with the mass matrix G. The step size
    follows Hoffman and Gelman (2014), "The No-U-Turn Sampler", section 3.2, as in Hirt, Titsias and
    Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo", section 4.3.

Deviations. The papers have one model; here any model with a Gaussian prior has such a metric, and
any other density that of its mode: see `constant_metric`. The number of steps is drawn anew for
each transition, because in a metric that fits all directions turn at the same speed, and a
trajectory of one length may come back to where it began. The first step size is found by trying
one leapfrog step, and chains that share a step size contribute their mean acceptance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.hamiltonian.dynamics import hamiltonian_step
from probmodel.samplers.riemannian.one_metric import ConstantMetricSampler, Params
from probmodel.samplers.settings import MOST_STEPS, check_whole
from probmodel.types import LogDensity


@dataclass(frozen=True)
class ConstantMetricHMC(ConstantMetricSampler):
    """Hamiltonian Monte Carlo in a constant metric.

    Parameters
    ----------
    step_size, target_accept, latent_mean, metric : as in `ConstantMetricSampler`
    n_steps : int
        L, leapfrog steps of a trajectory, at least 1.
    random_steps : bool
        Whether each transition draws its number of steps uniformly from 1 to L, for all chains.
    """

    n_steps: int = 10
    random_steps: bool = True

    name: ClassVar[str] = "rm_const_hmc"
    summary: ClassVar[str] = "HMC in one metric: prior precision plus expected information"
    cost: ClassVar[str] = "n_steps gradients and O(d²) each, or half of that where random"
    first_acceptance: ClassVar[float] = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "n_steps", self.n_steps, least=1, most=MOST_STEPS)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One trajectory of every chain."""
        n_steps = int(rng.integers(1, self.n_steps + 1)) if self.random_steps else self.n_steps
        return hamiltonian_step(rng, density, state, params.root, params.step_size, n_steps)

    def first_step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> Info:
        """Try one leapfrog step from the starting points."""
        return hamiltonian_step(rng, density, state, params.root, params.step_size, 1)[1]
