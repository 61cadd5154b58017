"""Real numbers on a shifted and stretched scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class OffsetMultiplier(Constraint):
    """All real numbers, sampled as ``u = (y - offset) / multiplier``."""

    limits = (None, None)
    name = "offset and multiplier"

    def __init__(self, offset: Any = 0.0, multiplier: Any = 1.0) -> None:
        super().__init__(offset, multiplier)

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``offset + multiplier * u``."""
        offset, multiplier = bounds
        return offset + multiplier * u

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``log(multiplier)`` for each element; a multiplier below zero is NaN."""
        return xp.log(bounds[1]) + 0.0 * u

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return ``(y - offset) / multiplier``."""
        offset, multiplier = bounds
        return np.asarray((y - offset) / multiplier)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``y`` is finite."""
        return np.isfinite(y)
