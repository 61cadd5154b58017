"""Draws against the distribution they claim, with controls that must fail."""

from __future__ import annotations

import numpy as np
import pytest
from examples.case import known
from scipy import stats

# With about 60 tests at this level a false alarm is a one in a thousand event; seeds are fixed.
LEVEL = 1e-5
DRAWS = 4000


def p_value(case, draws, params):
    """Probability of a worse fit of draws to the distribution with ``params``."""
    if case.dist.name == "Dirichlet":
        return first_share_p_value(draws, *params)
    if case.dist.discrete:
        return counts_p_value(case, draws, params)
    transformed = case.law(draws, *params)
    if case.dist.event_ndim:
        weights = np.random.default_rng(9).standard_normal(transformed.shape[1])
        mixed = transformed @ weights / np.linalg.norm(weights)
        radius = stats.chi2(transformed.shape[1]).cdf((transformed**2).sum(axis=1))
        return min(stats.kstest(mixed, "norm").pvalue, stats.kstest(radius, "uniform").pvalue)
    return stats.kstest(transformed, "uniform").pvalue


def first_share_p_value(draws, alpha):
    """Neutrality: the first share, and the second of what is left, are beta variables."""
    first = stats.beta(alpha[0], alpha[1:].sum()).cdf(draws[:, 0])
    second = stats.beta(alpha[1], alpha[2]).cdf(draws[:, 1] / (1 - draws[:, 0]))
    return min(stats.kstest(u, "uniform").pvalue for u in (first, second))


def counts_p_value(case, draws, params):
    vectors = case.dist.event_ndim > 0
    values = case.outcomes(*params) if vectors else np.arange(int(draws.max()) + 1)
    masses = np.array([mass(case, k, params) for k in values])
    often = masses * len(draws) >= 5
    same = (draws[:, None] == values).reshape(len(draws), len(values), -1)
    observed = same.all(axis=-1).sum(axis=0)
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(masses[often], 1.0 - masses[often].sum()) * len(draws)
    if expected[-1] < 5:
        expected, observed = (
            expected[:-1] * observed[:-1].sum() / expected[:-1].sum(),
            observed[:-1],
        )
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


def mass(case, k, params):
    with np.errstate(all="ignore"):
        logp = case.dist.log_density(np, np.asarray(k), *map(np.asarray, params))
    return 0.0 if np.isnan(logp) else np.exp(logp)


def drawn(case, params, seed):
    shape = (DRAWS, *np.shape(case.values)[1:])
    return case.dist.sample(np.random.default_rng(seed), shape, *map(np.asarray, params))


def samplable(case):
    return case.dist.name != "Flat" and not (
        case.dist.name == "Censored" and not case.dist.discrete
    )


def test_draws_follow_the_distribution(case):
    if not samplable(case):
        pytest.skip("no distribution function to compare with: tested by itself")
    for seed, params in enumerate(case.params):
        draws = drawn(case, params, seed)
        assert draws.shape == (DRAWS, *np.shape(case.values)[1:])
        assert p_value(case, draws, params) > LEVEL


def test_draws_from_other_parameters_are_noticed(case):
    if not samplable(case):
        pytest.skip("no distribution function to compare with")
    with np.errstate(all="ignore"):
        assert p_value(case, drawn(case, case.params[1], 7), case.params[0]) < LEVEL


def test_draws_are_possible_and_repeatable(case):
    if case.dist.name == "Flat":
        pytest.skip("improper")
    params = case.params[0]
    draws = drawn(case, params, 11)
    np.testing.assert_array_equal(draws, drawn(case, params, 11))
    assert (draws.dtype.kind == "i") == case.dist.discrete
    logp = case.dist.log_density(np, draws[:200], *map(np.asarray, params))
    assert np.all(np.isfinite(logp))


def test_draws_broadcast_over_parameters(case):
    if case.dist.name == "Flat":
        pytest.skip("improper")
    data = known(case.dist)
    stacked = [
        np.asarray(case.params[0][i])
        if is_data
        else np.stack([np.asarray(p[i], dtype=float) for p in case.params])
        for i, is_data in enumerate(data)
    ]
    shape = (len(case.params), *np.shape(case.values)[1:])
    draws = case.dist.sample(np.random.default_rng(3), shape, *stacked)
    assert draws.shape == shape
    assert np.all(np.isfinite(draws))


def test_draws_of_several_values_with_parameters_of_their_own(case):
    """As in a model that is run forwards: parameters vary along the first axis, values follow."""
    if case.dist.name == "Flat":
        pytest.skip("improper")
    event = np.shape(case.values)[1:]
    several = 3
    stacked = [
        np.asarray(case.params[0][i])
        if is_data
        else np.stack([np.asarray(p[i], dtype=float) for p in case.params])[:, None]
        for i, is_data in enumerate(known(case.dist))
    ]
    shape = (len(case.params), several, *event)
    draws = case.dist.sample(np.random.default_rng(3), shape, *stacked)
    assert draws.shape == shape
    assert np.all(np.isfinite(draws))
    with np.errstate(all="ignore"):
        logp = case.dist.log_density(np, draws, *stacked)
    assert np.shape(logp) == shape[: len(shape) - case.dist.event_ndim]
    assert np.all(np.isfinite(logp))


def test_censored_draws_pile_up_at_the_bounds(cases):
    case = cases["Censored"]
    loc, scale, lower, upper = case.params[1]
    draws = drawn(case, case.params[1], 5)
    for bound, mass in (
        (lower, stats.norm.cdf(lower, loc, scale)),
        (upper, stats.norm.sf(upper, loc, scale)),
    ):
        error = np.sqrt(mass * (1 - mass) / DRAWS)
        assert abs(np.mean(draws == bound) - mass) < 5 * error
    inside = draws[(draws > lower) & (draws < upper)]
    low, high = (lower - loc) / scale, (upper - loc) / scale
    assert (
        stats.kstest(stats.truncnorm(low, high, loc, scale).cdf(inside), "uniform").pvalue > LEVEL
    )
