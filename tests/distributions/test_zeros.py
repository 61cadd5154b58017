"""Zero-inflated and hurdle distributions: exactness at the edges, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import evaluated
from scipy import stats

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.constraints import IntegerInterval, Interval
from probmodel.density import as_posterior
from probmodel.errors import DataError, ModelError


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.4, 1.0 - 1e-12])
@pytest.mark.parametrize("rate", [1e-9, 2.0, 400.0])
def test_zero_inflation_is_exact_for_tiny_probabilities(p, rate):
    dist = d.ZeroInflated(0.5, d.Poisson(1))
    logp, (in_rate, in_p) = evaluated(dist, [1, 2], 0, rate, p)
    log_f = -rate
    # From the logarithms, so that nothing is lost where both terms are tiny.
    expected = np.logaddexp(np.log(p), np.log1p(-p) + log_f)
    assert logp == pytest.approx(expected, rel=1e-13)
    assert in_rate == pytest.approx(-np.exp(np.log1p(-p) + log_f - expected), rel=1e-10)
    assert in_p == pytest.approx(-np.expm1(log_f) * np.exp(-expected), rel=1e-10)


def test_no_inflation_is_the_distribution_itself():
    dist = d.ZeroInflated(0.5, d.Poisson(1))
    for y in range(4):
        logp, (in_rate, _) = evaluated(dist, [1, 2], y, 1.7, 0.0)
        assert logp == pytest.approx(stats.poisson(1.7).logpmf(y))
        assert in_rate == pytest.approx(y / 1.7 - 1.0)


def test_certain_zeros_allow_nothing_else():
    dist = d.ZeroInflated(0.5, d.Poisson(1))
    assert evaluated(dist, [1, 2], 0, 1.7, 1.0)[0] == 0.0
    assert evaluated(dist, [1, 2], 2, 1.7, 1.0)[0] == -np.inf


@pytest.mark.parametrize("rate", [1e-5, 0.3, 50.0])
def test_hurdle_is_conditional_on_not_being_zero(rate):
    dist = d.Hurdle(0.5, d.Poisson(1))
    for y in (1, 3):
        logp, (in_rate, in_p) = evaluated(dist, [1, 2], y, rate, 1e-300)
        expected = stats.poisson.logpmf(y, rate) - np.log(-np.expm1(-rate))
        assert logp == pytest.approx(expected, rel=1e-12)
        # The difference of two terms of size 1 / rate.
        expected = y / rate - 1.0 - 1.0 / np.expm1(rate)
        assert in_rate == pytest.approx(expected, rel=1e-9, abs=1e-15 / rate)
        assert in_p == -1.0
    logp, (in_rate, in_p) = evaluated(dist, [1, 2], 0, rate, 1e-300)
    assert (logp, in_rate) == (np.log(1e-300), 0.0)
    assert in_p == pytest.approx(1e300)


def test_distribution_functions_of_inflated_counts():
    dist = d.ZeroInflated(0.5, d.Poisson(1))
    params = np.array(2.2), np.array(0.3)
    for x in (-1.0, 0.0, 2.0, 5.5):
        below = (x >= 0) * (0.3 + 0.7 * stats.poisson(2.2).cdf(x))
        with np.errstate(divide="ignore"):
            actual = dist.log_cdf(np, np.array(x), *params), dist.log_ccdf(np, np.array(x), *params)
        assert np.exp(actual[0]) == pytest.approx(below, abs=1e-15)
        assert np.exp(actual[1]) == pytest.approx(1.0 - below, rel=1e-12)


def test_distribution_functions_of_inflated_numbers_on_both_sides_of_zero():
    dist = d.ZeroInflated(0.5, d.DiscreteUniform(-2, 2))
    params = np.array(-2), np.array(2), np.array(0.3)
    x = np.arange(-3.0, 4.0)
    below = np.cumsum([0.0, 0.14, 0.14, 0.44, 0.14, 0.14, 0.0])
    with np.errstate(divide="ignore"):
        actual = dist.log_cdf(np, x, *params), dist.log_ccdf(np, x, *params)
    np.testing.assert_allclose(np.exp(actual[0]), below, atol=1e-15)
    np.testing.assert_allclose(np.exp(actual[1]), 1.0 - below, atol=1e-15)


@pytest.mark.parametrize(
    ("dist", "kind", "bounds"),
    [
        (d.ZeroInflated(0.1, d.Poisson(1)), IntegerInterval, (0,)),
        (d.ZeroInflated(0.1, d.YuleSimon(1)), IntegerInterval, (0,)),
        (d.Hurdle(0.1, d.Binomial(4, 0.5)), IntegerInterval, (0, 4)),
        (d.Hurdle(0.1, d.Beta(1, 1)), Interval, (0.0, 1.0)),
    ],
)
def test_zero_is_in_the_support(dist, kind, bounds):
    support = dist.support()
    assert type(support) is kind
    assert tuple(support.bounds) == bounds
    assert support.check(np.array(0), *support.bounds)


def test_models_with_zeros():
    class Amounts(Model):
        p = param(d.Beta(1, 1))
        shape = param(d.HalfNormal(2))
        y = observed(d.Hurdle(p, d.Gamma(shape, 1.0)), dims="obs")

    y = np.array([0.0, 0.3, 0.0, 2.1])
    model = Amounts(y=y)
    assert "Hurdle(p, Gamma(shape, 1))" in str(model)
    density = as_posterior(model)
    x, h = np.random.default_rng(0).standard_normal((3, 2)), 1e-6
    by_differences = [
        (density.log_density(x + h * e) - density.log_density(x - h * e)) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(density(x).grad, np.stack(by_differences, axis=1), rtol=1e-6)
    assert np.isfinite(density.hessian(x)).all()
    with pytest.raises(DataError, match="Hurdle"):
        Amounts(y=-y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.ZeroInflated(0.1, d.Normal(0, 1)), r"Normal is continuous. Hurdle\(p, dist\)"),
        (lambda: d.ZeroInflated(d.Poisson(1), 0.1), "takes a distribution second, float was given"),
        (lambda: d.Hurdle(0.1, d.Dirichlet([1, 1])), "a value of Dirichlet has 1 axes"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ModelError, match=message):
        call()


def test_draws_that_are_never_anything_but_zero_are_refused():
    dist = d.Hurdle(0.1, d.Poisson(1))
    params = np.array(0.0), np.array(0.1)
    with pytest.raises(ModelError, match="Poisson were all zero"):
        dist.sample(np.random.default_rng(0), (3,), *params)
