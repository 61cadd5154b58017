"""The annealed search: its sequences, what it finds, and that its changes vanish."""

from types import SimpleNamespace

import numpy as np
import pytest

from probmodel.adaptation import bayes_opt
from probmodel.adaptation.bayes_opt import (
    AnnealedSearch,
    change_probability,
    make_grid,
    variance_weight,
)
from probmodel.adaptation.surrogate import Kernel

SEARCH = AnnealedSearch(k=100, alpha=4.0, delta=0.1, kernel=Kernel(5.0, 0.2, 0.1))
GRID = make_grid((0.01, 1.0), (1, 100))
NEVER, ALWAYS = (SimpleNamespace(random=lambda u=u: u) for u in (1.0, 0.0))


def bump(step_size, n_steps):
    """Peak of 3e-3 inside the box."""
    a, b = (np.log(step_size) - np.log(0.15)) / 0.6, (n_steps - 35) / 20
    return 3e-3 * np.exp(-0.5 * (a * a + b * b))


def corner(step_size, n_steps):
    """Peak of 500 in a corner of the box, where the steps are largest and few."""
    a, b = np.log(step_size) / 1.2, (n_steps - 1) / 40
    return 500.0 * np.exp(-0.5 * (a * a + b * b))


def peak(f, grid=GRID):
    return max(f(e, L) for e in grid.step_sizes for L in grid.n_steps)


def share_of_peak(f, seed, choose, evaluations=100):
    """Value of the best setting found, over the peak, from rewards with noise of a tenth of it."""
    rng, top = np.random.default_rng(seed), peak(f)
    search = SEARCH.start(GRID)
    for _ in range(evaluations):
        reward = f(*search.setting(search.cell)) + 0.1 * top * rng.standard_normal()
        search = choose(rng, search, reward)
    return f(*search.setting(SEARCH.best(search))) / top


def at_random(rng, search, reward):
    known = SEARCH.learned(SEARCH.choose(NEVER, search, reward))
    return known._replace(cell=(int(rng.integers(100)), int(rng.integers(100))))


# -- what it finds -----------------------------------------------------------------------------


@pytest.mark.parametrize("f", [bump, corner])
def test_finds_the_optimum_within_five_percent(f):
    assert min(share_of_peak(f, seed, SEARCH.choose) for seed in range(8)) > 0.95


def test_settings_at_random_do_not():
    assert min(share_of_peak(bump, seed, at_random) for seed in range(8)) < 0.95


def test_a_search_that_never_explores_does_not(monkeypatch):
    monkeypatch.setattr(bayes_opt, "variance_weight", lambda i, delta: 0.0)
    assert min(share_of_peak(bump, seed, SEARCH.choose) for seed in range(8)) < 0.5


# -- sequences ---------------------------------------------------------------------------------


def test_change_probabilities():
    p = [change_probability(i, 3) for i in range(1, 8)]
    np.testing.assert_allclose(p, [1, 1, 1, 2**-0.5, 3**-0.5, 4**-0.5, 5**-0.5], rtol=1e-15)


def test_weights_of_the_variance():
    assert variance_weight(1, 0.1) == pytest.approx(11.15, abs=0.005)
    for i in (1, 2, 10, 1000):
        expected = 2.0 * np.log((i + 1.0) ** (2 / 2 + 2) * np.pi**2 / (3.0 * 0.1))
        assert variance_weight(i, 0.1) == pytest.approx(expected, rel=1e-13)


def test_scale_follows_the_highest_reward_above_zero():
    search, scales = SEARCH.start(GRID), []
    for reward in (-1.0, 0.0, 0.5, 0.2, 2.0, 1.0):
        search = SEARCH.choose(NEVER, search, reward)
        scales.append(search.scale)
    assert scales == [1.0, 1.0, 8.0, 8.0, 2.0, 2.0]


def test_acquisition_is_maximised_exactly():
    rng, search = np.random.default_rng(3), SEARCH.start(GRID)
    for i in range(1, 121):
        search = SEARCH.choose(ALWAYS, search, float(rng.random()))
        if i in (1, 5, 120):
            mean = bayes_opt.posterior_mean(SEARCH.kernel, search.rewards)
            p = max(i - 100 + 1, 1) ** -0.5
            beta = 2.0 * np.log((i + 1.0) ** 3 * np.pi**2 / 0.3)
            u = search.scale * mean + p * np.sqrt(beta) * np.sqrt(search.rewards.variance)
            assert u[search.cell] == u.max()


def test_rewards_that_waited_count_as_if_each_had_been_learned():
    rewards = [0.3, 0.1, 0.7, 0.2]
    waited, one_by_one = SEARCH.start(GRID), SEARCH.start(GRID)
    for reward in rewards:
        waited = SEARCH.choose(NEVER, waited, reward)
        one_by_one = SEARCH.learned(SEARCH.choose(NEVER, one_by_one, reward))
    assert len(waited.rewards.points) == 0
    last = [SEARCH.choose(ALWAYS, search, 0.5) for search in (waited, one_by_one)]
    assert last[0].cell == last[1].cell
    assert last[0].rewards.counts.tolist() == last[1].rewards.counts.tolist() == [5]
    assert last[0].rewards.means[0] == pytest.approx(0.36, rel=1e-14)
    variances = [search.rewards.variance for search in last]
    np.testing.assert_allclose(variances[0], variances[1], rtol=1e-11, atol=1e-11)


