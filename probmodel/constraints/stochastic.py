"""Matrices whose rows, or whose columns, are probability vectors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.simplex import log_sum_exp
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.types import Array

_TOLERANCE = 1e-8  # of sums


class RowStochastic(Constraint):
    """Matrices of N rows, each a vector of M positive numbers that sum to one.

    The N by M - 1 free coordinates are those of a `Simplex` in each row. u = 0 is the matrix of
    elements 1 / M. The log-Jacobian is the sum of those of the rows, for all columns but the last.

    References
    ----------
    Stan Reference Manual 2.37, "Stochastic matrices".
    """

    event_ndim = 2
    element_limits = (0.0, 1.0)
    axis: ClassVar[int] = -1  # along which elements sum to one
    name = "a row-stochastic matrix"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the softmax of zero-sum vectors."""
        z = self._zero_sum(xp, u)
        return xp.exp(z - log_sum_exp(xp, z, self.axis))

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the sum of the log-Jacobians of the vectors."""
        rows, columns = u.shape[-2:]
        vectors, size = (rows, columns + 1) if self.axis == -1 else (columns, rows + 1)
        totals = log_sum_exp(xp, self._zero_sum(xp, u), self.axis)
        return -size * xp.sum(totals, axis=(-2, -1)) + 0.5 * vectors * np.log(size)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates of the centred logarithms."""
        log_y = np.log(y)
        return self._coordinates(log_y - log_y.mean(axis=self.axis, keepdims=True))

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One column fewer."""
        return (*shape[:-1], shape[-1] - 1)

    def free_coords(self, y: Array) -> Array:
        """All columns but the last."""
        return y[..., :-1]

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is non-negative, with sums of one within 1e-8."""
        sums = np.abs(y.sum(axis=self.axis) - 1.0) < _TOLERANCE
        return np.asarray((y >= 0).all(axis=(-1, -2)) & sums.all(axis=-1))

    def fault(self, y: Array) -> str:
        """Say what the first vector sums to that is no probability vector, or its least element."""
        if (y < 0).any():
            return f"an element is {y.min():g}"
        sums = y.sum(axis=self.axis)
        bad = int(np.argmin(np.abs(sums - 1.0) < _TOLERANCE))
        return f"{'row' if self.axis == -1 else 'column'} {bad} sums to {sums[bad]:.9g}"

    def _zero_sum(self, xp: Any, u: Any) -> Any:
        """Vectors that sum to zero, from their coordinates."""
        return xp.matmul(u, zero_sum_basis(u.shape[-1] + 1))

    def _coordinates(self, z: Array) -> Array:
        """Undo `_zero_sum`."""
        return np.asarray(z @ zero_sum_basis(z.shape[-1]).T)


class ColumnStochastic(RowStochastic):
    """Matrices of M columns, each a vector of N positive numbers that sum to one.

    The N - 1 by M free coordinates are those of a `Simplex` in each column. u = 0 is the matrix of
    elements 1 / N. The log-Jacobian is the sum of those of the columns, for all rows but the last.

    References
    ----------
    Stan Reference Manual 2.37, "Stochastic matrices".
    """

    axis = -2
    name = "a column-stochastic matrix"

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One row fewer."""
        return (*shape[:-2], shape[-2] - 1, shape[-1])

    def free_coords(self, y: Array) -> Array:
        """All rows but the last."""
        return y[..., :-1, :]

    def _zero_sum(self, xp: Any, u: Any) -> Any:
        return xp.matmul(zero_sum_basis(u.shape[-2] + 1).T, u)

    def _coordinates(self, z: Array) -> Array:
        return np.asarray(zero_sum_basis(z.shape[-2]) @ z)
