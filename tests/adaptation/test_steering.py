"""Step sizes of a group of chains: who learns, and from whom."""

import numpy as np
import pytest

from probmodel.adaptation.dual_averaging import average, start_averaging
from probmodel.adaptation.own_steps import PATIENCE, whole_steps
from probmodel.adaptation.steering import Steering, own_steps_first

YES = np.ones(3, dtype=bool)


def shared(factor=(1.0, 1.0, 1.0)):
    own = whole_steps(len(factor))._replace(factor=np.array(factor))
    return Steering(start_averaging(0.5), own, 0.8, shared=True)


def test_own_steps_begin_where_they_were_found():
    steering = own_steps_first(start_averaging(1.0), np.array([0.1, 0.2, 0.4]), 0.8)
    np.testing.assert_allclose(steering.step_sizes(), [0.1, 0.2, 0.4], rtol=1e-12)
    assert steering.rule.step_size() == pytest.approx(0.2, rel=1e-12)


def test_each_chain_steers_its_own_until_they_join():
    steering = own_steps_first(start_averaging(1.0), np.array([0.1, 0.2, 0.4]), 0.8)
    learned = steering.learned(np.array([1.0, 0.8, 0.2]), np.array([True, True, False]), YES)
    before, after = steering.step_sizes(), learned.step_sizes()
    assert after[0] > before[0]
    assert after[1] == before[1]
    assert after[2] < before[2]
    assert learned.rule == steering.rule
    joined = learned.joined()
    assert joined.shared
    assert joined.rule.step_size() == pytest.approx(np.median(after), rel=1e-12)
    # Nobody takes longer steps than the median; whose own are shorter keeps them.
    np.testing.assert_allclose(joined.step_sizes(), np.minimum(after, np.median(after)))
    assert joined.joined() is joined


@pytest.mark.parametrize(
    ("factor", "finite", "heard"),
    [
        ((1.0, 1.0, 1.0), [True, True, True], [0.6, 0.7, 0.99]),
        ((1.0, 1.0, 0.1), [True, True, True], [0.6, 0.7]),  # who lags behind says nothing
        ((1.0, 1.0, 0.1), [True, False, True], [0.6]),
        ((0.5, 0.5, 0.1), [True, True, True], [0.0]),  # unless all do: too long for everybody
        ((1.0, 1.0, 1.0), [False, False, False], [0.0]),
    ],
)
def test_who_is_heard(factor, finite, heard):
    steering = shared(factor)
    learned = steering.learned(np.array([0.6, 0.7, 0.99]), YES, np.array(finite))
    assert learned.rule == average(steering.rule, np.array(heard), 0.8)


def test_one_chain_is_rescued_without_the_others():
    steering, moved = shared(), np.array([True, False, True])
    for _ in range(PATIENCE):
        steering = steering.learned(0.8 * moved, moved, YES)
    np.testing.assert_array_equal(steering.own.factor, [1.0, 0.5, 1.0])
    np.testing.assert_array_equal(steering.own.rejections, [0, PATIENCE, 0])
    sizes = steering.step_sizes()
    assert sizes[1] == 0.5 * sizes[0] == 0.5 * steering.rule.step_size()
    steering = steering.learned(np.ones(3), YES, YES)
    assert np.ndim(steering.step_sizes()) == 0


def test_restarts_keep_who_steers():
    steps = np.array([0.2, 0.3, 0.9])
    assert shared().restarted(steps).rule == start_averaging(0.3)
    own = own_steps_first(start_averaging(1.0), np.full(3, 0.5), 0.8).restarted(steps)
    np.testing.assert_allclose(own.step_sizes(), steps, rtol=1e-12)
    assert not own.shared
