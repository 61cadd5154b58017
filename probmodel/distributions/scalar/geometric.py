"""The geometric distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, UnitInterval
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import is_integer, where_valid
from probmodel.numerics.special import ratio, where, xlog1py
from probmodel.numerics.special.count_functions import LARGEST_COUNT, log_one_minus_exp
from probmodel.types import Array


class Geometric(Distribution):
    r"""Number of failures before the first success.

    .. math:: P(y) = p (1 - p)^y, \quad y = 0, 1, \dots

    Parameters
    ----------
    p : probability of success, between zero and one

    Notes
    -----
    Counts start from zero. Stan: ``neg_binomial(1, p / (1 - p))``. SciPy: ``geom(p, -1)``. Larger
    draws than 9e18 come out as 9e18.
    """

    parameters: ClassVar = {"p": Parameter(UnitInterval())}
    domain = IntegerInterval(0, None)
    discrete = True

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        (p,) = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return xp.log(p) + xlog1py(value, -p)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is no count."""
        return np.where(is_integer(value) & (np.asarray(value) >= 0), 0.0, -np.inf)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on ``p``; without bound towards zero and one, which have none."""
        (p,) = params
        return {("p", "p"): lambda: ratio(1.0, p * p * (1.0 - p))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``: exponential waiting times, rounded down."""
        (p,) = params
        with np.errstate(divide="ignore"):
            waiting = rng.standard_exponential(shape) / -np.log1p(-np.asarray(p, dtype=float))
        return np.minimum(waiting, LARGEST_COUNT).astype(np.int64)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        (p,) = params
        more = self.log_ccdf(xp, x, p)
        # Where failures are rare their power is taken itself: its slope is finite at p = 1 too.
        rare = more < -1.0
        powers = (1.0 - where(rare, p, 0.5)) ** where(rare, xp.floor(x) + 1.0, 1.0)
        return where(rare, xp.log1p(-powers), log_one_minus_exp(xp, where(rare, -1.0, more)))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        (p,) = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return xlog1py(xp.maximum(xp.floor(x) + 1.0, 0.0), -p)
