"""The distribution of Lewandowski, Kurowicka and Joe, of Cholesky factors of correlations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import CorrelationCholesky, Positive
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.log_powers import log_power
from probmodel.numerics.linalg import diagonal
from probmodel.numerics.special import gammaln
from probmodel.types import Array


class LKJCholesky(Distribution):
    r"""Distribution of the Cholesky factor of an `LKJ` correlation matrix.

    .. math:: p(L) = \frac{1}{Z} \prod_{k=2}^K L_{kk}^{K - k + 2 \eta - 2}, \quad
              \log Z = \sum_{k=2}^K \tfrac{k-1}{2} \log \pi
              + \log\Gamma(\eta + \tfrac{K-k}{2}) - \log\Gamma(\eta + \tfrac{K-1}{2})

    Parameters
    ----------
    eta : shape :math:`\eta > 0`; the correlation matrix is uniform at 1, close to the identity
        where it is large

    Notes
    -----
    The value is a lower triangular matrix, (K, K), whose rows have length one; the density is with
    respect to the elements below the diagonal, and reads the diagonal alone. Stan:
    ``lkj_corr_cholesky(eta)``. SciPy: none. With a vector of scales,
    ``MvNormal(mu, cholesky=scale[:, None] * L)`` has the covariance that they make together.

    References
    ----------
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines
    and extended onion method. Journal of Multivariate Analysis 100.
    """

    parameters: ClassVar = {"eta": Parameter(Positive())}
    domain = CorrelationCholesky()
    event_ndim = 2

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for a negative diagonal element."""
        (eta,) = params
        eta = where_valid(eta > 0, eta)
        size = value.shape[-1]
        terms = log_power(xp, _powers(eta, size), diagonal(value))
        return xp.sum(terms, axis=-1) - log_normaliser(eta, size)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw factors, each row by itself: ``shape`` ends with their size, twice.

        The squared length of what row k has below the diagonal is a beta variable with parameters
        ``(k - 1) / 2`` and ``eta + (K - k) / 2``, its direction uniform: the onion method.
        """
        (eta,) = params
        size = shape[-1]
        if size == 1:
            return np.ones(shape)
        batch, k = shape[:-2], np.arange(2.0, size + 1.0)
        below = rng.standard_gamma(0.5 * (k - 1.0), (*batch, size - 1))
        on = rng.standard_gamma(_tails(np.asarray(eta), size), (*batch, size - 1))
        direction = np.tril(rng.standard_normal(shape), -1)[..., 1:, :]
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        factor = np.zeros(shape)
        factor[..., 0, 0] = 1.0
        factor[..., 1:, :] = direction * np.sqrt(below / (below + on))[..., None]
        rows = np.arange(1, size)
        factor[..., rows, rows] = np.sqrt(on / (below + on))
        return factor


def log_normaliser(eta: Any, size: int) -> Any:
    """Logarithm of the integral of ``det(C)**(eta - 1)`` over correlation matrices: batch shape.

    Row by row of the Cholesky factor, each is an integral over a ball:
    ``pi**((k - 1) / 2) Gamma(eta + (K - k) / 2) / Gamma(eta + (K - 1) / 2)``.
    """
    constant = 0.25 * size * (size - 1.0) * np.log(np.pi)
    rows = gammaln(_tails(eta, size)).sum(axis=-1)
    return constant + rows - (size - 1.0) * gammaln(eta + 0.5 * (size - 1.0))


def _tails(eta: Any, size: int) -> Any:
    """``eta + (K - k) / 2`` for k = 2, ..., K: (..., size - 1)."""
    return eta[..., None] + 0.5 * np.arange(size - 2.0, -1.0, -1.0)


def _powers(eta: Any, size: int) -> Any:
    """Power of each element of the diagonal, none for the first: (..., size)."""
    k = np.arange(1.0, size + 1.0)
    others = 1.0 * (k > 1.0)
    return others * (size - k - 2.0) + 2.0 * others * eta[..., None]
