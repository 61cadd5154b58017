"""Logarithms with more digits than a float64 holds, where most of them cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import differentiable
from probmodel.types import Array

# log(2) in two parts, the first of which times a whole number below 2**16 is exact.
_LOG_2_HIGH = float.fromhex("0x1.62e42fefap-1")
_LOG_2_LOW = float.fromhex("0x1.cf79abc9e3b3ap-40")
_SPLITTER = 2.0**27 + 1.0
_TERMS = 13
# Relative to the logarithm, differences below this are worth the digits.
_CLOSE = 1e-5


@differentiable
def log_less(y: Any, m: Any) -> Any:
    """``log(y) - m`` to within a few 1e-18, however close the two are."""
    log_y = np.log(y)
    difference = np.asarray(log_y - m)
    close = np.abs(difference) < _CLOSE * np.abs(log_y)
    if np.any(close):
        difference[close] = _by_parts(*(np.broadcast_to(a, close.shape)[close] for a in (y, m)))
    return difference


def _by_parts(y: Array, m: Array) -> Array:
    """``log(y) - m`` for ``m`` near it, from a logarithm in several parts.

    With ``y = 2**k x`` and ``s = (x - 1) / (x + 1)`` it is ``k log(2)`` and ``2 artanh(s)``, a
    power series, of which all but the first term is small.
    """
    x, k = np.frexp(y)
    low = x < np.sqrt(0.5)
    x, k = np.where(low, 2.0 * x, x), k - low
    gap, total = x - 1.0, x + 1.0
    lost = x - (total - 1.0)
    s = gap / total
    product, low = _product(s, total)
    rest = ((gap - product) - low - s * lost) / total
    square = s * s
    series = np.zeros_like(s)
    for n in range(_TERMS, 0, -1):
        series = (series + 2.0 / (2 * n + 1)) * square
    exponent = k * _LOG_2_HIGH
    high = exponent + 2.0 * s
    back = high - exponent
    small = (exponent - (high - back)) + (2.0 * s - back)
    return np.asarray((high - m) + (small + (2.0 * rest + s * series + k * _LOG_2_LOW)))


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the product and what rounding took from it, by Dekker's splitting."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    low = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, low


def _split(a: Array) -> tuple[Array, Array]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


defvjp(
    log_less,
    lambda ans, y, m: unbroadcast_f(y, lambda g: g / y),
    lambda ans, y, m: unbroadcast_f(m, lambda g: -g),
)
