"""The fit to an ensemble with one point left out, against the mean and covariance of the rest."""

import numpy as np
import pytest
import scipy.stats
from scipy.special import logsumexp

from probmodel.adaptation.ensemble import (
    WIDTHS,
    choose,
    diagonal_log_fit,
    diagonal_root,
    full_fit,
    full_log_fit,
    overstatement,
    tail_index,
)


def cloud(seed, chains, n, dim):
    """Points of different scales and places."""
    rng = np.random.default_rng(seed)
    mix = np.eye(dim) + 0.3 * rng.standard_normal((chains, dim, dim))
    mix = mix * np.logspace(-0.5, 0.5, dim)
    return rng.standard_normal((chains, n, dim)) @ mix + rng.standard_normal((chains, 1, 1))


def full_fits(points):
    """log q_n of each point of an ensemble, the last of which is the proposed one."""
    return full_log_fit(full_fit(points[:, :-1]), points[:, -1])


def full_density(theta, others):
    cov = np.cov(others.T).reshape(len(theta), -1)
    return scipy.stats.multivariate_normal(others.mean(axis=0), cov).logpdf(theta)


def diagonal_density(theta, others):
    mean, sd = others.mean(axis=0), others.std(axis=0)
    parts = [scipy.stats.norm(mean, np.sqrt(c) * sd).logpdf(theta).sum() for c in WIDTHS]
    return logsumexp(parts) - np.log(3.0)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize(
    ("fit", "density"), [(full_fits, full_density), (diagonal_log_fit, diagonal_density)]
)
def test_all_fits_follow_from_one_scatter(fit, density, dim):
    """Differences between points, since a constant of the chain is left out."""
    points = cloud(dim, 3, 2 * dim + 9, dim)
    result = fit(points)
    for chain, ours in zip(points, result, strict=True):
        direct = [density(theta, np.delete(chain, n, axis=0)) for n, theta in enumerate(chain)]
        expected = np.array(direct) - direct[0]
        error = np.abs(ours - ours[0] - expected)
        np.testing.assert_allclose(error / (1.0 + np.abs(expected)), 0.0, atol=1e-12)


def test_the_comparison_notices_points_that_are_not_left_out():
    """Negative control: the fit to all points."""
    points = cloud(1, 1, 12, 2)[0]
    direct = np.array([full_density(theta, points) for theta in points])
    ours = full_fits(points[None])[0]
    assert np.max(np.abs(ours - ours[0] - (direct - direct[0]))) > 0.01


@pytest.mark.parametrize("dim", [1, 4])
def test_proposals_have_the_ensembles_moments(dim):
    points = cloud(3, 4, 20, dim)
    fit = full_fit(points)
    for mean, root, chain in zip(fit.mean, fit.root, points, strict=True):
        np.testing.assert_allclose(mean, chain.mean(axis=0), rtol=1e-12)
        cov = np.cov(chain.T).reshape(dim, dim)
        np.testing.assert_allclose(root @ root.T / 19, cov, rtol=1e-9, atol=1e-12 * np.max(cov))
    mean, sd = diagonal_root(points)
    np.testing.assert_allclose(sd**2, np.var(points, axis=1), rtol=1e-12)
    np.testing.assert_allclose(mean, np.mean(points, axis=1), rtol=1e-12)


def test_flat_ensembles_have_no_fit_and_leave_the_others_alone():
    points = cloud(4, 3, 8, 2)
    whole = [f(points) for f in (full_fits, diagonal_log_fit)]
    points[1] = points[1, :1]
    for fit, before in zip((full_fits, diagonal_log_fit), whole, strict=True):
        after = fit(points)
        assert np.isnan(after[1]).all()
        np.testing.assert_allclose(after[[0, 2]], before[[0, 2]], rtol=1e-12)
    for spread in (full_fit(points).root, diagonal_root(points)[1]):
        assert np.isnan(spread[1]).all()
        assert np.isfinite(spread[[0, 2]]).all()


