"""Targets of known truth: exact draws, and derivatives of every kind that a sampler may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, get_args

import numpy as np

from probmodel.types import Array, Evaluation, Tempered

Outside = Literal["marker", "nan", "inf", "nan gradient"]

OUTSIDE: tuple[Outside, ...] = get_args(Outside)
PRIOR_SCALE = 3.0  # of the normal prior, for samplers that begin there


class Target(ABC):
    """A log density with its gradient, batched over chains.

    Attributes
    ----------
    dim : number of coordinates
    coordinate_names : none
    """

    dim: int
    coordinate_names: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""

    def log_density(self, x: Array) -> Array:
        """Log density alone at ``x``: (chains, dim) -> (chains,)."""
        return self(x)[0]


class KnownTarget(Target):
    """A target that can be drawn from exactly, with second derivatives and a metric.

    Its prior is N(0, 9 I): the likelihood is what is left of the density.
    """

    @abstractmethod
    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""

    @abstractmethod
    def metric(self, x: Array) -> Array:
        """Metric at ``x``: (chains, dim, dim), positive definite."""

    @abstractmethod
    def exact(self, rng: np.random.Generator, n: int) -> Array:
        """Return independent draws: (n, dim)."""

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        return np.einsum("cij,cj->ci", self.hessian(x), v)

    def prior_sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw from the prior: (n, dim)."""
        return PRIOR_SCALE * rng.standard_normal((n, self.dim))

    def tempered(self, x: Array, beta: Array) -> Tempered:
        """Log density with the likelihood to the power of ``beta``: (n, dim), (n,)."""
        score = -x / PRIOR_SCALE**2
        log_prior = 0.5 * np.sum(x * score, axis=1)
        logp, grad = self(x)
        with np.errstate(invalid="ignore"):
            return Tempered.marked(
                (1.0 - beta) * log_prior + beta * logp,
                (1.0 - beta)[:, None] * score + beta[:, None] * grad,
                logp - log_prior,
            )


class Gaussian(KnownTarget):
    """N(mean, cov); its metric is the precision matrix.

    Parameters
    ----------
    mean : (dim,)
    cov : (dim, dim), positive definite
    """

    def __init__(self, mean: Array, cov: Array) -> None:
        self.mean, self.cov = np.asarray(mean, dtype=float), np.asarray(cov, dtype=float)
        self.dim = len(self.mean)
        self.precision = np.linalg.inv(self.cov)

    def __call__(self, x: Array) -> Evaluation:
        """Log density, up to a constant, and gradient."""
        score = -(x - self.mean) @ self.precision
        return Evaluation(0.5 * np.sum((x - self.mean) * score, axis=1), score)

    def hessian(self, x: Array) -> Array:
        """Return minus the precision matrix, for every chain."""
        return np.broadcast_to(-self.precision, (len(x), self.dim, self.dim))

    def metric(self, x: Array) -> Array:
        """Return the precision matrix, for every chain."""
        return np.broadcast_to(self.precision, (len(x), self.dim, self.dim))

    def exact(self, rng: np.random.Generator, n: int) -> Array:
        """Return independent draws: (n, dim)."""
        return rng.multivariate_normal(self.mean, self.cov, n)


class Banana(KnownTarget):
    """x0 ~ N(0, 1), x1 | x0 ~ N(b (x0^2 - 1), 1): skew, so that a wrong sign shows.

    The log density is minus half the sum of two squared residuals; the metric is their
    Gauss-Newton matrix.
    """

    dim = 2
    b = 0.6

    def __call__(self, x: Array) -> Evaluation:
        """Log density, up to a constant, and gradient."""
        e = self._residual(x)
        grad = np.stack([-x[:, 0] + 2.0 * self.b * x[:, 0] * e, -e], axis=1)
        return Evaluation(-0.5 * (x[:, 0] ** 2 + e**2), grad)

    def hessian(self, x: Array) -> Array:
        """Return minus the Gauss-Newton matrix, plus what the curvature of x0^2 adds."""
        out = -self._gauss_newton(x)
        out[:, 0, 0] += 2.0 * self.b * self._residual(x)
        return out

    def metric(self, x: Array) -> Array:
        """Return the Gauss-Newton matrix of the residuals."""
        return self._gauss_newton(x)

    def exact(self, rng: np.random.Generator, n: int) -> Array:
        """Return independent draws: (n, 2)."""
        x0 = rng.standard_normal(n)
        return np.stack([x0, self.b * (x0**2 - 1.0) + rng.standard_normal(n)], axis=1)

    def _residual(self, x: Array) -> Array:
        return x[:, 1] - self.b * (x[:, 0] ** 2 - 1.0)

    def _gauss_newton(self, x: Array) -> Array:
        slope = 2.0 * self.b * x[:, 0]
        out = np.ones((len(x), 2, 2))
        out[:, 0, 0] = 1.0 + slope**2
        out[:, 0, 1] = out[:, 1, 0] = -slope
        return out


class HalfSpace(KnownTarget):
    """N(0, I) where x0 > 0; elsewhere there is no density.

    Parameters
    ----------
    dim : number of coordinates
    outside : what is returned where there is no density: ``"marker"``, minus infinity and a zero
        gradient; ``"nan"``; ``"inf"``, plus infinity; ``"nan gradient"``, a finite value whose
        gradient is NaN
    """

    def __init__(self, dim: int, outside: Outside = "marker") -> None:
        self.dim, self.outside = dim, outside

    def __call__(self, x: Array) -> Evaluation:
        """Log density, up to a constant, and gradient; outside as it was chosen."""
        values = {
            "marker": (-np.inf, 0.0),
            "nan": (np.nan, np.nan),
            "inf": (np.inf, 1.0),
            "nan gradient": (1.0, np.nan),
        }
        logp, grad = values[self.outside]
        inside = x[:, 0] > 0.0
        return Evaluation(
            np.where(inside, -0.5 * np.sum(x * x, axis=1), logp),
            np.where(inside[:, None], -x, grad),
        )

    def hvp(self, x: Array, v: Array) -> Array:
        """Return minus ``v``; zeros outside."""
        return np.where(x[:, :1] > 0.0, -v, 0.0)

    def hessian(self, x: Array) -> Array:
        """Return minus the identity for every chain; zeros outside."""
        return np.where(x[:, :1, None] > 0.0, -np.eye(self.dim), 0.0)

    def metric(self, x: Array) -> Array:
        """Return the identity for every chain; NaN outside."""
        return np.where(x[:, :1, None] > 0.0, np.eye(self.dim), np.nan)

    def exact(self, rng: np.random.Generator, n: int) -> Array:
        """Return independent draws: (n, dim)."""
        x = rng.standard_normal((n, self.dim))
        x[:, 0] = np.abs(x[:, 0])
        return x


def random_covariance(rng: np.random.Generator, dim: int) -> Array:
    """Return a covariance with no structure to rely on, and scales from 0.6 to 1.8: (dim, dim)."""
    Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    return Q @ np.diag(np.logspace(-0.5, 0.5, dim) if dim > 1 else np.ones(1)) @ Q.T
