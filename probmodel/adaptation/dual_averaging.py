"""Dual averaging of a step size towards an acceptance rate.

    alpha      acceptance probabilities of one iteration                    (chains,)
    delta      acceptance rate aimed at
    epsilon    step size; its logarithm x is what is averaged
    mu         where x is drawn to: log(10 epsilon_1)
    H          running mean of delta - alpha

    Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15, section 3.2, with their constants
    gamma = 0.05, t_0 = 10, kappa = 0.75.

Chains that share a step size contribute their mean acceptance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from probmodel.types import Array

GAMMA, T0, KAPPA = 0.05, 10.0, 0.75


class DualAveraging(NamedTuple):
    """State of the averaging.

    Attributes
    ----------
    log_step : x, of the next iteration
    log_average : weighted mean of the x so far, for when the adaptation is over
    gap : H
    mu : where x is drawn to
    n : iterations so far
    """

    log_step: float
    log_average: float
    gap: float
    mu: float
    n: int

    def step_size(self, final: bool = False) -> float:
        """Step size of the next iteration; ``final`` gives the averaged one."""
        return math.exp(self.log_average if final and self.n else self.log_step)

    def capped(self, longest: float) -> DualAveraging:
        """Return the state with no step size above ``longest``."""
        most = math.log(longest)
        if self.log_step <= most and self.log_average <= most:
            return self
        return self._replace(
            log_step=min(self.log_step, most), log_average=min(self.log_average, most)
        )

    def restarted(self, step_size: float) -> DualAveraging:
        """Begin anew."""
        return start_averaging(step_size)

    def learned(self, accept_prob: Array, accepted: Array, target: float) -> DualAveraging:
        """Learn from transitions, by their mean acceptance."""
        return average(self, accept_prob, target)


def start_averaging(step_size: float) -> DualAveraging:
    """Begin at ``step_size``; larger steps are tried first."""
    log_step = float(np.log(step_size))
    return DualAveraging(log_step, log_step, 0.0, float(np.log(10.0)) + log_step, 0)


def average(state: DualAveraging, alpha: Array, delta: float) -> DualAveraging:
    """Learn from the acceptance of one iteration (their eq. 6)."""
    t = state.n + 1
    accepted = float(np.add.reduce(alpha)) / len(alpha)
    gap = state.gap + (delta - accepted - state.gap) / (t + T0)
    x = state.mu - math.sqrt(t) / GAMMA * gap
    eta = t**-KAPPA
    mean = eta * x + (1.0 - eta) * state.log_average
    return DualAveraging(x, mean, gap, state.mu, t)
