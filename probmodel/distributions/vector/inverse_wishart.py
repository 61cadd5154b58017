"""The inverse Wishart distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import PositiveDefinite
from probmodel.distributions.vector.inverse_wishart_cholesky import InverseWishartCholesky
from probmodel.distributions.vector.wishart_family import log_product_jacobian
from probmodel.numerics.linalg import cholesky
from probmodel.types import Array


class InverseWishart(InverseWishartCholesky):
    r"""Distribution of the inverse of a `Wishart` matrix: conjugate to a normal covariance.

    .. math:: p(X) = \frac{|S|^{\nu/2} |X|^{-(\nu + n + 1)/2}}{2^{\nu n/2} \Gamma_n(\nu/2)}
              \exp\{-\tfrac12 \mathrm{tr}(S X^{-1})\}

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > n - 1`
    scale : S, (n, n), symmetric positive definite; the mean is :math:`S / (\nu - n - 1)`, for
        :math:`\nu > n + 1`
    cholesky : its lower Cholesky factor

    One of the two matrices is given. The value is a symmetric positive definite matrix, (n, n); the
    density is with respect to the elements on and below its diagonal, and derivatives are taken
    with respect to symmetric changes.

    Notes
    -----
    Stan: ``inv_wishart(df, scale)``. SciPy: ``invwishart(df, scale)``. As the prior of a parameter,
    `InverseWishartCholesky` says the same with less work and less rounding.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, third edition, appendix A.
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
