"""The targets: derivatives against finite differences, exact draws against SciPy."""

import numpy as np
import pytest
from scipy import stats

from probmodel.testing.targets import OUTSIDE, Banana, Gaussian, HalfSpace, random_covariance
from probmodel.types import CurvedLogDensity, MetricLogDensity

RNG = np.random.default_rng(1)
TARGETS = {
    "gaussian": Gaussian(RNG.standard_normal(3), random_covariance(RNG, 3)),
    "banana": Banana(),
    "half space": HalfSpace(2),
}
STEP = 1e-5


@pytest.fixture(params=list(TARGETS))
def target(request):
    return TARGETS[request.param]


@pytest.fixture
def x(target):
    return target.exact(np.random.default_rng(2), 4)


def differences(function, x):
    """Central differences of each row's function, the new axis last."""
    columns = []
    for i in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[i] = STEP
        columns.append((function(x + step) - function(x - step)) / (2.0 * STEP))
    return np.stack(columns, axis=-1)


def test_gradients(target, x):
    logp, grad = target(x)
    np.testing.assert_array_equal(target.log_density(x), logp)
    np.testing.assert_allclose(grad, differences(target.log_density, x), rtol=1e-7, atol=1e-8)


def test_second_derivatives(target, x):
    hessian = target.hessian(x)
    expected = differences(lambda z: target(z).grad, x)
    np.testing.assert_allclose(hessian, expected, rtol=1e-7, atol=1e-8)
    v = np.random.default_rng(3).standard_normal(x.shape)
    product = np.stack([H @ row for H, row in zip(hessian, v, strict=True)])
    np.testing.assert_allclose(target.hvp(x, v), product, rtol=1e-12, atol=1e-14)


def test_metrics_are_those_of_the_residuals():
    banana, x = TARGETS["banana"], np.random.default_rng(4).standard_normal((4, 2))

    def residuals(z):
        return np.stack([z[:, 0], z[:, 1] - banana.b * (z[:, 0] ** 2 - 1.0)], axis=1)

    J = differences(residuals, x)
    np.testing.assert_allclose(banana.metric(x), np.swapaxes(J, 1, 2) @ J, rtol=1e-8)
    np.testing.assert_allclose(banana.log_density(x), -0.5 * np.sum(residuals(x) ** 2, axis=1))
    gaussian = TARGETS["gaussian"]
    np.testing.assert_array_equal(gaussian.metric(np.zeros((2, 3)))[1], gaussian.precision)


def test_they_offer_whatever_a_sampler_may_need(target):
    assert isinstance(target, CurvedLogDensity)
    assert isinstance(target, MetricLogDensity)


def test_exact_draws_of_the_normal_target():
    target = TARGETS["gaussian"]
    x = target.exact(np.random.default_rng(5), 4000)
    z = (x - target.mean) @ np.linalg.inv(np.linalg.cholesky(target.cov)).T
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(target.precision @ target.cov, np.eye(3), atol=1e-12)


def test_exact_draws_of_the_banana():
    x = Banana().exact(np.random.default_rng(6), 4000)
    straight = x[:, 1] - Banana.b * (x[:, 0] ** 2 - 1.0)
    for z in (x[:, 0], straight):
        assert stats.kstest(z, "norm").pvalue > 1e-3
    assert stats.kstest(x[:, 1], "norm").pvalue < 1e-3  # skew


def test_exact_draws_of_the_half_space():
    x = HalfSpace(2).exact(np.random.default_rng(7), 4000)
    assert stats.kstest(x[:, 0], "halfnorm").pvalue > 1e-3
    assert stats.kstest(x[:, 1], "norm").pvalue > 1e-3


@pytest.mark.parametrize("outside", OUTSIDE)
def test_outside_the_half_space(outside):
    target, x = HalfSpace(2, outside), np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, 2.0]])
    logp, grad = target(x)
    assert logp[0] == -2.5
    np.testing.assert_array_equal(grad[0], [-1.0, -2.0])
    fine = np.isfinite(logp[1:]) & np.isfinite(grad[1:]).all(axis=1)
    assert not fine.any()
    assert np.isnan(target.metric(x)[1:]).all()


def test_random_covariances_have_the_scales_they_promise():
    for dim in (1, 2, 10):
        scales = np.sqrt(np.linalg.eigvalsh(random_covariance(np.random.default_rng(8), dim)))
        expected = [1.0, 1.0] if dim == 1 else [10**-0.25, 10**0.25]
        np.testing.assert_allclose([scales.min(), scales.max()], expected, rtol=1e-12)