# -- adaptation vanishes -----------------------------------------------------------------------


def test_without_a_draw_below_p_the_setting_stays():
    search = SEARCH.choose(ALWAYS, SEARCH.start(GRID), 1.0)
    cell = search.cell
    for _ in range(10):
        search = SEARCH.choose(NEVER, search, 1.0)
        assert search.cell == cell


def changes(k, blocks=2000):
    """Which of the blocks, whose rewards tell nothing, are followed by another setting."""
    rng, annealed = np.random.default_rng(4), SEARCH._replace(k=k)
    search, changed = annealed.start(make_grid((0.1, 1.0), (1, 9))), []
    for _ in range(blocks):
        old, search = search.cell, annealed.choose(rng, search, float(rng.exponential()))
        changed.append(search.cell != old)
    return np.array(changed)


def excess(changed, since):
    """Changes after ``since`` blocks above those that p_i allows, in standard deviations."""
    p = np.arange(1, len(changed) + 1)[since:] ** -0.5
    return (changed[since:].sum() - p.sum()) / np.sqrt(np.sum(p * (1.0 - p)))


def test_annealing_begins_after_k_rewards_or_with_the_end_of_the_warmup():
    def probabilities(k, warmup):
        search, found = SEARCH._replace(k=k).start(GRID), []
        for i in range(6):
            search = SEARCH._replace(k=k).choose(NEVER, search, 1.0, i < warmup)
            found.append(change_probability(search.i, search.free))
        return found

    early = [1.0, 1.0, 2**-0.5, 3**-0.5, 4**-0.5, 5**-0.5]
    np.testing.assert_allclose(probabilities(k=2, warmup=6), early, rtol=1e-15)
    np.testing.assert_allclose(probabilities(k=4, warmup=2), early, rtol=1e-15)
    np.testing.assert_allclose(probabilities(k=6, warmup=6), np.ones(6), rtol=1e-15)


def test_changes_become_as_rare_as_p():
    changed = changes(k=1)
    assert all(excess(changed, since) < 4.0 for since in (0, 200, 1000))
    assert changed[1000:].any()


def test_changes_that_do_not_vanish_would_show(monkeypatch):
    monkeypatch.setattr(bayes_opt, "MOST_POINTS", 30)  # is quicker
    assert excess(changes(k=10**6), 1000) > 4.0


# -- grid and limits ---------------------------------------------------------------------------


def test_grid_reaches_from_limit_to_limit():
    grid = make_grid((0.02, 0.5), (3, 12))
    assert (grid.step_sizes[0], grid.step_sizes[-1]) == pytest.approx((0.02, 0.5), rel=1e-15)
    np.testing.assert_allclose(np.diff(np.log(grid.step_sizes)), np.log(25.0) / 99)
    assert grid.n_steps.tolist() == list(range(3, 13))
    for axis in grid.axes:
        assert (axis[0], axis[-1]) == (0.0, 1.0)
    linear = make_grid((0.02, 0.5), (3, 12), "linear")
    np.testing.assert_allclose(np.diff(linear.step_sizes), 0.48 / 99)


def test_wide_ranges_of_steps_are_thinned_and_a_single_one_is_kept():
    wide = make_grid((0.1, 1.0), (1, 1000)).n_steps
    assert len(wide) == len(set(wide.tolist())) == 200
    assert (wide[0], wide[-1]) == (1, 1000)
    assert make_grid((0.1, 1.0), (5, 5)).n_steps.tolist() == [5]


def test_starts_at_the_smallest_of_both():
    search = SEARCH.start(make_grid((0.02, 0.5), (3, 12)))
    assert search.setting(search.cell) == (pytest.approx(0.02), 3)
    assert SEARCH.best(search) == search.cell


def test_beyond_the_most_points_only_known_settings_are_chosen(monkeypatch):
    monkeypatch.setattr(bayes_opt, "MOST_POINTS", 5)
    rng, search = np.random.default_rng(5), SEARCH.start(GRID)
    for _ in range(30):
        search = SEARCH.choose(ALWAYS, search, float(rng.random()))
    assert len(search.cells) == len(search.rewards.points) == 5
    assert search.rewards.counts.sum() == 30
    assert list(search.cell) in search.cells.tolist()


def test_best_is_judged_by_the_mean_and_not_by_luck():
    search = SEARCH.start(GRID)
    for cell, reward in [((0, 0), 1.0)] * 20 + [((60, 60), 1.3), *[((60, 60), 0.2)] * 20]:
        search = SEARCH.choose(NEVER, SEARCH.learned(search)._replace(cell=cell), reward)
    assert SEARCH.best(search) == (0, 0)
    assert search.highest == 1.3
