"""The multivariate Student t distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.student_t import tail_information
from probmodel.distributions.vector.matrix_forms import Covariance, CovarianceRoot, MatrixArguments
from probmodel.numerics.linalg import diagonal
from probmodel.numerics.special import betaln, gammaln
from probmodel.types import Array

_LOG_PI = float(np.log(np.pi))


class MvStudentT(MatrixArguments):
    r"""Multivariate Student t distribution, by its scale matrix or the Cholesky factor of that.

    .. math:: p(y) = \frac{\Gamma((\nu + n) / 2)}{\Gamma(\nu / 2) (\nu \pi)^{n/2} |\Sigma|^{1/2}}
              \Bigl\{1 + \frac{1}{\nu} (y - \mu)' \Sigma^{-1} (y - \mu)\Bigr\}^{-(\nu + n) / 2}

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > 0`
    loc : location :math:`\mu`, (n,) or a number for all elements
    scale : :math:`\Sigma`, (n, n), symmetric positive definite; the covariance is
        :math:`\Sigma\, \nu / (\nu - 2)`, for :math:`\nu > 2`
    cholesky : its lower Cholesky factor :math:`L`, :math:`\Sigma = L L'`

    One of the two matrices is given. The value is a vector of length n.

    Notes
    -----
    Stan: ``multi_student_t(df, loc, scale)``, ``multi_student_t_cholesky``. SciPy:
    ``multivariate_t(loc, scale, df)``. ``scale`` is a matrix of squares, not of standard
    deviations, as in both. A matrix that does not depend on parameters is factorised once, and
    so is one or the sum of two of them, each times a number that may. Of a symmetric matrix the
    lower triangle is read, and derivatives are taken with respect to symmetric changes.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.

    References
    ----------
    Lange, Little and Taylor (1989), Robust statistical modeling using the t distribution: the
    information.
    """

    signature: ClassVar = {
        "df": Parameter(Positive()),
        "loc": Parameter(Real(), event_ndim=1, spreads=True),
        "matrix": {"scale": Covariance, "cholesky": CovarianceRoot},
    }
    event_ndim = 1
    domain = Real()
    any_root = True
    takes_pseudo_data = "whole"

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        df, loc, matrix = params
        w = self.forms["matrix"].vectors(matrix)
        z = w.whiten(value - loc)
        return log_spherical(xp, df, xp.sum(z * z, axis=-1), z.shape[-1]) + w.log_det

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on all parameters (Lange et al., appendix B)."""
        df, _, matrix = params
        of_df, of_loc, of_matrix = changes
        n, total = matrix.shape[-1], 0.0
        if of_loc is not None:
            z = self.forms["matrix"].vectors(matrix).whiten(of_loc + np.zeros(n))
            total = (df + n) / (df + n + 2.0) * xp.sum(z * z, axis=-1)
        if of_df is not None:
            total = total + of_df * of_df * information_in_df(df, n)
        if of_matrix is not None:
            s = self.forms["matrix"].whitened_change(matrix, of_matrix + np.zeros((n, n)))
            trace = xp.sum(diagonal(s), axis=-1)
            squares = (df + n) * xp.sum(s * s, axis=(-2, -1)) - trace * trace
            total = total + 0.5 * squares / (df + n + 2.0)
            if of_df is not None:
                total = total - 2.0 * of_df * trace / ((df + n) * (df + n + 2.0))
        return total

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors: ``shape`` ends with their length."""
        z = SphericalStudentT(params[0]).sample(rng, shape, params[0])
        return np.asarray(self.noncentered(np, z, *params))

    def base(self) -> Distribution:
        """Return the member with location zero and the identity as scale matrix."""
        return SphericalStudentT(self.args["df"])

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """Eigenvalues of the scale matrix."""
        return self.forms["matrix"].eigenvalues(params[2])

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix and shift the coordinates of a standard vector."""
        _, loc, matrix = params
        return loc + self.forms["matrix"].vectors(matrix).color(z)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Whiten the deviations from the location."""
        _, loc, matrix = params
        return np.asarray(self.forms["matrix"].vectors(matrix).whiten(value - loc))


class SphericalStudentT(Distribution):
    """The standard member of `MvStudentT`, from which the others are shifted and mixed.

    Parameters
    ----------
    df : degrees of freedom
    """

    parameters: ClassVar = {"df": Parameter(Positive())}
    domain = Real()
    event_ndim = 1
    symmetric = True

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return log_spherical(xp, params[0], xp.sum(value * value, axis=-1), value.shape[-1])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors: ``shape`` ends with their length."""
        (df,) = params
        stretch = np.sqrt(df / rng.chisquare(df, shape[:-1]))
        return np.asarray(rng.standard_normal(shape) * np.asarray(stretch)[..., None])


def log_spherical(xp: Any, df: Any, squares: Any, n: int) -> Any:
    """Log density of the standard member, given the squared length of the vector.

    The gamma functions are a beta function, which stays accurate for large ``df``.
    """
    df = where_valid(df > 0, df)
    gammas = gammaln(0.5 * n) - betaln(0.5 * df, 0.5 * n)
    return gammas - 0.5 * n * (xp.log(df) + _LOG_PI) - 0.5 * (df + n) * xp.log1p(squares / df)


def information_in_df(df: Array, n: int) -> Array:
    """Information of a vector of length ``n`` on the degrees of freedom.

    Written as the sum of what every two coordinates more add to it, which is positive: nothing
    cancels for many degrees of freedom. By the recursion of the trigamma function.
    """
    start = tail_information(df, np.ones(()))["df", "df"]() if n % 2 else 0.0
    df = np.asarray(df)[..., None]
    k = np.arange(2 + n % 2, n + 1, 2)
    added = 2.0 * ((k - 2.0) ** 2 + df * (k + 2.0))
    added = added / (df * (df + k) * (df + k - 2.0) ** 2 * (df + k + 2.0))
    return np.asarray(start + added.sum(axis=-1))
