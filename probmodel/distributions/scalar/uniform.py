"""The uniform distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Interval, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import unordered, where_inside
from probmodel.distributions.tail_probabilities import log_cdf_above_zero
from probmodel.types import Array


class Uniform(Distribution):
    r"""Uniform distribution on an interval.

    .. math:: p(y) = 1 / (b - a), \quad a \le y \le b

    Parameters
    ----------
    low, high : ends :math:`a < b` of the interval

    Notes
    -----
    Stan: ``uniform(low, high)``. SciPy: ``uniform(low, high - low)``.
    """

    parameters: ClassVar = {"low": Parameter(Real()), "high": Parameter(Real())}

    def support(self) -> Constraint:
        """Return the interval from ``low`` to ``high``."""
        return Interval(self.args["low"], self.args["high"])

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Say that the interval is empty."""
        low, high = params
        return unordered(low, high)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN or -inf where ``low`` is not below ``high``."""
        low, high = params
        inside = (value >= low) & (value <= high) & (low < high)
        return where_inside(inside, -xp.log(high - low))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``, NaN where ``low`` is above ``high``."""
        low, high = params
        drawn = self.noncentered(np, rng.random(shape), low, high)
        return np.asarray(np.where(low <= high, drawn, np.nan))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        low, high = params
        return log_cdf_above_zero(lambda y: xp.log(y / (high - low)), x - low, high - low)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        low, high = params
        return log_cdf_above_zero(lambda y: xp.log(y / (high - low)), high - x, high - low)

    def base(self) -> Distribution:
        """Return the uniform distribution on the unit interval."""
        return Uniform(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Map the unit interval onto this one."""
        low, high = params
        return low + (high - low) * z
