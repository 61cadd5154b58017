"""Numbers between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint, between_text
from probmodel.numerics.special import expit
from probmodel.types import Array


class Interval(Constraint):
    """Numbers between ``lower`` and ``upper``, by a logistic curve.

    ``y = lower + (upper - lower) / (1 + exp(-u))``. Data may lie on the bounds; sampling meets
    them only where float64 has no number in between. Bounds are finite: `between` makes the
    constraint of an interval that may have none.
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        super().__init__(lower, upper)

    @property
    def name(self) -> str:
        """The constraint in words."""
        return between_text(self.bounds)

    @property
    def limits(self) -> tuple[Any, Any]:
        """The two bounds."""
        return self.bounds[0], self.bounds[1]

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the point of the interval, accurate relative to its distance from ``lower``."""
        lower, upper = bounds
        return lower + (upper - lower) * expit(u)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``log(upper - lower) - u - 2 log(1 + exp(-u))``.

        ``logaddexp`` neither overflows nor has a kink at zero, which ``|u|`` would bring in.
        """
        lower, upper = bounds
        return xp.log(upper - lower) - u - 2.0 * xp.logaddexp(0.0, -u)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the log odds of ``y`` between the bounds."""
        lower, upper = bounds
        return np.log(y - lower) - np.log(upper - y)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``lower <= y <= upper``."""
        lower, upper = bounds
        return (y >= lower) & (y <= upper)


class UnitInterval(Interval):
    """Numbers between 0 and 1."""

    def __init__(self) -> None:
        super().__init__(0.0, 1.0)
