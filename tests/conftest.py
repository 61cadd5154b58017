"""What tests of several packages share: targets of known truth, and a check of gradients."""

import gc
import os
import signal
from types import SimpleNamespace

# The matrices of the tests are small, and other tests run beside; read when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

from probmodel.testing.targets import Banana, Gaussian, HalfSpace, Target, random_covariance

# A shell lets what runs in its background ignore these, and so would every test of interrupts.
_USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
for _number, _usual in _USUAL.items():
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without looking for garbage, and never look through what was collected.

    Thousands of tests are objects that stay: to go over them again and again takes as long as to
    make them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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


@pytest.fixture
def small_pictures(monkeypatch):
    """Fits as pages, with pictures of few quantities, which take less time."""
    for name, number in (("QUANTITIES", 2), ("PAIRED", 2), ("PREDICTED", 20)):
        monkeypatch.setattr(f"probmodel.fit_page.{name}", number)


# As many chains as one, few, and more than a vector register holds.
CHAINS = (1, 2, 3, 16)
# Which of three points each chain is at, in no order that repeats.
_AT = np.array([0, 1, 2, 1, 0, 2, 2, 0, 1, 0, 2, 1, 1, 2, 0, 2])
_STEP = 1e-3  # of fourth-order differences: their own error is about its fourth power


@pytest.fixture(scope="session")
def assert_gradient():
    """Check log density and gradient for several numbers of chains by differences of a value.

    The check takes a density, a function (points, dim) -> (points,) and three points. The slope at
    each is compared along one direction, in which all coordinates move. Rounding errors of the
    value are magnified by the inverse of the step: 1e-7 allows the value 1e-10 of what it is,
    which is what remains to Cholesky factors and long sums.
    """

    def check(density, value, x, what=""):
        if hasattr(density, "use_engine"):
            density.use_engine("numpy")  # with which machine code is compared elsewhere
        v = np.random.default_rng(1).uniform(0.5, 1.5, x.shape)
        v *= np.random.default_rng(2).choice([-1.0, 1.0], x.shape)
        found = value(np.concatenate([x, *(x + _STEP * k * v for k in (1, -1, 2, -2))]))
        expected, near, back, far, last = found.reshape(5, 3)
        slope = (8 * (near - back) - (far - last)) / (12 * _STEP)
        for chains in CHAINS:
            at = _AT[:chains]
            logp, grad = density(x[at])
            moved = grad * v[at]
            size = 1.0 + np.abs(logp)
            close(logp, expected[at], 1e-9 * size, f"log density, {chains} chains, {what}")
            size += np.sum(np.abs(moved), axis=1)
            close(moved.sum(axis=1), slope[at], 1e-7 * size, f"gradient, {chains} chains, {what}")

    def close(found, expected, tolerance, what):
        bad = ~(np.abs(found - expected) <= tolerance)
        assert not bad.any(), f"{what}: {found[bad]} instead of {expected[bad]}"

    return check


@pytest.fixture(scope="session")
def assert_engines():
    """Check that machine code has NumPy's log density and gradient, for several numbers of chains.

    The check takes what that of `assert_gradient` takes.
    """
    from probmodel.compiler.machine import Machine

    def check(density, value, x, what=""):
        density.use_engine("numpy")
        machine = Machine(density._programs.gradient)
        for chains in sorted(CHAINS, reverse=True):  # code for many chains serves fewer
            at = x[_AT[:chains]]
            (found, slope), (logp, grad) = machine(at), density(at)
            fine = np.isfinite(logp)
            assert np.array_equal(fine, np.isfinite(found) & np.isfinite(slope).all(axis=1)), what
            size = 1.0 + np.abs(logp)
            close(found[fine], logp[fine], 1e-12 * size[fine], f"log density, {what}")
            size = 1.0 + np.max(np.abs(grad), axis=1, keepdims=True) + 0.0 * grad
            close(slope[fine], grad[fine], 2e-12 * size[fine], f"gradient, {what}")

    def close(found, expected, tolerance, what):
        bad = ~(np.abs(found - expected) <= tolerance)
        assert not bad.any(), f"{what}: {found[bad]} instead of {expected[bad]}"

    return check
