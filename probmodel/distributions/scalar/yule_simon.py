"""The Yule-Simon distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Positive
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import is_integer, where_valid
from probmodel.numerics.special import gammaln, where
from probmodel.numerics.special.count_functions import LARGEST_COUNT, log_one_minus_exp
from probmodel.numerics.special.rising import log_rising, log_ways
from probmodel.types import Array


class YuleSimon(Distribution):
    r"""Yule-Simon distribution of sizes from one up, with a tail like a power.

    .. math:: P(y) = \alpha B(y, \alpha + 1), \quad y = 1, 2, \dots

    Parameters
    ----------
    alpha : exponent :math:`\alpha > 0` of the tail, :math:`P(y > k) \sim k^{-\alpha}`; the mean is
        :math:`\alpha / (\alpha - 1)`

    Notes
    -----
    Stan: ``yule_simon(alpha)``. SciPy: ``yulesimon(alpha)``. Larger draws than 9e18 come
    out as 9e18.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive())}
    domain = IntegerInterval(1, None)
    discrete = True

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        (alpha,) = params
        alpha = where_valid(alpha > 0, alpha)
        value = where(value >= 1, value, 1.0)  # what is no count has its place in `log_base`
        return -xp.log1p(value / alpha) - log_ways(alpha + 1.0, value - 1.0)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is not a whole number from one."""
        return np.where(is_integer(value) & (np.asarray(value) >= 1), 0.0, -np.inf)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw values of shape ``shape``: geometric ones whose probability is a power."""
        (alpha,) = params
        log_p = -rng.standard_exponential(shape) / alpha
        with np.errstate(divide="ignore"):
            waiting = rng.standard_exponential(shape) / -log_one_minus_exp(np, log_p)
        return np.minimum(np.floor(waiting) + 1.0, LARGEST_COUNT).astype(np.int64)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return log_one_minus_exp(xp, self.log_ccdf(xp, x, *params))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        (alpha,) = params
        alpha = where_valid(alpha > 0, alpha)
        count = xp.maximum(xp.floor(x), 0.0)
        return gammaln(count + 1.0) - log_rising(alpha + 1.0, count)
