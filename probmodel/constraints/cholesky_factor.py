"""Cholesky factors of covariance matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.triangle import (
    ROUNDING,
    above_fault,
    below,
    filled,
    is_lower,
    lower,
    lower_fault,
    places_lower,
    size_below,
)
from probmodel.types import Array


class CholeskyFactor(Constraint):
    """Lower triangular matrices with a positive diagonal.

    Of the K (K + 1) / 2 free coordinates the first K are the logarithms of the diagonal; the
    others are the elements below it, row by row. u = 0 is the identity matrix.

    References
    ----------
    Stan Reference Manual 2.37, "Cholesky factors of covariance matrices".
    """

    event_ndim = 2
    square = True
    name = "a lower triangular matrix with a positive diagonal"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the matrix whose diagonal is ``exp(u[:K])``."""
        size = matrix_size(u)
        entries = xp.concatenate([xp.exp(u[..., :size]), u[..., size:]], axis=-1)
        return filled(xp, entries, places_lower(size), u.shape[:-1])

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the sum of the log diagonal."""
        return xp.sum(u[..., : matrix_size(u)], axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the log diagonal and the elements below it."""
        log_diagonal = np.log(np.diagonal(y, axis1=-2, axis2=-1))
        return np.concatenate([log_diagonal, below(y)], axis=-1)

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One coordinate for each element on or below the diagonal."""
        return (*shape[:-2], shape[-1] * (shape[-1] + 1) // 2)

    def free_coords(self, y: Array) -> Array:
        """Elements on and below the diagonal."""
        return lower(y)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is finite, lower triangular and positive on its diagonal."""
        return is_lower(y)

    def pattern_fault(self, y: Array) -> str:
        """Say which element above the diagonal is not zero."""
        return above_fault(y, ROUNDING)

    def fault(self, y: Array) -> str:
        """Say which element is out of place."""
        return lower_fault(y)


def matrix_size(u: Any) -> int:
    """Size K of the matrix with free coordinates ``u``, (..., K (K + 1) / 2)."""
    return size_below(u.shape[-1]) - 1
