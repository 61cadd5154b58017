"""What is kept of a run."""

from types import SimpleNamespace

import numpy as np
import pytest

from probmodel.inference.collectors import (
    Counter,
    Divergences,
    DivergenceStore,
    DrawStore,
    join_divergences,
    statistics,
)
from probmodel.samplers.base import Info, State, Stretch


def transition(value, chains=2):
    state = State(np.full((chains, 3), value), np.full(chains, -value), np.zeros((chains, 3)))
    proposal = state._replace(logp=np.array([-np.inf] + [0.0] * (chains - 1)))
    yes = np.ones(chains, dtype=bool)
    info = Info(yes * 0.5, yes, ~yes, np.full(chains, 2), state, proposal, {})
    return state, info


def test_method_without_a_step_size():
    columns = statistics(Stretch(*transition(1.0)).statistics, params=())
    assert np.isnan(columns["step_size"])


def test_step_size_per_chain():
    class Params:
        step_size = np.array([0.1, 0.2])

    store = DrawStore("warmup", 2, 4, 3)
    store.record("warmup", 0, *transition(1.0), Params())
    np.testing.assert_array_equal(store.stats(1)["step_size"], [[0.1], [0.2]])


def test_other_phase_is_ignored():
    store = DrawStore("draw", 2, 4, 3)
    store.record("warmup", 0, *transition(1.0), None)
    assert store.count == 0
    assert store.x(0).shape == (2, 0, 3)
    assert store.stats(0) == {}


def test_counter():
    counter = Counter()
    for i in range(3):
        counter.record("warmup", i, *transition(1.0), None)
    counter.record("draw", 0, *transition(1.0), None)
    assert counter.iterations == {"warmup": 3, "draw": 1}
    assert counter.nonfinite == {"warmup": 3, "draw": 1}


def trajectory(i, diverging, record=None):
    """Trajectories from ``i`` plus 100 times the chain, in each coordinate, to minus that."""
    state, info = transition(float(i), len(diverging))
    start = i + 100.0 * np.arange(len(diverging))[:, None] + np.zeros((1, 3))
    stats = {"n_steps": np.arange(1, len(diverging) + 1)}
    return state, info._replace(
        previous=state._replace(x=start),
        proposal=state._replace(x=-start),
        diverging=np.array(diverging, dtype=bool),
        stats=stats,
        record=record,
    )


def test_divergences_are_kept_with_their_places():
    store = DivergenceStore(2, 5, 3)
    for i, diverging in enumerate([[1, 0], [0, 0], [1, 1], [0, 0], [0, 1]]):
        store.record("draw", i, *trajectory(i, diverging), None)
    found = store.divergences(5)
    np.testing.assert_array_equal(found.counts, [[1, 0, 1, 0, 0], [0, 0, 1, 0, 1]])
    np.testing.assert_array_equal(found.chain, [0, 0, 1, 1])
    np.testing.assert_array_equal(found.draw, [0, 2, 2, 4])
    np.testing.assert_array_equal(found.start[:, 0], [0.0, 2.0, 102.0, 104.0])
    np.testing.assert_array_equal(found.end, -found.start)
    assert found.start.shape == (4, 3)


