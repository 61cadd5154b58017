"""The smooth absolute value of SoftAbs, and its slopes.

lambda    eigenvalue of a Hessian
a         softness                                       ()
f         lambda coth(a lambda)
J         (f_i - f_j) / (lambda_i - lambda_j)            (chains, dim, dim)

Betancourt (2013), "A general metric for Riemannian manifold Hamiltonian Monte Carlo".
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

CLOSE = 1e-4  # distance of a lambda_i and a lambda_j from which their slope is a derivative
SMALL, LARGE = 0.02, 20.0  # |a lambda| below which a series serves, and from which f is |lambda|


def soft_absolute(eigenvalues: Array, a: float) -> Array:
    """Return f(lambda) = lambda coth(a lambda), with its limit 1/a at zero; of any shape."""
    size = np.abs(eigenvalues)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        t = a * size
        return np.where(t > np.finfo(float).tiny, size / np.tanh(t), 1.0 / a)


def soft_slopes(t: Array) -> Array:
    """Return J of the eigenvalues t / a: (chains, dim) -> (chains, dim, dim).

    These are divided differences of t coth t; for values close to each other, its derivative.
    """
    left, right = t[:, :, None], t[:, None, :]
    value = soft_absolute(t, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = left - right
        close = np.abs(gap) < CLOSE
        quotient = (value[:, :, None] - value[:, None, :]) / np.where(close, 1.0, gap)
        slopes = np.where(close, _soft_derivative(0.5 * left + 0.5 * right), quotient)
    slopes = np.where(np.minimum(left, right) > LARGE, 1.0, slopes)
    return np.where(np.maximum(left, right) < -LARGE, -1.0, slopes)


def _soft_derivative(t: Array) -> Array:
    """Differentiate t coth t: coth t - t / sinh(t)^2."""
    small, large = np.abs(t) < SMALL, np.abs(t) > LARGE
    u = np.where(small | large, 1.0, t)
    series = t * (2.0 / 3.0 - t * t * (4.0 / 45.0 - t * t * 12.0 / 945.0))
    exact = 1.0 / np.tanh(u) - u / np.sinh(u) ** 2
    return np.where(small, series, np.where(large, np.sign(t), exact))
