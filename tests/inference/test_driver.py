"""The loop: order of calls, freezing, interrupts."""

import numpy as np
import pytest

from probmodel.inference.driver import run


class Tape:
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


def test_other_errors_are_not_swallowed(counting, flat):
    with pytest.raises(AttributeError):
        go(counting(), flat, object())
