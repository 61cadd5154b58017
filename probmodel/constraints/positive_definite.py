"""Covariance matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.cholesky_factor import CholeskyFactor, matrix_size
from probmodel.constraints.triangle import ROUNDING, asymmetry_fault, common_fault
from probmodel.numerics.linalg import cholesky
from probmodel.types import Array

_ASYMMETRY = 1e-8  # of elements, relative to the largest


class PositiveDefinite(CholeskyFactor):
    r"""Symmetric positive definite matrices :math:`\Sigma = L L'`.

    The free coordinates are those of the Cholesky factor L in `CholeskyFactor`: the logarithms of
    its diagonal, and the elements below it. u = 0 is the identity matrix. The log-Jacobian is
    :math:`K \log 2 + \sum_{k=1}^K (K - k + 2) \log L_{kk}`, for the elements of :math:`\Sigma` on
    and below the diagonal.

    References
    ----------
    Stan Reference Manual 2.37, "Covariance matrices".
    """

    name = "a symmetric positive definite matrix"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the product of the Cholesky factor with its transpose."""
        factor = super().forward(xp, u)
        return xp.matmul(factor, xp.swapaxes(factor, -1, -2))

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the weighted sum of the log diagonal of the factor, and ``K log 2``."""
        size = matrix_size(u)
        weights = np.arange(size + 1.0, 1.0, -1.0)
        return size * np.log(2.0) + xp.sum(weights * u[..., :size], axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the free coordinates of the Cholesky factor."""
        return super().inverse(cholesky(y))

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each matrix is finite, symmetric within 1e-8 and has positive eigenvalues."""
        if y.shape[-1] != y.shape[-2]:
            return np.zeros(y.shape[:-2], dtype=bool)
        finite = np.isfinite(y).all(axis=(-1, -2))
        scale = np.abs(y).max(axis=(-1, -2))
        symmetric = np.abs(y - np.swapaxes(y, -1, -2)).max(axis=(-1, -2)) <= _ASYMMETRY * scale
        usable = np.where((finite & symmetric)[..., None, None], y, np.eye(y.shape[-1]))
        return np.asarray(finite & symmetric & (np.linalg.eigvalsh(usable) > 0).all(axis=-1))

    def pattern_fault(self, y: Array) -> str:
        """Say which elements differ that should be equal."""
        return asymmetry_fault(y, ROUNDING)

    def fault(self, y: Array) -> str:
        """Say which elements differ, or how negative an eigenvalue is."""
        found = common_fault(y) or asymmetry_fault(y, _ASYMMETRY)
        return found or f"its smallest eigenvalue is {np.linalg.eigvalsh(y)[0]:g}"
