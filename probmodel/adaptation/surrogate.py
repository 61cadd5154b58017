"""A Gaussian process on a grid, the surrogate of a function of two features with noisy values.

    x_j, n_j    distinct points, and how often each was evaluated          (n, 2), (n,)
    y_j         mean of the values at x_j                                  (n,)
    sigma_f     standard deviation of the function, before any value       ()
    kappa       length over which it changes, in either feature            ()
    sigma_e^2   variance of the noise of one value                         ()
    k(x, x')    sigma_f^2 exp(-|x - x'|^2 / (2 kappa^2))
    K, N        the matrix of k(x_i, x_j), the diagonal of sigma_e^2 / n_j (n, n)
    mu(x)       posterior mean, k(x)'(K + N)^-1 y                          (rows, columns)
    v(x)        posterior variance, k(x, x) - k(x)'(K + N)^-1 k(x)         (rows, columns)

Rasmussen and Williams (2006), "Gaussian processes for machine learning", chapter 2.

Values at one point are merged into their mean, whose noise has the variance sigma_e^2 / n_j: the
posterior is that of all values, and the matrices grow with the distinct points only. v is kept on
the grid and brought up to date by m more values at x, by the covariance c of the function with that
at x,

    c = k(., x) - k(.)'(K + N)^-1 k(x),    v <- v - c^2 / (v(x) + sigma_e^2 / m),

where a sum of kernels over a grid is one product of matrices, as k has a factor for each feature.
This costs O(n^3 + n grid), and no matrix of n times the grid is ever made.

The code is the package's own: a search that never ends needs merged values, and an acquisition
function that is annealed needs mu and v themselves. A library would weigh more than these lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.numerics.linalg import solve_lower
from probmodel.types import Array

Axes = tuple[Array, Array]


class Kernel(NamedTuple):
    """What is assumed of the function before it is evaluated.

    Attributes
    ----------
    amplitude : sigma_f
    length_scale : kappa
    noise : sigma_e^2
    """

    amplitude: float
    length_scale: float
    noise: float

    def __call__(self, a: Array, b: Array) -> Array:
        """Covariances of the function at two sets of points: (n, 2), (m, 2) -> (n, m)."""
        factors = (self._factor(a[:, j], b[:, j]) for j in range(2))
        return np.asarray(self.amplitude**2 * np.prod(list(factors), axis=0))

    def on_grid(self, points: Array, weights: Array, axes: Axes) -> Array:
        """Sum of the kernels at ``points``, (n, 2), with ``weights``, (n,): (rows, columns)."""
        rows, columns = (self._factor(points[:, j], axes[j]) for j in range(2))
        return np.asarray(self.amplitude**2 * (rows.T * weights) @ columns)

    def _factor(self, a: Array, b: Array) -> Array:
        """Part of the covariance that one feature makes up: (n,), (m,) -> (n, m)."""
        return np.asarray(np.exp(-0.5 * np.square((a[:, None] - b) / self.length_scale)))


class Surrogate(NamedTuple):
    """What is known of the function on a grid.

    Attributes
    ----------
    axes : (rows,) and (columns,), the features of the grid
    points : (n, 2), distinct, where it was evaluated
    means : (n,), y
    counts : (n,), how many values each mean is of
    variance : (rows, columns), v
    """

    axes: Axes
    points: Array
    means: Array
    counts: Array
    variance: Array


def no_values(kernel: Kernel, axes: Axes) -> Surrogate:
    """Return what is known before the first value."""
    variance = np.full((len(axes[0]), len(axes[1])), kernel.amplitude**2)
    return Surrogate(axes, np.empty((0, 2)), np.empty(0), np.empty(0, dtype=int), variance)


def add_values(
    kernel: Kernel, surrogate: Surrogate, point: Array, mean: float, count: int = 1
) -> Surrogate:
    """Return what is known after ``count`` more values at ``point``: (2,), on the grid or not."""
    axes, points, means, counts, variance = surrogate
    x = point[None]
    with_x = kernel(points, x)[:, 0]
    weights = _solve(kernel, surrogate, with_x)
    c = kernel.on_grid(x, np.ones(1), axes) - kernel.on_grid(points, weights, axes)
    spread = kernel.amplitude**2 - with_x @ weights + kernel.noise / count
    variance = np.maximum(variance - np.square(c) / spread, 0.0)
    same = (points == x).all(axis=1)
    if not same.any():
        points = np.concatenate([points, x])
        return Surrogate(axes, points, np.append(means, mean), np.append(counts, count), variance)
    counts = counts + count * same
    means = means + same * (mean - means) * count / counts
    return Surrogate(axes, points, means, counts, variance)


def posterior_mean(kernel: Kernel, surrogate: Surrogate) -> Array:
    """Return mu on the grid: (rows, columns)."""
    weights = _solve(kernel, surrogate, surrogate.means)
    return kernel.on_grid(surrogate.points, weights, surrogate.axes)


def _solve(kernel: Kernel, surrogate: Surrogate, b: Array) -> Array:
    """Return (K + N)^-1 b: (n,) -> (n,)."""
    if not len(b):
        return b
    covariance = kernel(surrogate.points, surrogate.points)
    root = np.linalg.cholesky(covariance + np.diag(kernel.noise / surrogate.counts))
    inner = solve_lower(root, b[:, None])
    return np.asarray(solve_lower(root, inner, transposed=True)[:, 0])
