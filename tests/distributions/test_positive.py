"""Lifetimes, extremes and the Kumaraswamy: tails, cumulative probabilities, limits and identities.

The truth comes from SciPy, from power series of probabilities that float64 cannot hold, and from
the known relations between these distributions.
"""

from __future__ import annotations

from fractions import Fraction

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from autograd.test_util import check_grads
from derivatives import evaluated, slopes
from scipy import special, stats

from probmodel import Model, check_model, param
from probmodel import distributions as d
from probmodel.numerics.special import inverse_expm1, log1m_exp
from probmodel.numerics.special import positive_numbers as sp

FAMILIES = {
    "Weibull": ((1.7, 0.8), stats.weibull_min(1.7, 0, 0.8)),
    "Frechet": ((1.7, 0.8), stats.invweibull(1.7, 0, 0.8)),
    "Rayleigh": ((0.8,), stats.rayleigh(0, 0.8)),
    "LogLogistic": ((0.8, 1.7), stats.fisk(1.7, 0, 0.8)),
    "Gumbel": ((0.3, 0.8), stats.gumbel_r(0.3, 0.8)),
    "Kumaraswamy": ((1.0, 1.7), stats.beta(1.0, 1.7)),
}


def instance(name):
    params = [np.asarray(p) for p in FAMILIES[name][0]]
    return d.DISTRIBUTIONS[name](*params), params


def logp(dist, value, *params):
    with np.errstate(all="ignore"):
        return dist.log_density(np, np.asarray(value), *map(np.asarray, params))


# Special functions


def test_log1m_exp_at_both_ends():
    for v in (1e-300, 1e-12):
        assert log1m_exp(v) == pytest.approx(np.log(v) - v / 2, rel=1e-15)
    for v in (40.0, 700.0):
        assert log1m_exp(v) == pytest.approx(-np.exp(-v), rel=1e-15)
    middle = np.linspace(0.1, 20.0, 50)
    expected = special.log1p(-np.exp(-middle))
    np.testing.assert_allclose(log1m_exp(middle), expected, rtol=1e-13)
    # The function is its own inverse, up to sign.
    np.testing.assert_allclose(-log1m_exp(-log1m_exp(middle)), middle, rtol=1e-12)


def test_log_inv_cloglog_at_both_ends():
    for u in (-1e4, -800.0, -31.0, -29.0):
        assert sp.log_inv_cloglog(u) == pytest.approx(u - 0.5 * np.exp(u), rel=1e-15)
    assert sp.log_inv_cloglog(4.0) == pytest.approx(-np.exp(-np.exp(4.0)), rel=1e-13)
    with np.errstate(over="ignore"):
        assert sp.log_inv_cloglog(800.0) == 0.0
    middle = np.linspace(-25.0, 1.0, 50)
    expected = np.log(-np.expm1(-np.exp(middle)))
    np.testing.assert_allclose(sp.log_inv_cloglog(middle), expected, rtol=1e-13)


@pytest.mark.parametrize("function", [log1m_exp, inverse_expm1])
def test_derivatives_for_positive_numbers(function):
    check_grads(function, modes=["rev"], order=3)(np.array([0.3, 0.69, 0.7, 2.0, 9.0]))


@pytest.mark.parametrize("function", [sp.log_inv_cloglog, sp.slope_log_inv_cloglog])
def test_derivatives_on_the_line(function):
    check_grads(function, modes=["rev"], order=2)(np.array([-9.0, -2.0, -0.4, -0.3, 0.5, 1.5]))


def test_derivatives_are_finite_where_exponentials_overflow():
    def second(function):
        return grad(grad(lambda x: anp.sum(function(x))))

    with np.errstate(over="ignore"):
        for u, slope in ((-1e4, 1.0), (-800.0, 1.0), (800.0, 0.0), (1e4, 0.0), (np.inf, 0.0)):
            assert grad(sp.log_inv_cloglog)(u) == pytest.approx(slope, abs=1e-300)
            assert second(sp.log_inv_cloglog)(u) == pytest.approx(0.0, abs=1e-300)
        for v in (720.0, 1e5):
            assert grad(log1m_exp)(v) == pytest.approx(0.0, abs=1e-300)
            assert second(log1m_exp)(v) == pytest.approx(0.0, abs=1e-300)


def harmonic(k, power=1):
    """Sum of the first reciprocals of a power, exactly rounded."""
    return float(sum(Fraction(1, i**power) for i in range(1, k + 1)))


