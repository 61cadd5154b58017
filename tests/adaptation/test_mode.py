"""Newton's method: closed forms, SciPy's optimiser, and starts from which there is no mode."""

import numpy as np
import pytest
import scipy.optimize

from probmodel.adaptation.mode import find_mode
from probmodel.types import Evaluation


class Function:
    """A log density of one or more variables, from its value, gradient and Hessian."""

    coordinate_names = ()

    def __init__(self, dim, value, gradient, hessian):
        self.dim, self.value, self.gradient, self.curvature = dim, value, gradient, hessian

    def __call__(self, x):
        with np.errstate(all="ignore"):
            return Evaluation(self.value(x), self.gradient(x))

    def hessian(self, x):
        with np.errstate(all="ignore"):
            return self.curvature(x)


def quartic():
    """-sum x^4/4 + x: the mode is at one, the curvature zero at the origin."""
    return Function(
        2,
        lambda x: np.sum(x - x**4 / 4, axis=1),
        lambda x: 1 - x**3,
        lambda x: -3 * (x**2)[:, :, None] * np.eye(2),
    )


def double_well():
    """-(x^2 - 1)^2: modes at -1 and 1, convex between."""
    return Function(
        1,
        lambda x: -((x[:, 0] ** 2 - 1) ** 2),
        lambda x: -4 * x * (x**2 - 1),
        lambda x: (4 - 12 * x**2)[:, :, None],
    )


def test_normal_density_takes_one_step(targets):
    rng = np.random.default_rng(1)
    Q = targets.random_covariance(rng, 4)
    scales = np.logspace(-4, 3, 4)
    target = targets.Gaussian(rng.standard_normal(4), Q * np.outer(scales, scales))
    mode = find_mode(target, rng.standard_normal((3, 4)), most=1)
    assert mode.found.all()
    np.testing.assert_allclose(mode.x, np.tile(target.mean, (3, 1)), rtol=1e-6, atol=1e-6)
    for root in mode.root:
        np.testing.assert_allclose((root @ root.T) / target.cov, 1.0, rtol=1e-6)


def test_logistic_regression_agrees_with_scipy(targets):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 3)) * [0.01, 1.0, 100.0]
    target = targets.Logistic(X, rng.random(80) < 0.3)

    def hessian(x):
        p = 1.0 / (1.0 + np.exp(-x @ target.X.T))
        return -np.einsum("cn,ni,nj->cij", p * (1 - p), target.X, target.X) - np.eye(4)

    target.hessian = hessian
    mode = find_mode(target, rng.uniform(-2.0, 2.0, (5, 4)))
    assert mode.found.all()
    best = scipy.optimize.minimize(
        lambda x: -target(x[None])[0][0], np.zeros(4), jac=lambda x: -target(x[None])[1][0],
        method="BFGS", options={"gtol": 1e-9},
    )  # fmt: skip
    assert np.all(target(mode.x)[0] > -best.fun - 1e-8)
    np.testing.assert_allclose(mode.x, np.tile(mode.x[0], (5, 1)), atol=1e-4)
    covariance = np.linalg.inv(-hessian(mode.x[:1])[0])
    np.testing.assert_allclose(mode.root[0] @ mode.root[0].T, covariance, rtol=1e-5, atol=1e-9)


def test_banana_is_climbed_along_its_ridge(targets):
    mode = find_mode(targets.Banana(), np.array([[3.0, -4.0], [-5.0, 2.0], [0.0, 8.0]]))
    assert mode.found.all()
    np.testing.assert_allclose(mode.x, np.tile([0.0, -0.6], (3, 1)), atol=1e-4)


def test_starts_where_the_log_density_is_not_concave():
    mode = find_mode(double_well(), np.array([[0.1], [-0.3], [5.0]]))
    assert mode.found.all()
    np.testing.assert_allclose(mode.x[:, 0], [1.0, -1.0, 1.0], atol=1e-4)
    np.testing.assert_allclose(mode.root[:, 0, 0] ** 2, 1.0 / 8.0, rtol=1e-3)


def test_start_without_curvature():
    mode = find_mode(quartic(), np.zeros((1, 2)))
    assert mode.found.all()
    np.testing.assert_allclose(mode.x, 1.0, atol=1e-4)


def test_a_saddle_is_no_mode():
    """At the saddle itself there is no slope to follow."""
    mode = find_mode(double_well(), np.array([[0.0], [0.5]]))
    assert mode.found.tolist() == [False, True]


def test_unbounded_and_flat_densities_have_no_mode():
    ramp = Function(
        1, lambda x: x[:, 0], lambda x: np.ones_like(x), lambda x: np.zeros((len(x), 1, 1))
    )
    flat = Function(1, lambda x: 0 * x[:, 0], lambda x: 0 * x, lambda x: np.zeros((len(x), 1, 1)))
    for function in (ramp, flat):
        assert not find_mode(function, np.zeros((2, 1)), most=30).found.any()


def test_rows_do_not_touch_each_other(targets):
    target = targets.Banana()
    x = np.array([[3.0, -4.0], [-0.1, -0.5], [9.0, 9.0]])
    together = find_mode(target, x)
    for c in range(3):
        alone = find_mode(target, x[c : c + 1])
        np.testing.assert_allclose(alone.x[0], together.x[c], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_steps_stay_where_there_is_a_density(targets, outside):
    """The maximum over the half space is at its edge, which no step may cross."""
    target = targets.HalfSpace(2, outside)
    x = np.array([[1.0, 2.0], [0.01, -3.0]])
    mode = find_mode(Marked(target), x)
    assert np.all(mode.x[:, 0] > 0.0)
    assert np.isfinite(mode.x).all()
    assert np.isfinite(mode.root).all()


class Marked:
    """Marks rows that are not finite, as every log density of this package does."""

    def __init__(self, target):
        self.target, self.dim = target, target.dim

    def __call__(self, x):
        logp, grad = self.target(x)
        good = np.isfinite(logp) & np.isfinite(grad).all(axis=1)
        return Evaluation(np.where(good, logp, -np.inf), np.where(good[:, None], grad, 0.0))

    def hessian(self, x):
        return self.target.hessian(x)


def test_hessian_that_is_not_finite_is_replaced_by_gradient_steps():
    function = quartic()
    function.curvature = lambda x: np.full((len(x), 2, 2), np.nan)
    mode = find_mode(function, np.full((1, 2), 0.5))
    np.testing.assert_allclose(mode.x, 1.0, atol=1e-3)
