"""Cholesky factors of matrices that are not of full rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.cholesky_factor import CholeskyFactor
from probmodel.constraints.triangle import filled, places_lower
from probmodel.types import Array


class TallCholeskyFactor(CholeskyFactor):
    """Matrices with a positive diagonal, zeros above it, and more rows than columns.

    The free coordinates are those of the first rows, a square factor, and then the elements of
    the other rows.

    Parameters
    ----------
    rows, columns : of each matrix; no more columns than rows

    References
    ----------
    Stan Reference Manual 2.37, "Cholesky factors of covariance matrices".
    """

    square = False
    name = "a tall matrix with a positive diagonal and zeros above it"

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns

    @property
    def _first(self) -> int:
        """Number of coordinates of the square factor."""
        return self.columns * (self.columns + 1) // 2

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the square factor and the rows below it."""
        size = self.columns
        entries = xp.concatenate([xp.exp(u[..., :size]), u[..., size:]], axis=-1)
        rest = np.arange((self.rows - size) * size).reshape(-1, size) + self._first + 1
        places = np.concatenate([places_lower(size), rest])
        return filled(xp, entries, places, u.shape[:-1])

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the sum of the log diagonal."""
        return xp.sum(u[..., : self.columns], axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates of the square factor, and the elements below it."""
        rest = y[..., self.columns :, :].reshape(*y.shape[:-2], -1)
        return np.concatenate([super().inverse(y[..., : self.columns, :]), rest], axis=-1)

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One coordinate for each element on or below the diagonal."""
        return (*shape[:-2], self._first + (self.rows - self.columns) * self.columns)

    def free_coords(self, y: Array) -> Array:
        """Elements on and below the diagonal."""
        rest = y[..., self.columns :, :].reshape(*y.shape[:-2], -1)
        return np.concatenate([super().free_coords(y[..., : self.columns, :]), rest], axis=-1)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is finite, with zeros above a positive diagonal."""
        finite = np.isfinite(y).all(axis=(-2, -1))
        return np.asarray(finite & super().check(y[..., : self.columns, :]))

    def fault(self, y: Array) -> str:
        """Say which element is out of place."""
        return super().fault(y[: self.columns]) or "an element is not finite"
