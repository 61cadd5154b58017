"""Acceptance, selection, and rows that are not finite."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import (
    acceptance,
    adaptable,
    check_start,
    decide,
    evaluate,
    evaluate_value,
    select,
)


def state(logp, dim=2):
    logp = np.asarray(logp, dtype=float)
    return State(np.zeros((len(logp), dim)), logp, np.zeros((len(logp), dim)))


def test_acceptance_of_every_kind_of_ratio():
    ratios = np.array([0.0, 2.0, np.log(0.3), -1e5, np.nan, np.inf, -np.inf])
    np.testing.assert_allclose(acceptance(ratios), [1.0, 1.0, 0.3, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_rows_that_are_not_finite_are_marked(targets, outside):
    x = np.array([[1.0, 2.0], [-1.0, 2.0], [3.0, -1.0]])
    result = evaluate(targets.HalfSpace(2, outside), x)
    np.testing.assert_array_equal(np.isfinite(result.logp), [True, False, True])
    np.testing.assert_array_equal(result.grad[1], [0.0, 0.0])
    np.testing.assert_array_equal(result.grad[[0, 2]], -x[[0, 2]])


def test_value_without_gradient(targets):
    x = np.array([[1.0, 2.0], [-1.0, 2.0]])
    result = evaluate_value(targets.HalfSpace(2, "nan"), x)
    np.testing.assert_array_equal(result.logp, [-2.5, -np.inf])
    np.testing.assert_array_equal(result.grad, np.zeros((2, 2)))


def test_select_keeps_extra_axes():
    new, old = state([1.0, 2.0]), state([3.0, 4.0])
    new, old = new._replace(grad=np.ones((2, 2, 2))), old._replace(grad=np.zeros((2, 2, 2)))
    picked = select(np.array([True, False]), new, old)
    np.testing.assert_array_equal(picked.logp, [1.0, 4.0])
    np.testing.assert_array_equal(picked.grad, [np.ones((2, 2)), np.zeros((2, 2))])


def test_marked_proposal_is_rejected_whatever_the_ratio():
    old, proposal = state([0.0, 0.0]), state([-np.inf, 0.0])
    _, info = decide(np.random.default_rng(1), np.array([5.0, 5.0]), old, proposal, 1)
    np.testing.assert_array_equal(info.accepted, [False, True])
    np.testing.assert_array_equal(info.diverging, [True, False])


def test_acceptance_rate_is_the_probability():
    n = 20000
    old = state(np.zeros(n))
    _, info = decide(np.random.default_rng(2), np.full(n, np.log(0.3)), old, old, 1)
    error = np.sqrt(0.3 * 0.7 / n)
    assert abs(info.accepted.mean() - 0.3) < 5.0 * error


def test_marked_rows_do_not_teach():
    none = np.zeros(3, dtype=bool)
    proposal = state([0.0, -np.inf, 0.0])
    info = Info(np.ones(3), none, none, np.ones(3), proposal, proposal, {})
    np.testing.assert_array_equal(adaptable(np.array([0.1, 0.2, 0.3]), info), [0.1, 0.3])


def test_nothing_but_marked_rows_teaches_zero():
    none = np.zeros(2, dtype=bool)
    proposal = state([-np.inf, -np.inf])
    info = Info(np.ones(2), none, none, np.ones(2), proposal, proposal, {})
    np.testing.assert_array_equal(adaptable(np.array([0.1, 0.2]), info), [0.0])
    np.testing.assert_array_equal(adaptable(np.ones((2, 3)), info), np.zeros((1, 3)))


def test_start_without_density_is_refused():
    with pytest.raises(SamplerError, match="chain 1, 2 of 3") as error:
        check_start("mala", state([0.0, -np.inf, -np.inf]))
    assert error.value.values["chains"] == [1, 2]