@pytest.mark.parametrize("x", [1, 3, 4, 7, 40])
def test_divided_differences_at_integers(x):
    """By harmonic numbers, which digamma and trigamma of integers differ by."""
    difference = harmonic(x - 1) - harmonic(1)
    assert sp.divided_digamma(x) == pytest.approx(difference / (x - 2), rel=1e-14)
    difference = harmonic(1, 2) - harmonic(x - 1, 2)
    assert sp.divided_trigamma(x) == pytest.approx(difference / (x - 2), rel=1e-14)


def test_divided_differences_have_no_gap():
    assert sp.divided_digamma(2.0) == pytest.approx(special.polygamma(1, 2.0), rel=1e-14)
    assert sp.divided_trigamma(2.0) == pytest.approx(special.polygamma(2, 2.0), rel=1e-14)
    for edge in (1.95, 2.05):
        around = edge + np.array([-1e-9, 1e-9])
        for function in (sp.divided_digamma, sp.divided_trigamma):
            inside, outside = function(around)
            assert inside == pytest.approx(outside, rel=1e-8)
            assert inside != outside


# Cumulative probabilities


@pytest.mark.parametrize("name", FAMILIES)
def test_cumulative_probabilities_are_those_of_scipy(name):
    dist, params = instance(name)
    family = FAMILIES[name][1]
    for x in (-1.0, 0.0, 0.05, 0.2, 0.9, 0.999, 1.0, 3.0, 9.0):
        with np.errstate(all="ignore"):
            below, above = (f(np, np.asarray(x), *params) for f in (dist.log_cdf, dist.log_ccdf))
            expected = family.logcdf(x), family.logsf(x)
        assert below == pytest.approx(expected[0], rel=1e-10, abs=1e-14)
        assert above == pytest.approx(expected[1], rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("name", FAMILIES)
def test_probabilities_below_and_above_are_smooth_in_all_arguments(name):
    dist, params = instance(name)
    for function in (dist.log_cdf, dist.log_ccdf):
        for x in (0.15, 0.7, 0.95):
            check_grads(lambda *a, f=function: f(anp, *a), modes=["rev"], order=2)(
                np.asarray(x), *params
            )


@pytest.mark.parametrize("name", FAMILIES)
def test_slope_of_the_probability_is_the_density(name):
    dist, params = instance(name)
    x = np.array([0.1, 0.4, 0.8])
    slope = grad(lambda y: anp.sum(dist.log_cdf(anp, y, *params)))(x)
    expected = dist.log_density(np, x, *params) - dist.log_cdf(np, x, *params)
    np.testing.assert_allclose(slope, np.exp(expected), rtol=1e-11)
    assert not np.allclose(1.001 * slope, np.exp(expected), rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in FAMILIES if n != "Gumbel"])
@pytest.mark.parametrize("x", [-1.0, 0.0])
def test_bounds_below_the_support_have_finite_derivatives(name, x):
    dist, params = instance(name)
    for i in range(len(params)):
        slope = grad(lambda *p: dist.log_ccdf(anp, np.asarray(x), *p), i)(*params)
        assert slope == 0.0
    assert dist.log_cdf(np, np.asarray(x), *params) == -np.inf


def test_truncation_below_the_support_changes_nothing():
    args, truncated = (0.7, 1.7, 0.8), d.Truncated(d.Weibull(1.7, 0.8), lower=0.0)
    logp, found = evaluated(truncated, [0, 1, 2], *args, 0.0)
    expected, others = evaluated(d.Weibull(1.7, 0.8), [0, 1, 2], *args)
    assert logp == pytest.approx(expected)
    np.testing.assert_allclose(found, others)


