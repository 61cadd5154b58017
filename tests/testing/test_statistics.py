"""Comparisons with the truth: how often they are wrong about what is right, and the reverse."""

import numpy as np
import pytest
from scipy import stats

from probmodel.testing.statistics import deviations, require_moments, tamed, worst
from probmodel.testing.targets import Banana, Gaussian


@pytest.fixture(scope="module")
def scores():
    """Deviations of exact draws from exact draws, many times over: name -> (repeats,)."""
    target, rng = Banana(), np.random.default_rng(1)
    pairs = ((target.exact(rng, 1000), target.exact(rng, 1000)) for _ in range(300))
    runs = [deviations(tamed(x, exact), exact) for x, exact in pairs]
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def test_scores_are_standard_normal_where_nothing_is_wrong(scores):
    assert set(scores) == {
        "mean of x0", "mean of x0^2", "mean of x0^3", "distribution of x0",
        "mean of x1", "mean of x1^2", "mean of x1^3", "distribution of x1", "mean of x0 x1",
    }  # fmt: skip
    for name, z in scores.items():
        assert stats.kstest(z, "norm").pvalue > 1e-3, name


def test_each_score_notices_what_it_is_for():
    rng = np.random.default_rng(2)
    exact, x = (Banana().exact(rng, 4000) for _ in range(2))
    wrong = {
        "mean of x0": x + np.array([0.2, 0.0]),
        "mean of x0^2": x * [1.2, 1.0],
        "mean of x1^3": x * [1.0, -1.0],
        "mean of x0 x1": x + 0.3 * x[:, ::-1],
        "distribution of x0": np.round(x),
    }
    for name, draws in wrong.items():
        assert abs(deviations(draws, exact)[name]) > 6.0, name


def test_draws_that_ran_away_do_not_hide_what_is_wrong_with_the_others():
    rng = np.random.default_rng(3)
    exact, x = (Banana().exact(rng, 4000) for _ in range(2))
    x = x * [1.2, 1.0]
    x[0], x[1] = 1e300, np.nan
    name, score = worst(deviations(tamed(x, exact), exact))
    assert name in ("mean of x0^2", "distribution of x0")
    assert abs(score) > 6.0


def test_moments():
    rng = np.random.default_rng(4)
    cov = np.array([[1.0, 0.6], [0.6, 2.0]])
    target = Gaussian([1.0, -1.0], cov)
    x = target.exact(rng, 8000).reshape(8, 1000, 2)
    require_moments(target, x)
    for wrong, name in (
        (Gaussian([1.0, -1.2], cov), "mean of x1"),
        (Gaussian(target.mean, cov * [[1.0, 1.0], [1.0, 1.2]]), "covariance of x1 and x1"),
        (Gaussian(target.mean, cov * [[1.0, 0.8], [0.8, 1.0]]), "covariance of x0 and x1"),
    ):
        with pytest.raises(AssertionError, match=name):
            require_moments(wrong, x)
    with pytest.raises(AssertionError, match="effective sample size"):
        require_moments(target, np.repeat(x[:, :10], 100, axis=1))
