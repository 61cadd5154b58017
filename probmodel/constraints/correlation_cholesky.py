"""Cholesky factors of correlation matrices."""

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
    places_below,
    size_below,
)
from probmodel.types import Array

_TOLERANCE = 1e-8
_LENGTH = 0.1  # from 1, the square of the length of a row that is not meant to be of length one


class CorrelationCholesky(Constraint):
    r"""Lower triangular matrices with a positive diagonal and rows of length one.

    The K (K - 1) / 2 free coordinates stand for the elements below the diagonal, row by row. Their
    hyperbolic tangents are partial correlations z: each element takes the share z of the length
    that those to its left leave over,

    .. math:: L_{ij} = z_{ij} \prod_{k<j} (1 - z_{ik}^2)^{1/2}, \quad
              L_{ii} = \prod_{k<i} (1 - z_{ik}^2)^{1/2}.

    u = 0 is the identity matrix. The log-Jacobian is
    :math:`\sum_{i>j} \frac{i - j + 1}{2} \log(1 - z_{ij}^2)`, for the elements below the diagonal.

    References
    ----------
    Stan Reference Manual 2.37, "Cholesky factors of correlation matrices"; Lewandowski, Kurowicka
    and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method. Journal of Multivariate Analysis 100.
    """

    event_ndim = 2
    square = True
    name = "the lower cholesky factor of a correlation matrix"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the rows, each filled from the left until its length is one."""
        size = size_below(u.shape[-1])
        places, batch = places_below(size), u.shape[:-1]
        shares = filled(xp, xp.tanh(u), places, batch) + np.eye(size)
        log_cosines = filled(xp, log_cosine(xp, u), places, batch)
        # The sum over the elements to the left; where there is no share, the cosine is 1.
        return shares * xp.exp(xp.cumsum(log_cosines, axis=-1) - log_cosines)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the weighted sum of the logarithms of ``1 - tanh(u)**2``."""
        row, column = np.tril_indices(size_below(u.shape[-1]), -1)
        return xp.sum((row - column + 1.0) * log_cosine(xp, u), axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the inverse hyperbolic tangents of the partial correlations."""
        left_over = np.sqrt(np.cumsum(np.square(y)[..., ::-1], axis=-1)[..., ::-1])
        # With z = L / left, L over what is left after it is sinh(u), which keeps all digits.
        row, column = np.tril_indices(y.shape[-1], -1)
        return np.asarray(np.arcsinh(below(y) / left_over[..., row, column + 1]))

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One coordinate for each element below the diagonal."""
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)

    def free_coords(self, y: Array) -> Array:
        """Elements below the diagonal."""
        return below(y)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each is such a matrix; the square of a row's length is 1 within 1e-8."""
        unit = (np.abs(np.square(y).sum(axis=-1) - 1.0) < _TOLERANCE).all(axis=-1)
        return np.asarray(is_lower(y) & unit)

    def pattern_fault(self, y: Array) -> str:
        """Say which element above the diagonal is not zero, or which row is not of length one."""
        squares = np.square(y).sum(axis=-1)
        row = int(np.abs(squares - 1.0).argmax())
        known = abs(squares[row] - 1.0) > _LENGTH
        bad = f"the squares of row {row} add up to {squares[row]:g}" if known else ""
        return above_fault(y, ROUNDING) or bad


def log_cosine(xp: Any, u: Any) -> Any:
    """Half the logarithm of ``1 - tanh(u)**2``, at any size of ``u``."""
    return np.log(2.0) - xp.logaddexp(u, -u)
