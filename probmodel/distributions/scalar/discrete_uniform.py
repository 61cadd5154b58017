"""The uniform distribution of whole numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import is_integer, unordered, where_valid
from probmodel.numerics.special import where
from probmodel.types import Array


class DiscreteUniform(Distribution):
    r"""Uniform distribution of the whole numbers between two bounds, which are included.

    .. math:: P(y) = \frac{1}{b - a + 1}, \quad y = a, \dots, b

    Parameters
    ----------
    low : smallest value :math:`a`, a whole number
    high : largest value :math:`b \ge a`, a whole number

    Notes
    -----
    Stan: ``discrete_range(low, high)``. SciPy: ``randint(low, high + 1)``.
    """

    parameters: ClassVar = {
        "low": Parameter(IntegerInterval()),
        "high": Parameter(IntegerInterval()),
    }
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from ``low`` to ``high``."""
        return IntegerInterval(self.args["low"], self.args["high"])

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Say that no number lies between the ends."""
        low, high = params
        return unordered(low, high, strictly=False)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Zero, in batch shape: bounds are data, so that `log_base` says it all."""
        low, high = params
        return 0.0 * (value + low + high)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Log probability; minus infinity for what is not one of the values."""
        value, low, high = (np.asarray(a, dtype=float) for a in (value, *params))
        whole = is_integer(value) & is_integer(low) & is_integer(high)
        possible = whole & (low <= value) & (value <= high)
        return np.where(possible, -np.log(np.where(possible, high - low + 1.0, 1.0)), -np.inf)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw whole numbers of shape ``shape``."""
        low, high = (np.asarray(p).astype(np.int64) for p in params)
        return np.asarray(rng.integers(low, high, shape, endpoint=True))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        low, high = params
        return _log_share(xp, xp.floor(x) - low + 1.0, low, high)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        low, high = params
        return _log_share(xp, high - xp.floor(x), low, high)


def _log_share(xp: Any, count: Any, low: Any, high: Any) -> Any:
    """Logarithm of the share that ``count`` values, between none and all, have of all."""
    size = where_valid(low <= high, high - low + 1.0)
    share = xp.minimum(count, size) / size
    return where(count <= 0, 0.0 * size - np.inf, xp.log(where(count <= 0, 1.0, share)))
