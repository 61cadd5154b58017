"""Count distributions: limits, identities between them, tails, and what data may be."""

from __future__ import annotations

import math
from itertools import pairwise

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from derivatives import evaluated, program
from scipy import integrate, special, stats

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.errors import DataError
from probmodel.numerics.special.count_functions import (
    LARGEST_COUNT,
    log_one_minus_exp,
    poisson_counts,
)
from probmodel.numerics.special.rising import log_rising, rising_slope

COUNTS = np.arange(12.0)


def log_density(dist, value, *params):
    with np.errstate(all="ignore"):
        return dist.log_density(
            np, np.asarray(value, dtype=float), *(np.asarray(p, dtype=float) for p in params)
        )


# Special functions.


@pytest.mark.parametrize("a", [1e-8, 0.3, 7.0, 15.99, 16.0, 16.01, 40.0, 1e4, 1e7, 1e12])
def test_log_rising_is_the_sum_of_logarithms(a):
    for k in (0, 1, 2, 17, 400):
        expected = math.fsum(math.log(a + i) for i in range(k))
        actual = log_rising(np.array(a), np.array(float(k)))
        # The sum of up to k terms of this size is rounded to within a few units.
        assert actual == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_log_rising_does_not_lose_what_gamma_functions_lose():
    naive = math.lgamma(1e12 + 3.0) - math.lgamma(1e12)
    assert abs(naive - 3.0 * math.log(1e12)) > 1e-4
    assert log_rising(np.array(1e12), 3.0) == pytest.approx(3.0 * math.log(1e12), rel=1e-12)


def test_log_rising_of_small_and_large_bases_at_once():
    a, k = np.array([[0.5], [30.0]]), np.array([0.0, 2.0, 5.0])
    together = log_rising(a, k)
    for i, j in np.ndindex(2, 3):
        assert together[i, j] == pytest.approx(float(log_rising(a[i, 0], k[j])), rel=1e-15)
    bad = log_rising(np.array([np.nan, 20.0]), 1.0)
    assert np.isnan(bad[0])
    assert bad[1] == pytest.approx(math.log(20.0))


@pytest.mark.parametrize("a", [0.4, 3.0, 25.0, 900.0])
def test_log_rising_can_be_differentiated_twice(a):
    h = 1e-4 * a
    for k in (0.7, 6.0):
        difference = (log_rising(a + h, k) - log_rising(a - h, k)) / (2 * h)
        assert grad(log_rising)(a, k) == pytest.approx(difference, rel=1e-6)
        bend = (rising_slope(a + h, k) - rising_slope(a - h, k)) / (2 * h)
        assert grad(grad(log_rising))(a, k) == pytest.approx(bend, rel=1e-6)
        across = (log_rising(a, k + 1e-4) - log_rising(a, k - 1e-4)) / 2e-4
        assert grad(log_rising, 1)(a, k) == pytest.approx(across, rel=1e-6)


def test_the_log_of_the_other_tail():
    x = np.array([-1e-300, -1e-9, -0.5, -0.7, -3.0, -50.0, -800.0])
    # From log1p(-exp(x)) = log(-x) + x / 2 + O(x^2) near zero.
    expected = [
        math.log(1e-300), math.log(1e-9) - 5e-10, math.log(1 - math.exp(-0.5)),
        math.log(1 - math.exp(-0.7)), math.log1p(-math.exp(-3.0)), -math.exp(-50.0), 0.0,
    ]  # fmt: skip
    np.testing.assert_allclose(log_one_minus_exp(np, x), expected, rtol=1e-14)
    assert log_one_minus_exp(np, np.array(0.0)) == -np.inf
    assert np.isnan(log_one_minus_exp(np, np.array(np.nan)))
    slope = grad(lambda x: log_one_minus_exp(anp, x))
    for x in (-1e-3, -0.4, -2.0):
        assert slope(x) == pytest.approx(1.0 / (1.0 - math.exp(-x)), rel=1e-12)


# Limits and identities.


