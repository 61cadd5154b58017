"""Comparisons in arithmetic, bounds that vary, and numbers that are not finite."""

import arviz as az
import numpy as np
import pytest

from probmodel import (
    Model,
    compute_deterministics,
    deterministic,
    infer,
    observed,
    param,
    potential,
    predict,
    prior_predictive,
)
from probmodel.density import as_posterior
from probmodel.distributions import Normal

B = np.array([0.3, -0.4, 1.2])

EXPRESSIONS = {
    "sum": lambda a, b: 1.0 * (b > 0) + 1.0 * (b > -1),
    "whole sum": lambda a, b: (b > 0) * 1 + (b > -1),
    "quotients": lambda a, b: (b > 0) / 1 + (a > 0) / 1,
    "same but for the type": lambda a, b: ((b > 0) + True) + ((b > 0) + 1),
    "difference": lambda a, b: np.diff(1.0 * (b > 0)),
    "product": lambda a, b: (1.0 * (b > -5)) @ (1.0 * (b > -6)),
    "reciprocal": lambda a, b: a / ((b > 0) + 1) + ((b > 0) + 1) ** -1.0,
    "total": lambda a, b: np.sum((b > 0) + (a > 0)),
    "negative": lambda a, b: -((b > 0) * 1),
    "saved": lambda a, b: (b > 0) * 1,
    "stairs": lambda a, b: (b > -1) + (b > 0) + (b > a),
    "two of parameters": lambda a, b: (a > 0) + (b > 0),
}


class Counting(np.ndarray):
    """Numbers whose comparisons are 0 and 1."""

    def __gt__(self, other):
        return np.greater(self, other).view(np.ndarray).astype(int)


