"""Special functions of count distributions, with derivatives for autograd, and draws of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

from probmodel.special import differentiable, digamma, gammaln, trigamma, where
from probmodel.types import Array

# Terms of Stirling's series, (-1)^i times the coefficient of x^-(2i + 1); from this x on they give
# the logarithm of the gamma function to within rounding.
_STIRLING = (1.0 / 12.0, 1.0 / 360.0, 1.0 / 1260.0, 1.0 / 1680.0, 1.0 / 1188.0)
_LARGE = 16.0
_LOG_2 = float(np.log(2.0))

# The largest rate that NumPy's generator draws Poisson counts of, and so the largest count drawn.
LARGEST_COUNT = 9e18


@differentiable
def log_rising(a: Any, k: Any) -> Any:
    """Logarithm of ``gamma(a + k) / gamma(a)``, the rising factorial, for ``a >= 0, a + k > 0``.

    Where ``a`` is large, the two gamma functions would cancel; there it is the difference of two
    Stirling series. At ``a = 0`` it is the limit: zero for ``k = 0``, minus infinity above.
    """
    large = a >= _LARGE
    if not np.any(large):
        return _by_gamma_functions(a, k)
    base, step = np.where(large, a, _LARGE), np.where(large, k, 0.0)
    top = base + step
    powers = (base - 0.5) * np.log1p(step / base) + step * (np.log(top) - 1.0)
    series = powers + _stirling(top) - _stirling(base)
    if np.all(large):
        return series
    return np.where(large, series, _by_gamma_functions(a, k))


def _by_gamma_functions(a: Any, k: Any) -> Any:
    if np.min(a, initial=1.0) > 0.0:
        return gammaln(a + k) - gammaln(a)
    none = np.equal(a, 0.0) & np.equal(k, 0.0)
    base = np.where(none, 1.0, a)
    return gammaln(base + k) - gammaln(base)


@differentiable
def rising_slope(a: Any, k: Any) -> Any:
    """Return the derivative of `log_rising` in ``a``; zero at ``a = 0``.

    There it is zero for ``k = 0``; above, where the slope has no bound, zero stands for it as in
    `probmodel.special.ratio`.
    """
    if np.min(a, initial=1.0) > 0.0:
        return digamma(a + k) - digamma(a)
    base = np.where(np.equal(a, 0.0), 1.0, a)
    return np.where(np.equal(a, 0.0), 0.0, digamma(base + k) - digamma(base))


def _rising_bend(a: Any, k: Any) -> Any:
    """Return the derivative of `rising_slope` in ``a``."""
    zero = np.equal(getval(a), 0.0)
    base = where(zero, 1.0, a)
    return where(zero, 0.0, trigamma(base + k) - trigamma(base))


defvjp(
    log_rising,
    lambda ans, a, k: unbroadcast_f(a, lambda g: g * rising_slope(a, k)),
    lambda ans, a, k: unbroadcast_f(k, lambda g: g * digamma(a + k)),
)
defvjp(
    rising_slope,
    lambda ans, a, k: unbroadcast_f(a, lambda g: g * _rising_bend(a, k)),
    lambda ans, a, k: unbroadcast_f(k, lambda g: g * trigamma(a + k)),
)


def _stirling(x: Array) -> Array:
    """Logarithm of ``gamma(x)``, less ``(x - 1/2) log(x) - x + log(2 pi) / 2``."""
    y = 1.0 / (x * x)
    total = np.zeros_like(y)
    for coefficient in reversed(_STIRLING):
        total = coefficient - y * total
    return np.asarray(total / x)


def log_one_minus_exp(xp: Any, x: Any) -> Any:
    """Logarithm of ``1 - exp(x)`` for ``x <= 0``: of the other tail, given the log of one."""
    below, near = x < 0, x > -_LOG_2
    small = xp.log(-xp.expm1(where(below & near, x, -1.0)))
    large = xp.log1p(-xp.exp(where(below & ~near, x, -1.0)))
    return where(below, where(near, small, large), 0.0 * x - np.inf)


def poisson_counts(rng: np.random.Generator, rate: Array) -> Array:
    """Draw Poisson counts; rates above `LARGEST_COUNT`, which mixtures may have, are cut there."""
    return np.asarray(rng.poisson(np.minimum(rate, LARGEST_COUNT)))