def test_divergences_after_the_last_draw_are_left_out():
    store = DivergenceStore(2, 5, 3)
    for i in range(4):
        store.record("draw", i, *trajectory(i, [1, 0]), None)
    found = store.divergences(3)
    np.testing.assert_array_equal(found.counts, [[1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(found.draw, [0, 1, 2])


def test_a_record_may_say_where_a_trajectory_broke_down():
    store = DivergenceStore(2, 5, 3)
    record = SimpleNamespace(divergence=np.array([[7.0, 8.0, 9.0], [np.nan] * 3]))
    store.record("draw", 0, *trajectory(1, [1, 0], record), None)
    np.testing.assert_array_equal(store.divergences(1).end, [[7.0, 8.0, 9.0]])


def test_thinned_out_divergences_belong_to_the_next_draw():
    store = DivergenceStore(1, 2, 3, thin=3)
    for i in range(6):
        store.record("draw", i, *trajectory(i, [i in (0, 1, 5)]), None)
    found = store.divergences(2)
    np.testing.assert_array_equal(found.counts, [[2, 1]])
    np.testing.assert_array_equal(found.draw, [0, 0, 1])
    np.testing.assert_array_equal(found.start[:, 0], [0.0, 1.0, 5.0])


def test_divergences_of_a_draw_that_an_interrupt_left_unfinished():
    """They are known to the run that goes on, which has that draw."""
    store = DivergenceStore(1, 5, 3, thin=3)
    for i in range(8):
        store.record("draw", i, *trajectory(i, [i in (1, 7)]), None)
    after = DivergenceStore(1, 2, 3, thin=3)  # of the draws that were finished
    after.resume(store.snapshot(8))
    after.grow(2)
    after.record("draw", 8, *trajectory(8, [True]), None)
    np.testing.assert_array_equal(after.divergences(3).counts, [[1, 0, 2]])
    np.testing.assert_array_equal(after.divergences(3).draw, [0, 2, 2])


def test_warmup_and_single_steps_have_no_divergences():
    store = DivergenceStore(2, 5, 3)
    state, info = trajectory(1, [1, 1])
    store.record("warmup", 0, state, info, None)
    store.record("draw", 0, state, info._replace(stats={}), None)
    found = store.divergences(5)
    assert not found.counts.any()
    assert found.chain.size == found.start.size == 0


def test_a_random_sample_of_many_divergences_is_kept():
    store = DivergenceStore(4, 400, 3, most=50)
    for i in range(400):
        store.record("draw", i, *trajectory(i, [1, 1, 1, 1]), None)
    found = store.divergences(400)
    assert found.counts.sum() == 1600
    assert found.start.shape == (50, 3)
    assert len(set(zip(found.chain, found.draw, strict=True))) == 50
    np.testing.assert_array_equal(found.start[:, 0], found.draw + 100.0 * found.chain)
    assert (np.diff(found.draw) >= 0).all()
    # Uniform over the run: the mean draw within five standard errors, and every chain.
    assert abs(found.draw.mean() - 199.5) < 5.0 * 400 / np.sqrt(12 * 50)
    assert set(found.chain) == {0, 1, 2, 3}


def test_half_written_divergences_are_left_out():
    class Late:
        """Positions that press Ctrl-C when they are read."""

        def __getitem__(self, rows):
            raise KeyboardInterrupt

    store = DivergenceStore(2, 5, 3, most=3)
    for i in range(2):
        store.record("draw", i, *trajectory(i, [1, 1]), None)
    state, info = trajectory(2, [1, 1])
    late = info._replace(previous=SimpleNamespace(x=Late()))
    with pytest.raises(KeyboardInterrupt):
        store.record("draw", 2, state, late, None)
    found = store.divergences(2)
    assert (found.draw < 2).all()
    np.testing.assert_array_equal(found.start[:, 0], found.draw + 100.0 * found.chain)
    assert found.counts.sum() == 4


@pytest.mark.parametrize("thin", [1, 3])
@pytest.mark.parametrize("most", [4, 1000])
def test_what_was_taken_before_an_interrupt_can_be_taken_again(thin, most):
    """Iterations from 9 on were interrupted after this store: a run goes on from before them."""
    pattern = np.random.default_rng(1).random((18, 2)) < 0.6

    def taken(store, first, last):
        for i in range(first, last):
            store.record("draw", i, *trajectory(i, pattern[i].tolist()), None)

    whole, ended, later = (DivergenceStore(2, 18 // thin, 3, thin, most) for _ in range(3))
    taken(whole, 0, 18)
    taken(ended, 0, 9)
    same = ended.snapshot(9)
    taken(ended, 9, 10)
    snapshot = ended.snapshot(9)
    assert snapshot["seen"] == same["seen"] < ended.snapshot(10)["seen"]
    later.resume(snapshot)
    taken(later, 9, 18)
    for found, known in zip(later.divergences(99), whole.divergences(99), strict=True):
        np.testing.assert_array_equal(found, known)


def test_counts_before_an_interrupt():
    counter = Counter()
    for i in range(3):
        state, info = trajectory(i, [1, 0])
        bad = info._replace(proposal=info.proposal._replace(logp=np.array([-np.inf, 0.0])))
        counter.record("draw", i, state, bad, None)
    later = Counter()
    later.resume(counter.snapshot(2))
    assert (later.iterations["draw"], later.nonfinite["draw"]) == (2, 2)
    later.resume(counter.snapshot(3))
    assert (later.iterations["draw"], later.nonfinite["draw"]) == (3, 3)


def test_groups_are_numbered_through():
    def part(chain, draw):
        rows = np.array(draw, dtype=float)[:, None]
        return Divergences(np.ones((2, 9), dtype=int), np.array(chain), np.array(draw), rows, -rows)

    whole = join_divergences([part([0, 1], [3, 8]), part([1, 0], [1, 3])])
    assert whole.counts.shape == (4, 9)
    np.testing.assert_array_equal(whole.chain, [3, 0, 2, 1])
    np.testing.assert_array_equal(whole.draw, [1, 3, 3, 8])
    np.testing.assert_array_equal(whole.start[:, 0], whole.draw)
    np.testing.assert_array_equal(whole.end, -whole.start)
