"""The papers' estimators of effective sample size, against slow sums and a known process."""

import numpy as np
import pytest
from ess import ESTIMATORS, autocovariance, ess_geyer, ess_tfp
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


@pytest.mark.parametrize("n", [150, 151])
@pytest.mark.parametrize(("fast", "slow"), [(ess_tfp, slow_tfp), (ess_geyer, slow_geyer)])
def test_equals_the_slow_sums(fast, slow, n):
    draws = np.hstack([ar1(np.random.default_rng(5), phi, n, 2) for phi in (-0.6, 0.0, 0.5, 0.9)])
    expected = [slow(column) for column in (draws * [1, 10, 1e-3, 1, 1, 1e6, 1, 2]).T]
    np.testing.assert_allclose(
        fast(draws * [1, 10, 1e-3, 1, 1, 1e6, 1, 2]), expected, rtol=1e-10, atol=0
    )


def test_the_two_definitions_differ():
    """Negative control of the comparison above: the slow sums tell the estimators apart."""
    draws = ar1(np.random.default_rng(5), 0.5, 150, 1)
    assert abs(ess_tfp(draws)[0] / slow_geyer(draws[:, 0]) - 1) > 1e-3


def discrepancy(estimator, draws, phi):
    """Mean integrated autocorrelation time minus the truth for ``phi``, over what is tolerated.

    Tolerated: four Monte Carlo standard errors, and the bias of stopping at the first negative
    noise, which favours positive ones: some multiples of the noise's standard deviation,
    tau / sqrt(n).
    """
    n, series = draws.shape
    times = n / estimator(draws)
    truth = (1 + phi) / (1 - phi)
    tolerated = 4 * times.std(ddof=1) / np.sqrt(series) + 4 * truth / np.sqrt(n)
    return abs(times.mean() - truth) / tolerated


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_recovers_the_time_of_an_autoregression(name, phi):
    draws = ar1(np.random.default_rng(11), phi, 40_000, 24)
    assert discrepancy(ESTIMATORS[name], draws, phi) < 1


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_another_autoregression_is_told_apart(name):
    """Negative control: the time of a process with a shorter memory is out of tolerance."""
    draws = ar1(np.random.default_rng(11), 0.9, 40_000, 24)
    assert discrepancy(ESTIMATORS[name], draws, 0.85) > 1


def test_antithetic_draws():
    """Negative correlation: the first estimator exceeds n, the second is held at n."""
    draws = ar1(np.random.default_rng(3), -0.5, 20_000, 3)
    assert np.all(ess_tfp(draws) >= 0.99 * 20_000)
    assert np.all(ess_geyer(draws) == 20_000)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_a_dimension_that_never_moved(name):
    draws = np.random.default_rng(0).standard_normal((100, 2))
    draws[:, 1] = 3.0
    values = ESTIMATORS[name](draws)
    assert np.isfinite(values[0])
    assert np.isnan(values[1])


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
@pytest.mark.parametrize("shape", [(100,), (2, 100, 3), (3, 2)])
def test_refuses_other_shapes(name, shape):
    with pytest.raises(ValueError, match="one by one"):
        ESTIMATORS[name](np.zeros(shape))


def test_autocovariance_at_lag_zero_is_the_sum_of_squares():
    x = np.random.default_rng(1).standard_normal((33, 2))
    np.testing.assert_allclose(autocovariance(x)[0], np.sum((x - x.mean(0)) ** 2, 0), rtol=1e-12)
