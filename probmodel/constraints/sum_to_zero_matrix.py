"""Matrices whose rows and columns sum to zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.types import Array

_TOLERANCE = 1e-8  # of sums, relative to the largest element


class SumToZeroMatrix(Constraint):
    """Matrices of which every row and every column sums to zero.

    The N - 1 by M - 1 free coordinates are those of an N by M matrix in the products of two
    orthonormal bases, those of `SumToZero`: all elements are treated alike, lengths are kept, and
    there is no Jacobian. u = 0 is the zero matrix. Independent normal priors of scale s on the
    elements leave each with the standard deviation ``s * sqrt((1 - 1 / N) * (1 - 1 / M))``.

    References
    ----------
    Stan Reference Manual 2.37, "Zero sum matrix".
    """

    event_ndim = 2
    name = "a matrix whose rows and columns sum to zero"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the matrix with coordinates ``u``."""
        rows, columns = (zero_sum_basis(n + 1) for n in u.shape[-2:])
        return xp.matmul(xp.matmul(rows.T, u), columns)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return zero."""
        return np.zeros(u.shape[:-2])

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates in the bases."""
        rows, columns = (zero_sum_basis(n) for n in y.shape[-2:])
        return np.asarray(rows @ y @ columns.T)

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One row and one column fewer."""
        return (*shape[:-2], shape[-2] - 1, shape[-1] - 1)

    def free_coords(self, y: Array) -> Array:
        """Coordinates in the bases, which measure volume on the set."""
        rows, columns = (zero_sum_basis(n) for n in y.shape[-2:])
        return rows @ y @ columns.T

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether all sums of each matrix are zero, within 1e-8 of its largest element."""
        known = np.where(np.isfinite(y), y, np.nan)
        limit = _TOLERANCE * np.maximum(np.abs(known).max(axis=(-1, -2)), 1.0)
        sums = [np.abs(known.sum(axis=axis)).max(axis=-1) for axis in (-1, -2)]
        return np.asarray((sums[0] <= limit) & (sums[1] <= limit))
