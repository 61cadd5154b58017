"""Whole numbers between two limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class IntegerInterval(Constraint):
    """Whole numbers from ``lower`` to ``upper``, both included; None is no limit."""

    bijective = False
    integer = True

    def __init__(self, lower: Any = None, upper: Any = None) -> None:
        self.has_lower = lower is not None
        self.has_upper = upper is not None
        super().__init__(*(bound for bound in (lower, upper) if bound is not None))

    @property
    def name(self) -> str:
        """The constraint in words."""
        if self.has_lower and self.has_upper:
            return "whole numbers between two bounds"
        if self.has_lower or self.has_upper:
            return f"whole numbers {'from' if self.has_lower else 'up to'} a bound"
        return "whole numbers"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each element is a whole number within the limits."""
        inside = np.isfinite(y) & (y == np.round(y))
        if self.has_lower:
            inside = inside & (y >= bounds[0])
        if self.has_upper:
            inside = inside & (y <= bounds[-1])
        return inside
