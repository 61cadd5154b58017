"""Chains that are lost in the warm-up begin again; chains that are not lost stay where they are."""

import json
from typing import NamedTuple

import numpy as np
import pytest

from probmodel import LogDensity, infer
from probmodel.inference import restarts
from probmodel.inference.chains import Group
from probmodel.inference.groups import sample
from probmodel.inference.restarts import CHECKS, Restarts, Window, find_lost, taken
from probmodel.samplers import SAMPLERS, make_sampler

LENGTH = 40
# Chains that begin again from the prior for ever are never lost, and never begin again elsewhere.
METHODS = {name: make_sampler(name) for name in SAMPLERS if SAMPLERS[name].needs != "prior"}
POOLED = sorted(name for name in METHODS if METHODS[name].coupling.startswith("pooled"))


def window_of(x, logp, grad):
    """A window of draws: (chains, length, dim), (chains, length), as x."""
    window = Window(x.shape[1])
    for i in range(x.shape[1]):
        window.add(logp[:, i], x[:, i], grad[:, i])
    return window


def normal_draws(rng, scales, offsets, dim=10, speed=1.0):
    """Chains in independent normal modes with these scales, ``offsets`` nats below one of scale 1.

    A chain of speed below 1 is an autoregression, as chains are that move slowly.
    """
    scales, z = np.asarray(scales, dtype=float), np.zeros((len(scales), LENGTH, dim))
    z[:, 0] = rng.standard_normal(z[:, 0].shape)
    for i in range(1, LENGTH):
        noise = rng.standard_normal(z[:, 0].shape)
        z[:, i] = (1.0 - speed) * z[:, i - 1] + np.sqrt(1.0 - (1.0 - speed) ** 2) * noise
    logp = -0.5 * np.sum(z * z, axis=2) - np.asarray(offsets, dtype=float)[:, None]
    logp -= dim * np.log(scales)[:, None]
    scale = scales[:, None, None]
    return scale * z, logp, -z / scale


# -- which chains are lost ------------------------------------------------------------------------


