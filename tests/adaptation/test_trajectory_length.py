"""The length of trajectories, against the exact flow of normal densities."""

import numpy as np
import pytest
from scipy import optimize

from probmodel.adaptation.trajectory_length import (
    PRICE,
    RATE,
    SHORTEST,
    START,
    STEADY,
    STEEPEST,
    Length,
    Trajectories,
    climb,
    start_length,
)

LONG = 100.0  # longest trajectory


def flow(z, r, t, alpha=1.0):
    """Trajectories in a standard normal density."""
    end, velocity = z * np.cos(t) + r * np.sin(t), r * np.cos(t) - z * np.sin(t)
    return Trajectories(z, end, velocity, np.full(len(z), alpha), t)


def draws(rng, chains, dim):
    return rng.standard_normal((2, chains, dim))


def criterion(z, r, t, alpha):
    end = flow(z, r, t).end
    return np.mean(alpha * (np.sum(end**2, axis=1) - np.sum(z**2, axis=1)) ** 2)


@pytest.mark.parametrize("t", [1.0, 1.3, 1.7, 2.8])
def test_slope_is_that_of_the_criterion(t):
    """With no past, a move is the rate times the slope of the logarithm."""
    rng = np.random.default_rng(1)
    z, r = draws(rng, 8, 6)
    alpha = rng.uniform(0.2, 1.0, 8)
    seen = flow(z, r, t)._replace(alpha=alpha)
    state = start_length(t)
    moved = climb(state, seen, step=LONG, longest=LONG).log_length - state.log_length
    eps = 1e-5
    up, down = (np.log(criterion(z, r, t * np.exp(e), alpha)) for e in (eps, -eps))
    slope = (up - down) / (2.0 * eps)
    rate = 0.5 * RATE  # with a quarter of the chains that it is for
    assert moved == pytest.approx(rate * np.clip(slope, -STEEPEST, STEEPEST), rel=1e-6)
    assert abs(slope) < STEEPEST or t == 2.8


@pytest.mark.parametrize("t", [0.3, 1.0, 1.4])
def test_criterion_of_a_normal_density(t):
    """It is 4 dim sin(t)^2; that is what the running mean converges to."""
    rng = np.random.default_rng(2)
    state, dim = start_length(t), 5
    values = []
    for _ in range(400):
        state = climb(state, flow(*draws(rng, 200, dim), t), LONG, LONG)
        values.append(state.criterion)
    assert np.mean(values[50:]) == pytest.approx(4.0 * dim * np.sin(t) ** 2, rel=0.03)


def learned(rng, chains, dim, begin, iterations=500, step=LONG, jitter=0.2):
    """Follow chains that are always accepted, about their running mean, as a sampler does."""
    state, x = start_length(begin), rng.standard_normal((chains, dim))
    mean = x.mean(axis=0)
    for n in range(1, iterations + 1):
        t = state.length() * (1.0 + jitter * rng.uniform(-1.0, 1.0))
        seen = flow(x, rng.standard_normal(x.shape), t)
        x = seen.end
        mean = mean + max(0.02, 1.0 / (n + 1)) * (x.mean(axis=0) - mean)
        state = climb(state, seen._replace(z=seen.z - mean, end=seen.end - mean), step, LONG)
    return state.length(final=True)


@pytest.mark.parametrize("begin", [0.35, START, 2.6])
@pytest.mark.parametrize("dim", [1, 20])
def test_length_becomes_a_quarter_of_a_turn(begin, dim):
    """Up to the spread of such averages, 0.03 with 32 chains."""
    found = learned(np.random.default_rng(3), 32, dim, begin)
    assert found == pytest.approx(np.pi / 2.0, abs=0.12)


def test_price_of_trajectories_of_several_steps():
    """The maximum of sin(t)^2 / t^PRICE."""
    best = optimize.minimize_scalar(
        lambda t: PRICE * np.log(t) - 2.0 * np.log(np.sin(t)), bounds=(0.5, 2.5), method="bounded"
    ).x
    assert best < 1.45
    found = learned(np.random.default_rng(4), 64, 20, START, iterations=2000, step=0.1, jitter=0.0)
    assert found == pytest.approx(best, abs=0.04)


