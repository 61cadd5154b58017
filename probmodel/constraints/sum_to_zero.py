"""Vectors that sum to zero."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class SumToZero(Constraint):
    """Vectors whose elements sum to zero.

    The K - 1 free coordinates are those of the vector in an orthonormal basis, so that all K
    elements are treated alike, lengths are kept, and there is no Jacobian. u = 0 is the zero
    vector. Independent normal priors of scale s on the K elements leave each with the standard
    deviation ``s * sqrt(1 - 1 / K)``.

    References
    ----------
    Stan Reference Manual 2.37, "Zero sum vector".
    """

    event_ndim = 1
    name = "a vector that sums to zero"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the vector with coordinates ``u``."""
        return u @ zero_sum_basis(u.shape[-1] + 1)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return zero."""
        return np.zeros(u.shape[:-1])

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates in the basis."""
        return np.asarray(y @ zero_sum_basis(y.shape[-1]).T)

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One coordinate fewer than elements."""
        return (*shape[:-1], shape[-1] - 1)

    def free_coords(self, y: Array) -> Array:
        """Coordinates in the basis, which measure volume on the set."""
        return y @ zero_sum_basis(y.shape[-1]).T

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector is finite and sums to zero, within 1e-8 of its largest element."""
        known = np.where(np.isfinite(y), y, np.nan)
        scale = np.maximum(np.abs(known).max(axis=-1), 1.0)
        return np.asarray(np.abs(known.sum(axis=-1)) <= 1e-8 * scale)


@cache
def zero_sum_basis(size: int) -> Array:
    """Orthonormal basis of the zero-sum vectors of a size: (size - 1, size), Helmert's rows."""
    basis = np.zeros((size - 1, size))
    for k in range(1, size):
        basis[k - 1, :k] = 1.0
        basis[k - 1, k] = -float(k)
        basis[k - 1] /= np.sqrt(k * (k + 1.0))
    return basis
