"""Groups of chains: splitting, seeds, statistics, interrupts."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.collectors import DrawStore, in_memory
from probmodel.inference.groups import sample
from probmodel.inference.sample_run import drawn_by, joined
from probmodel.samplers import make_sampler


def go(sampler, density, chains=4, seed=1, **options):
    options = {"draws": 6, "warmup": 5} | options
    return sample(sampler, density, np.arange(2.0 * chains).reshape(chains, 2), seed, **options)


def test_everything_of_a_complete_run(counting, flat):
    run = go(counting(), flat)
    expected = np.arange(8.0).reshape(4, 1, 2) + np.arange(6.0, 12.0)[None, :, None]
    np.testing.assert_array_equal(run.x, expected)
    assert set(run.stats) == {
        "lp", "acceptance_rate", "accepted", "step_size", "n_steps", "n_grad", "diverging",
        "energy",
    }  # fmt: skip
    assert all(column.shape == (4, 6) for column in run.stats.values())
    assert run.stats["accepted"].dtype == run.stats["diverging"].dtype == bool
    np.testing.assert_array_equal(run.stats["n_steps"], 3)
    np.testing.assert_array_equal(run.stats["step_size"], -1.0)
    assert (run.warmup_x, run.warmup_stats) == (None, None)
    assert (run.warmup_done, run.draws_done, run.interrupted) == (5, 6, False)
    assert run.work_warmup == (0, 5 * 4 + 4, 0, 0)
    assert run.work_sampling == (0, 6 * 4, 0, 0)
    assert (run.nonfinite, run.groups, len(run.params)) == (0, 1, 1)
    assert run.seconds_warmup >= 0.0
    assert run.seconds_sampling >= 0.0


def test_warmup_is_kept_on_request(counting, flat):
    run = go(counting(), flat, save_warmup=True)
    np.testing.assert_array_equal(run.warmup_x[:, :, 0], run.warmup_x[:, :, 1] - 1.0)
    np.testing.assert_array_equal(run.warmup_x[0, :, 0], np.arange(1.0, 6.0))
    np.testing.assert_array_equal(run.warmup_stats["step_size"][2], np.arange(5.0))


def test_thinning_keeps_the_last_of_each_block(counting, flat):
    run = go(counting(), flat, draws=3, thin=4, save_warmup=True)
    np.testing.assert_array_equal(run.x[0, :, 0], [9.0, 13.0, 17.0])
    assert run.draws_done == 3
    assert run.warmup_x.shape == (4, 5, 2)
    assert run.work_sampling.grad == 12 * 4


@pytest.mark.parametrize(("fewest", "chains", "groups"), [(1, 4, 4), (2, 5, 2), (3, 7, 2)])
def test_unpooled_groups_are_as_small_as_the_method_allows(counting, flat, fewest, chains, groups):
    run = go(counting(fewest=fewest), flat, chains=chains, pool=False)
    assert (run.groups, len(run.params)) == (groups, groups)
    np.testing.assert_array_equal(run.x[:, 0, 0], 2.0 * np.arange(chains) + 6.0)
    assert run.x.shape == (chains, 6, 2)


def test_draws_of_groups_lie_in_one_array(counting, flat):
    """They are not put together by copies, neither for a look at them nor in the end."""
    first, second = in_memory([2, 3])
    stores = [DrawStore("draw", n, 4, 2, 1, make("draw")) for n, make in ((2, first), (3, second))]
    x = np.random.default_rng(0).random((5, 6, 2))
    for store, own in zip(stores, (x[:2], x[2:]), strict=True):
        store.fill(own[:, :4], {"lp": own[:, :4, 0]})
    for store in stores:
        store.grow(2)
    for store, own in zip(stores, (x[:2], x[2:]), strict=True):
        store.fill(own, {"lp": own[..., 0]})
    seen, (whole, stats, count) = drawn_by(stores), joined(stores)
    assert count == 6
    np.testing.assert_array_equal(whole, x)
    np.testing.assert_array_equal(stats["lp"], x[..., 0])
    assert np.shares_memory(seen, whole)
    assert all(np.shares_memory(whole, store.x(6)) for store in stores)
    assert np.shares_memory(stats["lp"], stores[1].stats(6)["lp"])


def test_draws_of_groups_in_files_are_read_where_they_are(counting, flat, tmp_path):
    expected = go(counting(), flat, pool=False, save_warmup=True)
    with Checkpoint(tmp_path) as checkpoint:
        (tmp_path / "draws").mkdir()
        seen = []
        run = go(
            counting(), flat, pool=False, save_warmup=True, checkpoint=checkpoint,
            missing=lambda density, x, groups: seen.append((x, x[:, ::2, 1], x.shape, x.size)) or 0,
        )  # fmt: skip
    x, part, shape, size = seen[-1]
    assert not isinstance(x, np.ndarray)
    np.testing.assert_array_equal(part, expected.x[:, ::2, 1])
    assert (shape, size) == (expected.x.shape, expected.x.size)
    for name in ("x", "warmup_x"):
        assert isinstance(getattr(run, name), np.memmap)
        np.testing.assert_array_equal(getattr(run, name), getattr(expected, name))
    np.testing.assert_array_equal(run.stats["lp"], expected.stats["lp"])


def test_too_few_chains(counting, flat):
    with pytest.raises(SamplerError, match=r"at least 5 chains.*got 4"):
        go(counting(fewest=5), flat)


@pytest.mark.parametrize("pool", [True, False])
def test_seed_decides_and_is_left_alone(targets, pool):
    target, sampler = targets.Banana(), make_sampler("mala")
    seed = np.random.SeedSequence(5)
    runs = [go(sampler, target, seed=s, pool=pool) for s in (seed, seed, 5, 6)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    np.testing.assert_array_equal(runs[0].x, runs[2].x)
    assert not np.array_equal(runs[0].x, runs[3].x)
    assert seed.n_children_spawned == 0


def test_groups_have_generators_and_parameters_of_their_own(targets):
    target = targets.Banana()
    run = sample(make_sampler("mala"), target, np.zeros((3, 2)), 7, draws=20, warmup=50, pool=False)
    assert len({params.step_size for params in run.params}) == 3
    assert not np.array_equal(run.x[0], run.x[1])


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("iteration", [6, 7, 9, 11])
def test_interrupt_while_drawing_returns_equal_lengths(counting, flat, groups, iteration):
    presses = (iteration - 1) * groups + min(groups, 2)
    sampler = counting(interrupt_at=presses)
    run = go(sampler, flat, pool=groups == 1, save_warmup=True)
    done = iteration - 6
    assert run.interrupted
    assert (run.warmup_done, run.draws_done) == (5, done)
    assert run.x.shape == (4, done, 2)
    np.testing.assert_array_equal(run.x[:, :, 0], run.x[:, :, 1] - 1.0)
    assert all(column.shape == (4, done) for column in run.stats.values())
    assert run.warmup_x.shape == (4, 5, 2)


@pytest.mark.parametrize("pool", [True, False])
def test_interrupt_in_warmup_returns_the_warmup(counting, flat, pool):
    run = go(counting(interrupt_at=3 if pool else 11), flat, pool=pool, save_warmup=True)
    assert run.interrupted
    assert (run.warmup_done, run.draws_done) == (2, 0)
    assert run.x.shape == (4, 0, 2)
    assert run.warmup_x.shape == (4, 2, 2)
    assert run.work_sampling.grad == 0


def test_interrupt_before_the_first_iteration(counting, flat):
    def press(x):
        raise KeyboardInterrupt

    flat_type = type(flat)
    flat_interrupting = type("Interrupting", (flat_type,), {"__call__": lambda self, x: press(x)})()
    run = go(counting(), flat_interrupting)
    assert run.interrupted
    assert (run.warmup_done, run.draws_done) == (0, 0)
    assert run.params == (None,)
    assert run.stats == {}


def test_interrupt_between_two_statistics_leaves_no_half_draw(counting, flat):
    class Late:
        """A statistic that presses Ctrl-C when the fourth draw is being written."""

        def __init__(self, number):
            self.number = number

        def __array__(self, dtype=None, copy=None):
            if self.number == 4:
                raise KeyboardInterrupt
            return np.zeros(4)

    class Sampler(type(counting())):
        def step(self, rng, density, state, params):
            state, info = super().step(rng, density, state, params)
            return state, info._replace(stats={"late": Late(self.presses.count)})

    run = go(Sampler(), flat, warmup=0)
    assert run.interrupted
    assert run.draws_done == 3
    np.testing.assert_array_equal(run.x[0, :, 0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("written", [1, 2, 3])
@pytest.mark.parametrize("group", [1, 2, 4])
def test_interrupt_while_the_first_draw_of_a_group_is_written(
    counting, flat, monkeypatch, group, written
):
    """Some groups have all statistics of a draw then, one has some and others have none."""
    begin, stores = DrawStore._begin, []

    def interrupted(self, name, dtype):
        stores.append(self)
        if len(set(map(id, stores))) == group and stores.count(self) == written:
            raise KeyboardInterrupt
        begin(self, name, dtype)

    monkeypatch.setattr(DrawStore, "_begin", interrupted)
    run = go(counting(), flat, pool=False)
    assert run.interrupted
    assert (run.draws_done, run.x.shape) == (0, (4, 0, 2))
    assert all(column.shape == (4, 0) for column in run.stats.values())


def test_proposals_that_are_not_finite_are_counted(targets):
    target = targets.HalfSpace(1)
    run = sample(make_sampler("rwm", step_size=5.0), target, np.ones((3, 1)), 1, draws=50, warmup=0)
    assert 20 < run.nonfinite < 130
    assert run.nonfinite == np.sum(run.stats["diverging"])


@pytest.mark.parametrize("pool", [True, False])
def test_divergences_of_all_groups(counting, flat, pool):
    class Diverging(type(counting())):
        def step(self, rng, density, state, params):
            start = state.x
            state, info = super().step(rng, density, state, params)
            return state, info._replace(diverging=(start[:, 0] == 8.0) | (start[:, 0] == 13.0))

    run = go(Diverging(), flat, draws=3, thin=2, pool=pool)
    # Chain c starts at 2 c and moves by one an iteration; the sampling begins after 5 of them.
    found = run.divergences
    np.testing.assert_array_equal(found.counts, [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(found.chain, [1, 0, 3, 2])
    np.testing.assert_array_equal(found.draw, [0, 1, 1, 2])
    np.testing.assert_array_equal(found.start[:, 0], [8.0, 8.0, 13.0, 13.0])
    np.testing.assert_array_equal(found.end, found.start + 1.0)
