"""Langevin moves in a constant metric, found beforehand: prior precision plus expected information.

    x, y      position, proposal                                           (chains, dim)
    g         gradient of the log density                                  (chains, dim)
    G, K      metric, and its lower Cholesky factor: G = K K'              (dim, dim)
    R         K^-T, so that R R' = G^-1                                    (dim, dim)
    epsilon   step size: a move is epsilon^2/2 G^-1 g(x) + epsilon R eta   ()
    alpha     Metropolis-Hastings probability                              (chains,)

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2), section 9: manifold MALA for a log-Gaussian Cox process. The step size follows
    Hoffman and Gelman (2014), "The No-U-Turn Sampler", section 3.2, as in Hirt, Titsias and
    Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo", section 4.3.

Deviations. The papers have one model; here any model with a Gaussian prior has such a metric, and
any other density that of its mode: see `constant_metric`. The first step size is found by trying,
and chains that share a step size contribute their mean acceptance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.samplers.riemannian.one_metric import ConstantMetricSampler, Params
from probmodel.types import LogDensity


@dataclass(frozen=True)
class ConstantMetricMALA(ConstantMetricSampler):
    """Metropolis-adjusted Langevin algorithm in a constant metric.

    Its settings are those of `ConstantMetricSampler`.
    """

    target_accept: float = 0.574

    name: ClassVar[str] = "rm_const_mala"
    summary: ClassVar[str] = "Langevin in one metric: prior precision plus expected information"
    cost: ClassVar[str] = "1 gradient, O(d²)"
    first_acceptance: ClassVar[float] = 0.5
    default_draws: ClassVar[int] = 5000
    default_chains: ClassVar[int] = 8

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One Langevin transition of every chain."""
        return langevin_step(rng, density, state, params.root, params.step_size)

    def first_step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> Info:
        """Try one transition from the starting points."""
        return self.step(rng, density, state, params)[1]
