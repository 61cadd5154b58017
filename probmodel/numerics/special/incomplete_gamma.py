r"""Logarithms of the regularised incomplete gamma functions, with derivatives in both arguments.

With ``t = x exp(u)`` the density of a gamma variable is proportional to
``exp(-{x (exp(u) - 1) - a u})``, log-concave in ``u``, as `tail_integrals` wants it. In the lower
tail, ``P(a, x) = P(a + 1, x) + x**a exp(-x) / gamma(a + 1)`` makes the exponent at least one. The
derivative of a log tail in ``a`` is the mean of ``log t`` there, less the mean of all. The smaller
tail, or about that, is integrated; the other is the rest.
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import LOG_2PI, differentiable, digamma, inverse_expm1, trigamma
from probmodel.numerics.special.rising import gamma_rest, log_ratio_gap
from probmodel.numerics.special.tail_integrals import (
    DROP,
    NODES,
    WEIGHTS,
    bend_of_side,
    by_blocks,
    column,
    covariance,
    log_of_side,
    mean,
    slope_of_side,
    stretch,
)

# Of small shapes, the lower tail is integrated up to here.
_LOW = 0.1
_LARGEST = 1e300


@differentiable
def log_gammainc(a: Any, x: Any) -> Any:
    """Logarithm of the regularised lower incomplete gamma function, for ``a > 0, x >= 0``."""
    is_lower, log, _ = by_blocks(_tail, a, x)
    return log_of_side(is_lower, log)


@differentiable
def log_gammaincc(a: Any, x: Any) -> Any:
    """Logarithm of the regularised upper incomplete gamma function, for ``a > 0, x >= 0``."""
    is_lower, log, _ = by_blocks(_tail, a, x)
    return log_of_side(~is_lower, log)


@differentiable
def log_gammainc_slope(upper: bool, a: Any, x: Any) -> Any:
    """Return the derivative in ``a`` of `log_gammainc`, or of `log_gammaincc` if ``upper``."""
    is_lower, log, slope = by_blocks(_sloped_tail, a, x)
    return slope_of_side(~is_lower if upper else is_lower, log, slope)


@differentiable
def log_gammainc_bend(upper: bool, a: Any, x: Any) -> Any:
    """Return the second derivative in ``a`` of `log_gammainc` or `log_gammaincc`."""
    is_lower, log, slope, bend = by_blocks(_bent_tail, a, x)
    return bend_of_side(~is_lower if upper else is_lower, log, slope, slope, bend)


@differentiable
def gamma_hazard(upper: bool, a: Any, x: Any) -> Any:
    """Density of a gamma variable over the probability of more than ``x``, or of less.

    The derivative of `log_gammainc` in ``x``, and minus that of `log_gammaincc`.
    """
    is_lower, log, hazard = by_blocks(_tail, a, x)
    inside = np.where(x > 0.0, x, 1.0)
    with np.errstate(all="ignore"):
        odds = np.where(~is_lower if upper else is_lower, 1.0, inverse_expm1(-log))
    start = np.where(a < 1.0, np.inf, np.where(a > 1.0, 0.0, 1.0)) if upper else np.inf
    return np.where(np.equal(x, 0.0), start, odds * hazard / inside)


def _parts(a: Any, x: Any) -> tuple[Any, ...]:
    """Which tail is integrated, its logarithm, and the nodes with their weights and share."""
    x = np.minimum(x, _LARGEST)
    is_lower = x <= np.maximum(a, _LOW)
    exponent = np.where(is_lower, a + 1.0, a)
    below = stretch(np.where(is_lower, exponent - x, 0.0), np.where(is_lower, x, 1.0))
    gap = np.where(is_lower, 0.0, x - a)
    above = 2.0 * DROP / (gap + np.sqrt(gap * gap + 2.0 * DROP * x))
    above = np.log1p((DROP + a * above) / x)
    u = column(np.where(is_lower, -below, above)) * NODES
    weights = WEIGHTS * np.exp(column(exponent) * u - column(x) * np.expm1(u))
    area = np.where(is_lower, below, above) * np.sum(weights, axis=-1)
    whole = np.where(is_lower, 1.0 + x * area, a * area)
    share = np.where(is_lower, x * area / whole, 1.0)
    return is_lower, _log_power(a, x) + np.log(whole), whole, u, weights, share


def _log_power(a: Any, x: Any) -> Any:
    """Logarithm of ``x**a exp(-x) / gamma(a + 1)``."""
    powers = a * log_ratio_gap((x - a) / a, np.log(x) - np.log(a))
    return powers - 0.5 * (LOG_2PI + np.log(a)) - gamma_rest(a)


def _tail(a: Any, x: Any) -> tuple[Any, ...]:
    """Return the tail, its logarithm, and the density of ``log t`` over it."""
    is_lower, log, whole, *_ = _parts(a, x)
    return is_lower, log, a / whole


def _sloped_tail(a: Any, x: Any) -> tuple[Any, ...]:
    is_lower, log, _, u, weights, share = _parts(a, x)
    center = digamma(np.where(is_lower, a + 1.0, a))
    return is_lower, log, np.log(x) - center + share * mean(weights, u)


def _bent_tail(a: Any, x: Any) -> tuple[Any, ...]:
    is_lower, log, _, u, weights, share = _parts(a, x)
    base, shift = np.where(is_lower, a + 1.0, a), mean(weights, u)
    slope = np.log(x) - digamma(base) + share * shift
    bend = share * (covariance(weights, u, u) + (1.0 - share) * shift * shift)
    return is_lower, log, slope, bend - trigamma(base)


def _score(upper: bool, a: Any, x: Any) -> Any:
    """Return the derivative of the logarithm of `gamma_hazard` in ``a``."""
    return anp.log(x) - digamma(a) - log_gammainc_slope(upper, a, x)


def _bend_of_hazard(upper: bool, a: Any, x: Any) -> Any:
    """Return the derivative of the logarithm of `gamma_hazard` in ``x``."""
    hazard = gamma_hazard(upper, a, x)
    return (a - 1.0) / x - 1.0 + (hazard if upper else -hazard)


def _rule(sign: float, upper: bool) -> Any:
    return (
        lambda ans, a, x: unbroadcast_f(a, lambda g: g * log_gammainc_slope(upper, a, x)),
        lambda ans, a, x: unbroadcast_f(x, lambda g: sign * g * gamma_hazard(upper, a, x)),
    )


defvjp(log_gammainc, *_rule(1.0, False))
defvjp(log_gammaincc, *_rule(-1.0, True))
defvjp(
    log_gammainc_slope,
    lambda ans, upper, a, x: unbroadcast_f(a, lambda g: g * log_gammainc_bend(upper, a, x)),
    lambda ans, upper, a, x: unbroadcast_f(
        x, lambda g: (-g if upper else g) * gamma_hazard(upper, a, x) * _score(upper, a, x)
    ),
    argnums=(1, 2),
)
defvjp(
    gamma_hazard,
    lambda ans, upper, a, x: unbroadcast_f(a, lambda g: g * ans * _score(upper, a, x)),
    lambda ans, upper, a, x: unbroadcast_f(x, lambda g: g * ans * _bend_of_hazard(upper, a, x)),
    argnums=(1, 2),
)
