"""The Kumaraswamy distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, UnitInterval
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_inside
from probmodel.distributions.log_powers import log_power, power_slope, times_log
from probmodel.distributions.noncentered_forms import OfStandardExponential
from probmodel.distributions.tail_probabilities import AboveZero, Sides
from probmodel.numerics.special import inverse_expm1, log1m_exp, where
from probmodel.numerics.special.positive_numbers import (
    bernoulli_gap,
    divided_digamma,
    divided_trigamma,
)
from probmodel.types import Array


class Kumaraswamy(OfStandardExponential, AboveZero):
    r"""Kumaraswamy distribution, much like the beta but with elementary probabilities.

    .. math:: p(y) = a b\, y^{a - 1} (1 - y^a)^{b - 1}, \quad 0 < y < 1

    Parameters
    ----------
    a, b : shapes :math:`a, b > 0`

    Notes
    -----
    Stan: none. SciPy: none; ``beta(1, b)`` is the distribution of :math:`y^a`.

    References
    ----------
    Kumaraswamy (1980), A generalized probability density function for double-bounded random
    processes. Jones (2009), Kumaraswamy's distribution: a beta-type distribution with some
    tractability advantages (the Fisher information).
    """

    noncentered_is_affine: ClassVar = False
    parameters: ClassVar = {"a": Parameter(Positive()), "b": Parameter(Positive())}
    domain = UnitInterval()
    end = 1.0

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on both shapes."""
        a, b = params

        def in_a() -> Array:
            step = (b - 2.0) * divided_digamma(b) ** 2 - divided_trigamma(b)
            return np.asarray((1.0 + b * step) / (a * a))

        return {
            ("a", "a"): in_a,
            ("a", "b"): lambda: -divided_digamma(b + 1.0) / a,
            ("b", "b"): lambda: 1.0 / (b * b),
        }

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        u = _exponential(xp, y, *params)
        return lambda: log1m_exp(u), lambda: -u

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Quantile at the probability that an exponential value exceeds."""
        a, b = params
        return xp.exp(xp.log(-xp.expm1(-z / b)) / a)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Exponential value of which `noncentered` makes this one."""
        return np.asarray(_exponential(np, value, *params))


def _exponential(xp: Any, value: Any, a: Any, b: Any) -> Any:
    """Minus the log probability above ``value``."""
    return -b * log1m_exp(-a * xp.log(value))


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape."""
    a, b = params
    log_value = xp.log(value)
    powers = times_log(a - 1.0, log_value) + times_log(b - 1.0, log1m_exp(-a * log_value))
    inside = (value >= 0) & (value <= 1)
    return where_inside(inside, xp.log(a) + xp.log(b) + powers)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value and both shapes."""
    a, b = params
    log_value = xp.log(value)
    x = -a * log_value
    return (
        lambda: _slope_in_value(xp, value, x, a, b),
        lambda: _slope_in_a(x, a, b),
        lambda: 1.0 / b + log1m_exp(x),
    )


def _slope_in_value(xp: Any, value: Any, x: Any, a: Any, b: Any) -> Any:
    """Return ``(a - 1) / y - a (b - 1) y**(a - 1) / (1 - y**a)``."""
    power = a * xp.exp(log_power(xp, a - 1.0, value))
    return power_slope(a - 1.0, value) - power * power_slope(b - 1.0, -xp.expm1(-x))


def _slope_in_a(x: Any, a: Any, b: Any) -> Any:
    """Return ``{1 - x + (b - 1) x / (exp(x) - 1)} / a`` for ``x = -a log(value)``.

    The fraction is one less a gap, which is small for values near one.
    """
    gap = bernoulli_gap(x)
    return where(x < 1.0, b - x - (b - 1.0) * gap, 1.0 - x + (b - 1.0) * (x * inverse_expm1(x))) / a


# Near one, the derivative in a is a difference of numbers near one.
_log_kernel = closed_form(_formula, _slopes)
