"""Numbers of which some have a lower bound, some an upper bound, both or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.numerics.special import expit
from probmodel.types import Array


class PartlyBounded(Constraint):
    """Numbers between bounds of which some elements are infinite, and no bound there.

    Each element has the map that its own bounds call for: that of `Real`, `Lower`, `Upper` or
    `Interval`.

    Parameters
    ----------
    lower, upper : numbers, arrays or expressions
    """

    name = "between its bounds, element by element"

    def __init__(self, lower: Any, upper: Any) -> None:
        super().__init__(lower, upper)

    @property
    def limits(self) -> tuple[Any, Any]:
        """The two bounds."""
        return self.bounds[0], self.bounds[1]

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the point that the map of each element gives."""
        lower, upper, width, no_low, no_high = _finite(xp, bounds)
        away = xp.exp(xp.where(no_low == no_high, 0.0, u))
        between = lower + width * expit(u)
        above = xp.where(no_high, lower + away, between)
        return xp.where(no_low, xp.where(no_high, u, upper - away), above)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the log derivative of each element."""
        _, _, width, no_low, no_high = _finite(xp, bounds)
        between = xp.log(width) - u - 2.0 * xp.logaddexp(0.0, -u)
        one = xp.where(no_low, xp.where(no_high, 0.0, u), u)
        return xp.where(no_low == no_high, xp.where(no_low, 0.0, between), one)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the unconstrained value of each element."""
        lower, upper, _, no_low, no_high = _finite(np, bounds)
        with np.errstate(all="ignore"):
            from_low, to_high = np.log(y - lower), np.log(upper - y)
            from_low = np.where(no_high, from_low, from_low - to_high)
        return np.asarray(np.where(no_low, np.where(no_high, y, to_high), from_low))

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``lower <= y <= upper``, and finite."""
        return np.isfinite(y) & (y >= bounds[0]) & (y <= bounds[1])


def _finite(xp: Any, bounds: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Bounds and their distance, numbers in the place of infinity; and where there is no bound."""
    lower, upper = bounds
    no_low, no_high = lower == -np.inf, upper == np.inf
    low, high = xp.where(no_low, 0.0, lower), xp.where(no_high, 0.0, upper)
    return low, high, xp.where(no_low, 1.0, xp.where(no_high, 1.0, high - low)), no_low, no_high
