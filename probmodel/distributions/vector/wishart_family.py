"""What the Wishart distribution, its inverse, and those of their Cholesky factors share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, PositiveDefinite
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.vector.matrix_forms import Covariance, CovarianceRoot, MatrixArguments
from probmodel.distributions.vector.whitening import Whitening
from probmodel.numerics.linalg import cholesky, diagonal, transpose
from probmodel.numerics.special.multigamma import log_multigamma, multitrigamma
from probmodel.types import Array


class WishartFamily(MatrixArguments):
    """Distributions of positive definite matrices with degrees of freedom and a scale matrix."""

    signature: ClassVar = {
        "df": Parameter(Positive()),
        "matrix": {"scale": Covariance, "cholesky": CovarianceRoot},
    }
    event_ndim = 2

    # Which way the density moves with the log determinant of the scale matrix, for more df.
    sign: ClassVar[float]

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Degrees of freedom must be more than the size less one."""
        df, least = params[0], event[-1] - 1
        if df is None or np.all(df > least):
            return ""
        return (
            f"df must be above {least} for matrices of size {event[-1]} by {event[-1]}; "
            f"got {np.min(df):g}"
        )

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on degrees of freedom and matrix."""
        (df, matrix), (of_df, of_matrix) = params, changes
        n = matrix.shape[-1]
        total: Any = 0.0
        if of_df is not None:
            total = 0.25 * multitrigamma(0.5 * df, n) * of_df * of_df
        if of_matrix is not None:
            s = self.forms["matrix"].whitened_change(matrix, of_matrix + np.zeros((n, n)))
            total = total + 0.5 * df * xp.sum(s * s, axis=(-2, -1))
            if of_df is not None:
                total = total - self.sign * of_df * xp.sum(diagonal(s), axis=-1)
        return total


class ProductOfFactor(Distribution):
    """Distribution of ``L L'``; the class of the distribution of L comes next among the parents."""

    domain: ClassVar[Constraint] = PositiveDefinite()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        root = cholesky(value)
        return super().log_kernel(xp, root, *params) - log_product_jacobian(xp, root)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw matrices: ``shape`` ends with their size, twice."""
        factor = super().sample(rng, shape, *params)
        return factor @ np.swapaxes(factor, -1, -2)


def log_normaliser(df: Any, size: int) -> Any:
    """Logarithm of the constant of a standard matrix: batch shape."""
    return 0.5 * df * size * np.log(2.0) + log_multigamma(0.5 * df, size)


def log_product_jacobian(xp: Any, root: Any) -> Any:
    """Log Jacobian determinant of the product ``L L'`` in the elements of L: batch shape."""
    size = root.shape[-1]
    powers = size - np.arange(size)
    return size * np.log(2.0) + xp.sum(powers * xp.log(diagonal(root)), axis=-1)


def lower_root(whitening: Whitening, size: int) -> Any:
    """Return the lower Cholesky factor of the matrix to which a whitening belongs."""
    return transpose(whitening.color(np.eye(size))) * np.tril(np.ones((size, size)))


def bartlett(
    rng: np.random.Generator, shape: tuple[int, ...], df: Array, upwards: bool = False
) -> Array:
    """Draw lower triangular matrices with normal elements below a diagonal of chi variables.

    Parameters
    ----------
    shape : batch shape and the size of the matrices, twice
    df : squared, the first element of the diagonal has as many degrees of freedom, and each
        further one has one fewer
    upwards : whether to count from the last element instead

    Returns
    -------
    B; a Wishart matrix of the identity is ``B B'``, or ``B' B`` where it counts upwards
    """
    size = shape[-1]
    fewer = np.arange(size)[::-1] if upwards else np.arange(size)
    squares = 2.0 * rng.standard_gamma(0.5 * (np.asarray(df)[..., None] - fewer), shape[:-1])
    factor = np.tril(rng.standard_normal(shape), -1)
    factor[..., np.arange(size), np.arange(size)] = np.sqrt(squares)
    return factor
