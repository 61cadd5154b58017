"""Target distributions of the papers, written by hand in NumPy and batched over chains.

Each satisfies `probmodel.types.CurvedLogDensity`: a call gives log density (up to a constant) and
gradient of every row; a row that is not finite gets ``-inf`` and a zero gradient. `TARGETS` maps
the names of the command line to what builds them.

References
----------
Titsias (2023), *Optimal preconditioning and Fisher adaptive Langevin sampling* (gp100,
inhomogeneous, logistic regressions); Titsias and Dellaportas (2019), *Gradient-based adaptive
MCMC* (gauss51, gauss2d_99, neal100); Hirt, Titsias and Dellaportas (2021), *Entropy-based adaptive
Hamiltonian Monte Carlo* (banana).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from probmodel.types import Array, Evaluation

DATA = Path(__file__).resolve().parents[1] / "models" / "data"
LOGISTIC_DATA = ("pima", "ripley", "heart", "german", "australian", "caravan")


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

    def log_density(self, x: Array) -> Array:
        """Log density alone: (chains,)."""
        return self(x).logp

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        raise NotImplementedError

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""
        unit = np.eye(self.dim)
        columns = [self.hvp(x, np.broadcast_to(unit[i], x.shape)) for i in range(self.dim)]
        return np.stack(columns, axis=2)


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


class Logistic(Target):
    """Bayesian logistic regression with independent normal priors.

    ``log p = -sum_i log(1 + exp(-t_i)) - |theta|^2 / (2 tau^2)``, with the margins
    ``t_i = (2 y_i - 1) x_i' theta``.

    Parameters
    ----------
    X : (n, dim), inputs with whatever constant column is wanted
    y : (n,), zeros and ones
    prior_scale : tau
    """

    def __init__(self, X: Array, y: Array, prior_scale: float = 1.0) -> None:
        super().__init__(X.shape[1])
        self.signed = np.ascontiguousarray(X * (2.0 * y[:, None] - 1.0))
        self.prior_precision = prior_scale**-2.0

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        margin = x @ self.signed.T
        decay, half = self._sigmoid_parts(margin)
        np.log1p(decay, out=decay)
        decay -= np.minimum(margin, 0.0)
        grad = (0.5 - half) @ self.signed
        grad -= self.prior_precision * x
        return -decay.sum(axis=1) - 0.5 * self.prior_precision * np.sum(x * x, axis=1), grad

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        _, half = self._sigmoid_parts(x @ self.signed.T)
        weight = 0.25 - half * half
        return -(weight * (v @ self.signed.T)) @ self.signed - self.prior_precision * v

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""
        _, half = self._sigmoid_parts(x @ self.signed.T)
        weighted = self.signed.T * (0.25 - half * half)[:, None, :]
        return -weighted @ self.signed - self.prior_precision * np.eye(self.dim)

    @staticmethod
    def _sigmoid_parts(margin: Array) -> tuple[Array, Array]:
        """Return ``exp(-|t|)``, the only exponential needed, and ``sigmoid(t) - 1/2``."""
        decay = np.abs(margin)
        np.negative(decay, out=decay)
        np.exp(decay, out=decay)
        half = 1.0 + decay
        np.divide(1.0, half, out=half)
        half -= 0.5
        return decay, np.copysign(half, margin, out=half)


class LogisticData(NamedTuple):
    """Inputs with a column of ones at the end (n, dim), and zeros and ones (n,)."""

    X: Array
    y: Array


def logistic_data(name: str, *, standardise: bool = False) -> LogisticData:
    """Load one of the classification sets and append a column of ones.

    Parameters
    ----------
    name : one of `LOGISTIC_DATA`
    standardise : bring the inputs to mean 0 and variance 1 (divisor n - 1), as Titsias and
        Dellaportas (2019) do; Titsias (2023) does not
    """
    with np.load(DATA / f"{name}.npz") as stored:
        X, y = stored["X"].astype(np.float64), stored["y"].astype(np.float64)
    if standardise:
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return LogisticData(np.column_stack([X, np.ones(len(X))]), y)


def gp100() -> Gaussian:
    """Gaussian process at 100 points of [1, 2], variance growing along the way; mean 1."""
    s = np.linspace(1.0, 2.0, 100)
    kernel = np.outer(s, s) * np.exp(-0.5 * (s[:, None] - s) ** 2 / 0.09)
    return Gaussian(np.ones(100), kernel + 0.001 * np.eye(100))


def gauss51() -> Gaussian:
    """Gaussian process at 51 points of [0, 4]; mean 0, eigenvalues 0.01 to 12.07."""
    s = np.linspace(0.0, 4.0, 51)
    kernel = np.exp(-0.5 * (s[:, None] - s) ** 2 / 0.16)
    return Gaussian(np.zeros(51), kernel + 0.01 * np.eye(51))


def gauss2d_99() -> Gaussian:
    """Two coordinates with correlation 0.99."""
    return Gaussian(np.zeros(2), np.array([[1.0, 0.99], [0.99, 1.0]]))


def neal100() -> Gaussian:
    """Independent coordinates with standard deviations 0.01, 0.02, ..., 1; mean 0."""
    return Gaussian(np.zeros(100), (0.01 * np.arange(1, 101)) ** 2)


def inhomogeneous() -> Gaussian:
    """`neal100` with mean 1."""
    return Gaussian(np.ones(100), (0.01 * np.arange(1, 101)) ** 2)


def logistic(name: str, *, standardise: bool = False) -> Logistic:
    """Logistic regression with prior N(0, I) on one of the classification sets."""
    return Logistic(*logistic_data(name, standardise=standardise))


GAUSSIANS: dict[str, Callable[[], Gaussian]] = {
    "gp100": gp100,
    "inhomogeneous": inhomogeneous,
    "neal100": neal100,
    "gauss51": gauss51,
    "gauss2d_99": gauss2d_99,
}
TARGETS: tuple[str, ...] = (*GAUSSIANS, "banana", *LOGISTIC_DATA)


def make_target(name: str, *, standardise: bool = False) -> Target:
    """Build a target by its name; ``standardise`` concerns logistic regressions only."""
    if name in GAUSSIANS:
        return GAUSSIANS[name]()
    if name == "banana":
        return Banana()
    if name in LOGISTIC_DATA:
        return logistic(name, standardise=standardise)
    raise ValueError(f"unknown target {name!r}; choose from {', '.join(TARGETS)}")
