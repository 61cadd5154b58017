"""Sets that are only checked: integers, and kinds of matrices."""

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


class PositiveDefinite(Constraint):
    """Symmetric positive definite matrices."""

    bijective = False
    event_ndim = 2

    @property
    def name(self) -> str:
        """The constraint in words."""
        return "a symmetric positive definite matrix"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is finite, symmetric within 1e-8 and has positive eigenvalues."""
        if y.shape[-1] != y.shape[-2]:
            return np.zeros(y.shape[:-2], dtype=bool)
        finite = np.isfinite(y).all(axis=(-1, -2))
        scale = np.abs(y).max(axis=(-1, -2))
        symmetric = np.abs(y - np.swapaxes(y, -1, -2)).max(axis=(-1, -2)) <= 1e-8 * scale
        usable = np.where((finite & symmetric)[..., None, None], y, np.eye(y.shape[-1]))
        return finite & symmetric & (np.linalg.eigvalsh(usable) > 0).all(axis=-1)


class CholeskyFactor(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    bijective = False
    event_ndim = 2

    @property
    def name(self) -> str:
        """The constraint in words."""
        return "a lower triangular matrix with a positive diagonal"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is finite, lower triangular and positive on its diagonal."""
        finite = np.isfinite(y).all(axis=(-1, -2))
        triangular = (np.triu(y, 1) == 0).all(axis=(-1, -2))
        positive = (np.diagonal(y, axis1=-2, axis2=-1) > 0).all(axis=-1)
        return finite & triangular & positive
