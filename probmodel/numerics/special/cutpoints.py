"""Probabilities of intervals under the standard logistic and normal, and their derivatives.

The logarithm of ``F(high) - F(low)`` for ``low < high``, either of which may be infinite, without
cancellation: in both tails, and for intervals so narrow that the two values of F agree in most of
their digits. What is not composed of such is a primitive of autograd, whose rule is made of these
functions, so that it can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import (
    LOG_2PI,
    differentiable,
    expit,
    inverse_expm1,
    inverse_mills,
    log1m_exp,
    log_expit,
    log_ndtr,
    where,
)
from probmodel.types import Array

# Gauss-Legendre rule on (-1/2, 1/2), exact in double precision for the intervals it serves.
_NODES, _WEIGHTS = (0.5 * a for a in np.polynomial.legendre.leggauss(8))


def log_expit_interval(low: Any, high: Any) -> Any:
    """Return ``log(expit(high) - expit(low))``.

    The difference is the product of ``1 - exp(low - high)``, ``expit(high)`` and ``expit(-low)``.
    """
    return log1m_exp(high - low) + log_expit(high) + log_expit(-low)


def expit_interval_slope(low: Any, high: Any) -> Any:
    """Return the derivative of `log_expit_interval` in its upper end.

    That in its lower end is ``-expit_interval_slope(-high, -low)``.
    """
    return inverse_expm1(high - low) + expit(-high)


@differentiable
def log_ndtr_interval(low: Any, high: Any) -> Any:
    """Return ``log(ndtr(high) - ndtr(low))``; NaN for an interval turned around."""
    a, b, _ = _towards_lower_tail(low, high)
    narrow = _is_narrow(a, b)
    upper = log_ndtr(b)
    result = upper + log1m_exp(upper - log_ndtr(np.where(narrow, -np.inf, a)))
    if np.any(narrow):
        middle, width = _narrow_ones(narrow, a, b)
        average = np.log(width * _relative_average(middle, width))
        result = np.where(narrow, average - 0.5 * (middle * middle + LOG_2PI), result)
    return result


@differentiable
def ndtr_interval_slope(low: Any, high: Any) -> Any:
    """Return the derivative of `log_ndtr_interval` in its upper end: density over probability.

    That in its lower end is ``-ndtr_interval_slope(-high, -low)``.
    """
    return _density_over_probability(low, high, low + high > 0.0)


@differentiable
def _slope_at_lower_end(low: Any, high: Any) -> Any:
    """Return ``ndtr_interval_slope(-high, -low)`` from what the slope at the other end takes."""
    return _density_over_probability(low, high, low + high <= 0.0)


def _density_over_probability(low: Any, high: Any, outer: Any) -> Any:
    """Return the density at the end farther from zero where ``outer``, at the other elsewhere."""
    a, b, _ = _towards_lower_tail(low, high)
    narrow = _is_narrow(a, b)
    log_ratio = 0.5 * (a + b) * (b - a)  # of the density at a to that at b
    below = log_ndtr(np.where(narrow, -np.inf, a)) - log_ndtr(b)
    at_b = inverse_mills(b) / -np.expm1(below)
    result = at_b * np.exp(np.where(outer, log_ratio, 0.0))
    if np.any(narrow):
        middle, width = _narrow_ones(narrow, a, b)
        log_ratio = middle * width
        # The density at the end that is asked for, relative to that in the middle.
        at_end = np.exp(0.5 * np.where(outer, log_ratio, -log_ratio) - width**2 / 8.0)
        result = np.where(narrow, at_end / (width * _relative_average(middle, width)), result)
    return result


def _towards_lower_tail(low: Any, high: Any) -> tuple[Array, Array, Array]:
    """Return the ends, mirrored at zero if the interval lies more above it, and whether so."""
    mirrored = low + high > 0.0
    return np.where(mirrored, -high, low), np.where(mirrored, -low, high), mirrored


def _is_narrow(a: Array, b: Array) -> Array:
    """Whether the log density changes by no more than about one between two ends."""
    narrow: Array = (b - a) * np.maximum(np.abs(a), 1.0) <= 1.0
    return narrow


def _narrow_ones(narrow: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return middles and widths of narrow intervals; those of (0, 1) for the others."""
    a, b = np.where(narrow, a, 0.0), np.where(narrow, b, 1.0)
    return 0.5 * (a + b), b - a


def _relative_average(middle: Array, width: Array) -> Array:
    """Average of the normal density over narrow intervals, relative to that in their middle."""
    t = width[..., None] * _NODES
    average: Array = np.exp(-t * (middle[..., None] + 0.5 * t)) @ _WEIGHTS
    return average


def _finite(end: Any) -> Any:
    """Return ends with zero for those at infinity, where the density vanishes faster."""
    return where(anp.isfinite(end), end, 0.0)


defvjp(
    log_ndtr_interval,
    lambda ans, a, b: unbroadcast_f(a, lambda g: -g * _slope_at_lower_end(a, b)),
    lambda ans, a, b: unbroadcast_f(b, lambda g: g * ndtr_interval_slope(a, b)),
)
defvjp(
    ndtr_interval_slope,
    lambda ans, a, b: unbroadcast_f(a, lambda g: g * ans * _slope_at_lower_end(a, b)),
    lambda ans, a, b: unbroadcast_f(b, lambda g: -g * ans * (_finite(b) + ans)),
)
defvjp(
    _slope_at_lower_end,
    lambda ans, a, b: unbroadcast_f(a, lambda g: g * ans * (ans - _finite(a))),
    lambda ans, a, b: unbroadcast_f(b, lambda g: -g * ans * ndtr_interval_slope(a, b)),
)
