r"""Logarithm of the regularised incomplete beta function, with derivatives in all arguments.

Its argument is given as log odds, which serve at both ends. With ``x`` at odds ``exp(s)`` and ``t``
at odds ``exp(s - v)`` the density of a beta variable is proportional to
``exp(-{a v + (a + b) log(1 - x (1 - exp(-v)))})``, log-concave in ``v``, as `tail_integrals` wants
it. ``I(a, b) = I(a + 1, b) + x**a (1 - x)**b / (a B(a, b))`` makes the exponent at least one. The
derivatives of a log tail in ``a`` and ``b`` are the means of ``log t`` and ``log(1 - t)`` there,
less the means of all. The smaller tail, or about that, is integrated; the other is the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import (
    LOG_2PI,
    differentiable,
    expit,
    inverse_expm1,
    log_expit,
    trigamma,
)
from probmodel.numerics.special.rising import gamma_rest, log_gap, rising_slope
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

# What shapes have more where the tail to integrate is chosen, so that small ones are not all.
_MORE = 0.1
_STEPS = 4


@differentiable
def log_betainc(a: Any, b: Any, s: Any) -> Any:
    """Logarithm of the regularised incomplete beta function at log odds ``s``, for ``a, b > 0``.

    The probability that a beta variable has log odds up to ``s``.
    """
    is_lower, log, _ = by_blocks(_tail, a, b, s)
    return log_of_side(is_lower, log)


@differentiable
def log_betaincc(a: Any, b: Any, s: Any) -> Any:
    """Logarithm of the probability that a beta variable has log odds above ``s``."""
    is_lower, log, _ = by_blocks(_tail, a, b, s)
    return log_of_side(~is_lower, log)


@differentiable
def log_betainc_slope(upper: bool, i: int, a: Any, b: Any, s: Any) -> Any:
    """Return the derivative of `log_betainc` in ``a``, for ``i = 0``, or ``b``.

    That of `log_betaincc` if ``upper``.
    """
    is_lower, log, *slopes = by_blocks(_sloped_tail, a, b, s)
    return slope_of_side(~is_lower if upper else is_lower, log, slopes[i])


@differentiable
def log_betainc_bend(upper: bool, i: int, j: int, a: Any, b: Any, s: Any) -> Any:
    """Return the second derivative of `log_betainc` or `log_betaincc` in shapes ``i`` and ``j``."""
    is_lower, log, *rest = by_blocks(_bent_tail, a, b, s)
    own = ~is_lower if upper else is_lower
    return bend_of_side(own, log, rest[i], rest[j], rest[2 + i + j])


@differentiable
def beta_hazard(upper: bool, a: Any, b: Any, s: Any) -> Any:
    """Density of the log odds of a beta variable over the probability of more than ``s``, or less.

    The derivative of `log_betainc` in the log odds, and minus that of `log_betaincc`.
    """
    is_lower, log, hazard = by_blocks(_tail, a, b, s)
    return np.where(~is_lower if upper else is_lower, hazard, inverse_expm1(-log) * hazard)


def _parts(a: Any, b: Any, s: Any) -> tuple[Any, ...]:
    """Which tail is integrated, its logarithm, and the nodes with their weights and share.

    For the upper one the shapes and the sign of the log odds are exchanged.
    """
    is_lower = expit(s) <= (a + _MORE) / (a + b + 2.0 * _MORE)
    a, b, s = np.where(is_lower, a, b), np.where(is_lower, b, a), np.where(is_lower, s, -s)
    x = expit(s)
    end = _end(a + 1.0, a + b + 1.0, x, s)
    v = column(end) * NODES
    log_rest = -np.log1p(column(x) * np.expm1(-v))
    log_part = log_rest - v
    weights = WEIGHTS * np.exp(column(a + 1.0) * log_part + column(b) * log_rest)
    area = x * end * np.sum(weights, axis=-1)
    whole = 1.0 + (a + b) * area
    log = np.minimum(_log_power(a, b, s) + np.log(whole), 0.0)
    return is_lower, log, (a, b, s), whole, weights, (log_part, log_rest), area / whole


def _log_power(a: Any, b: Any, s: Any) -> Any:
    """Logarithm of ``x**a (1 - x)**b / (a B(a, b))``."""
    powers = a * (log_expit(s) + _log_more(a, b)) + b * (log_expit(-s) + np.log1p(a / b))
    roots = 0.5 * (np.log(b) - np.log(a + b) - np.log(a + 1.0) - LOG_2PI)
    return powers + roots + 1.0 + gamma_rest(a + b) - gamma_rest(a + 1.0) - gamma_rest(b)


def _log_more(a: Any, b: Any) -> Any:
    """Logarithm of ``(a + b) / (a + 1)``."""
    share = (b - 1.0) / (a + 1.0)
    apart = np.log(a + b) - np.log(a + 1.0)
    return np.where(share < -0.5, apart, np.log1p(np.maximum(share, -0.5)))


def _end(a: Any, total: Any, x: Any, s: Any) -> Any:
    """Where the density has fallen far enough: a bound, and steps of Newton's method from there.

    ``a v + total log(1 - x (1 - exp(-v)))`` is convex and rising: the steps do not go too far.
    """
    y = expit(-s)
    slope = np.maximum(a - total * x, 0.0)
    v = np.minimum(stretch(slope, total * x * y), (DROP - total * log_expit(-s)) / a)
    for _ in range(_STEPS):
        part = x * np.exp(-v)
        fall = a * v + total * np.log1p(x * np.expm1(-v))
        v = v - np.maximum(fall - DROP, 0.0) / (a - total * part / (y + part))
    return v


def _tail(a: Any, b: Any, s: Any) -> tuple[Any, ...]:
    """Return the tail, its logarithm, and the density of the log odds over it."""
    is_lower, log, shapes, whole, *_ = _parts(a, b, s)
    return is_lower, log, shapes[0] / whole


def _sloped_tail(a: Any, b: Any, s: Any) -> tuple[Any, ...]:
    """Return the derivatives in both shapes besides, in the order that they were given in."""
    is_lower, log, shapes, _, *nodes = _parts(a, b, s)
    first, second = _slopes(shapes, *nodes)
    return is_lower, log, np.where(is_lower, first, second), np.where(is_lower, second, first)


def _slopes(shapes: Any, weights: Any, logs: Any, share: Any) -> tuple[Any, Any]:
    a, b, s = shapes
    in_a, in_b = (share * (1.0 + (a + b) * mean(weights, log)) for log in logs)
    gap = log_gap(a + b)
    in_a = in_a + log_expit(s) + _log_more(a, b) + log_gap(a + 1.0) - gap
    return in_a, in_b + log_expit(-s) + np.log1p(a / b) + log_gap(b) - gap


def _bent_tail(a: Any, b: Any, s: Any) -> tuple[Any, ...]:
    """Return the second derivatives besides: in one shape, both, and the other."""
    is_lower, log, shapes, _, weights, logs, share = _parts(a, b, s)
    slopes = _slopes(shapes, weights, logs, share)
    a, b, s = shapes
    total = a + b

    def bend(i: int, j: int) -> Any:
        m, n = mean(weights, logs[i]), mean(weights, logs[j])
        second = covariance(weights, logs[i], logs[j]) + m * n
        rises = share * (m + n + total * second)
        return rises - share * (1.0 + total * m) * share * (1.0 + total * n)

    joint = trigamma(total)
    in_a, in_b = bend(0, 0) + joint - trigamma(a + 1.0), bend(1, 1) + joint - trigamma(b)
    first, second = (np.where(is_lower, *pair) for pair in (slopes, slopes[::-1]))
    in_first, in_second = np.where(is_lower, in_a, in_b), np.where(is_lower, in_b, in_a)
    return is_lower, log, first, second, in_first, bend(0, 1) + joint, in_second


def _score(upper: bool, i: int, a: Any, b: Any, s: Any) -> Any:
    """Return the derivative of the logarithm of `beta_hazard` in one shape."""
    log = log_expit(-s) + rising_slope(b, a) if i else log_expit(s) + rising_slope(a, b)
    return log - log_betainc_slope(upper, i, a, b, s)


def _in_log_odds(upper: bool, a: Any, b: Any, s: Any) -> Any:
    """Return the derivative of the logarithm of `beta_hazard` in the log odds."""
    hazard = beta_hazard(upper, a, b, s)
    return a * expit(-s) - b * expit(s) + (hazard if upper else -hazard)


def _rule(sign: float, upper: bool) -> Any:
    return (
        lambda ans, a, b, s: unbroadcast_f(a, lambda g: g * log_betainc_slope(upper, 0, a, b, s)),
        lambda ans, a, b, s: unbroadcast_f(b, lambda g: g * log_betainc_slope(upper, 1, a, b, s)),
        lambda ans, a, b, s: unbroadcast_f(s, lambda g: sign * g * beta_hazard(upper, a, b, s)),
    )


defvjp(log_betainc, *_rule(1.0, False))
defvjp(log_betaincc, *_rule(-1.0, True))
defvjp(
    log_betainc_slope,
    lambda ans, upper, i, a, b, s: unbroadcast_f(
        a, lambda g: g * log_betainc_bend(upper, i, 0, a, b, s)
    ),
    lambda ans, upper, i, a, b, s: unbroadcast_f(
        b, lambda g: g * log_betainc_bend(upper, i, 1, a, b, s)
    ),
    lambda ans, upper, i, a, b, s: unbroadcast_f(
        s, lambda g: (-g if upper else g) * beta_hazard(upper, a, b, s) * _score(upper, i, a, b, s)
    ),
    argnums=(2, 3, 4),
)
defvjp(
    beta_hazard,
    lambda ans, upper, a, b, s: unbroadcast_f(a, lambda g: g * ans * _score(upper, 0, a, b, s)),
    lambda ans, upper, a, b, s: unbroadcast_f(b, lambda g: g * ans * _score(upper, 1, a, b, s)),
    lambda ans, upper, a, b, s: unbroadcast_f(s, lambda g: g * ans * _in_log_odds(upper, a, b, s)),
    argnums=(1, 2, 3),
)
