"""Vectors of positive numbers that sum to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.types import Array


class Simplex(Constraint):
    r"""Probability vectors: the softmax of a vector that sums to zero.

    The K - 1 free coordinates are those of the zero-sum vector z in an orthonormal basis, so
    that all K elements are treated alike and u = 0 is the uniform vector. The log-Jacobian is
    :math:`-K \log\sum_k e^{z_k} + \frac12 \log K`, for the first K - 1 elements.

    References
    ----------
    Stan Reference Manual 2.37, "Unit simplex"; Egozcue et al. (2003), Isometric logratio
    transformations for compositional data analysis. Mathematical Geology 35.
    """

    event_ndim = 1
    element_limits = (0.0, 1.0)

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the softmax of the zero-sum vector of ``u``."""
        z = u @ zero_sum_basis(u.shape[-1] + 1)
        return xp.exp(z - log_sum_exp(xp, z))

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return ``-K logsumexp(z) + log(K) / 2``."""
        size = u.shape[-1] + 1
        z = u @ zero_sum_basis(size)
        return -size * log_sum_exp(xp, z)[..., 0] + 0.5 * np.log(size)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates of the centred logarithms."""
        log_y = np.log(y)
        centred = log_y - log_y.mean(axis=-1, keepdims=True)
        return np.asarray(centred @ zero_sum_basis(y.shape[-1]).T)

    def free_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """One coordinate fewer than elements."""
        return (*shape[:-1], shape[-1] - 1)

    def free_coords(self, y: Array) -> Array:
        """All elements but the last."""
        return y[..., :-1]

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector is non-negative and sums to one within 1e-8."""
        return (y >= 0).all(axis=-1) & (np.abs(y.sum(axis=-1) - 1.0) < 1e-8)

    def fault(self, y: Array) -> str:
        """Say what the elements add up to, or the least of them."""
        if (y < 0).any():
            return f"an element is {y.min():g}"
        return f"its elements add up to {y.sum():.9g}"


def log_sum_exp(xp: Any, z: Any, axis: int = -1) -> Any:
    """Log of the sum of exponentials over an axis, which is kept."""
    largest = xp.max(z, axis=axis, keepdims=True)
    return largest + xp.log(xp.sum(xp.exp(z - largest), axis=axis, keepdims=True))