def evaluated(function):
    class One(Model):
        a = param(Normal(0, 1))
        b = param(Normal(0, 1), shape=3)
        made = deterministic(function(a, b))
        term = potential(a * made)

    return as_posterior(One())


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_comparisons_count(name):
    function = EXPRESSIONS[name]
    density = evaluated(function)
    x = np.append(0.7, B)[None]
    expected = function(np.array(0.7).view(Counting), B.view(Counting))
    np.testing.assert_allclose(density.constrain(x)["made"][0], expected)
    np.testing.assert_allclose(density.terms(x)["potential of term"], [np.sum(0.7 * expected)])
    logp = density(x).logp
    np.testing.assert_allclose(logp, density.log_density(x))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.clip(b, a - 0.5, a + 0.4),
        lambda a, b: np.clip(a, np.array([-1.0, 0.0, 1.0]), np.array([0.5, 2.0, 3.0])),
        lambda a, b: np.clip(b, None, a),
        lambda a, b: np.clip(np.array([0.1, 0.9]), a, 2.0),
    ],
)
def test_clip_with_bounds_that_vary(function):
    density = evaluated(function)
    x = np.array([[0.7, *B], [-0.2, *B]])
    made = density.constrain(x)["made"]
    for row, value in zip(x, made, strict=True):
        np.testing.assert_allclose(value, function(row[0], row[1:]))
    steps = 1e-6 * np.eye(4)
    numeric = [(density.log_density(x + h) - density.log_density(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(density(x).grad, np.stack(numeric, 1), atol=1e-7)


MASKS = {
    "data": lambda b: (np.array([True, True, False]), np.array([True, False, False])),
    "whole numbers": lambda b: (np.array([1, 2, 0]), np.array([3, 0, 1])),
    "comparisons": lambda b: (b > 0, b > 1),
}


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", MASKS)
def test_slopes_that_are_masks_add_up(name, sign):
    class Masked(Model):
        b = param(shape=3)
        first, second = MASKS[name](b)
        one = potential(sign * (b * first))
        other = potential(np.sum(b * second) - np.sum(second * b * 3.0))
        product = potential(sign * (b @ (first * 1)) - b @ (second * 1))

    density = as_posterior(Masked())
    x = np.stack([B, -B])
    steps = 1e-6 * np.eye(3)
    numeric = [(density.log_density(x + h) - density.log_density(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(density(x).grad, np.stack(numeric, 1), atol=1e-8)


@pytest.mark.parametrize(
    "options", [{}, {"axis": 0}, {"axis": (0, 2)}, {"axis": 1, "keepdims": True}]
)
def test_products_of_zeros_have_derivatives(options):
    class Products(Model):
        b = param(shape=(2, 3, 2))
        term = potential(np.prod(b * (b > 0), **options) + 0.1 * np.prod(b, **options))

    density = as_posterior(Products())
    x = np.random.default_rng(1).standard_normal((3, 12))
    x[0, :2] = 0.0
    steps = 1e-6 * np.eye(12)
    numeric = [(density.log_density(x + h) - density.log_density(x - h)) / 2e-6 for h in steps]
    found = density(x).grad
    smooth = x != 0.0
    np.testing.assert_allclose(found[smooth], np.stack(numeric, 1)[smooth], atol=1e-7)
    v = np.random.default_rng(2).standard_normal((2, 12))
    change = (density(x[1:] + 1e-6 * v).grad - density(x[1:] - 1e-6 * v).grad) / 2e-6
    np.testing.assert_allclose(density.hvp(x[1:], v), change, atol=1e-6)


def test_the_standard_deviation_of_one_element_is_zero_and_flat():
    density = evaluated(lambda a, b: np.std(b[:, None], axis=1) + b)
    x = np.append(0.7, B)[None]
    np.testing.assert_allclose(density(x).grad[0, 1:], 0.7 - B)
    np.testing.assert_allclose(density(x).logp, density.log_density(x))


@pytest.mark.parametrize("factor", [np.inf, np.nan, 1e200])
def test_infinite_factors_reject_the_point(factor):
    class Infinite(Model):
        a = param(Normal(0, 1))
        term = potential(a * 1e200 * factor)

    logp, grad = as_posterior(Infinite())(np.array([[1.0], [2.0]]))
    assert np.isneginf(logp).all()
    np.testing.assert_array_equal(grad, 0.0)


def test_densities_that_are_the_same_everywhere():
    class Flat(Model):
        a = param()
        b = param(Normal(0, 1), shape=2)
        known = observed(Normal(0, 1), dims="obs")

    class Counting(Model):
        a = param()
        term = potential(2 * (a > 0))

    logp, grad = as_posterior(Flat(known=[0.0]))(np.zeros((3, 3)))
    assert logp.shape == (3,)
    assert grad.shape == (3, 3)

    class Constant(Model):
        a = param()
        term = potential(2)

    for model, expected in ((Constant(), [2.0, 2.0]), (Counting(), [2.0, 0.0])):
        logp, grad = as_posterior(model)(np.array([[1.0], [-1.0]]))
        np.testing.assert_array_equal(logp, expected)
        assert logp.dtype == np.float64
        np.testing.assert_array_equal(grad, 0.0)


def test_truth_values_are_0_and_1_in_results():
    class Signed(Model):
        a = param(Normal(0, 1))
        positive = deterministic(a > 0)
        y = observed(Normal(a, 1), dims="obs")

    model = Signed(y=[0.1, 0.2])
    fit = infer(model, "nuts", draws=100, warmup=100, chains=2, seed=1, quiet=True)
    draws = fit["posterior"]
    share = float((draws["a"] > 0).mean())
    assert float(az.summary(fit)["mean"]["positive"]) == pytest.approx(share, abs=0.01)
    own = infer(model, "nuts", draws=9, warmup=9, chains=1, seed=1, quiet=True, var_names="a")
    results = (
        draws,
        compute_deterministics(model, own)["posterior"],
        predict(model, fit, var_names=["positive"], seed=1)["predictions"],
        prior_predictive(model, seed=1)["prior"],
    )
    for group in results:
        assert group["positive"].dtype.kind == "i"
        assert bool(group["positive"].isin([0, 1]).all())
