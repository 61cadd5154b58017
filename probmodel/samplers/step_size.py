"""Common base of samplers whose warm-up adapts a step size and nothing else.

    sigma       step size                          ()
    alpha*      target acceptance rate             ()
    eta         Robbins-Monro rate                 ()
    a           whether the proposal was accepted  (chains,)

A sampler of this kind says how it moves. Unless it says otherwise, sigma^2 is steered by

    sigma^2 <- sigma^2 (1 + eta (a - alpha*) / alpha*),

from a first step size that is accepted about as often as wanted, alpha*.

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.robbins_monro import rm_ratio
from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import adaptable
from probmodel.samplers.steered import SteeredSampler
from probmodel.types import LogDensity


class Params(NamedTuple):
    """Step size, sigma."""

    step_size: float


class Adaptation(NamedTuple):
    """Logarithm of sigma^2."""

    log_sigma2: float


@dataclass(frozen=True)
class StepSizeSampler(SteeredSampler):
    """Base of the samplers that learn one step size, by a Robbins-Monro rule, and nothing else."""

    def rule(self, log_sigma2: float, info: Info) -> float:
        """Return log sigma^2 after a transition; `adaptable` gives what it may learn from."""
        a = adaptable(info.accepted, info).astype(float)
        return rm_ratio(log_sigma2, a, self.target_accept, self.step_rate)

    @property
    def first_acceptance(self) -> float:
        """Acceptance rate at which the first step size is looked for."""
        return self.target_accept

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start from ``step_size``, or from a step that is accepted about as often as wanted."""

        def acceptance_at(step_size: float) -> float:
            _, info = self.step(rng, density, state, Params(step_size))
            return float(np.mean(info.accept_prob))

        sigma = self.step_size or initial_step(acceptance_at, crossing=self.first_acceptance)
        return Adaptation(2.0 * float(np.log(sigma)))

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
        """Apply the rule."""
        return Adaptation(self.rule(adaptation.log_sigma2, info))

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size of the next transition."""
        return Params(float(np.exp(0.5 * adaptation.log_sigma2)))
