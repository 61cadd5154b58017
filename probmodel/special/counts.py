"""Special functions of count distributions, with derivatives for autograd, and draws of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.special import gammaln, where
from probmodel.special.rising import log_rising, log_ways
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


def log_one_minus_exp(xp: Any, x: Any) -> Any:
    """Logarithm of ``1 - exp(x)`` for ``x <= 0``: of the other tail, given the log of one."""
    below, near = x < 0, x > -_LOG_2
    small = xp.log(-xp.expm1(where(below & near, x, -1.0)))
    large = xp.log1p(-xp.exp(where(below & ~near, x, -1.0)))
    return where(below, where(near, small, large), 0.0 * x - np.inf)


def poisson_counts(rng: np.random.Generator, rate: Array) -> Array:
    """Draw Poisson counts; rates above `LARGEST_COUNT`, which mixtures may have, are cut there."""
    return np.asarray(rng.poisson(np.minimum(rate, LARGEST_COUNT)))