def test_without_overdispersion_they_are_poisson_and_binomial():
    poisson = stats.poisson.logpmf(COUNTS, 2.0)
    binomial = stats.binom.logpmf(COUNTS, 11, 0.3)
    for found, limit in (
        (log_density(d.NegativeBinomial2Log(0, 1), COUNTS, np.log(2.0), 1e14), poisson),
        (log_density(d.NegativeBinomial(1, 1), COUNTS, 2e14, 1e14), poisson),
        (log_density(d.BetaBinomial(1, 1, 1), COUNTS, 11, 3e14, 7e14), binomial),
    ):
        np.testing.assert_allclose(found, limit, rtol=1e-9)
    found = log_density(d.BetaNegativeBinomial(1, 1, 1), COUNTS, 2.6, 7e13, 3e13)
    np.testing.assert_allclose(found, stats.nbinom.logpmf(COUNTS, 2.6, 0.7), rtol=1e-9)


def test_a_negative_binomial_is_a_poisson_of_a_gamma_rate():
    alpha, beta = 2.6, 1.4
    for y in (0, 3, 9):
        mass = integrate.quad(
            lambda rate: stats.poisson.pmf(y, rate) * stats.gamma.pdf(rate, alpha, 0, 1 / beta),  # noqa: B023
            0, np.inf,
        )[0]  # fmt: skip
        found = log_density(d.NegativeBinomial(1, 1), y, alpha, beta)
        assert found == pytest.approx(np.log(mass), rel=1e-7)
        assert found != pytest.approx(
            log_density(d.NegativeBinomial(1, 1), y, beta, alpha), rel=1e-3
        )


