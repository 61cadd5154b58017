"""Sums of exponentials on the scale of logarithms, and shares of them, also of infinite numbers.

Elements are compared with the largest one. Where that is infinite, those that equal it count one
and the others nothing, and derivatives are zero.
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box, defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

from probmodel.numerics.special import differentiable, where
from probmodel.numerics.special import log1m_exp as log1m_exp_of_minus

Axis = int | tuple[int, ...] | None
_LEAST = float(np.finfo(float).min)


@differentiable
def logaddexp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))``, with zero slopes where both are minus infinity."""
    return np.logaddexp(a, b)


def _share(x: Any, total: Any) -> Any:
    """``exp(x - total)``; zero where both are minus infinity."""
    return anp.exp(x - anp.maximum(total, _LEAST))


defvjp(
    logaddexp,
    lambda ans, a, b: unbroadcast_f(a, lambda g: g * _share(a, ans)),
    lambda ans, a, b: unbroadcast_f(b, lambda g: g * _share(b, ans)),
)


def log_of_sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis``: minus infinity, with zero slopes, if all elements are."""
    if not np.size(getval(x)):
        return np.sum(np.zeros(np.shape(x)), axis=axis, keepdims=keepdims) - np.inf
    below, largest = _below_largest(x, axis)
    total = _xp(x).log(_xp(x).sum(_xp(x).exp(below), axis=axis, keepdims=True)) + largest
    return total if keepdims else _xp(x).squeeze(total, axis=axis)


def shares(x: Any, axis: Axis = -1) -> Any:
    """``exp(x) / sum(exp(x))`` over ``axis``."""
    exponentials = _xp(x).exp(_below_largest(x, axis)[0])
    return exponentials / _xp(x).sum(exponentials, axis=axis, keepdims=True)


def log_shares(x: Any, axis: Axis = -1) -> Any:
    """Logarithm of `shares`, accurate where they are small."""
    xp, below = _xp(x), _below_largest(x, axis)[0]
    return below - xp.log(xp.sum(xp.exp(below), axis=axis, keepdims=True))


def log_of_complement(x: Any) -> Any:
    """``log(1 - exp(x))`` for ``x <= 0``, accurate at both ends; NaN above."""
    return log1m_exp_of_minus(-x)


def log_of_difference(a: Any, b: Any) -> Any:
    """``log(exp(a) - exp(b))`` for ``a >= b``: minus infinity where they are equal, NaN below."""
    nothing = np.equal(getval(b), -np.inf)
    known = where(nothing, 0.0, b)
    return a + where(nothing, 0.0, log_of_complement(known - where(nothing, 1.0, a)))


def _below_largest(x: Any, axis: Axis) -> tuple[Any, Any]:
    """Return elements less the largest one, and that one, on which nothing depends."""
    plain = getval(x)
    largest = np.max(plain, axis=axis, keepdims=True)
    finite = np.isfinite(largest)
    same = where(np.equal(plain, largest), 0.0, -np.inf)
    return where(finite, x - where(finite, largest, 0.0), same), largest


def _xp(x: Any) -> Any:
    return anp if isinstance(x, Box) else np
