"""Whole numbers between two limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint, bound_text
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
        low = f" from {bound_text(self.bounds[0], 'a lower bound')}" if self.has_lower else ""
        high = f" up to {bound_text(self.bounds[-1], 'an upper bound')}" if self.has_upper else ""
        return f"whole numbers{low}{high}"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each element is a whole number within the limits."""
        inside = np.isfinite(y) & (y == np.round(y))
        if self.has_lower:
            inside = inside & (y >= bounds[0])
        if self.has_upper:
            inside = inside & (y <= bounds[-1])
        return inside
