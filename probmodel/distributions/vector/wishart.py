"""The Wishart distribution."""

from __future__ import annotations

from probmodel.distributions.vector.wishart_cholesky import WishartCholesky
from probmodel.distributions.vector.wishart_family import ProductOfFactor


class Wishart(ProductOfFactor, WishartCholesky):
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
