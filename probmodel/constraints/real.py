"""The whole real line."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class Real(Constraint):
    """All real numbers: the identity."""

    limits = (None, None)

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``u``."""
        return u

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return zero."""
        return 0.0 * u

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return ``y``."""
        return y

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``y`` is finite."""
        return np.isfinite(y)
