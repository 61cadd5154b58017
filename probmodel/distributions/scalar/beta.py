"""The beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from probmodel.constraints import Positive, UnitInterval
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.log_powers import log_power, log_power_of_rest, power_slope
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import logit, trigamma, where
from probmodel.numerics.special.incomplete_beta import log_betainc, log_betaincc
from probmodel.numerics.special.rising import log_beta, rising_excess, rising_slope
from probmodel.types import Array


class Beta(FreeScale):
    r"""Beta distribution.

    .. math:: p(y) = y^{\alpha - 1} (1 - y)^{\beta - 1} / B(\alpha, \beta), \quad 0 < y < 1

    Parameters
    ----------
    alpha, beta : shapes :math:`\alpha, \beta > 0`

    Notes
    -----
    Stan: ``beta(alpha, beta)``. SciPy: ``beta(alpha, beta)``.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}
    domain = UnitInterval()
    end = 1.0

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN outside the unit interval."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on both shapes."""
        alpha, beta = params
        return {
            ("alpha", "alpha"): lambda: trigamma(alpha) - trigamma(alpha + beta),
            ("alpha", "beta"): lambda: -trigamma(alpha + beta),
            ("beta", "beta"): lambda: trigamma(beta) - trigamma(alpha + beta),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(rng.beta(alpha, beta, shape))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        args = *_valid(*params), logit(y)
        return lambda: log_betainc(*args), lambda: log_betaincc(*args)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the log odds: ``alpha log(p) + beta log(1 - p)`` is their log density."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(alpha / beta), np.sqrt(1.0 / alpha + 1.0 / beta)


def _valid(alpha: Any, beta: Any) -> tuple[Any, Any]:
    return where_valid(alpha > 0, alpha), where_valid(beta > 0, beta)


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape; the logarithms are NaN outside the unit interval."""
    return beta_log_density(xp, value, *_valid(*params))


def beta_log_density(xp: Any, value: Any, alpha: Any, beta: Any) -> Any:
    """Log density of shapes that are positive, or NaN."""
    low = log_power(xp, alpha - 1.0, value)
    return low + log_power_of_rest(xp, beta - 1.0, value) - log_beta(alpha, beta)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value and both shapes."""
    alpha, beta = params
    return (
        lambda: power_slope(alpha - 1.0, value) - power_slope(beta - 1.0, 1.0 - value),
        lambda: _slope(alpha, beta, value, 1.0 - value, xp.log(value)),
        lambda: _slope(beta, alpha, 1.0 - value, value, xp.log1p(-value)),
    )


def _slope(shape: Any, other: Any, part: Any, rest: Any, log_part: Any) -> Any:
    """Return the derivative of the log density in one shape, the exponent of ``part``.

    That is ``log(part)`` less its expectation. Of the expectation, the logarithm of the mean share
    is taken together with ``log(part)``: for large shapes they are nearly the same.
    """
    share = (part * other - rest * shape) / shape
    far = log_part + rising_slope(shape, other)
    near = abs(getval(share)) < 0.5
    logs = anp.log1p(where(near, share, 0.0))
    return where(near, logs + rising_excess(shape, other), far)


# For large shapes the logarithm of a share and its mean, whose difference counts, are nearly equal.
_log_kernel = closed_form(_formula, _slopes)
