"""Numbers below a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint, bound_text
from probmodel.types import Array


class Upper(Constraint):
    """Numbers below ``upper``: ``y = upper - exp(u)``."""

    def __init__(self, upper: Any) -> None:
        super().__init__(upper)

    @property
    def name(self) -> str:
        """The constraint in words."""
        return f"below {bound_text(self.bounds[0], 'an upper bound')}"

    @property
    def limits(self) -> tuple[Any, Any]:
        """No limit below, and the upper one."""
        return None, self.bounds[0]

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``upper - exp(u)``."""
        return bounds[0] - xp.exp(u)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``u``."""
        return u

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return ``log(upper - y)``."""
        return np.log(bounds[0] - y)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``-inf < y <= upper``; sampling meets the bound itself only by rounding."""
        return (y <= bounds[0]) & np.isfinite(y)
