"""What the hand-written targets share, and the Gaussian and the banana.

Each target satisfies `probmodel.types.CurvedLogDensity` and `MetricLogDensity`: a call gives log
density (up to a constant) and gradient of every row; a row that is not finite gets ``-inf`` and a
zero gradient.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array, Evaluation


def evaluation(logp: Array, grad: Array) -> Evaluation:
    """Mark the rows that are not finite by ``-inf`` and a zero gradient."""
    if np.isfinite(logp).all() and np.isfinite(grad).all():
        return Evaluation(logp, grad)
    good = np.isfinite(logp) & np.isfinite(grad).all(axis=1)
    return Evaluation(np.where(good, logp, -np.inf), np.where(good[:, None], grad, 0.0))


class Target:
    """What the targets share.

    Attributes
    ----------
    dim : number of coordinates
    coordinate_names : ``x[0]``, ``x[1]``, ...
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.coordinate_names = tuple(f"x[{i}]" for i in range(dim))

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return evaluation(*self.value_and_gradient(x))

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        raise NotImplementedError

    def value(self, x: Array) -> Array:
        """Log density alone (chains,), finite or not."""
        return self.value_and_gradient(x)[0]

    def log_density(self, x: Array) -> Array:
        """Log density alone: (chains,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            logp = self.value(x)
        return np.where(np.isfinite(logp), logp, -np.inf)

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        raise NotImplementedError

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""
        unit = np.eye(self.dim)
        columns = [self.hvp(x, np.broadcast_to(unit[i], x.shape)) for i in range(self.dim)]
        return np.stack(columns, axis=2)

    def metric(self, x: Array) -> Array:
        """Metric at ``x``: minus the Hessian, (chains, dim, dim).

        For these models it is the Fisher information and the curvature of the prior too.
        """
        return -self.hessian(x)


class Gaussian(Target):
    """Normal distribution with a full or a diagonal covariance.

    Parameters
    ----------
    mean : (dim,)
    covariance : (dim, dim), or (dim,) for the diagonal of a diagonal one
    """

    def __init__(self, mean: Array, covariance: Array) -> None:
        super().__init__(len(mean))
        self.mean = mean
        self.covariance = covariance
        self.diagonal = covariance.ndim == 1
        self.precision = 1.0 / covariance if self.diagonal else np.linalg.inv(covariance)

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        deviation = x - self.mean
        grad = self.hvp(x, deviation)
        return 0.5 * np.sum(deviation * grad, axis=1), grad

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        return -(v * self.precision if self.diagonal else v @ self.precision)

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density, the same everywhere: (chains, dim, dim)."""
        precision = np.diag(self.precision) if self.diagonal else self.precision
        return np.broadcast_to(-precision, (len(x), self.dim, self.dim))

    def covariance_matrix(self) -> Array:
        """Covariance as a full matrix: (dim, dim)."""
        return np.diag(self.covariance) if self.diagonal else self.covariance


class Banana(Target):
    """Normal distribution bent along a parabola; extra coordinates are standard normal.

    ``log p = -x_1^2/200 - (x_2 - b (x_1^2 - 100))^2 / 2``; mean zero, sd(x_1) = 10,
    sd(x_2) = sqrt(1 + 2 b^2 10^4).

    Parameters
    ----------
    bend : b
    dim : number of coordinates, at least 2
    """

    def __init__(self, bend: float = 0.1, dim: int = 2) -> None:
        super().__init__(dim)
        self.bend = bend

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        first = x[:, 0]
        residual = x[:, 1] - self.bend * (first**2 - 100.0)
        grad = -x
        grad[:, 0] = -first / 100.0 + 2.0 * self.bend * first * residual
        grad[:, 1] = -residual
        rest = np.sum(x[:, 2:] ** 2, axis=1)
        return -0.5 * (first**2 / 100.0 + residual**2 + rest), grad

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        first = x[:, 0]
        residual = x[:, 1] - self.bend * (first**2 - 100.0)
        cross = 2.0 * self.bend * first
        product = -v
        product[:, 0] = (2.0 * self.bend * residual - 0.01 - cross**2) * v[:, 0] + cross * v[:, 1]
        product[:, 1] = cross * v[:, 0] - v[:, 1]
        return product

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws: (n, dim)."""
        x = rng.standard_normal((n, self.dim))
        x[:, 0] *= 10.0
        x[:, 1] += self.bend * (x[:, 0] ** 2 - 100.0)
        return x
