"""The Wishart distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import PositiveDefinite
from probmodel.distributions.vector.wishart_cholesky import WishartCholesky
from probmodel.distributions.vector.wishart_family import log_product_jacobian
from probmodel.numerics.linalg import cholesky
from probmodel.types import Array


class Wishart(WishartCholesky):
    r"""Distribution of the scatter matrix of :math:`\nu` normal vectors.

    .. math:: p(X) = \frac{|X|^{(\nu - n - 1)/2}}{2^{\nu n/2} |S|^{\nu/2} \Gamma_n(\nu/2)}
              \exp\{-\tfrac12 \mathrm{tr}(S^{-1} X)\}

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > n - 1`
    scale : S, (n, n), symmetric positive definite; the mean is :math:`\nu S`
    cholesky : its lower Cholesky factor

    One of the two matrices is given. The value is a symmetric positive definite matrix, (n, n); the
    density is with respect to the elements on and below its diagonal, and derivatives are taken
    with respect to symmetric changes.

    Notes
    -----
    Stan: ``wishart(df, scale)``. SciPy: ``wishart(df, scale)``. As the prior of a parameter,
    `WishartCholesky` says the same with less work and less rounding.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.

    References
    ----------
    Wishart (1928), The generalised product moment distribution in samples from a normal
    multivariate population. Biometrika 20A.
    """

    domain = PositiveDefinite()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        root = cholesky(value)
        return super().log_kernel(xp, root, *params) - log_product_jacobian(xp, root)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw matrices: ``shape`` ends with their size, twice."""
        factor = super().sample(rng, shape, *params)
        return factor @ np.swapaxes(factor, -1, -2)
