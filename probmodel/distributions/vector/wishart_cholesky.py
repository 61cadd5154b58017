"""The distribution of the Cholesky factor of a Wishart matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import CholeskyFactor
from probmodel.constraints.base import Constraint
from probmodel.distributions.domain import where_valid
from probmodel.distributions.vector.wishart_family import (
    WishartFamily,
    bartlett,
    log_normaliser,
    lower_root,
)
from probmodel.numerics.linalg import diagonal, transpose
from probmodel.types import Array


class WishartCholesky(WishartFamily):
    r"""Distribution of the Cholesky factor of a `Wishart` matrix.

    .. math:: p(L) = \frac{2^n}{2^{\nu n/2} |S|^{\nu/2} \Gamma_n(\nu/2)}
              \prod_{i=1}^n L_{ii}^{\nu - i} \exp\{-\tfrac12 \mathrm{tr}(S^{-1} L L')\}

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > n - 1`
    scale : S, (n, n), symmetric positive definite; the mean of :math:`L L'` is :math:`\nu S`
    cholesky : its lower Cholesky factor

    One of the two matrices is given. The value is a lower triangular matrix with a positive
    diagonal, (n, n); the density is with respect to the elements on and below the diagonal.

    Notes
    -----
    Stan: ``wishart_cholesky(df, cholesky)``. SciPy: none. As the prior of a parameter it says the
    same as `Wishart`, with less work and less rounding.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.

    References
    ----------
    Bartlett (1933), On the theory of statistical regression.
    """

    sign = -1.0
    domain: ClassVar[Constraint] = CholeskyFactor()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for a negative diagonal element."""
        df, matrix = params
        n = value.shape[-1]
        df = where_valid(df > n - 1.0, df)
        w = self.forms["matrix"].rows(matrix)
        z = w.whiten(transpose(value))
        on_diagonal = xp.sum(_powers(xp, df, n) * xp.log(diagonal(value)), axis=-1)
        constant = df * w.log_det - log_normaliser(df, n) + n * np.log(2.0)
        return on_diagonal - 0.5 * xp.sum(z * z, axis=(-2, -1)) + constant

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw factors by Bartlett's decomposition: ``shape`` ends with their size, twice."""
        df, matrix = params
        root = lower_root(self.forms["matrix"].rows(matrix), shape[-1])
        return np.asarray(root @ bartlett(rng, shape, df))


def _powers(xp: Any, df: Any, size: int) -> Any:
    """Powers of the elements of the diagonal: (..., size)."""
    return xp.expand_dims(df, -1) - np.arange(1.0, size + 1.0)
