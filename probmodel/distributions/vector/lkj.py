"""The distribution of Lewandowski, Kurowicka and Joe, of correlation matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import Correlation
from probmodel.distributions.domain import where_valid
from probmodel.distributions.vector.lkj_cholesky import LKJCholesky, log_normaliser
from probmodel.numerics.linalg import cholesky, log_det_lower
from probmodel.types import Array


class LKJ(LKJCholesky):
    r"""Distribution of correlation matrices by a power of their determinant.

    .. math:: p(C) = \frac{1}{Z} |C|^{\eta - 1}

    Parameters
    ----------
    eta : shape :math:`\eta > 0`; uniform at 1, close to the identity where it is large

    Notes
    -----
    The value is a symmetric positive definite matrix, (K, K), with ones on its diagonal; the
    density is with respect to the elements below it. Each correlation by itself is a symmetric
    beta variable on (-1, 1) with parameter :math:`\eta - 1 + K/2`. Derivatives are taken with
    respect to symmetric changes. Stan: ``lkj_corr(eta)``. SciPy: none.

    As the prior of a parameter, `LKJCholesky` says the same with less work and keeps all digits;
    here those of nearly singular matrices are lost, the more so the larger the matrix.

    References
    ----------
    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines
    and extended onion method. Journal of Multivariate Analysis 100.
    """

    domain = Correlation()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        (eta,) = params
        eta = where_valid(eta > 0, eta)
        log_det = 2.0 * log_det_lower(cholesky(value))
        return (eta - 1.0) * log_det - log_normaliser(eta, value.shape[-1])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw matrices: ``shape`` ends with their size, twice."""
        factor = super().sample(rng, shape, *params)
        return factor @ np.swapaxes(factor, -1, -2)
