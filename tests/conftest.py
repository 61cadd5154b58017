"""Targets for everything that samples: those of known truth, and two regressions."""

from types import SimpleNamespace

import numpy as np
import pytest

from probmodel.testing.targets import Banana, Gaussian, HalfSpace, Target, random_covariance


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
