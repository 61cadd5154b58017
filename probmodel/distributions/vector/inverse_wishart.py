"""The inverse Wishart distribution."""

from __future__ import annotations

from probmodel.distributions.vector.inverse_wishart_cholesky import InverseWishartCholesky
from probmodel.distributions.vector.wishart_family import ProductOfFactor


class InverseWishart(ProductOfFactor, InverseWishartCholesky):
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