TAIL_PROBABILITIES = [
    # log P(X <= x) or log P(X > x), by the leading terms of its series.
    ("Weibull", "cdf", 1e-200, (2.0, 3.0), 2.0 * (np.log(1e-200) - np.log(3.0))),
    ("Weibull", "ccdf", 100.0, (2.0, 3.0), -((100.0 / 3.0) ** 2)),
    ("Frechet", "ccdf", 1e200, (2.0, 3.0), 2.0 * (np.log(3.0) - np.log(1e200))),
    ("Frechet", "cdf", 1e-2, (2.0, 3.0), -(300.0**2)),
    ("Rayleigh", "cdf", 1e-200, (3.0,), 2.0 * (np.log(1e-200) - np.log(3.0)) - np.log(2.0)),
    ("Rayleigh", "ccdf", 300.0, (3.0,), -5000.0),
    ("LogLogistic", "cdf", 1e-200, (3.0, 2.0), 2.0 * (np.log(1e-200) - np.log(3.0))),
    ("LogLogistic", "ccdf", 1e200, (3.0, 2.0), 2.0 * (np.log(3.0) - np.log(1e200))),
    ("Gumbel", "ccdf", 1000.0, (0.0, 1.0), -1000.0),
    ("Gumbel", "cdf", -5.0, (0.0, 1.0), -np.exp(5.0)),
    ("Kumaraswamy", "cdf", 1e-100, (2.0, 3.0), 2.0 * np.log(1e-100) + np.log(3.0)),
    ("Kumaraswamy", "ccdf", 1.0 - 2.0**-50, (2.0, 3.0), 3.0 * np.log(2.0**-49)),
]


@pytest.mark.parametrize(("name", "side", "x", "params", "expected"), TAIL_PROBABILITIES)
def test_probabilities_of_tails(name, side, x, params, expected):
    dist = d.DISTRIBUTIONS[name](*params)
    params = [np.asarray(p) for p in params]
    found = getattr(dist, f"log_{side}")(np, np.asarray(x), *params)
    assert found == pytest.approx(expected, rel=1e-12)


def test_truncation_far_in_the_tail_of_extremes():
    """Above 900 a standard Gumbel variable is exponential, to the last digit."""
    params = (0.0, 1.0, 900.0, 903.0)
    dist = d.Truncated(d.Gumbel(0.0, 1.0), 900.0, 903.0)
    expected = stats.truncexpon(3.0, 900.0)
    assert logp(dist, 901.3, *params) == pytest.approx(expected.logpdf(901.3), rel=1e-10)
    found = slopes(dist, 901.3, *params)
    np.testing.assert_allclose(found[0], -1.0, rtol=1e-12)
    assert np.all(np.isfinite(found))
    draws = dist.sample(np.random.default_rng(0), (2000,), *map(np.asarray, params))
    assert stats.kstest(draws, expected.cdf).pvalue > 1e-5
    assert stats.kstest(draws, stats.uniform(900.0, 3.0).cdf).pvalue < 1e-5


# Densities

TAILS = [
    ("ChiSquare", 1e-300, (0.5,), stats.chi2.logpdf(1e-300, 0.5)),
    ("ChiSquare", 1e5, (3.0,), stats.chi2.logpdf(1e5, 3.0)),
    ("InvChiSquare", 1e300, (3.0,), -2.5 * np.log(1e300) - 0.5 * np.log(2 * np.pi)),
    ("InvChiSquare", 1e-5, (3.0,), 2.5 * np.log(1e5) - 5e4 - 0.5 * np.log(2 * np.pi)),
    ("Weibull", 1e-300, (0.5, 1.0), np.log(0.5) - 0.5 * np.log(1e-300)),
    ("Weibull", 1e3, (2.0, 1.0), np.log(2.0) + np.log(1e3) - 1e6),
    ("Frechet", 1e300, (0.5, 1.0), np.log(0.5) - 1.5 * np.log(1e300)),
    ("Frechet", 1e-3, (2.0, 1.0), np.log(2.0) + 3.0 * np.log(1e3) - 1e6),
    ("Rayleigh", 1e-300, (2.0,), np.log(1e-300) - np.log(4.0)),
    ("Rayleigh", 1e6, (2.0,), np.log(1e6) - np.log(4.0) - 1.25e11),
    ("LogLogistic", 1e300, (1.0, 3.0), np.log(3.0) - 4.0 * np.log(1e300)),
    ("LogLogistic", 1e-300, (1.0, 3.0), np.log(3.0) + 2.0 * np.log(1e-300)),
    ("Gumbel", 1e5, (0.0, 1.0), -1e5),
    ("Gumbel", -9.0, (0.0, 1.0), 9.0 - np.exp(9.0)),
    ("Gumbel", -1e5, (0.0, 1.0), -np.inf),
    ("Kumaraswamy", 1e-200, (0.5, 3.0), np.log(1.5) - 0.5 * np.log(1e-200)),
    ("Kumaraswamy", 1.0 - 2.0**-50, (3.0, 0.5), np.log(1.5) - 0.5 * np.log(3.0 * 2.0**-50)),
    ("Kumaraswamy", 1e-7, (2.0, 1e12), np.log(2e12) + np.log(1e-7) - 1e-2),
]


