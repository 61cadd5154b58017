"""What is kept of a run."""

import numpy as np

from probmodel.inference.collectors import Counter, DrawStore, statistics
from probmodel.samplers.base import Info, State


def transition(value, chains=2):
    state = State(np.full((chains, 3), value), np.full(chains, -value), np.zeros((chains, 3)))
    proposal = state._replace(logp=np.array([-np.inf] + [0.0] * (chains - 1)))
    yes = np.ones(chains, dtype=bool)
    info = Info(yes * 0.5, yes, ~yes, np.full(chains, 2), state, proposal, {})
    return state, info


def test_method_without_a_step_size():
    columns = statistics(*transition(1.0), params=())
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
