"""Skewed distributions, power laws and angles: identities, tails, limits and uses in models."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from derivatives import evaluated
from examples.skewed import asymmetric_laplace
from scipy import stats

from probmodel import Model, check_model, observed, param
from probmodel import distributions as d
from probmodel.errors import DataError

Y = np.array([-3.1, -0.7, 0.3, 0.9, 2.8])
POSITIVE = np.array([0.6, 0.9, 2.8, 300.0])


def log_density(dist, value):
    params = [np.asarray(p, dtype=float) for p in dist.args.values()]
    return dist.log_density(np, np.asarray(value, dtype=float), *params)


def slopes(dist, value):
    """Derivatives of each value, and in the parameters for it."""
    value = np.asarray(value, dtype=float)
    params = [np.broadcast_to(p, value.shape) for p in dist.args.values()]
    return evaluated(dist, range(len(params) + 1), value, *params)[1]


CUT = {
    "ExpModNormal": (d.ExpModNormal(0.3, 0.8, 1.4), stats.exponnorm(1 / (0.8 * 1.4), 0.3, 0.8)),
    "SkewDoubleExponential": (
        d.SkewDoubleExponential(0.3, 0.8, 0.3),
        stats.laplace_asymmetric(*asymmetric_laplace(0.3, 0.8, 0.3)),
    ),
    "Pareto": (d.Pareto(0.2, 2.3), stats.pareto(2.3, 0, 0.2)),
    "ParetoType2": (d.ParetoType2(-0.8, 0.7, 2.3), stats.lomax(2.3, -0.8, 0.7)),
}


@pytest.fixture(params=CUT.values(), ids=CUT)
def cut(request):
    dist, family = request.param
    return dist, family, [np.asarray(p, dtype=float) for p in dist.args.values()]


@pytest.mark.parametrize("x", [-4.0, -0.5, 0.3, 0.31, 1.7, 9.0, 40.0])
def test_distribution_functions_are_accurate_in_both_tails(cut, x):
    dist, family, params = cut
    with np.errstate(divide="ignore"):
        below = dist.log_cdf(np, np.array(x), *params)
        assert below == pytest.approx(family.logcdf(x), rel=1e-9, abs=1e-15)
        above = dist.log_ccdf(np, np.array(x), *params)
    assert above == pytest.approx(family.logsf(x), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("x", [0.3, 0.8, 2.5])
@pytest.mark.parametrize("function", ["log_cdf", "log_ccdf"])
def test_distribution_functions_have_derivatives(cut, function, x):
    dist, _, params = cut
    args, h = [np.array(x), *params], 1e-5
    log_mass = getattr(dist, function)
    for i in range(len(args)):
        up, down = list(args), list(args)
        up[i], down[i] = args[i] + h, args[i] - h
        expected = (log_mass(np, *up) - log_mass(np, *down)) / (2 * h)
        # At a kink of the density the second derivative jumps, which leaves an error of order h.
        assert grad(lambda *a: log_mass(anp, *a), i)(*args) == pytest.approx(expected, rel=1e-4)


def test_truncation_normalises_by_them():
    dist = d.Truncated(d.ExpModNormal(0.3, 0.8, 1.4), lower=0.0, upper=3.0)
    family = CUT["ExpModNormal"][1]
    params = [np.array(p) for p in (0.3, 0.8, 1.4, 0.0, 3.0)]
    expected = family.logpdf(0.9) - np.log(family.cdf(3.0) - family.cdf(0.0))
    assert dist.log_density(np, np.array(0.9), *params) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rate", [1e5, 1e8, 1e12])
def test_a_large_rate_leaves_the_normal(rate):
    dist = d.ExpModNormal(0.4 - 1 / rate, 0.7, rate)
    expected = stats.norm(0.4, 0.7).logpdf(Y)
    np.testing.assert_allclose(log_density(dist, Y), expected, rtol=1e-8, atol=1e-8)
    z = (Y - 0.4) / 0.7
    in_value, in_mu, in_sigma, in_rate = slopes(dist, Y)
    np.testing.assert_allclose(in_value, -z / 0.7, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(in_mu, -in_value)
    np.testing.assert_allclose(in_sigma, (z * z - 1.0) / 0.7, rtol=1e-3)
    assert np.all(np.abs(in_rate * rate) < 10.0 / rate + 1e-15)


def test_exponential_tail_of_a_small_normal_part():
    dist = d.ExpModNormal(0.3, 1e-6, 2.0)
    expected = stats.expon(0.3, 0.5).logpdf([0.9, 700.0])
    np.testing.assert_allclose(log_density(dist, [0.9, 700.0]), expected, rtol=1e-11)


def test_no_slant_is_the_normal_and_much_of_it_half_of_one():
    np.testing.assert_allclose(
        log_density(d.SkewNormal(0.4, 0.7, 0.0), Y), stats.norm(0.4, 0.7).logpdf(Y), rtol=1e-13
    )
    above = Y[Y > 0.4]
    np.testing.assert_allclose(
        log_density(d.SkewNormal(0.4, 0.7, 1e8), above),
        stats.halfnorm(0.4, 0.7).logpdf(above),
        rtol=1e-13,
    )
    left, right = d.SkewNormal(-0.4, 0.7, -3.0), d.SkewNormal(0.4, 0.7, 3.0)
    np.testing.assert_allclose(log_density(left, -Y), log_density(right, Y), rtol=1e-13)


def test_far_tail_of_the_skew_normal():
    # There the distribution function is the density over the distance: log(2 phi(z) phi(5 z) / t).
    z, t = -1e5, 5e5
    expected = np.log(2) - np.log(2 * np.pi) - 0.5 * z * z - 0.5 * t * t - np.log(t)
    assert log_density(d.SkewNormal(0.0, 1.0, 5.0), z) == pytest.approx(expected, rel=1e-13)
    assert slopes(d.SkewNormal(0.0, 1.0, 5.0), z)[0] == pytest.approx(-26.0 * z, rel=1e-9)


def test_an_even_split_is_the_laplace_distribution():
    even, laplace = d.SkewDoubleExponential(0.4, 0.7, 0.5), d.Laplace(0.4, 0.7)
    np.testing.assert_allclose(log_density(even, Y), log_density(laplace, Y), rtol=1e-13)


def test_location_of_the_skew_double_exponential_is_a_quantile():
    share = d.SkewDoubleExponential(0.3, 0.8, 0.85).log_cdf(np, 0.3, 0.3, 0.8, 0.85)
    assert share == pytest.approx(np.log(0.85), rel=1e-14)


def test_power_laws_are_exponentials_of_exponentials():
    expected = stats.expon(0, 1 / 2.3).logpdf(np.log(POSITIVE / 0.5)) - np.log(POSITIVE)
    np.testing.assert_allclose(log_density(d.Pareto(0.5, 2.3), POSITIVE), expected, rtol=1e-12)
    same = d.ParetoType2(0.5, 0.5, 2.3)
    np.testing.assert_allclose(log_density(same, POSITIVE), expected, rtol=1e-12)


@pytest.mark.parametrize("dist", [d.Pareto(0.5, 2.3), d.ParetoType2(-0.5, 0.7, 2.3)])
def test_standardised_values_come_back(dist):
    params = list(dist.args.values())
    z = dist.standardise(POSITIVE, *params)
    np.testing.assert_allclose(dist.noncentered(np, z, *params), POSITIVE, rtol=1e-13)


def test_mean_and_variance_of_a_proportion():
    draws = d.BetaProportion(0.3, 8.0).sample(np.random.default_rng(1), (20_000,), 0.3, 8.0)
    variance = 0.3 * 0.7 / 9.0
    assert abs(draws.mean() - 0.3) < 5.0 * np.sqrt(variance / draws.size)
    assert draws.var() == pytest.approx(variance, rel=0.05)
    assert abs(draws.mean() - 0.32) > 5.0 * np.sqrt(variance / draws.size)


@pytest.mark.parametrize("turns", [-2, 1, 3])
def test_whole_turns_of_the_mean_direction_make_no_difference(turns):
    turned = d.VonMises(0.4 + 2 * np.pi * turns, 3.0)
    expected = log_density(d.VonMises(0.4, 3.0), Y)
    np.testing.assert_allclose(log_density(turned, Y), expected, rtol=1e-13)


@pytest.mark.parametrize("kappa", [1e3, 1e8, 1e200])
def test_concentrated_angles_are_normal(kappa):
    # The logarithm differs from that of the normal by z^4 / (24 kappa) and 1 / (8 kappa).
    z = np.array([-2.0, 0.3, 1.5])
    dist, scale = d.VonMises(0.0, kappa), 1 / np.sqrt(kappa)
    expected = stats.norm(0, scale).logpdf(z * scale)
    np.testing.assert_allclose(
        log_density(dist, z * scale), expected, rtol=0, atol=1 / kappa + 1e-12
    )
    in_kappa = slopes(dist, z * scale)[2] * kappa
    np.testing.assert_allclose(in_kappa, 0.5 * (1.0 - z * z), rtol=0, atol=1 / kappa + 1e-12)


def test_scattered_angles_are_uniform():
    np.testing.assert_allclose(log_density(d.VonMises(1.0, 1e-12), Y), -np.log(2 * np.pi))


def test_angles_of_other_turns_are_refused():
    class Direction(Model):
        y = observed(d.VonMises(0.0, 2.0), dims="obs")

    with pytest.raises(DataError, match="y"):
        Direction(y=[0.1, 6.0])


class EveryUse(Model):
    rate = param(d.ParetoType2(0.0, 1.0, 3.0), noncentered=True)
    y_min = param(d.Pareto(0.5, 3.0))
    late = param(d.Truncated(d.ExpModNormal(0.0, 1.0, rate), lower=0.0))
    slanted = param(d.SkewNormal(late, 2.0, 1.5), noncentered=True)
    quantile = param(d.SkewDoubleExponential(slanted, 1.0, 0.3), noncentered=True)
    share = param(d.BetaProportion(0.4, 5.0))
    angle = param(d.VonMises(0.5, 2.0))
    size = param(d.Pareto(y_min, 1.0 + rate), noncentered=True)
    y = observed(d.ExpModNormal(quantile + share, size, rate), dims="obs")
    turn = observed(d.VonMises(angle, 1.0 + late), dims="obs")


def test_all_of_them_work_as_priors_and_likelihoods():
    report = check_model(EveryUse(y=[0.3, -1.2, 4.0], turn=[0.3, -3.0, 1.1]))
    assert report.ok, report
