"""Special functions of count distributions, with derivatives for autograd, and draws of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.numerics.special import gammaln, where
from probmodel.numerics.special.rising import log_ratio_gap, log_rising, log_ways, rising_excess
from probmodel.types import Array

_LOG_2 = float(np.log(2.0))
_MANY = 1e4

# The largest rate that NumPy's generator draws Poisson counts of, and so the largest count drawn.
LARGEST_COUNT = 9e18


def log_ways_kernel(a: Any, k: Any) -> Any:
    """`log_ways` without ``-log(k!)`` for counts below ten thousand, as in `log_ways_base`.

    Larger counts take the factorial into each evaluation: apart they would leave fewer than eight
    digits after the decimal point.
    """
    many = getval(k) >= _MANY
    if not np.any(many):
        return log_rising(a, k)
    return where(many, log_ways(a, k), log_rising(a, where(many, 0.0, k)))


def log_ways_base(k: Array) -> Array:
    """Return what `log_ways_kernel` leaves out, and minus infinity for what is no count."""
    k = np.asarray(k, dtype=float)
    counts = np.isfinite(k) & (k == np.floor(k)) & (k >= 0)
    few = counts & (k < _MANY)
    return np.where(counts, -gammaln(np.where(few, k, 0.0) + 1.0), -np.inf)


def precision_slope(xp: Any, value: Any, phi: Any, log_spread: Any, share: Any, excess: Any) -> Any:
    """Return the derivative of a negative binomial log probability in its precision.

    ``log_spread`` is ``log(1 + mu / phi)``, ``share`` is ``mu / (mu + phi)`` and ``excess`` is
    ``(value - mu) / (mu + phi)``. It is of order ``phi**-2`` for large ``phi``, where its terms are
    of order ``1 / phi``; and at a count of one of order ``mu`` for small ``mu``, where those of
    other counts are not small.
    """
    rest = log_ratio_gap(excess, xp.log1p(value / phi) - log_spread)
    slope = rising_excess(phi, value) + rest
    one = getval(value) == 1.0
    if not np.any(one):
        return slope
    return where(one, share / phi + log_ratio_gap(-share, -log_spread), slope)


def log_one_minus_exp(xp: Any, x: Any) -> Any:
    """Logarithm of ``1 - exp(x)`` for ``x <= 0``: of the other tail, given the log of one."""
    below, near = x < 0, x > -_LOG_2
    small = xp.log(-xp.expm1(where(below & near, x, -1.0)))
    large = xp.log1p(-xp.exp(where(below & ~near, x, -1.0)))
    return where(below, where(near, small, large), 0.0 * x - np.inf)


def poisson_counts(rng: np.random.Generator, rate: Array) -> Array:
    """Draw Poisson counts; rates above `LARGEST_COUNT`, which mixtures may have, are cut there."""
    return np.asarray(rng.poisson(np.minimum(rate, LARGEST_COUNT)))