@pytest.mark.parametrize("chains", [4, 5, 16])
@pytest.mark.parametrize("dim", [1, 10, 200])
def test_a_mode_without_weight_is_left(chains, dim):
    below = 20.0 + 4.0 * np.sqrt(0.5 * dim)
    offsets = np.where(np.arange(chains) < chains // 2, below, 0.0)
    draws = normal_draws(np.random.default_rng(1), np.ones(chains), offsets, dim)
    lost, nats = find_lost(window_of(*draws), dim)
    np.testing.assert_array_equal(lost, offsets > 0.0)
    assert abs(np.mean(nats[lost]) - below) < 4.0 * np.sqrt(dim)


@pytest.mark.parametrize("speed", [1.0, 0.05])
@pytest.mark.parametrize("ratio", [2.0, 10.0])
@pytest.mark.parametrize("dim", [1, 10, 200])
def test_modes_of_equal_weight_and_unequal_width_keep_their_chains(dim, ratio, speed):
    """The mean log densities differ by dim log(ratio): 461 nats for the widest."""
    scales = np.where(np.arange(16) % 2, ratio, 1.0)
    draws = normal_draws(np.random.default_rng(2), scales, np.zeros(16), dim, speed)
    lost, nats = find_lost(window_of(*draws), dim)
    assert not lost.any()
    if dim == 200:
        assert np.max(np.abs(nats)) > 100.0


def test_without_scores_and_volumes_a_wide_mode_would_be_lost(monkeypatch):
    """Negative control: by the log density alone."""
    scales = np.where(np.arange(16) % 2, 10.0, 1.0)
    draws = normal_draws(np.random.default_rng(2), scales, np.zeros(16), 200)
    nothing = (np.zeros(16), np.zeros(16))
    monkeypatch.setattr(Window, "log_volumes", property(lambda self: nothing))
    lost, _ = find_lost(window_of(*draws), 200)
    np.testing.assert_array_equal(lost, scales == 10.0)


def test_chains_that_catch_up_are_left_alone():
    x, logp, grad = normal_draws(np.random.default_rng(3), np.ones(8), np.zeros(8))
    climb = np.linspace(-300.0, -40.0, LENGTH)
    climbing, staying = logp.copy(), logp.copy()
    climbing[0] += climb
    staying[0] += np.mean(climb)
    assert not find_lost(window_of(x, climbing, grad), 10)[0].any()
    assert find_lost(window_of(x, staying, grad), 10)[0].tolist() == [True] + [False] * 7


def test_a_chain_that_never_moves_far_below_is_lost():
    x, logp, grad = normal_draws(np.random.default_rng(4), np.ones(6), np.zeros(6))
    x[2], logp[2], grad[2] = 3.0, -1e12, 1e150
    assert find_lost(window_of(x, logp, grad), 10)[0].tolist() == [c == 2 for c in range(6)]


def test_a_chain_that_never_moves_at_a_good_place_is_kept():
    x, logp, grad = normal_draws(np.random.default_rng(5), np.ones(6), np.zeros(6))
    x[2], logp[2], grad[2] = 0.0, 0.0, 0.0
    assert not find_lost(window_of(x, logp, grad), 10)[0].any()


def test_chains_of_a_funnel_are_kept():
    """Neal's funnel of 50 dimensions: from the mouth to the neck densities differ by 200 nats."""
    rng = np.random.default_rng(6)
    v = np.repeat(np.linspace(-4.0, 4.0, 16)[:, None], LENGTH, axis=1)
    v += 0.3 * rng.standard_normal(v.shape)
    x = np.exp(0.5 * v)[:, :, None] * rng.standard_normal((16, LENGTH, 50))
    square = np.sum(x * x, axis=2) * np.exp(-v)
    logp = -(v**2) / 18.0 - 0.5 * square - 25.0 * v
    grad = np.concatenate(
        [(-v / 9.0 + 0.5 * square - 25.0)[:, :, None], -x * np.exp(-v)[:, :, None]], axis=2
    )
    window = window_of(np.concatenate([v[:, :, None], x], axis=2), logp, grad)
    assert np.ptp(window.level) > 150.0
    assert not find_lost(window, 51)[0].any()


def necks(groups=20):
    """Chains of a hierarchy about a mean, (16, LENGTH, 2 + groups), each with a scale of its own.

    In the neck, all effects move with the mean: each has a large variance, and they hardly vary.
    """
    rng = np.random.default_rng(7)
    log_scale = np.repeat(np.linspace(-7.0, 0.0, 16)[:, None], LENGTH, axis=1)
    log_scale += 0.1 * rng.standard_normal(log_scale.shape)
    scale = np.exp(log_scale)[:, :, None]
    mean = rng.standard_normal((16, LENGTH, 1))
    z = rng.standard_normal((16, LENGTH, groups))
    logp = -0.5 * np.sum(mean**2 + z * z, axis=2) - groups * log_scale
    slope = np.sum(z * z, axis=2, keepdims=True) - groups
    grad = np.concatenate([slope, np.sum(z / scale, axis=2, keepdims=True) - mean, -z / scale], 2)
    x = np.concatenate([log_scale[:, :, None], mean, mean + scale * z], axis=2)
    return window_of(x, logp, grad)


def test_chains_in_the_mouth_are_kept_where_effects_move_together():
    window = necks()
    assert np.ptp(window.level) > 100.0
    assert not find_lost(window, 22)[0].any()


def test_by_the_variances_alone_they_would_be_lost(monkeypatch):
    """Negative control: in a neck the product of the variances is far more than the volume."""
    window = necks()
    most = window.log_volumes[1]
    monkeypatch.setattr(Window, "log_volumes", property(lambda self: (most, most)))
    assert find_lost(window, 22)[0].sum() > 4


@pytest.mark.parametrize("dim", [1, 2, 5, 20])
def test_the_volume_lies_between_the_bounds(dim):
    """Of correlated normal coordinates: the determinant, and bounds that differ by much."""
    rng = np.random.default_rng(dim)
    root = np.linalg.cholesky(0.1 * np.eye(dim) + 0.9)
    x = rng.standard_normal((3, 4000, dim)) @ root.T
    grad = -x @ np.linalg.inv(root @ root.T)
    least, most = window_of(x, -0.5 * np.sum(x * x, axis=2), grad).log_volumes
    volume = np.linalg.slogdet(root)[1]
    slack = 0.1 * dim
    assert np.all(least < volume + slack)
    assert np.all(most > volume - slack)
    if dim > 1:
        assert np.all(most - least > 0.5)


# -- runs -----------------------------------------------------------------------------------------


def two_modes(below, distance=12.0, dim=3):
    """Unit normal densities at 0 and at ``distance``, the second with exp(-below) the weight."""

    def log_density(x):
        return np.logaddexp(
            -0.5 * np.sum(x**2, axis=1), -0.5 * np.sum((x - distance) ** 2, axis=1) - below
        )

    def gradient(x):
        far = -0.5 * np.sum((x - distance) ** 2, axis=1) - below
        share = np.exp(far - np.logaddexp(-0.5 * np.sum(x**2, axis=1), far))[:, None]
        return -x * (1.0 - share) - (x - distance) * share

    return LogDensity.from_function(log_density, dim=dim, gradient=gradient)


def starts(chains, distance=12.0, dim=3):
    """Every second chain in the mode at ``distance``."""
    at = np.where(np.arange(chains) % 2, distance, 0.0)[:, None]
    return at + 0.1 * np.random.default_rng(8).standard_normal((chains, dim))


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["fisher_hmc", "fisher_mala", "nuts", "hmc", "mala"])
def test_no_chain_stays_in_a_mode_without_weight(name):
    sizes = {"draws": 200, "warmup": 400}
    run = sample(make_sampler(name), two_modes(40.0), starts(8), 1, **sizes)
    assert np.max(run.x) < 8.0
    assert {r.chain for r in run.restarted} == {1, 3, 5, 7}
    assert all(r.source % 2 == 0 or r.iteration > 0.2 * 400 for r in run.restarted)
    assert all(30.0 < r.nats < 50.0 for r in run.restarted)
    without = sample(make_sampler(name), two_modes(40.0), starts(8), 1, restarts=False, **sizes)
    assert np.max(without.x) > 8.0  # negative control
    assert without.restarted == ()


