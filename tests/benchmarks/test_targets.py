"""The hand-written targets: derivatives by finite differences, moments, and rows that fail."""

import numpy as np
import pytest
from datasets import SMALL_SETS, logistic_data, simulated_linear_data
from densities import Banana, Gaussian, Target
from regressions import LaplaceLinear, Logistic, log_of_product
from scipy import sparse
from scipy.stats import multivariate_normal
from targets import GAUSSIANS, make_target

from probmodel.adaptation.mode import find_mode
from probmodel.types import CurvedLogDensity, MetricLogDensity


def small_logistic(kind=np.asarray):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.standard_normal((30, 3)) * [1, 5, 0.1], np.ones(30)])
    X[::3, 1] = 0.0
    return Logistic(kind(X), (rng.random(30) < 0.4).astype(float), prior_scale=1.5)


def small_linear():
    X, y = simulated_linear_data(50)
    return LaplaceLinear(X[:, :4], y)


def builders():
    yield from ((name, build) for name, build in GAUSSIANS.items())
    yield "banana", lambda: Banana(dim=4)
    yield "logistic", small_logistic
    yield "sparse logistic", lambda: small_logistic(sparse.csr_array)
    yield "linear", small_linear


CASES = [pytest.param(build, id=name) for name, build in builders()]


class WrongSlope(Gaussian):
    """Negative control: a gradient of the wrong sign in one coordinate."""

    def value_and_gradient(self, x):
        logp, grad = super().value_and_gradient(x)
        grad[:, 0] *= -1
        return logp, grad


def directional_errors(target, x, direction, step=1e-5):
    """Errors of gradient and Hessian along a direction, relative to their size."""
    ahead, behind = target(x + step * direction), target(x - step * direction)
    slope = (ahead.logp - behind.logp) / (2 * step)
    curve = (ahead.grad - behind.grad) / (2 * step)
    slope_error = np.abs(slope - np.sum(target(x).grad * direction, axis=1))
    curve_error = np.abs(curve - target.hvp(x, direction)).max(axis=1)
    return slope_error / (1 + np.abs(slope)), curve_error / (1 + np.abs(curve).max(axis=1))


@pytest.mark.parametrize("build", CASES)
def test_derivatives(build):
    target = build()
    rng = np.random.default_rng(4)
    x = rng.standard_normal((5, target.dim))
    for error in directional_errors(target, x, rng.standard_normal(x.shape)):
        assert error.max() < 1e-5


def test_a_wrong_gradient_is_noticed():
    target = WrongSlope(np.zeros(3), np.ones(3))
    rng = np.random.default_rng(4)
    x = rng.standard_normal((5, 3))
    assert directional_errors(target, x, rng.standard_normal(x.shape))[0].max() > 1e-2


@pytest.mark.parametrize("build", CASES)
def test_is_a_curved_log_density_whose_rows_are_independent(build):
    target = build()
    assert isinstance(target, CurvedLogDensity)
    assert isinstance(target, MetricLogDensity)
    assert len(target.coordinate_names) == target.dim
    x = np.random.default_rng(7).standard_normal((4, target.dim))
    together = target(x)
    alone = [target(row[None, :]) for row in x]
    np.testing.assert_allclose(together.logp, [e.logp[0] for e in alone], rtol=1e-12)
    np.testing.assert_allclose(together.grad, np.vstack([e.grad for e in alone]), rtol=1e-9)
    np.testing.assert_allclose(target.log_density(x), together.logp, rtol=1e-12)


@pytest.mark.parametrize("build", CASES)
def test_hessian_holds_the_products(build):
    target = build()
    rng = np.random.default_rng(8)
    x, v = rng.standard_normal((2, 3, target.dim))
    product = np.einsum("cij,cj->ci", target.hessian(x), v)
    np.testing.assert_allclose(product, target.hvp(x, v), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(target.metric(x), -target.hessian(x))


@pytest.mark.parametrize("build", CASES)
def test_bad_rows_are_marked_and_leave_the_others_alone(build):
    target = build()
    x = np.random.default_rng(9).standard_normal((4, target.dim))
    good = target(x)
    x[1, 0], x[2, 0] = np.nan, np.inf
    logp, grad = target(x)
    assert np.all(logp[1:3] == -np.inf)
    assert np.all(grad[1:3] == 0)
    np.testing.assert_allclose(target.log_density(x), logp, rtol=1e-12)
    np.testing.assert_allclose(logp[[0, 3]], good.logp[[0, 3]], rtol=1e-12)
    np.testing.assert_allclose(grad[[0, 3]], good.grad[[0, 3]], rtol=1e-9)


@pytest.mark.parametrize("name", sorted(GAUSSIANS))
def test_gaussians_agree_with_scipy(name):
    target = GAUSSIANS[name]()
    x = np.random.default_rng(3).multivariate_normal(target.mean, target.covariance_matrix(), 3)
    reference = multivariate_normal(target.mean, target.covariance_matrix()).logpdf(x)
    np.testing.assert_allclose(np.diff(target(x).logp), np.diff(reference), rtol=1e-8)


def test_published_spectra():
    largest = {
        name: np.linalg.eigvalsh(GAUSSIANS[name]().covariance_matrix()) for name in GAUSSIANS
    }
    np.testing.assert_allclose(largest["gp100"][[0, -1]], [0.001, 147.04], rtol=1e-3)
    np.testing.assert_allclose(largest["gauss51"][[0, -1]], [0.01, 12.074], rtol=1e-3)


def test_banana_moments():
    draws = Banana().sample(np.random.default_rng(6), 200_000)
    standard_error = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0)) < 4 * standard_error)
    np.testing.assert_allclose(draws.std(axis=0), [10, np.sqrt(201)], rtol=0.02)


