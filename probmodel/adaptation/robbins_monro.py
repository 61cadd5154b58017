"""Robbins-Monro rules that steer an acceptance rate by the logarithm of a scale.

    a        acceptance probabilities (or indicators) of one iteration   (chains,)
    target   acceptance rate aimed at
    rate     relative change for a whole unit of acceptance

Both papers multiply one chain's scale. Chains that share a scale apply the rule once each, so that
C chains move it C times as fast at the same noise; one chain gives the papers' rules exactly.
Beyond `MOST_CHAINS` the factors are averaged instead, because so large a gain would overshoot.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

MOST_CHAINS = 32


def rm_ratio(log_scale: float, a: Array, target: float, rate: float) -> float:
    """``scale <- scale [1 + rate (a - target) / target]`` for each entry of ``a``.

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo".
    """
    return _shared(log_scale, np.log1p(rate * (a - target) / target))


def rm_abs(log_scale: float, a: Array, target: float, rate: float) -> float:
    """``scale <- scale [1 + rate (a - target)]`` for each entry of ``a``.

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", Algorithm 1.
    """
    return _shared(log_scale, np.log1p(rate * (a - target)))


def _shared(log_scale: float, log_factors: Array) -> float:
    """Apply every chain's factor, or the mean one `MOST_CHAINS` times if there are more."""
    return float(log_scale + min(len(log_factors), MOST_CHAINS) * np.mean(log_factors))
