"""Positive and non-negative numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class Positive(Constraint):
    """Numbers above zero: ``y = exp(u)``."""

    limits = (0.0, None)

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``exp(u)``."""
        return xp.exp(u)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``u``."""
        return u

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return ``log(y)``."""
        return np.log(y)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``0 < y < inf``."""
        return (y > 0) & np.isfinite(y)


class NonNegative(Positive):
    """Numbers from zero up. Sampling never meets zero itself; data may."""

    name = "non-negative"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``0 <= y < inf``."""
        return (y >= 0) & np.isfinite(y)
