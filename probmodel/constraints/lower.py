"""Numbers above a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint, bound_text
from probmodel.types import Array


class Lower(Constraint):
    """Numbers above ``lower``: ``y = lower + exp(u)``."""

    def __init__(self, lower: Any) -> None:
        super().__init__(lower)

    @property
    def name(self) -> str:
        """The constraint in words."""
        return f"above {bound_text(self.bounds[0], 'a lower bound')}"

    @property
    def limits(self) -> tuple[Any, Any]:
        """Lower limit, and none above."""
        return self.bounds[0], None

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``lower + exp(u)``."""
        return bounds[0] + xp.exp(u)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``u``."""
        return u

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return ``log(y - lower)``."""
        return np.log(y - bounds[0])

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``lower <= y < inf``; sampling meets the bound itself only by rounding."""
        return (y >= bounds[0]) & np.isfinite(y)