@pytest.mark.parametrize("fit", [full_fits, diagonal_log_fit])
def test_a_point_without_which_the_others_are_flat_is_kept(fit):
    """Up to rounding nothing would ever propose it again, so its weight is next to zero."""
    points = cloud(5, 1, 8, 2)
    points[0, 3] = 1e5
    log_fit = fit(points)
    assert np.isfinite(log_fit).all()
    assert np.argmin(log_fit[0]) == 3
    assert np.partition(log_fit[0], 1)[1] - log_fit[0, 3] > 1e6


def test_points_leave_with_probability_in_proportion_to_their_weight():
    rng = np.random.default_rng(6)
    log_lambda = np.array([0.3, -1.0, 1.2, 0.0, -0.4]) + 1e6
    leaves, log_odds = choose(rng, np.tile(log_lambda, (20000, 1)))
    expected = np.exp(log_lambda - logsumexp(log_lambda))
    counts = np.bincount(leaves, minlength=5)
    assert scipy.stats.chisquare(counts, 20000 * expected).pvalue > 1e-4
    # Negative control: weights that differ by a tenth.
    wrong = np.where(np.arange(5) == 2, 1.1, 1.0) * expected
    assert scipy.stats.chisquare(counts, 20000 * wrong / wrong.sum()).pvalue < 1e-4
    np.testing.assert_allclose(log_odds, np.log1p(-expected[-1]) - np.log(expected[-1]), atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_keeps_its_points(bad):
    log_lambda = np.zeros((3, 4))
    log_lambda[1, 3] = bad
    leaves, log_odds = choose(np.random.default_rng(7), log_lambda)
    assert leaves[1] == 3
    assert log_odds[1] == -np.inf
    np.testing.assert_allclose(log_odds[[0, 2]], np.log(3.0))


@pytest.mark.parametrize("index", [0.5, 1.0, 3.0])
def test_the_tail_index_is_that_of_a_power_law(index):
    """Logarithms of Pareto weights are exponential; the largest hundredth are 2000 of them."""
    weights = np.random.default_rng(9).exponential(index, (8, 25_000))
    error = index / np.sqrt(2000)
    assert abs(tail_index(weights) - index) < 4.0 * error
    assert abs(tail_index(weights) - 1.2 * index) > 4.0 * error  # negative control
    holes = np.where(np.arange(25_000) % 2, weights, np.nan)
    assert abs(tail_index(holes) - index) < 4.0 * np.sqrt(2.0) * error
    assert np.isnan(tail_index(weights[:, :200]))


def autoregression(rng, shape, rho):
    """Stationary series of unit variance along the last axis."""
    noise = rng.standard_normal(shape)
    series = np.empty(shape)
    series[..., 0] = noise[..., 0]
    for t in range(1, shape[-1]):
        series[..., t] = rho * series[..., t - 1] + np.sqrt(1 - rho**2) * noise[..., t]
    return series


def test_overstatement_compares_long_stretches_with_short_ones():
    """White noise in which a slow, weak component hides."""
    rng = np.random.default_rng(8)
    white = rng.standard_normal((16, 8000))
    slow = autoregression(rng, (16, 8000), 0.98)
    mixed = np.sqrt(0.9) * white + np.sqrt(0.1) * slow
    assert abs(overstatement(white, 5) - 1.0) < 0.5
    # A stretch of 5 sees the weak part as if constant, one of 2000 its autocorrelation time of 99.
    expected = (0.9 + 0.1 * 99.0) / (0.9 + 0.1 * 5.0)
    assert 0.6 * expected < overstatement(mixed, 5) < 1.5 * expected


def test_overstatement_of_short_or_constant_series_is_one():
    rng = np.random.default_rng(9)
    assert overstatement(rng.standard_normal((4, 60)), 20) == 1.0
    assert overstatement(np.ones((8, 1000)), 5) == 1.0