@pytest.mark.parametrize("pool", [True, False])
def test_modes_of_comparable_weight_are_kept_and_told_of(pool):
    result = infer(
        two_modes(2.0), seed=1, chains=8, inits=[{"x": x} for x in starts(8)], pool=pool,
        quiet=True, draws=200, warmup=200,
    )  # fmt: skip
    assert json.loads(result.attrs["restarted"]) == []
    assert "separated_chains" in result.attrs["warnings"]
    assert np.mean(result["sample_stats"]["n_steps"]) < 2.5  # nothing leads from mode to mode


def test_the_result_says_what_began_again():
    inits = [{"x": x} for x in starts(6)]
    sizes = {"chains": 6, "draws": 100, "warmup": 300, "quiet": True, "seed": 2, "inits": inits}
    result = infer(two_modes(40.0), **sizes)
    made = json.loads(result.attrs["restarted"])
    assert [sorted(r) for r in made] == [["chain", "iteration", "nats", "source"]] * 3
    assert (result.attrs["restarts"], {r["chain"] for r in made}) == (1, {1, 3, 5})
    same = infer(two_modes(40.0), **sizes)
    assert same["posterior"].equals(result["posterior"])
    off = infer(two_modes(40.0), restarts=False, **sizes)
    assert (off.attrs["restarts"], off.attrs["restarted"]) == (0, "[]")


def test_chains_of_groups_have_the_numbers_of_the_run(monkeypatch):
    class Two:
        def __init__(self, chains):
            self.chains = chains

    class Made:
        restarted = (restarts.Restart(5, 1, 0, 20.0),)

    from probmodel.inference.sample_run import _numbered

    found = list(_numbered([Made(), Made()], [Two(3), Two(2)]))
    assert [(r.chain, r.source) for r in found] == [(1, 0), (4, 3)]


@pytest.mark.parametrize("chains", [1, 2, 3])
def test_few_chains_are_not_compared(chains):
    x = np.where(np.arange(chains) % 2, 12.0, 0.0)[:, None] + np.zeros((chains, 3))
    run = sample(make_sampler("fisher_hmc"), two_modes(40.0), x, 1, draws=20, warmup=200)
    assert run.restarted == ()


@pytest.mark.parametrize("n_warmup", [1, 9, 40, 100, 500, 20_000])
def test_checks_end_with_the_first_part_of_the_warm_up(n_warmup, monkeypatch):
    watch, rng = Restarts(n_warmup), np.random.default_rng(1)
    state = State(np.zeros((8, 2)), np.zeros(8), np.zeros((8, 2)))
    monkeypatch.setattr(restarts, "Restart", lambda i, *rest: i)
    monkeypatch.setattr(restarts, "find_lost", lambda w, dim: (np.arange(8) == 0, np.zeros(8)))
    for i in range(n_warmup):
        watch.sources(i, state, rng)
    assert len(watch.made) <= len(CHECKS)
    assert all(i < CHECKS[-1] * n_warmup for i in watch.made)
    assert (len(watch.made) == len(CHECKS)) == (n_warmup >= 400)


class State(NamedTuple):
    x: np.ndarray
    logp: np.ndarray
    grad: np.ndarray
    inner: tuple = ()


def test_states_are_taken_whole():
    state = State(np.arange(6.0).reshape(3, 2), np.arange(3.0), np.ones((3, 2)))
    nested = state._replace(inner=state)
    rows = np.array([0, 2, 2])
    for part in (taken(nested, rows), taken(nested, rows).inner):
        np.testing.assert_array_equal(part.x, [[0, 1], [4, 5], [4, 5]])
        np.testing.assert_array_equal(part.logp, [0, 2, 2])


@pytest.mark.parametrize("name", POOLED)
def test_every_method_goes_on_from_the_new_places(name, monkeypatch, gaussian):
    """Some chains are called lost whatever they do: the moments do not suffer."""
    monkeypatch.setattr(restarts, "find_lost", lambda window, dim: (FIRST_TWO, np.zeros(6)))
    sampler, x = make_sampler(name), np.random.default_rng(3).standard_normal((6, 2))
    group = Group(sampler, gaussian, x, np.random.default_rng(4), restarts=True)
    group.start()
    for i in range(160):
        group.warm_up(i, 160)
        state = group._state
        np.testing.assert_allclose(state.logp, gaussian.log_density(state.x), rtol=1e-9)
    assert {r.chain for r in group.restarted} == {0, 1}
    group.freeze(160, 50)
    while group.drawn < 50:
        group.draw()
    assert np.isfinite(group._state.x).all()


FIRST_TWO = np.arange(6) < 2


@pytest.fixture
def gaussian():
    """Two normal coordinates, with all that any method needs."""
    precision = np.array([1.0, 4.0])
    return LogDensity.from_function(
        lambda x: -0.5 * (x * x) @ precision, dim=2, gradient=None,
        metric=lambda x: np.broadcast_to(np.diag(precision), (len(x), 2, 2)),
    )  # fmt: skip
