"""Adaptive HMC: blocks and their rewards, adaptation that goes on, and regions that confine it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, infer, observed, param
from probmodel.distributions import Normal
from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.samplers import make_sampler
from probmodel.samplers.hamiltonian.ahmc import AdaptiveHMC
from probmodel.samplers.hamiltonian.bayes_adaptive import Params
from probmodel.testing.statistics import require_moments

NARROW = np.array([[1.0, 0.99], [0.99, 1.0]])
BOX = {"step_range": (0.05, 0.5), "steps_range": (1, 30)}


def params(step_size=0.1, max_steps=10, limits=(0.01, 1.0), failed=0):
    return Params(step_size, max_steps, limits, failed)


def iterate(sampler, target, n, n_warmup, chains=4, seed=1):
    """Run by hand; yield the adaptation before each transition, and its info."""
    rng = np.random.default_rng(seed)
    state = sampler.init(rng, target, target.exact(rng, chains))
    adaptation = sampler.adapt_init(rng, target, state)
    for i in range(n):
        before = adaptation
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, n_warmup, adaptation, state, info)
        yield before, info, state, adaptation


def normal(targets, covariance=None):
    covariance = np.eye(2) if covariance is None else covariance
    return targets.Gaussian(np.zeros(len(covariance)), covariance)


# -- blocks and rewards ------------------------------------------------------------------------


@pytest.mark.parametrize(("n_warmup", "length"), [(1000, 10), (250, 2), (50, 1), (0, 1)])
def test_the_setting_changes_after_whole_blocks_only(targets, n_warmup, length):
    sampler = AdaptiveHMC(**BOX)
    cells, counts = [], []
    for before, _, _, after in iterate(sampler, normal(targets), 60, n_warmup):
        cells.append(before.search.cell)
        counts.append(after.search.i)
    assert counts == [(i + 1) // length for i in range(60)]
    changes = np.flatnonzero([a != b for a, b in pairwise(cells)]) + 1
    assert changes.size
    assert np.all(changes % length == 0)


def test_the_reward_is_the_weighted_squared_jump_over_the_root_of_the_steps(targets):
    rewards, expected = [], []
    for before, info, _, after in iterate(AdaptiveHMC(**BOX), normal(targets), 40, 400):
        L = before.search.setting(before.search.cell)[1]
        jumps = np.sum((info.proposal.x - info.previous.x) ** 2, axis=1)
        expected.append(np.mean(info.accept_prob * jumps) / np.sqrt(L))
        if after.search.i > before.search.i:
            rewards.append(after.search.rewards.means @ after.search.rewards.counts)
    blocks = np.reshape(expected, (10, 4)).mean(axis=1)
    np.testing.assert_allclose(rewards, np.cumsum(blocks), rtol=1e-12)


def test_proposals_that_are_not_finite_count_nothing(targets):
    sampler = AdaptiveHMC(step_range=(50.0, 90.0), steps_range=(5, 9))
    runs = iterate(sampler, targets.HalfSpace(2, "nan"), 30, 100)
    assert all(np.isfinite(after.search.highest) for *_, after in runs if after.search.i)


def test_steps_are_uniform_up_to_the_most(targets):
    def p_value(taken, most):
        return stats.chisquare(np.bincount(taken, minlength=most + 1)[1:]).pvalue

    sampler, target, rng = AdaptiveHMC(), normal(targets), np.random.default_rng(2)
    state, taken = sampler.init(rng, target, np.zeros((1, 2))), []
    for _ in range(1500):
        state, info = sampler.step(rng, target, state, params(max_steps=6))
        taken.append(info.stats["n_steps"][0])
        assert info.stats["max_steps"][0] == 6
    assert p_value(taken, 6) > 1e-4
    assert p_value(np.minimum(np.array(taken) + 1, 6), 6) < 1e-4  # as from 2 to 6


def test_the_default_range_surrounds_a_step_that_is_mostly_accepted(targets):
    target, rng = normal(targets, 1e-4 * np.eye(20)), np.random.default_rng(3)
    sampler = AdaptiveHMC()
    state = sampler.init(rng, target, target.exact(rng, 50))
    low, high = sampler.params(sampler.adapt_init(rng, target, state)).step_range
    assert high / low == pytest.approx(40.0)

    def acceptance(step_size):
        infos = (sampler.step(rng, target, state, params(step_size, 1))[1] for _ in range(20))
        return np.mean([info.accept_prob.mean() for info in infos])

    assert acceptance(high / 2.0) > 0.75
    assert acceptance(high / 2.0 * 10**0.5) < 0.8


# -- adaptation that goes on -------------------------------------------------------------------


@pytest.mark.statistical
def test_moments_are_right_while_it_adapts_for_ever(targets):
    x0 = np.random.default_rng(4).uniform(-2.0, 2.0, (4, 2))
    sampler = AdaptiveHMC(steps_range=(1, 40))
    run = sample(sampler, normal(targets, NARROW), x0, 5, draws=1200, warmup=300)
    assert len(np.unique(run.stats["step_size"][0])) > 3
    variances, directions = np.linalg.eigh(NARROW)
    along = run.x @ directions
    require_moments(normal(targets, np.diag(variances)), along)
    with pytest.raises(AssertionError, match="Monte Carlo standard errors"):
        require_moments(normal(targets, np.diag([1.5, 1.0] * variances)), along)


def test_freezing_ends_the_adaptation_at_the_best_setting(targets):
    x0 = np.random.default_rng(4).uniform(-2.0, 2.0, (4, 2))
    assert AdaptiveHMC().adapts_forever
    sampler = AdaptiveHMC(freeze=True, **BOX)
    assert not sampler.adapts_forever
    run = sample(sampler, normal(targets), x0, 5, draws=100, warmup=300, save_warmup=True)
    assert len(np.unique(run.stats["step_size"])) == len(np.unique(run.stats["max_steps"])) == 1
    assert len(np.unique(run.warmup_stats["step_size"])) > 10
    *_, (_, _, _, last) = iterate(sampler, normal(targets), 300, 300)
    best = last.search.setting(sampler._search.best(last.search))
    assert sampler.params(last, final=True)[:2] == best
    assert sampler.params(last)[:2] == last.search.setting(last.search.cell)


def test_finds_long_trajectories_for_a_narrow_target(targets):
    x0 = np.random.default_rng(6).standard_normal((4, 2))
    found = []
    for covariance in (np.eye(2), NARROW):
        run = sample(
            AdaptiveHMC(freeze=True, step_range=(0.02, 1.0), steps_range=(1, 60)),
            normal(targets, covariance), x0, 7, draws=1, warmup=400,
        )  # fmt: skip
        found.append(run.params[0])
    assert found[0].step_size > 2.0 * found[1].step_size
    assert found[0].max_steps < found[1].max_steps
    assert 0.02 < found[1].step_size < 0.25  # a step of 2 sqrt(0.01) = 0.2 is no longer stable


# -- regions -----------------------------------------------------------------------------------


def test_a_box_leaves_the_truncated_density(targets):
    sampler = AdaptiveHMC(bounds=(np.array([-0.5, -9.0]), np.array([1.0, 9.0])), **BOX)
    x0 = np.random.default_rng(8).uniform(-0.4, 0.4, (20, 2))
    run = sample(sampler, normal(targets), x0, 9, draws=600, warmup=200)
    x = run.x[:, ::10, 0].ravel()
    assert x.min() > -0.5
    assert x.max() < 1.0
    assert stats.kstest(x, stats.truncnorm(-0.5, 1.0).cdf).pvalue > 1e-3
    assert stats.kstest(x, stats.truncnorm(-0.6, 1.1).cdf).pvalue < 1e-3
    assert np.all(np.isfinite(run.stats["energy"]))


class Vague(Model):
    """Its data say next to nothing of the means: their priors are the posterior."""

    mean = param(Normal(0, 1), dims="group")
    y = observed(Normal(mean, 1e4), dims="group")


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_a_box_confines_models_in_any_engine(engine):
    sampler = AdaptiveHMC(bounds=(-0.5, 1.0), **BOX)
    sizes = {"draws": 600, "warmup": 200, "chains": 20, "seed": 1, "quiet": True}
    fit = infer(Vague(y=[0.0, 0.0]), sampler, engine=engine, inits=0.3, **sizes)
    assert fit.attrs["engine"] == engine
    mean = fit["posterior"]["mean"].values
    assert mean.min() > -0.5
    assert mean.max() < 1.0
    x = mean[:, ::10, 0].ravel()
    assert stats.kstest(x, stats.truncnorm(-0.5, 1.0).cdf).pvalue > 1e-3


def test_a_ball_is_never_left(targets):
    sampler = AdaptiveHMC(bounds=1.2, **BOX)
    run = sample(sampler, normal(targets), np.zeros((4, 2)), 9, draws=300, warmup=100)
    radius = np.linalg.norm(run.x, axis=2)
    assert 1.0 < radius.max() <= 1.2


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (0.5, "ahmc cannot start outside its bounds: chain 1 of 2"),
        ((-0.5, 0.5), "chain 1 of 2"),
        (([-1.0] * 3, [1.0] * 3), "bounds have 3 limits, and there are 2"),
    ],
)
def test_starts_outside_are_refused(targets, bounds, message):
    with pytest.raises(SamplerError, match=message):
        AdaptiveHMC(bounds=bounds).init(None, normal(targets), np.array([[0.1, 0.1], [2.0, 0.0]]))


# -- other rewards -----------------------------------------------------------------------------


def test_a_given_reward_sees_the_draws_of_its_block(targets):
    seen = []

    def reward(draws, step_size, n_steps):
        seen.append((draws, step_size, n_steps))
        return float(n_steps)

    states = []
    sampler = AdaptiveHMC(reward=reward, **BOX)
    for before, _, state, after in iterate(sampler, normal(targets), 30, 300, chains=5):
        states.append(state.x)
        if after.search.i > before.search.i:
            assert seen[-1][1:] == before.search.setting(before.search.cell)
            assert after.search.highest == max(L for *_, L in seen)
    assert len(seen) == 10
    for block, (draws, _, _) in enumerate(seen):
        np.testing.assert_array_equal(draws, np.stack(states[3 * block : 3 * block + 3], axis=1))


def test_a_budget_keeps_the_leapfrog_steps_of_a_block_constant(targets):
    blocks = []

    def reward(draws, step_size, n_steps):
        blocks.append((draws.shape[1], n_steps))
        return 1.0

    sampler = AdaptiveHMC(reward=reward, budget=60, step_range=(0.05, 0.5), steps_range=(1, 99))
    for _ in iterate(sampler, normal(targets), 300, 1000):
        pass
    lengths, steps = np.array(blocks).T
    np.testing.assert_array_equal(lengths, np.maximum(1, 60 // steps))
    assert lengths[0] == 60
    assert lengths.min() == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rewards_that_are_not_finite_count_zero_and_are_told(targets, value):
    sampler = AdaptiveHMC(reward=lambda draws, step_size, n_steps: value, **BOX)
    x0 = np.zeros((2, 2))
    run = sample(sampler, normal(targets), x0, 1, draws=20, warmup=20)
    assert run.params[0].failed == 39  # the last block is learned after its draw
    kinds = [remark.kind for remark in sampler.remarks(run.params[0], run.stats)]
    assert "rewards_not_finite" in kinds
    *_, (_, _, _, last) = iterate(sampler, normal(targets), 5, 5)
    np.testing.assert_array_equal(last.search.rewards.means, 0.0)


@pytest.mark.parametrize("value", [None, "good", True, np.zeros(2)])
def test_rewards_that_are_no_number_are_refused(targets, value):
    sampler = AdaptiveHMC(reward=lambda draws, step_size, n_steps: value, **BOX)
    with pytest.raises(SamplerError, match="reward must return a number, returned"):
        list(iterate(sampler, normal(targets), 1, 1))


# -- remarks and settings ----------------------------------------------------------------------


def test_steps_at_the_limit_are_remarked():
    limits = (0.01, 0.5)
    steps = {"step_size": np.array([[0.5, 0.5, 0.2, 0.5], [0.5, 0.5, 0.2, 0.5]])}
    (remark,) = AdaptiveHMC().remarks(params(limits=limits), steps)
    assert remark.kind == "step_at_limit"
    assert "75% of the draws" in remark.message
    assert "largest" in remark.message
    inside = {"step_size": np.array([[0.5, 0.2, 0.2, 0.01]])}
    assert AdaptiveHMC().remarks(params(limits=limits), inside) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step_range": (0.0, 1.0)}, "step_range must be a finite number above 0, got 0.0"),
        ({"step_range": (-1, 1.0)}, "step_range must be a finite number above 0, got -1"),
        ({"step_range": (0.1, np.inf)}, "step_range must be a finite number above 0, got inf"),
        ({"step_range": (1.0, 0.1)}, "step_range must be a pair of numbers, increasing, got"),
        ({"step_range": (0.1, 0.1)}, "step_range must be a pair of numbers, increasing, got"),
        ({"step_range": 0.1}, "step_range must be a pair of numbers, increasing, got 0.1"),
        ({"steps_range": (0, 10)}, "steps_range must be a whole number of at least 1, got 0"),
        ({"steps_range": (1, 10.5)}, "steps_range must be a whole number of at least 1, got 10.5"),
        ({"steps_range": (10, 5)}, "the first at most the second, got"),
        ({"steps_range": None}, "steps_range must be a pair of whole numbers"),
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"alpha": 0.0}, "alpha must be a finite number above 0, got 0.0"),
        ({"kappa": -1.0}, "kappa must be a finite number above 0, got -1.0"),
        ({"sigma_f": "big"}, "sigma_f must be a finite number above 0, got 'big'"),
        ({"noise": 0}, "noise must be a finite number above 0, got 0"),
        ({"delta": 1.0}, "delta must be a finite number above 0 and below 1, got 1.0"),
        ({"spacing": "cubic"}, "spacing must be one of 'log', 'linear', got 'cubic'"),
        ({"freeze": None}, "freeze must be True or False, got None"),
        ({"reward": 3.0}, "reward must be a callable"),
        ({"budget": 0, "reward": min}, "budget must be a whole number of at least 1 or None"),
        ({"budget": 100}, "budget is for a given reward"),
        ({"bounds": -1.0}, "bounds must be a finite number above 0, got -1.0"),
        ({"bounds": (1.0, 0.0)}, "bounds must be a radius above 0, or a pair"),
        ({"bounds": ([0.0], [1.0], [2.0])}, "bounds must be a radius above 0, or a pair"),
        ({"bounds": ([0.0, 0.0], [1.0, 1.0, 1.0])}, "bounds must be a radius above 0, or a pair"),
        ({"bounds": ("a", "b")}, "bounds must be a radius above 0, or a pair"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SamplerError, match=message) as caught:
        AdaptiveHMC(**settings)
    assert caught.value.values["setting"] in settings


def test_a_single_number_of_steps_is_allowed():
    assert make_sampler(AdaptiveHMC(), steps_range=(7, 7)).steps_range == (7, 7)