def test_three_spellings_of_one_negative_binomial():
    mu, phi = 3.7, 1.9
    expected = log_density(d.NegativeBinomial2(1, 1), COUNTS, mu, phi)
    for found in (
        log_density(d.NegativeBinomial2Log(0, 1), COUNTS, np.log(mu), phi),
        log_density(d.NegativeBinomial(1, 1), COUNTS, phi, phi / mu),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_special_cases():
    geometric = log_density(d.Geometric(0.5), COUNTS, 0.3)
    same = log_density(d.NegativeBinomial(1, 1), COUNTS, 1.0, 0.3 / 0.7)
    np.testing.assert_allclose(same, geometric, rtol=1e-12)
    level = log_density(d.BetaBinomial(1, 1, 1), COUNTS, 11, 1, 1)
    np.testing.assert_allclose(
        log_density(d.DiscreteUniform(0, 11), COUNTS, 0, 11), level, rtol=1e-12
    )
    waiting = log_density(d.BetaNegativeBinomial(1, 1, 1), COUNTS, 1, 2.3, 1)
    np.testing.assert_allclose(
        log_density(d.YuleSimon(1), COUNTS + 1, 2.3), waiting, rtol=1e-11, atol=1e-13
    )


def test_a_hypergeometric_count_by_enumeration():
    for n, a, b in ((9, 8, 12), (15, 8, 12), (0, 3, 4), (7, 3, 4), (5, 0, 6)):
        for y in range(-1, n + 2):
            possible = max(0, n - b) <= y <= min(a, n)
            found = log_density(d.Hypergeometric(1, 1, 1), y, n, a, b)
            if not possible:
                assert found == -np.inf
                continue
            mass = math.comb(a, y) * math.comb(b, n - y) / math.comb(a + b, n)
            assert found == pytest.approx(math.log(mass), rel=1e-12, abs=1e-13)


def test_log_means_do_not_overflow():
    dist = d.NegativeBinomial2Log(0, 1)
    assert log_density(dist, 0, -1e3, 2.0) == 0.0
    assert log_density(dist, 3, -1e3, 2.0) == pytest.approx(-3e3, rel=1e-2)
    assert log_density(dist, 0, 1e3, 2.0) == pytest.approx(2.0 * (np.log(2.0) - 1e3), rel=1e-12)
    logp, (slope, _) = evaluated(dist, [1, 2], 3, 1e3, 2.0)
    assert np.isfinite(logp)
    assert slope == pytest.approx(-2.0, rel=1e-12)


def test_certain_and_impossible_success():
    np.testing.assert_array_equal(log_density(d.Geometric(0.5), [0, 1], 1.0), [0.0, -np.inf])
    np.testing.assert_array_equal(log_density(d.Geometric(0.5), [0, 1], 0.0), [-np.inf, -np.inf])


# Distribution functions.


CUT = [
    (d.Geometric(0.5), stats.geom, (0.3,), (0.3, -1)),
    (d.Geometric(0.5), stats.geom, (1e-3,), (1e-3, -1)),
    (d.YuleSimon(1), stats.yulesimon, (2.3,), (2.3,)),
    (d.DiscreteUniform(0, 1), stats.randint, (2.0, 40.0), (2, 41)),
]


@pytest.mark.parametrize(("dist", "family", "params", "arguments"), CUT)
def test_distribution_functions_are_those_of_scipy(dist, family, params, arguments):
    law = family(*arguments)
    with np.errstate(divide="ignore"):
        for x in (-1.0, 0.0, 0.4, 1.0, 2.0, 2.9, 7.0, 39.0, 40.0, 400.0):
            below = dist.log_cdf(np, np.array(x), *map(np.array, params))
            above = dist.log_ccdf(np, np.array(x), *map(np.array, params))
            assert np.exp(below) == pytest.approx(law.cdf(np.floor(x)), rel=1e-9, abs=1e-15)
            assert np.exp(above) == pytest.approx(law.sf(np.floor(x)), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("dist", [d.Geometric(0.5), d.YuleSimon(1)])
def test_distribution_functions_can_be_differentiated_in_the_parameter(dist):
    for function in (dist.log_cdf, dist.log_ccdf):
        for x in (1.0, 8.0):
            slope = grad(lambda p: function(anp, x, p))  # noqa: B023
            for p in (0.3, 0.8):
                difference = (
                    function(np, x, np.array(p + 1e-5)) - function(np, x, np.array(p - 1e-5))
                ) / 2e-5
                assert slope(p) == pytest.approx(difference, rel=1e-7)


def test_invalid_parameters_have_no_distribution_function():
    with np.errstate(all="ignore"):
        for dist, bad in (
            (d.Geometric(0.5), (1.2,)),
            (d.YuleSimon(1), (-0.5,)),
            (d.DiscreteUniform(0, 1), (5.0, 2.0)),
        ):
            for function in (dist.log_cdf, dist.log_ccdf):
                assert np.isnan(function(np, np.array(3.0), *map(np.array, bad)))


def test_a_geometric_count_without_zeros_is_one_more():
    cut = d.Truncated(d.Geometric(0.3), lower=1)
    found = log_density(cut, COUNTS + 1, 0.3, 1.0)
    np.testing.assert_allclose(found, stats.geom.logpmf(COUNTS + 1, 0.3), rtol=1e-12)


# Draws.


def test_heavy_tails_give_large_whole_numbers():
    rng = np.random.default_rng(1)
    shape = (2000,)
    for dist, params in (
        (d.YuleSimon(1), (0.01,)),
        (d.BetaNegativeBinomial(1, 1, 1), (0.5, 0.003, 2.0)),
        (d.Geometric(0.5), (1e-300,)),
        (d.NegativeBinomial(1, 1), (2.0, 1e-30)),
    ):
        draws = dist.sample(rng, shape, *map(np.array, params))
        assert draws.dtype.kind == "i"
        assert draws.min() >= 0
        assert draws.max() > 0.99 * LARGEST_COUNT


def test_rates_without_bound_are_cut():
    rates = np.array([0.0, 1e30, np.inf])
    counts = poisson_counts(np.random.default_rng(0), rates)
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:], LARGEST_COUNT, rtol=1e-8)


def test_certain_success_draws_zero():
    assert not d.Geometric(0.5).sample(np.random.default_rng(0), (50,), np.array(1.0)).any()


# In models.


def test_supports_depend_on_arguments():
    assert d.BetaBinomial(7, 1, 1).support().bounds == (0, 7)
    assert d.DiscreteUniform(-2, 5).support().bounds == (-2, 5)
    assert d.Hypergeometric(9, 8, 5).support().bounds == (4, 8)
    low, high = d.Hypergeometric([1, 6], [4, 4], [3, 3]).support().bounds
    np.testing.assert_array_equal(low, [0, 3])
    np.testing.assert_array_equal(high, [1, 4])


class Overdispersed(Model):
    a = param(d.Normal(0, 1), shape=3)
    phi = param(d.Gamma(2, 0.5))
    y = observed(d.NegativeBinomial2(np.exp(a), phi))


