"""The multivariate gamma function, which normalises densities of positive definite matrices."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.numerics.special import gammaln, trigamma


def log_multigamma(x: Any, size: int) -> Any:
    r"""Logarithm of the multivariate gamma function of matrices of a size: the shape of ``x``.

    .. math:: \log\Gamma_n(x) = \tfrac{n (n - 1)}{4} \log\pi
              + \sum_{i=0}^{n-1} \log\Gamma(x - \tfrac{i}{2}), \quad x > \tfrac{n - 1}{2}
    """
    return 0.25 * size * (size - 1.0) * np.log(np.pi) + gammaln(_steps(x, size)).sum(axis=-1)


def multitrigamma(x: Any, size: int) -> Any:
    """Return the second derivative of `log_multigamma`: the shape of ``x``."""
    return trigamma(_steps(x, size)).sum(axis=-1)


def _steps(x: Any, size: int) -> Any:
    return anp.expand_dims(x, -1) - 0.5 * np.arange(size)
