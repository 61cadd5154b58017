"""Metropolis-adjusted Langevin algorithm: moves along the gradient, of one size in all directions.

    x, y        position, proposal                           (chains, dim)
    g           gradient of the log density                  (chains, dim)
    sigma       step size: a move is sigma^2/2 g + sigma eta ()
    alpha       Metropolis-Hastings probability              (chains,)

    Roberts and Tweedie (1996), "Exponential convergence of Langevin distributions and their
    discrete approximations", Bernoulli 2(4). The rule for sigma is that of Titsias (2023),
    "Optimal preconditioning and Fisher adaptive Langevin sampling", Algorithm 1.

Deviations: the first step size is found by trying (the paper gives none), and chains that share a
step size apply the rule for it once each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.samplers.metropolis import adaptable
from probmodel.samplers.step_size import Params, StepSizeSampler
from probmodel.types import LogDensity


@dataclass(frozen=True)
class MALA(StepSizeSampler):
    """Metropolis-adjusted Langevin algorithm.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1; 0.574 is optimal in high dimension.
    step_rate : float
        Robbins-Monro rate rho, between 0 and 1.
    """

    target_accept: float = 0.574
    step_rate: float = 0.015

    name: ClassVar[str] = "mala"
    summary: ClassVar[str] = "Metropolis-adjusted Langevin, one step size for all directions"
    paper: ClassVar[str] = "Roberts and Tweedie (1996)"
    learns: ClassVar[str] = "step size"
    cost: ClassVar[str] = "1 gradient"

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One Langevin transition of every chain."""
        return langevin_step(rng, density, state, None, params.step_size)

    @property
    def first_acceptance(self) -> float:
        """One half, whatever the target rate."""
        return 0.5

    def rule(self, log_sigma2: float, info: Info) -> float:
        """Multiply sigma^2 by 1 + rho (alpha - alpha*)."""
        alpha = adaptable(info.accept_prob, info)
        return rm_abs(log_sigma2, alpha, self.target_accept, self.step_rate)
