"""The papers' estimators of effective sample size, against slow sums and a known process."""

import arviz
import numpy as np
import pytest
from ess import (
    ESTIMATORS,
    ONE_CHAIN,
    autocovariance,
    effective_sizes,
    ess_geyer,
    ess_stan,
    ess_tfp,
    rhat,
    successive,
)
from scipy.signal import lfilter


def ar1(rng, phi, n, dim):
    """Stationary AR(1) series in columns; its integrated autocorrelation time is known."""
    noise = rng.standard_normal((n, dim))
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def slow_correlations(series, unbiased):
    """Autocorrelations by the definition, one lag at a time."""
    n = len(series)
    centred = series - series.mean()
    sums = [sum(centred[t] * centred[t + k] for t in range(n - k)) for k in range(n)]
    covariance = [s / ((n - k) if unbiased else n) for k, s in enumerate(sums)]
    return [c / covariance[0] for c in covariance]


def slow_tfp(series):
    """Sum until the first negative autocorrelation, by a loop."""
    n = len(series)
    total = 0.0
    for k, correlation in enumerate(slow_correlations(series, unbiased=True)):
        if correlation < 0:
            break
        total += (n - k) / n * correlation
    return n / (-1.0 + 2.0 * total)


def slow_geyer(series):
    """Initial monotone sequence, by a loop."""
    n = len(series)
    correlations = slow_correlations(series, unbiased=False)
    total, smallest = 0.0, np.inf
    for j in range(n // 2):
        smallest = min(smallest, correlations[2 * j] + correlations[2 * j + 1])
        if smallest > 0:
            total += smallest
    return n / max(1.0, -1.0 + 2.0 * total)


def slow_stan(chains):
    """Estimator of Gelman et al. (2013) for several chains of one quantity, by loops."""
    m, n = len(chains), len(chains[0])
    means = [np.mean(c) for c in chains]
    within = np.mean([np.var(c, ddof=1) for c in chains])
    between = np.var(means, ddof=1) if m > 1 else 0.0
    total = (n - 1) / n * within + between

    def correlation(k):
        products = [
            sum((c[t] - a) * (c[t + k] - a) for t in range(n - k)) / n
            for c, a in zip(chains, means, strict=True)
        ]
        return 1.0 - (within - np.mean(products)) / total if k else 1.0

    tau = -1.0
    for j in range(n // 2):
        pair = correlation(2 * j) + correlation(2 * j + 1)
        if pair < 0:
            break
        tau += 2 * pair
    return m * n / tau


@pytest.mark.parametrize("n", [150, 151])
@pytest.mark.parametrize(("fast", "slow"), [(ess_tfp, slow_tfp), (ess_geyer, slow_geyer)])
def test_equals_the_slow_sums(fast, slow, n):
    draws = np.hstack([ar1(np.random.default_rng(5), phi, n, 2) for phi in (-0.6, 0.0, 0.5, 0.9)])
    expected = [slow(column) for column in (draws * [1, 10, 1e-3, 1, 1, 1e6, 1, 2]).T]
    np.testing.assert_allclose(
        fast(draws * [1, 10, 1e-3, 1, 1, 1e6, 1, 2]), expected, rtol=1e-10, atol=0
    )


@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("n", [80, 81])
def test_several_chains_equal_the_slow_sums(chains, n):
    rng = np.random.default_rng(8)
    draws = np.stack([
        np.hstack([ar1(rng, phi, n, 1) for phi in (-0.6, 0.0, 0.5, 0.9)]) for _ in range(chains)
    ])  # fmt: skip
    draws[0] += [0.0, 0.1, 0.3, 2.0]  # chains that disagree a little
    expected = [slow_stan(draws[:, :, i]) for i in range(4)]
    np.testing.assert_allclose(ess_stan(draws), expected, rtol=1e-10, atol=0)


def test_chains_that_disagree_are_worth_little():
    draws = np.random.default_rng(2).standard_normal((4, 1000, 1))
    together = ess_stan(draws)[0]
    apart = ess_stan(draws + 10.0 * np.arange(4)[:, None, None])[0]
    assert together > 2000
    assert apart < 20


def test_sizes_of_one_chain_add_up():
    draws = np.random.default_rng(3).standard_normal((2, 200, 3))
    for name, estimator in ONE_CHAIN.items():
        expected = estimator(draws[0]) + estimator(draws[1])
        np.testing.assert_array_equal(effective_sizes(name, draws), expected)
    np.testing.assert_array_equal(effective_sizes("stan", draws), ess_stan(draws))


def test_the_two_definitions_differ():
    """Negative control of the comparison above: the slow sums tell the estimators apart."""
    draws = ar1(np.random.default_rng(5), 0.5, 150, 1)
    assert abs(ess_tfp(draws)[0] / slow_geyer(draws[:, 0]) - 1) > 1e-3


def each_alone(name, draws):
    """Sizes of the columns: each is one chain."""
    return effective_sizes(name, draws[None])


def discrepancy(name, draws, phi):
    """Mean integrated autocorrelation time minus the truth for ``phi``, over what is tolerated.

    Tolerated: four Monte Carlo standard errors, and the bias of stopping at the first negative
    noise, which favours positive ones: some multiples of the noise's standard deviation,
    tau / sqrt(n).
    """
    n, series = draws.shape
    times = n / each_alone(name, draws)
    truth = (1 + phi) / (1 - phi)
    tolerated = 4 * times.std(ddof=1) / np.sqrt(series) + 4 * truth / np.sqrt(n)
    return abs(times.mean() - truth) / tolerated


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_recovers_the_time_of_an_autoregression(name, phi):
    draws = ar1(np.random.default_rng(11), phi, 40_000, 24)
    assert discrepancy(name, draws, phi) < 1


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_another_autoregression_is_told_apart(name):
    """Negative control: the time of a process with a shorter memory is out of tolerance."""
    draws = ar1(np.random.default_rng(11), 0.9, 40_000, 24)
    assert discrepancy(name, draws, 0.85) > 1


def test_antithetic_draws():
    """Negative correlation: the first estimator exceeds n, the second is held at n."""
    draws = ar1(np.random.default_rng(3), -0.5, 20_000, 3)
    assert np.all(ess_tfp(draws) >= 0.99 * 20_000)
    assert np.all(ess_geyer(draws) == 20_000)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_a_dimension_that_never_moved(name):
    draws = np.random.default_rng(0).standard_normal((100, 2))
    draws[:, 1] = 3.0
    values = each_alone(name, draws)
    assert np.isfinite(values[0])
    assert np.isnan(values[1])


@pytest.mark.parametrize("name", sorted(ONE_CHAIN))
@pytest.mark.parametrize("shape", [(100,), (2, 100, 3), (3, 2)])
def test_refuses_other_shapes(name, shape):
    with pytest.raises(ValueError, match="one by one"):
        ONE_CHAIN[name](np.zeros(shape))


def test_independent_chains_are_worth_their_draws():
    """The size of 16 chains, whose correlations are averaged, has less noise than one chain's."""
    draws = np.stack([
        ar1(np.random.default_rng(seed), 0.5, 5000, 8) for seed in range(16)
    ])  # fmt: skip
    times = 16 * 5000 / ess_stan(draws)
    tolerated = 4 * times.std(ddof=1) / np.sqrt(8) + 4 * 3.0 / np.sqrt(16 * 5000)
    assert abs(times.mean() - 3.0) < tolerated
    assert abs(times.mean() - 2.5) > tolerated  # negative control: a process of shorter memory


def test_autocovariance_at_lag_zero_is_the_sum_of_squares():
    x = np.random.default_rng(1).standard_normal((33, 2))
    np.testing.assert_allclose(autocovariance(x)[0], np.sum((x - x.mean(0)) ** 2, 0), rtol=1e-12)


@pytest.mark.parametrize("phi", [-0.9, 0.0, 0.6])
def test_successive_draws_of_an_autoregression(phi):
    """The standard error of the correlation is sqrt((1 - phi^2) / n)."""
    noise = np.random.default_rng(4).normal(size=(3, 20_000, 2))
    x = lfilter([1.0], [1.0, -phi], noise, axis=1)
    found = successive(x - x.mean(axis=(0, 1)))
    np.testing.assert_allclose(found, phi, atol=4.0 * np.sqrt((1.0 - phi**2) / 60_000) + 1e-4)


def test_rhat_is_that_of_split_chains():
    """ArviZ's of raw values, and one that is far from 1 where a chain is elsewhere."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 301, 2)).cumsum(axis=1) * [0.05, 0.0] + rng.standard_normal(
        (4, 301, 2)
    )
    for k in range(2):
        assert rhat(x)[k] == pytest.approx(arviz.rhat(x[:, :, k], method="split"), rel=1e-12)
    x[0, :, 1] += 3.0
    assert rhat(x)[1] > 1.3
    assert np.isnan(rhat(np.zeros((2, 10, 1)))).all()
