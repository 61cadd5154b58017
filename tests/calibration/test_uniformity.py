"""The test of uniform ranks, against enumeration and simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats

from probmodel.calibration.uniformity import (
    band,
    counts_below,
    fewest,
    inside_probability,
    p_values,
    tail_probabilities,
)


def statistic_by_loops(ranks, most):
    """Smallest of twice the tail probabilities of the counts, as the paper words it."""
    n, smallest = len(ranks), 1.0
    for k in range(1, most + 1):
        count = sum(r < k for r in ranks)
        binomial = stats.binom(n, k / (most + 1))
        smallest = min(smallest, 2 * min(binomial.cdf(count), binomial.sf(count - 1)))
    return smallest


def test_counts_are_those_of_a_loop():
    ranks = np.random.default_rng(0).integers(0, 8, (3, 20))
    expected = [[np.sum(row < k) for k in range(1, 8)] for row in ranks]
    np.testing.assert_array_equal(counts_below(ranks, 7), expected)


@pytest.mark.parametrize(("n", "most"), [(1, 3), (4, 3), (5, 2), (6, 1)])
def test_p_values_are_those_of_enumeration(n, most):
    everything = np.array(list(itertools.product(range(most + 1), repeat=n)))
    statistics = np.array([statistic_by_loops(ranks, most) for ranks in everything])
    expected = [np.mean(statistics <= s * (1 + 1e-9)) for s in statistics]
    np.testing.assert_allclose(p_values(everything, most), expected, atol=1e-12)


@pytest.mark.parametrize(("n", "most"), [(200, 99), (1000, 20)])
def test_p_values_of_uniform_ranks_are_uniform_or_larger(n, most):
    ranks = np.random.default_rng(1).integers(0, most + 1, (1000, n))
    p = p_values(ranks, most)
    for level in (0.01, 0.05, 0.3):
        # Exact but discrete: never more often than the level, and close to it.
        share, error = np.mean(p <= level), np.sqrt(level * (1 - level) / 1000)
        assert level * 0.8 - 4 * error < share < level + 4 * error


@pytest.mark.parametrize(("most", "level"), [(99, 0.01), (99, 0.002), (19, 0.01), (1, 0.01)])
def test_of_fewer_ranks_not_even_the_worst_are_found(most, level):
    least = fewest(most, level)
    for n, found in ((least - 1, False), (least, True), (least + 1, True)):
        assert (p_values(np.full((1, n), most // 2), most)[0] <= level) == found
    if most > 1:
        ends = [np.zeros((1, least), int), np.resize([0, most], (1, least))]
        assert all(p_values(ranks, most)[0] <= level for ranks in ends)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.beta(1.4, 1.0, (50, 300)),  # shifted
        lambda rng: rng.beta(0.5, 0.5, (50, 300)),  # posterior too narrow
        lambda rng: rng.beta(2.0, 2.0, (50, 300)),  # posterior too wide
    ],
)
def test_other_ranks_are_found(draw):
    ranks = np.floor(100 * draw(np.random.default_rng(2))).astype(int)
    assert np.mean(p_values(ranks, 99) < 0.01) > 0.9


def test_band_holds_what_the_test_does_not_refute():
    n, most, level = 150, 30, 0.05
    lower, upper = band(n, most, level)
    rng = np.random.default_rng(3)
    ranks = np.floor((most + 1) * rng.beta(1.15, 1.0, (2000, n))).astype(int)
    counts = counts_below(ranks, most)
    inside = ((counts >= lower) & (counts <= upper)).all(axis=1)
    np.testing.assert_array_equal(inside, p_values(ranks, most) > level)
    assert 0.1 < inside.mean() < 0.9


def test_probability_inside_an_empty_and_a_full_band():
    tails = tail_probabilities(40, 9)
    np.testing.assert_allclose(inside_probability(tails, np.array([1.0, 0.0])), [0, 1], atol=1e-10)


def test_tails_are_those_of_scipy():
    tails = tail_probabilities(25, 7)
    for k, c in [(0, 0), (3, 11), (6, 25), (2, 25)]:
        binomial = stats.binom(25, (k + 1) / 8)
        expected = min(1.0, 2 * min(binomial.cdf(c), binomial.sf(c - 1)))
        assert tails[k, c] == pytest.approx(expected, rel=1e-10)


def test_nothing_to_test():
    assert np.isnan(p_values(np.empty((2, 0), dtype=int), 9)).all()
