"""The rising factorial ``gamma(a + k) / gamma(a)``: its logarithm and slopes, without cancellation.

The gamma functions of two large or two close numbers agree in most of their digits, and so do
their slopes. Here their differences are taken by Stirling's series where the numbers are large, and
by integrals of the slope where they are close. A slope is the logarithm of its argument less
`log_gap`, which is small: differences of slopes are put together from logarithms of ratios, which
formulas know to their last digit, and from differences of gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

from probmodel.numerics.special import LOG_2PI, differentiable, digamma, gammaln, trigamma, where
from probmodel.types import Array

# Terms of Stirling's series, (-1)^i times the coefficient of x^-(2i + 1); from this x on they give
# the logarithm of the gamma function to within rounding.
_STIRLING = (1.0 / 12.0, 1.0 / 360.0, 1.0 / 1260.0, 1.0 / 1680.0, 1.0 / 1188.0)
_LARGE = 16.0
# Steps below this, relative to ``a`` and to one, are integrals of the slope by Gauss's rule, which
# is then exact in double precision.
_SHORT = 1e-2
_NODES, _WEIGHTS = (0.5 * a for a in np.polynomial.legendre.leggauss(3))
_NODES = _NODES + 0.5
_NEAR = 0.5  # up to here the series of `log1p_gap` has _TERMS terms
_TERMS = 14


@differentiable
def log_rising(a: Any, k: Any) -> Any:
    """Logarithm of ``gamma(a + k) / gamma(a)``, the rising factorial, for ``a >= 0, a + k > 0``.

    At ``a = 0`` it is the limit: zero for ``k = 0``, minus infinity above.
    """
    large = a >= _LARGE
    if not np.any(large):
        return _by_gamma_functions(a, k)
    base, step = np.where(large, a, _LARGE), np.where(large, k, 0.0)
    top = base + step
    powers = (base - 0.5) * np.log1p(step / base) + step * (np.log(top) - 1.0)
    series = powers + stirling(top) - stirling(base)
    if np.all(large):
        return series
    return np.where(large, series, _by_gamma_functions(a, k))


def _by_gamma_functions(a: Any, k: Any) -> Any:
    if np.min(a, initial=1.0) <= 0.0:
        a = np.where(np.equal(a, 0.0) & np.equal(k, 0.0), 1.0, a)
    return _with_short_steps(gammaln(a + k) - gammaln(a), digamma, a, k)


@differentiable
def rising_slope(a: Any, k: Any) -> Any:
    """Return the derivative of `log_rising` in ``a``; zero at ``a = 0``.

    There it is zero for ``k = 0``; above, where the slope has no bound, zero stands for it as in
    `probmodel.numerics.special.ratio`.
    """
    large = a >= _LARGE
    if not np.any(large):
        return _by_digamma(a, k)
    base = np.where(large, a, _LARGE)
    series = np.log1p(k / base) + _gap_difference(base, k)
    return series if np.all(large) else np.where(large, series, _by_digamma(a, k))


def _by_digamma(a: Any, k: Any) -> Any:
    zero = np.equal(a, 0.0) if np.min(a, initial=1.0) <= 0.0 else False
    base = np.where(zero, 1.0, a) if np.any(zero) else a
    slope = _with_short_steps(digamma(base + k) - digamma(base), trigamma, base, k)
    return np.where(zero, 0.0, slope) if np.any(zero) else slope


def _with_short_steps(difference: Any, slope: Callable[..., Any], a: Any, k: Any) -> Any:
    """Replace differences between ``a`` and ``a + k``, for short steps, by integrals of slopes."""
    sizes = np.abs(k)
    if np.min(sizes, initial=1.0, where=np.greater(sizes, 0.0)) >= _SHORT:  # whole numbers are
        return difference
    short = (sizes < _SHORT * np.minimum(a, 1.0)) & np.greater(sizes, 0.0)
    if not np.any(short):
        return difference
    start, step = np.broadcast_arrays(np.where(short, a, 1.0), np.where(short, k, 0.0))
    slopes = slope(start[..., None] + step[..., None] * _NODES) @ _WEIGHTS
    return np.where(short, step * slopes, difference)


def rising_gap(a: Any, b: Any, k: Any) -> Any:
    """`log_rising` of ``a`` less that of ``a + b``, for ``b`` up to a hundredth of ``a``."""
    slopes = (w * rising_slope(a + x * b, k) for x, w in zip(_NODES, _WEIGHTS, strict=True))
    return -b * sum(slopes)


@differentiable
def rising_excess(a: Any, k: Any) -> Any:
    """`rising_slope` less ``log(1 + k / a)``, for ``a > 0``: about ``k / (2 a (a + k))``."""
    large = a >= _LARGE
    if not np.any(large):
        return _small_excess(a, k)
    series = _gap_difference(np.where(large, a, _LARGE), k)
    return series if np.all(large) else np.where(large, series, _small_excess(a, k))


def _small_excess(a: Any, k: Any) -> Any:
    slight = k < 0.1 * a
    if not np.any(slight):
        return log_gap(a) - log_gap(a + k)
    return np.where(slight, rising_slope(a, k) - np.log1p(k / a), log_gap(a) - log_gap(a + k))


def _gap_difference(a: Array, k: Any) -> Any:
    """`log_gap` of ``a`` less that of ``a + k``, for large ``a``."""
    return 0.5 * (k / a) / (a + k) + _gap_series(a) - _gap_series(a + k)


@differentiable
def log_gap(x: Any) -> Any:
    """``log(x) - digamma(x)`` for ``x > 0``, about ``1 / (2 x)`` far out."""
    large = x >= _LARGE
    far = np.where(large, x, _LARGE)
    near = np.where(large, 1.0, x)
    return np.where(large, 0.5 / far + _gap_series(far), np.log(near) - digamma(near))


@differentiable
def log1p_gap(u: Any) -> Any:
    """``log(1 + u) - u``, without cancellation for small ``u``."""
    near = np.abs(u) < _NEAR
    small = np.where(near, u, 0.0)
    r = small / (2.0 + small)
    square = r * r
    series: Any = 0.0
    for n in range(_TERMS, 0, -1):
        series = (series + 1.0 / (2 * n + 1)) * square
    return np.where(near, r * (2.0 * series - small), np.log1p(u) - u)


def log_ratio(gap: Any, top: Any, bottom: Any) -> Any:
    """``log(top / bottom)``, given ``gap = top - bottom`` to its last digit."""
    share = gap / bottom
    near = abs(getval(share)) < _NEAR
    close = anp.log1p(where(near, share, 0.0))
    return where(near, close, anp.log(top) - anp.log(bottom))


def log_ratio_gap(share: Any, log: Any) -> Any:
    """``log1p_gap(share)``, given the best ``log(1 + share)`` for shares that are not small."""
    near = abs(getval(share)) < _NEAR
    return where(near, log1p_gap(where(near, share, 0.0)), log - share)


@differentiable
def log_ways(a: Any, k: Any) -> Any:
    """Logarithm of ``gamma(a + k) / (gamma(a) k!)`` for ``a >= 0, k >= 0``.

    For large ``a`` and ``k`` its terms are no larger than the entropy of ``k`` out of ``a + k``.
    """
    few, small = np.less(k, _LARGE), np.less(a, _LARGE)
    if np.all(few):
        return log_rising(a, k) - gammaln(k + 1.0)
    by_count = log_rising(a, np.where(few, k, 0.0)) - gammaln(np.where(few, k, 0.0) + 1.0)
    count = np.where(few, _LARGE, k)
    by_shape = log_rising(count + 1.0, np.where(small, a, 1.0) - 1.0)
    by_shape = by_shape - gammaln(np.where(small, a, 1.0))
    base = np.where(small, _LARGE, a)
    both = (base - 0.5) * np.log1p(count / base) + (count + 0.5) * np.log1p(base / count)
    both = both - 0.5 * (np.log(base + count) + LOG_2PI)
    both = both + stirling(base + count) - stirling(base) - stirling(count)
    return np.where(few, by_count, np.where(small, by_shape, both))


def log_beta(a: Any, b: Any) -> Any:
    """Logarithm of the beta function for ``a, b > 0``; for large ones without cancellation."""
    swap = getval(a) < getval(b)
    large, small = where(swap, b, a), where(swap, a, b)
    return -log_ways(large, small) - anp.log(small)


def gamma_rest(x: Any) -> Any:
    """Logarithm of ``gamma(x)``, less its leading terms as in `stirling`, for ``x > 0``."""
    large = x >= _LARGE
    far, near = np.where(large, x, _LARGE), np.where(large, 1.0, x)
    leading = (near - 0.5) * np.log(near) - near + 0.5 * LOG_2PI
    return np.where(large, stirling(far), gammaln(near) - leading)


def stirling(x: Any) -> Any:
    """Logarithm of ``gamma(x)``, less ``(x - 1/2) log(x) - x + log(2 pi) / 2``, for large ``x``."""
    y = 1.0 / (x * x)
    total = np.zeros_like(y)
    for coefficient in reversed(_STIRLING):
        total = coefficient - y * total
    return total / x


def _gap_series(x: Any) -> Any:
    """`log_gap` less ``1 / (2 x)``, for large ``x``: minus the derivative of `stirling`."""
    y = 1.0 / (x * x)
    total = np.zeros_like(y)
    for i in reversed(range(len(_STIRLING))):
        total = (2 * i + 1) * _STIRLING[i] - y * total
    return total * y


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
defvjp(
    rising_excess,
    lambda ans, a, k: unbroadcast_f(a, lambda g: g * (_rising_bend(a, k) + k / a / (a + k))),
    lambda ans, a, k: unbroadcast_f(k, lambda g: g * (trigamma(a + k) - 1.0 / (a + k))),
)
defvjp(
    log_ways,
    lambda ans, a, k: unbroadcast_f(a, lambda g: g * rising_slope(a, k)),
    lambda ans, a, k: unbroadcast_f(k, lambda g: g * rising_slope(k + 1.0, a - 1.0)),
)
defvjp(log_gap, lambda ans, x: lambda g: g * (1.0 / x - trigamma(x)))
defvjp(log1p_gap, lambda ans, u: lambda g: -g * u / (1.0 + u))
