"""Targets with known truth, for everything that samples."""

from types import SimpleNamespace

import numpy as np
import pytest


class Target:
    """A log density of known moments; subclasses evaluate rows ``x``: (chains, dim)."""

    coordinate_names = ()

    def log_density(self, x):
        return self(x)[0]


class Gaussian(Target):
    """N(mean, cov), with exact draws and second derivatives."""

    def __init__(self, mean, cov):
        self.mean, self.cov = np.asarray(mean, dtype=float), np.asarray(cov, dtype=float)
        self.dim = len(self.mean)
        self.precision = np.linalg.inv(self.cov)

    def __call__(self, x):
        score = -(x - self.mean) @ self.precision
        return 0.5 * np.sum((x - self.mean) * score, axis=1), score

    def hvp(self, x, v):
        return -v @ self.precision

    def hessian(self, x):
        return np.broadcast_to(-self.precision, (len(x), self.dim, self.dim))

    def exact(self, rng, n):
        return rng.multivariate_normal(self.mean, self.cov, n)


class Banana(Target):
    """x0 ~ N(0, 1), x1 | x0 ~ N(b (x0^2 - 1), 1): skew, so that a wrong sign shows."""

    dim = 2
    b = 0.6

    def __call__(self, x):
        e = x[:, 1] - self.b * (x[:, 0] ** 2 - 1.0)
        grad = np.stack([-x[:, 0] + 2.0 * self.b * x[:, 0] * e, -e], axis=1)
        return -0.5 * (x[:, 0] ** 2 + e**2), grad

    def hvp(self, x, v):
        return np.einsum("cij,cj->ci", self.hessian(x), v)

    def hessian(self, x):
        e = x[:, 1] - self.b * (x[:, 0] ** 2 - 1.0)
        cross = 2.0 * self.b * x[:, 0]
        first = -1.0 + 2.0 * self.b * e - cross**2
        return np.moveaxis(np.array([[first, cross], [cross, -np.ones(len(x))]]), 2, 0)

    def exact(self, rng, n):
        x0 = rng.standard_normal(n)
        return np.stack([x0, self.b * (x0**2 - 1.0) + rng.standard_normal(n)], axis=1)


class HalfSpace(Gaussian):
    """N(0, I) where x0 > 0; elsewhere what ``outside`` says: NaN, an infinity, or the marker."""

    def __init__(self, dim, outside="marker"):
        super().__init__(np.zeros(dim), np.eye(dim))
        self.outside = outside

    def __call__(self, x):
        logp, grad = super().__call__(x)
        out = ~(x[:, 0] > 0.0)
        values = {
            "marker": (-np.inf, 0.0),
            "nan": (np.nan, np.nan),
            "inf": (np.inf, 1.0),
            "nan gradient": (1.0, np.nan),
        }
        bad_logp, bad_grad = values[self.outside]
        return np.where(out, bad_logp, logp), np.where(out[:, None], bad_grad, grad)

    def hvp(self, x, v):
        return np.where(x[:, :1] > 0.0, -v, 0.0)

    def hessian(self, x):
        return np.where(x[:, :1, None] > 0.0, -np.eye(self.dim), 0.0)


class Logistic(Target):
    """Bayesian logistic regression with N(0, 1) priors, by hand; a column of ones is appended."""

    def __init__(self, X, y):
        self.X = np.column_stack([np.asarray(X, dtype=float), np.ones(len(X))])
        self.y = np.asarray(y, dtype=float)
        self.dim = self.X.shape[1]

    def __call__(self, x):
        z = x @ self.X.T
        e = np.exp(-np.abs(z))
        logp = z @ self.y - np.sum(np.log1p(e) + np.maximum(z, 0.0), axis=1)
        mean = np.where(z >= 0.0, 1.0, e) / (1.0 + e)
        return logp - 0.5 * np.sum(x * x, axis=1), (self.y - mean) @ self.X - x


class Poisson(Target):
    """Poisson regression with the exponential link and N(0, 100) priors: cliffs far out."""

    def __init__(self, X, y):
        self.X, self.y = X, y
        self.dim = X.shape[1]

    def __call__(self, x):
        with np.errstate(over="ignore", invalid="ignore"):
            z = x @ self.X.T
            mean = np.exp(z)
            logp = z @ self.y - np.sum(mean, axis=1) - 0.005 * np.sum(x * x, axis=1)
            grad = (self.y - mean) @ self.X - 0.01 * x
        bad = ~(np.isfinite(logp) & np.isfinite(grad).all(axis=1))
        return np.where(bad, -np.inf, logp), np.where(bad[:, None], 0.0, grad)


def random_covariance(rng, dim):
    """A covariance matrix with no structure to rely on, and scales from 0.6 to 1.8."""
    Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    return Q @ np.diag(np.logspace(-0.5, 0.5, dim) if dim > 1 else np.ones(1)) @ Q.T


@pytest.fixture(scope="session")
def targets():
    """Classes of targets."""
    return SimpleNamespace(
        Gaussian=Gaussian,
        Banana=Banana,
        HalfSpace=HalfSpace,
        Logistic=Logistic,
        Poisson=Poisson,
        random_covariance=random_covariance,
    )
