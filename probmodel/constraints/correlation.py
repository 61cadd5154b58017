"""Correlation matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.correlation_cholesky import CorrelationCholesky, log_cosine
from probmodel.constraints.positive_definite import PositiveDefinite
from probmodel.constraints.triangle import ROUNDING, asymmetry_fault, size_below
from probmodel.numerics.linalg import cholesky
from probmodel.types import Array

_TOLERANCE = 1e-8


class Correlation(CorrelationCholesky):
    r"""Symmetric positive definite matrices with ones on the diagonal.

    The free coordinates are those of the Cholesky factor in `CorrelationCholesky`. u = 0 is the
    identity matrix. The log-Jacobian is
    :math:`\sum_{i>j} \frac{K - j + 1}{2} \log(1 - z_{ij}^2)`, for the elements below the diagonal.

    References
    ----------
    Stan Reference Manual 2.37, "Correlation matrices"; Lewandowski, Kurowicka and Joe (2009),
    Generating random correlation matrices based on vines and extended onion method. Journal of
    Multivariate Analysis 100.
    """

    name = "a correlation matrix"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the product of the Cholesky factor with its transpose."""
        factor = super().forward(xp, u)
        return xp.matmul(factor, xp.swapaxes(factor, -1, -2))

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the weighted sum of the logarithms of ``1 - tanh(u)**2``."""
        size = size_below(u.shape[-1])
        _, column = np.tril_indices(size, -1)
        return xp.sum((size - 1.0 * column) * log_cosine(xp, u), axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the free coordinates of the Cholesky factor."""
        return super().inverse(cholesky(y))

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each is such a matrix: symmetric, and ones on the diagonal, within 1e-8."""
        ones = np.abs(np.diagonal(y, axis1=-2, axis2=-1) - 1.0) < _TOLERANCE
        return np.asarray(PositiveDefinite().check(y) & ones.all(axis=-1))

    def pattern_fault(self, y: Array) -> str:
        """Say which elements differ that should be equal, or which on the diagonal is not one."""
        diagonal = np.diagonal(y)
        k = int(np.abs(diagonal - 1.0).argmax())
        known = abs(diagonal[k] - 1.0) > ROUNDING
        return asymmetry_fault(y, ROUNDING) or (
            f"element [{k}, {k}], on the diagonal, is {diagonal[k]:g}" if known else ""
        )