def test_logistic_is_the_sum_of_its_terms():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 4)), (rng.random(30) < 0.5).astype(float)
    theta = rng.standard_normal((3, 4)) * [[1], [10], [300]]
    z = theta @ X.T
    likelihood = np.sum(y * z - np.logaddexp(0, z), axis=1)
    expected = likelihood - 0.5 * np.sum(theta**2, axis=1) / 4.0
    np.testing.assert_allclose(Logistic(X, y, prior_scale=2.0)(theta).logp, expected, rtol=1e-12)


@pytest.mark.parametrize("name", SMALL_SETS)
def test_data_sets(name):
    X, y = logistic_data(name)
    dims = {"pima": 8, "ripley": 3, "heart": 14, "german": 25, "australian": 15, "caravan": 86}
    assert X.shape == (len(y), dims[name])
    assert np.all(X[:, -1] == 1)
    assert set(np.unique(y)) == {0.0, 1.0}
    scaled = logistic_data(name, standardise=True).X[:, :-1]
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(scaled.var(axis=0, ddof=1), 1, rtol=1e-10)
    assert isinstance(make_target(name), Target)


@pytest.mark.parametrize(("name", "shape", "ones"), [
    ("mnist", (11339, 785), 5918),
    ("mnist_7v9", (12214, 11), 5949),
    ("census", (32561, 7), 7841),
    ("covtype", (75000, 55), 36570),
])  # fmt: skip
def test_larger_data_sets(name, shape, ones):
    X, y = logistic_data(name)
    assert X.shape == shape
    assert (y == 1).sum() == ones == y.sum()
    X = X.toarray() if sparse.issparse(X) else X
    assert np.all(X[:, -1] == 1)
    assert np.isfinite(X).all()
    if name in ("mnist", "covtype"):
        assert X.min() == 0
        assert X.max() == 1
    else:
        np.testing.assert_allclose(X[:, :-1].mean(axis=0), 0, atol=1e-6)
    if name == "census":
        np.testing.assert_allclose(X[:, :-1].var(axis=0, ddof=1), 1, rtol=1e-10)


@pytest.mark.parametrize("name", ["mnist_7v9", "linear"])
def test_larger_posteriors(name):
    """The log density by blocks equals the one with a gradient, and that its differences."""
    target = make_target(name)
    rng = np.random.default_rng(1)
    x = find_mode(target, np.zeros((1, target.dim))).x[0] if name == "mnist_7v9" else target.fit
    x = x + 0.02 * rng.standard_normal((5, target.dim))
    np.testing.assert_allclose(target.log_density(x), target(x).logp, rtol=1e-12)
    slope, curve = directional_errors(target, x, rng.standard_normal(x.shape), step=1e-6)
    assert slope.max() < 1e-4
    assert curve.max() < 1e-4


def test_logarithm_of_a_long_product():
    """5000 factors near 2 overflow a double as one product; their logarithms do not."""
    factors = np.random.default_rng(1).uniform(1.9, 2.0, (2, 5000))
    expected = np.log(factors).sum(axis=1)
    np.testing.assert_allclose(log_of_product(factors.copy()), expected, rtol=1e-13)
    assert np.all(expected > np.log(np.finfo(float).max))


def test_linear_regression_is_the_sum_of_its_terms():
    X, y = simulated_linear_data(200)
    theta = np.random.default_rng(5).standard_normal((3, 10))
    residual = y - theta @ X.T
    expected = -np.sum(residual**2, axis=1) / 200.0 - np.abs(theta).sum(axis=1)
    found = LaplaceLinear(X, y)(theta).logp
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-10)


def test_simulated_inputs():
    X, y = simulated_linear_data()
    assert X.shape == (8000, 10)
    assert y.shape == (8000,)
    assert np.all(X[:, 0] == 1)
    spread = X[:, 1:].std(axis=0) / (0.5 * np.arange(2, 11))
    assert np.all(np.abs(spread - 1) < 4 / np.sqrt(2 * 8000))


def test_mode_has_no_slope():
    target = small_logistic()
    mode = find_mode(target, np.zeros((1, target.dim))).x[0]
    assert np.abs(target(mode[None]).grad).max() < 1e-4
    nearby = mode + 0.1 * np.random.default_rng(0).standard_normal((20, target.dim))
    assert np.all(target.log_density(nearby) < target.log_density(mode[None]))


def test_unknown_target_names_the_known_ones():
    with pytest.raises(ValueError, match="gp100"):
        make_target("gp")