@pytest.mark.parametrize(("name", "value", "params", "expected"), TAILS)
def test_densities_of_tails(name, value, params, expected):
    dist = d.DISTRIBUTIONS[name](*params)
    assert logp(dist, value, *params) == pytest.approx(expected, rel=1e-12)


Y = np.array([0.02, 0.3, 0.9])


def test_special_cases_are_the_distributions_they_should_be():
    same = [
        (logp(d.ChiSquare(5), Y, 5.0), logp(d.Gamma(1, 1), Y, 2.5, 0.5)),
        (logp(d.InvChiSquare(5), Y, 5.0), logp(d.ScaledInverseChi2(1, 1), Y, 5.0, 5.0**-0.5)),
        (logp(d.Weibull(1, 1), Y, 1.0, 0.4), logp(d.Exponential(1), Y, 2.5)),
        (logp(d.Weibull(1, 1), Y, 2.0, 0.4 * 2**0.5), logp(d.Rayleigh(1), Y, 0.4)),
        (
            logp(d.Frechet(1, 1), Y, 1.7, 0.4),
            logp(d.Weibull(1, 1), 1 / Y, 1.7, 2.5) - 2 * np.log(Y),
        ),
        (
            logp(d.Frechet(1, 1), Y, 1.7, 0.4),
            logp(d.Gumbel(0, 1), np.log(Y), np.log(0.4), 1 / 1.7) - np.log(Y),
        ),
        (
            logp(d.LogLogistic(1, 1), Y, 0.4, 1.7),
            logp(d.Logistic(0, 1), np.log(Y), np.log(0.4), 1 / 1.7) - np.log(Y),
        ),
        (logp(d.Kumaraswamy(1, 1), Y, 1.0, 1.7), logp(d.Beta(1, 1), Y, 1.0, 1.7)),
        (logp(d.Kumaraswamy(1, 1), Y, 1.7, 1.0), logp(d.Beta(1, 1), Y, 1.7, 1.0)),
    ]
    for found, expected in same:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def in_a(b, a=1.3):
    """Information on the first shape of the Kumaraswamy distribution."""
    return d.Kumaraswamy(1, 1).information(np, [1.0, None], np.asarray(a), np.asarray(b))


def test_kumaraswamy_information_at_integers():
    """By moments of the logarithm of a beta variable T, the value to the power of a.

    The entry is (1 + (b - 1) E[T log(T)^2 / (1 - T)^2]) / a^2, a polynomial of logarithms.
    """

    def moment(power):
        return 2.0 / (power + 1) ** 3  # of t**power * log(t)**2 over the unit interval

    assert in_a(1.0) == pytest.approx(1.0 / 1.3**2, rel=1e-13)
    # 2 t log(t)^2 / (1 - t): a geometric series in t, summed as zeta(3) - 1.
    assert in_a(2.0) == pytest.approx((1.0 + 4.0 * special.zetac(3.0)) / 1.3**2, rel=1e-13)
    assert in_a(3.0) == pytest.approx((1.0 + 6.0 * moment(1)) / 1.3**2, rel=1e-13)
    four = 1.0 + 12.0 * (moment(1) - moment(2))
    assert in_a(4.0) == pytest.approx(four / 1.3**2, rel=1e-13)
    assert in_a(2.0 + 1e-9) == pytest.approx(in_a(2.0), rel=1e-8)


@pytest.mark.parametrize(
    ("dist", "params"),
    [
        (d.Weibull(1, 1), (1.7, 0.8)),
        (d.Frechet(1, 1), (1.7, 0.8)),
        (d.LogLogistic(1, 1), (0.8, 1.7)),
        (d.Kumaraswamy(1, 1), (1.7, 0.8)),
        (d.Rayleigh(1), (0.8,)),
    ],
)
def test_standardising_undoes_the_map(dist, params):
    z = np.array([1e-5, 0.3, 2.0, 9.0])
    params = [np.asarray(p) for p in params]
    np.testing.assert_allclose(
        dist.standardise(dist.noncentered(np, z, *params), *params), z, rtol=1e-9
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_noncentered_parameters_of_models_have_gradients(name):
    fixed = FAMILIES[name][0][1:]

    class Hierarchy(Model):
        first = param(d.LogNormal(0.0, 0.3))
        values = param(d.DISTRIBUTIONS[name](first, *fixed), shape=3, noncentered=True)

    assert check_model(Hierarchy()).ok
