"""Log densities from plain functions: without a gradient, and with a metric."""

import autograd.numpy as anp
import numpy as np
import pytest

from probmodel import InitializationError, LogDensity, ModelError, SamplerError, infer
from probmodel.samplers import SAMPLERS
from probmodel.samplers.requirements import check_density
from probmodel.types import MetricLogDensity, Posterior

SCALES = np.array([0.5, 1.0, 2.0])


def gaussian(x):
    """In pure NumPy that autograd cannot trace."""
    out = np.empty(len(x))
    for row in range(len(x)):
        out[row] = -0.5 * np.sum((np.asarray(x[row], dtype=float) / SCALES) ** 2)
    return out


def traceable(x):
    return -0.25 * anp.sum(x**4, axis=1) - 0.5 * anp.sum(x**2, axis=1)


def metric(x):
    return np.eye(3) * (1.0 + 3.0 * x[:, None, :] ** 2)


# -- without a gradient ---------------------------------------------------------------------------


def without():
    return LogDensity.from_function(gaussian, 3, gradient=False)


def test_values_without_a_gradient():
    density = without()
    x = np.random.default_rng(1).normal(size=(4, 3))
    assert not density.has_gradient
    assert isinstance(density, Posterior)
    np.testing.assert_allclose(density.log_density(x), -0.5 * np.sum((x / SCALES) ** 2, axis=1))


@pytest.mark.parametrize("call", [
    lambda d, x: d(x),
    lambda d, x: d.hvp(x, x),
    lambda d, x: d.hessian(x),
])  # fmt: skip
def test_derivatives_that_were_ruled_out_are_refused(call):
    with pytest.raises(ModelError, match="'gaussian' was made without derivatives"):
        call(without(), np.zeros((2, 3)))


def test_others_have_a_gradient():
    assert LogDensity.from_function(traceable, 3).has_gradient
    assert LogDensity.from_function(gaussian, 3, gradient=lambda x: -x / SCALES**2).has_gradient


def test_a_function_that_cannot_be_differentiated_hears_of_the_choice():
    with pytest.raises(ModelError, match="gradient=False"):
        LogDensity.from_function(gaussian, 3)


def test_starting_points_need_the_log_density_only():
    def right_half(x):
        return np.where(x[:, 0] > 0, 0.0, np.nan)

    density = LogDensity.from_function(right_half, 2, gradient=False)
    x = density.initial_points(np.random.default_rng(2), 50)
    assert (x[:, 0] > 0).all()
    nowhere = LogDensity.from_function(lambda x: np.full(len(x), np.nan), 2, gradient=False)
    with pytest.raises(InitializationError, match="log density: -inf"):
        nowhere.initial_points(np.random.default_rng(2), 2)


def test_random_walk_samples_a_function_without_gradient():
    result = infer(without(), "rwm", draws=4000, warmup=1000, chains=8, seed=3, quiet=True)
    draws = result["posterior"]["x"].values.reshape(-1, 3)
    np.testing.assert_allclose(draws.std(axis=0), SCALES, rtol=0.15)


def test_methods_with_gradients_refuse_it():
    with pytest.raises(SamplerError, match="made without one"):
        check_density(SAMPLERS["mala"](), without())
    check_density(SAMPLERS["rwm"](), without())


# -- with a metric --------------------------------------------------------------------------------


def test_the_metric_of_a_function():
    density = LogDensity.from_function(traceable, 3, metric=metric)
    x = np.random.default_rng(4).normal(size=(5, 3))
    assert isinstance(density, MetricLogDensity)
    np.testing.assert_allclose(density.metric(x), -density.hessian(x), atol=1e-12)
    assert not isinstance(LogDensity.from_function(traceable, 3), MetricLogDensity)


def test_a_metric_goes_with_any_gradient():
    for gradient in (None, False, lambda x: -(x**3) - x):
        density = LogDensity.from_function(traceable, 3, gradient=gradient, metric=metric, name="z")
        assert density.metric(np.zeros((2, 3))).shape == (2, 3, 3)
        assert density.has_gradient == (gradient is not False)
        assert density.coordinate_names[0] == "z[0]"


def test_rows_of_a_metric_that_are_not_finite_are_nan():
    def broken(x):
        G = metric(x)
        G[x[:, 0] > 0, 0, 1] = np.inf
        return G

    density = LogDensity.from_function(traceable, 3, metric=broken)
    found = density.metric(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], np.diag([4.0, 1.0, 1.0]))


@pytest.mark.parametrize("wrong", [
    lambda x: np.eye(3),
    lambda x: 1.0 + x**2,
    lambda x: np.ones((len(x), 3, 2)),
])  # fmt: skip
def test_a_metric_of_another_shape_is_refused(wrong):
    with pytest.raises(ModelError, match=r"metric= of 'traceable' must map \(chains, 3\)"):
        LogDensity.from_function(traceable, 3, metric=wrong)


def test_the_shape_of_points_is_checked():
    density = LogDensity.from_function(traceable, 3, metric=metric)
    with pytest.raises(ValueError, match="expected an array of shape"):
        density.metric(np.zeros((2, 2)))


# -- second derivatives ---------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [
    lambda x: anp.sum(x, axis=1),
    lambda x: -anp.sum(anp.absolute(x), axis=1),
])  # fmt: skip
def test_the_hessian_of_a_function_with_constant_slopes_is_zero(flat):
    density = LogDensity.from_function(flat, 2)
    np.testing.assert_array_equal(density.hessian(np.ones((3, 2))), np.zeros((3, 2, 2)))
