"""The matrix normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.vector.matrix_forms import (
    Covariance,
    CovarianceRoot,
    MatrixArguments,
    Precision,
)
from probmodel.distributions.vector.whitening import Whitening
from probmodel.numerics.linalg import diagonal, outer, transpose
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class MatrixNormal(OfStandardNormal, MatrixArguments):
    r"""Normal distribution of a matrix, with one covariance of its rows and one of its columns.

    .. math:: p(Y) = (2\pi)^{-nm/2} |U|^{-m/2} |V|^{-n/2}
              \exp\{-\tfrac12 \mathrm{tr}[V^{-1} (Y - M)' U^{-1} (Y - M)]\}

    Parameters
    ----------
    loc : mean M, (n, m) or a number for all elements
    row_covariance : U, (n, n), symmetric positive definite: how rows vary together
    row_cholesky, row_precision : its lower Cholesky factor, and its inverse
    column_covariance : V, (m, m), symmetric positive definite: how columns vary together
    column_cholesky, column_precision : its lower Cholesky factor, and its inverse

    Exactly one of the three matrices of each kind is given. The value is an n by m matrix; the
    covariance of its elements (i, k) and (j, l) is :math:`U_{ij} V_{kl}`.

    Notes
    -----
    Stan: ``matrix_normal_prec(loc, row_precision, column_precision)``, or ``multi_gp_cholesky`` for
    independent rows. SciPy: ``matrix_normal(loc, row_covariance, column_covariance)``. Only the
    product of the two covariances counts: where both are unknown, the scale of one of them has to
    be fixed.

    Raises
    ------
    ModelError
        If not exactly one matrix of a kind is given.

    References
    ----------
    Dawid (1981), Some matrix-variate distribution theory: notational considerations and a Bayesian
    application. Biometrika 68.
    """

    signature: ClassVar = {
        "loc": Parameter(Real(), event_ndim=2, spreads=True),
        "row": {
            "row_covariance": Covariance,
            "row_cholesky": CovarianceRoot,
            "row_precision": Precision,
        },
        "column": {
            "column_covariance": Covariance,
            "column_cholesky": CovarianceRoot,
            "column_precision": Precision,
        },
    }
    event_ndim = 2
    domain = Real()
    any_root = True
    takes_pseudo_data = "whole"

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """As many rows and columns as the covariances have."""
        return tuple(np.shape(matrix)[-1] for matrix in params[1:])

    def _whitenings(self, row: Any, column: Any) -> tuple[Whitening, Whitening]:
        return self.forms["row"].rows(row), self.forms["column"].rows(column)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        loc, *matrices = params
        u, v = self._whitenings(*matrices)
        z = _both(value - loc, u.whiten, v.whiten)
        n, m = z.shape[-2:]
        log_det = m * u.log_det + n * v.log_det
        return log_det - 0.5 * xp.sum(z * z, axis=(-2, -1)) - 0.5 * LOG_2PI * n * m

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information; the mean is orthogonal to both matrices."""
        (_, row, column), (of_loc, of_row, of_column) = params, changes
        n, m = row.shape[-1], column.shape[-1]
        total: Any = 0.0
        if of_loc is not None:
            u, v = self._whitenings(row, column)
            z = _both(of_loc + np.zeros((n, m)), u.whiten, v.whiten)
            total = xp.sum(z * z, axis=(-2, -1))
        if of_row is not None:
            s = self.forms["row"].whitened_change(row, of_row + np.zeros((n, n)))
            total = total + 0.5 * m * xp.sum(s * s, axis=(-2, -1))
        if of_column is not None:
            t = self.forms["column"].whitened_change(column, of_column + np.zeros((m, m)))
            total = total + 0.5 * n * xp.sum(t * t, axis=(-2, -1))
            if of_row is not None:
                total = total + xp.sum(diagonal(s), axis=-1) * xp.sum(diagonal(t), axis=-1)
        return total

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """Products of the eigenvalues of both covariances."""
        _, row, column = params
        return outer(self.forms["row"].eigenvalues(row), self.forms["column"].eigenvalues(column))

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix rows and columns of independent standard normal elements, and shift them."""
        loc, *matrices = params
        u, v = self._whitenings(*matrices)
        return loc + _both(z, u.color, v.color)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Whiten rows and columns of the deviations from the mean."""
        loc, *matrices = params
        u, v = self._whitenings(*matrices)
        return np.asarray(_both(value - loc, u.whiten, v.whiten))


def _both(value: Any, on_columns: Any, on_rows: Any) -> Any:
    """Apply one map to every column and another to every row of matrices."""
    return on_rows(transpose(on_columns(transpose(value))))