@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("dim", [1, 2])
def test_few_chains_do_not_run_away(chains, dim):
    found = [learned(np.random.default_rng(seed), chains, dim, START, 250) for seed in range(20)]
    assert np.median(found) == pytest.approx(np.pi / 2.0, abs=0.25)
    assert max(found) < np.pi


def test_noise_without_a_bound_runs_away(monkeypatch):
    """Negative control of the test above."""
    monkeypatch.setattr("probmodel.adaptation.trajectory_length.STEEPEST", np.inf)
    found = [learned(np.random.default_rng(seed), 1, 2, START, 250) for seed in range(40)]
    assert max(found) > np.pi


def one_move(chains, n):
    """The change of log T in iteration n + 1, in which every trajectory has a slope of one half."""
    z, r = np.random.default_rng(8).standard_normal((2, 1, 3))

    def slope(t):
        seen = flow(z, r, t)
        change = np.sum(seen.end**2) - np.sum(z**2)
        return 4.0 * t * np.sum(seen.end * seen.velocity) / change

    t = optimize.brentq(lambda t: slope(t) - 0.5, 0.1, 3.0)
    seen = flow(np.repeat(z, chains, axis=0), np.repeat(r, chains, axis=0), t)
    change = np.sum(seen.end**2 - seen.z**2, axis=1)
    state = Length(0.0, 0.0, change[0] ** 2, n)
    return climb(state, seen, LONG, LONG).log_length


def test_rates():
    """In proportion to the root of the chains, up to 32, and falling after a few iterations."""
    full = one_move(32, 0)
    assert full == pytest.approx(0.5 * RATE, rel=1e-9)
    assert one_move(64, 0) == pytest.approx(full, rel=1e-12)
    assert one_move(8, 0) == pytest.approx(full / 2.0, rel=1e-12)
    assert one_move(2, 0) == pytest.approx(full / 4.0, rel=1e-12)
    assert one_move(32, STEADY - 1) == pytest.approx(full, rel=1e-12)
    assert one_move(32, 16 * STEADY - 1) == pytest.approx(full / 8.0, rel=1e-12)


def test_bounds():
    rng = np.random.default_rng(5)
    z, r = draws(rng, 32, 3)
    low, high = start_length(SHORTEST), start_length(2.0)
    assert climb(low, flow(z, r, 2.9), LONG, LONG).length() == pytest.approx(SHORTEST)
    assert climb(high, flow(z, r, 0.5), LONG, longest=1.9).length() == pytest.approx(1.9)
    assert climb(high, flow(z, r, 0.5), LONG, longest=0.01).length() == pytest.approx(0.01)


def test_average_weighs_later_lengths_more():
    rng, state, path = np.random.default_rng(6), start_length(0.7), []
    for _ in range(60):
        state = climb(state, flow(*draws(rng, 4, 3), state.length()), LONG, LONG)
        path.append(state.log_length)
    weights = np.arange(1, 61)
    assert np.log(state.length(final=True)) == pytest.approx(weights @ path / weights.sum())


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_trajectories_that_broke_down_are_left_out(bad):
    rng = np.random.default_rng(7)
    z, r = draws(rng, 3, 4)
    seen = flow(z, r, 1.0)
    lost = np.array([False, True, False])
    broken = seen._replace(
        end=np.where(lost[:, None], bad, seen.end), alpha=np.where(lost, 0.0, seen.alpha)
    )
    zero = seen._replace(alpha=np.where(lost, 0.0, seen.alpha))
    state = start_length(1.0)
    assert climb(state, broken, LONG, LONG) == climb(state, zero, LONG, LONG)
    nothing = broken._replace(alpha=np.zeros(3))
    assert climb(state, nothing, LONG, LONG) == state


def test_nothing_moves_where_nothing_changes():
    z = np.ones((4, 2))
    still = Trajectories(z, z, np.zeros((4, 2)), np.ones(4), 1.0)
    after = climb(start_length(1.0), still, LONG, LONG)
    assert after.length() == 1.0
    assert np.isfinite(after).all()