class Spelled(Model):
    a = param(d.Normal(0, 1), shape=3)
    phi = param(d.Gamma(2, 0.5))
    y = observed(d.NegativeBinomial2(1.0 * np.exp(a), phi))


class Direct(Model):
    a = param(d.Normal(0, 1), shape=3)
    phi = param(d.Gamma(2, 0.5))
    y = observed(d.NegativeBinomial2Log(a, phi))


def test_an_exponential_mean_is_taken_on_the_log_scale():
    y = np.array([0, 4, 4])
    linked, plain, direct = (as_posterior(M(y=y)) for M in (Overdispersed, Spelled, Direct))
    x = np.random.default_rng(2).normal(0, 1, (5, 4))
    for one, other in pairwise((linked(x), plain(x), direct(x))):
        np.testing.assert_allclose(one.logp, other.logp, rtol=1e-12)
        np.testing.assert_allclose(one.grad, other.grad, rtol=1e-10, atol=1e-12)
    far = np.array([[800.0, 0.0, 0.0, 0.3]])
    with np.errstate(all="ignore"):
        assert plain(far).logp == -np.inf
        assert np.isfinite(linked(far).logp)


def test_repeated_counts_with_a_precision_per_chain():
    rng = np.random.default_rng(3)
    dist = d.NegativeBinomial2Log(0, 1)
    value = rng.integers(0, 5, (2, 40)).astype(float)
    eta, phi = rng.normal(0, 1, (3, 2, 40)), rng.uniform(0.5, 9, (3, 1, 1))
    logp, in_eta, in_phi = program(dist, [1, 2], value, eta[0], phi[0])(eta, phi)
    mu = np.exp(eta)
    expected = stats.nbinom.logpmf(value, phi, phi / (phi + mu)).sum(axis=(1, 2))
    np.testing.assert_allclose(logp, expected, rtol=1e-11)
    gammas = special.digamma(value + phi) - special.digamma(phi)
    terms = gammas - np.log1p(mu / phi) + (mu - value) / (phi + mu)
    np.testing.assert_allclose(in_phi, terms.sum(axis=(1, 2), keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(in_eta, (value - mu) * phi / (phi + mu), rtol=1e-12)


def test_information_of_a_beta_binomial_in_blocks(monkeypatch):
    dist = d.BetaBinomial(1, 1, 1)
    params = [np.array([3.0, 8.0, 0.0]), np.array([[0.7], [40.0]]), np.array(2.2)]
    matrix = {pair: entry() for pair, entry in dist.information_matrix(*params).items()}
    monkeypatch.setattr("probmodel.distributions.scalar.beta_binomial.BLOCK", 13)
    for pair, entry in dist.information_matrix(*params).items():
        assert entry().shape == (2, 3)
        np.testing.assert_allclose(entry(), matrix[pair], rtol=1e-13)
    assert not any(entry[:, 2].any() for entry in matrix.values())


def test_information_of_a_beta_binomial_that_is_binomial():
    # With p = alpha / (alpha + beta) the information is n / (p (1 - p)) times products of slopes.
    n, alpha, beta = 10.0, 3e5, 7e5
    matrix = d.BetaBinomial(1, 1, 1).information_matrix(*map(np.array, (n, alpha, beta)))
    slopes = {"alpha": beta / 1e12, "beta": -alpha / 1e12}
    for (p, q), entry in matrix.items():
        assert entry() == pytest.approx(n / 0.21 * slopes[p] * slopes[q], rel=1e-3)


@pytest.mark.parametrize(
    ("dist", "bad"),
    [
        (d.YuleSimon(2.0), 0),
        (d.Hypergeometric(9, 8, 5), 3),
        (d.DiscreteUniform(2, 6), 7),
        (d.BetaBinomial(4, 1.0, 2.0), 5),
    ],
)
def test_impossible_data_are_refused(dist, bad):
    class Outcomes(Model):
        scale = param(d.HalfNormal(1.0))
        y = observed(dist)

    Outcomes(y=np.full(3, 4))
    with pytest.raises(DataError, match="y"):
        Outcomes(y=np.array([4, bad, 4]))
