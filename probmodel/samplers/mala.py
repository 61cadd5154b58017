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
from typing import ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.langevin import langevin_step
from probmodel.samplers.metropolis import adaptable, check_start, evaluate
from probmodel.samplers.settings import check_number
from probmodel.types import Array, LogDensity


class Params(NamedTuple):
    """Step size, sigma."""

    step_size: float


class Adaptation(NamedTuple):
    """Logarithm of sigma^2."""

    log_sigma2: float


@dataclass(frozen=True)
class MALA(Sampler):
    """Metropolis-adjusted Langevin algorithm.

    Parameters
    ----------
    step_size : float, optional
        Where sigma starts; found by trying if not given.
    target_accept : float
        Acceptance rate that sigma aims at, between 0 and 1; 0.574 is optimal in high dimension.
    step_rate : float
        Robbins-Monro rate rho, between 0 and 1.

    Raises
    ------
    SamplerError
        If a setting is out of its range.
    """

    step_size: float | None = None
    target_accept: float = 0.574
    step_rate: float = 0.015

    name: ClassVar[str] = "mala"
    summary: ClassVar[str] = "Metropolis-adjusted Langevin, one step size for all directions"
    paper: ClassVar[str] = "Roberts and Tweedie (1996)"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 2000
    default_draws: ClassVar[int] = 5000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(self.name, "step_rate", self.step_rate, above=0.0, below=1.0)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        return check_start(self.name, evaluate(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One Langevin transition of every chain."""
        return langevin_step(rng, density, state, None, params.step_size)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start from ``step_size``, or from a step accepted by half."""

        def acceptance_at(step_size: float) -> float:
            _, info = langevin_step(rng, density, state, None, step_size)
            return float(np.mean(info.accept_prob))

        sigma = self.step_size or initial_step(acceptance_at)
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
        """Multiply sigma^2 by 1 + rho (alpha - alpha*)."""
        alpha = adaptable(info.accept_prob, info)
        return Adaptation(rm_abs(adaptation.log_sigma2, alpha, self.target_accept, self.step_rate))

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size of the next transition."""
        return Params(float(np.exp(0.5 * adaptation.log_sigma2)))
