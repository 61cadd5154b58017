"""Gaussian processes that share a covariance matrix, up to scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.vector.matrix_forms import Covariance, CovarianceRoot, MatrixArguments
from probmodel.numerics.linalg import diagonal, outer
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class MultiGP(OfStandardNormal, MatrixArguments):
    r"""Independent normal vectors, as rows, with one covariance matrix over weights of their own.

    .. math:: p(Y) = \prod_{i=1}^m \mathrm{normal}(y_i \mid 0, K / w_i)

    Parameters
    ----------
    covariance : K, (n, n), symmetric positive definite, such as a kernel at n points
    cholesky : its lower Cholesky factor
    w : inverse scales of the m rows, (m,), positive

    One of the two matrices is given. The value is an m by n matrix.

    Notes
    -----
    Stan: ``multi_gp(covariance, w)``, ``multi_gp_cholesky``. SciPy: none.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.
    """

    signature: ClassVar = {
        "matrix": {"covariance": Covariance, "cholesky": CovarianceRoot},
        "w": Parameter(Positive(), event_ndim=1),
    }
    event_ndim = 2
    domain = Real()
    any_root = True
    takes_pseudo_data = "whole"

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One row for each weight, one column for each row of the matrix."""
        matrix, w = params
        return (w.shape[-1], matrix.shape[-1])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        matrix, w = params
        w = where_valid(w > 0, w)
        m, n = value.shape[-2:]
        whitening = self.forms["matrix"].rows(matrix)
        z = whitening.whiten(value)
        rows = 0.5 * xp.sum(n * xp.log(w) - w * xp.sum(z * z, axis=-1), axis=-1)
        return rows + m * whitening.log_det - 0.5 * LOG_2PI * m * n

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on matrix and weights."""
        (matrix, w), (of_matrix, of_w) = params, changes
        m, n = w.shape[-1], matrix.shape[-1]
        total: Any = 0.0
        if of_w is not None:
            change = (of_w + np.zeros(m)) / w
            total = 0.5 * n * xp.sum(change * change, axis=-1)
        if of_matrix is not None:
            s = self.forms["matrix"].whitened_change(matrix, of_matrix + np.zeros((n, n)))
            total = total + 0.5 * m * xp.sum(s * s, axis=(-2, -1))
            if of_w is not None:
                total = total - xp.sum(diagonal(s), axis=-1) * xp.sum(change, axis=-1)
        return total

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """Eigenvalues of the matrix over each weight."""
        matrix, w = params
        return outer(1.0 / w, self.forms["matrix"].eigenvalues(matrix))

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix the elements of each row, and scale the row."""
        matrix, w = params
        return self.forms["matrix"].rows(matrix).color(z) / xp.sqrt(w)[..., None]

    def standardise(self, value: Array, *params: Any) -> Array:
        """Scale and whiten the rows."""
        matrix, w = params
        return np.asarray(self.forms["matrix"].rows(matrix).whiten(value * np.sqrt(w)[..., None]))
