"""The loop: order of calls, freezing, interrupts."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from probmodel.inference.chains import Group, run
from probmodel.inference.driver import Collector, drive
from probmodel.samplers.random_walk.sa_mcmc import SampleAdaptive
from probmodel.types import Evaluation


class Tape(Collector):
    """Collector that writes everything down, and may press Ctrl-C."""

    def __init__(self, interrupt_at=None):
        self.entries = []
        self.interrupt_at = interrupt_at

    def record(self, phase, i, state, info, params):
        if len(self.entries) == self.interrupt_at:
            raise KeyboardInterrupt
        self.entries.append((phase, i, state.x[0, 0], params))


def go(sampler, flat, tape, **sizes):
    sizes = {"warmup": 3, "draws": 4} | sizes
    return run(
        sampler, flat, np.zeros((2, 2)), np.random.default_rng(1), collectors=[tape], **sizes
    )


def test_order_of_phases(counting, flat):
    tape = Tape()
    params = go(counting(), flat, tape)
    assert [entry[:3] for entry in tape.entries] == [
        ("warmup", 0, 1.0), ("warmup", 1, 2.0), ("warmup", 2, 3.0),
        ("draw", 0, 4.0), ("draw", 1, 5.0), ("draw", 2, 6.0), ("draw", 3, 7.0),
    ]  # fmt: skip
    assert [entry[3].step_size for entry in tape.entries[:3]] == [0.0, 1.0, 2.0]
    assert all(entry[3] is params for entry in tape.entries[3:])
    assert params.step_size == -1.0


def test_thinning_runs_more_iterations(counting, flat):
    tape = Tape()
    go(counting(), flat, tape, draws=4, thin=3)
    assert [entry[1] for entry in tape.entries if entry[0] == "draw"] == list(range(12))


def test_no_draws_still_freezes(counting, flat):
    assert go(counting(), flat, Tape(), draws=0).step_size == -1.0


def test_no_warmup_uses_the_initial_adaptation(counting, flat):
    tape = Tape()
    assert go(counting(), flat, tape, warmup=0).step_size == -1.0
    assert len(tape.entries) == 4


@pytest.mark.parametrize("moment", [1, 3, 4, 7])
def test_interrupt_in_a_transition_stops_cleanly(counting, flat, moment):
    tape = Tape()
    params = go(counting(interrupt_at=moment), flat, tape)
    assert len(tape.entries) == moment - 1
    assert params.step_size == (-1.0 if moment > 3 else moment - 1.0)


def test_interrupt_in_a_collector_stops_cleanly(counting, flat):
    tape = Tape(interrupt_at=5)
    assert go(counting(), flat, tape).step_size == -1.0
    assert len(tape.entries) == 5


@pytest.fixture
def clock(monkeypatch):
    """A clock that the driver reads; it goes on by one whenever it is read."""
    times = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: float(next(times)))
    monkeypatch.setattr("probmodel.inference.driver.time", clock)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("max_time", "warmup", "draws", "seconds"),
    # the start reads 0, each iteration once more, and so does the end of the warm-up
    [
        (0.5, 0, 0, (2, 0)), (2.0, 1, 0, (3, 0)), (4.0, 3, 0, (4, 2)), (6.0, 3, 1, (4, 3)),
        (9.0, 3, 4, (4, 5)),
    ],
)  # fmt: skip
def test_the_time_limit_comes_between_iterations(counting, flat, max_time, warmup, draws, seconds):
    tape = Tape()
    group = Group(counting(), flat, np.zeros((2, 2)), np.random.default_rng(1), [tape])
    outcome = drive([group], warmup=3, iterations=4, max_time=max_time)
    phases = [entry[0] for entry in tape.entries]
    assert phases == ["warmup"] * warmup + ["draw"] * draws
    assert outcome.timed_out == (draws < 4)
    assert not outcome.interrupted
    assert (outcome.seconds_warmup, outcome.seconds_sampling) == seconds


def test_other_errors_are_not_swallowed(counting, flat):
    with pytest.raises(AttributeError):
        go(counting(), flat, object())


def test_chains_of_several_points_start_where_they_are_told():
    """The density sees points in rows, also when its cost is looked at before the first one."""
    seen = []

    class Strict:
        dim = 3

        def log_density(self, x):
            seen.append(x.shape)
            assert x.ndim == 2
            return -0.5 * np.sum(x * x, axis=1)

        def __call__(self, x):
            return Evaluation(self.log_density(x), -x)

    x0 = np.random.default_rng(1).standard_normal((2, 8, 3))
    sampler = SampleAdaptive(ensemble=8, start="normal")
    run(sampler, Strict(), x0, np.random.default_rng(2), warmup=3, draws=2)
    assert seen[0] == (1, 3)
