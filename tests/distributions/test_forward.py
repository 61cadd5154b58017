"""Likelihood of hidden Markov chains against sums over paths and against the plain recursion."""

from __future__ import annotations

import itertools

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad

from probmodel.distributions.process import forward_algorithm as forward
from probmodel.distributions.process.forward_algorithm import forward_backward, hmm_log_likelihood


def chain(seed, length, states, batch=(), spread=3.0):
    rng = np.random.default_rng(seed)
    logs = spread * rng.standard_normal((*batch, length, states)) - 20.0
    return (
        logs,
        rng.dirichlet(np.ones(states), batch),
        rng.dirichlet(np.ones(states), (*batch, states)),
    )


def by_recursion(logs, initial, transition):
    """Forward algorithm on the log scale, one time after the other."""
    with np.errstate(divide="ignore"):
        ahead = np.log(initial) + logs[0]
        for row in logs[1:]:
            ahead = np.logaddexp.reduce(ahead[:, None] + np.log(transition), axis=0) + row
    return np.logaddexp.reduce(ahead)


def by_enumeration(logs, initial, transition):
    """Likelihood, and posterior probabilities of the states, by a sum over all paths."""
    length, states = logs.shape
    shares, total = np.zeros((length, states)), 0.0
    for path in itertools.product(range(states), repeat=length):
        p = initial[path[0]] * np.prod([transition[i, j] for i, j in itertools.pairwise(path)])
        p *= np.exp(sum(logs[t, s] for t, s in enumerate(path)))
        total += p
        shares[np.arange(length), path] += p
    return np.log(total), shares / total


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("states", [1, 2, 3])
def test_sum_over_all_paths(length, states):
    args = chain(length, length, states)
    found = forward_backward(*args)
    value, shares = by_enumeration(*args)
    assert found.value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(found.log_emissions, shares, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("length", [8, 9, 17, 31, 64, 100, 416, 1030])
def test_recursion_of_any_length(length):
    logs, initial, transition = chain(length, length, 3, (2, 2))
    value = hmm_log_likelihood(logs, initial, transition)
    for i in np.ndindex(2, 2):
        expected = by_recursion(logs[i], initial[i], transition[i])
        assert value[i] == pytest.approx(expected, rel=1e-13)


def test_ten_thousand_times():
    logs, initial, transition = chain(0, 10_000, 2, spread=8.0)
    found = forward_backward(logs - 300.0, initial, transition)
    assert found.value == pytest.approx(by_recursion(logs - 300.0, initial, transition), rel=1e-12)
    np.testing.assert_allclose(found.log_emissions.sum(axis=-1), 1.0, rtol=1e-12)


def directional(function, args, i, v, h=1e-5):
    moved = [[a + s * h * v if j == i else a for j, a in enumerate(args)] for s in (1, -1)]
    return (function(*moved[0]) - function(*moved[1])) / (2 * h)


@pytest.mark.parametrize(("length", "states"), [(1, 2), (4, 2), (30, 3), (200, 4)])
def test_derivatives_are_those_by_differences(length, states):
    args, rng = chain(7, length, states), np.random.default_rng(8)
    slopes = forward_backward(*args)[1:]
    for i in range(3):
        v = rng.standard_normal(args[i].shape) * (0.01 if i else 1.0)
        expected = directional(hmm_log_likelihood, args, i, v)
        assert np.sum(slopes[i] * v) == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert abs(1.001 * np.sum(slopes[i] * v) - expected) > 1e-6 * abs(expected) or not expected


@pytest.mark.parametrize("length", [1, 2, 9])
def test_second_derivatives_are_those_by_differences(length):
    args, rng = chain(9, length, 3, (2,)), np.random.default_rng(10)
    directions = [0.1 * rng.standard_normal(a.shape) for a in args]
    for i, j in itertools.product(range(3), repeat=2):

        def slope(*a, i=i):
            value = grad(lambda *b: anp.sum(hmm_log_likelihood(*b)), i)(*a)
            return anp.sum(value * directions[i])

        if length == 1 and 2 in (i, j):
            continue
        second = grad(slope, j)(*args)
        expected = directional(slope, args, j, directions[j], 1e-4)
        assert np.sum(second * directions[j]) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_arguments_broadcast_and_derivatives_have_their_shapes():
    logs, initial, transition = chain(11, 12, 2, (4, 3))
    initial, transition = initial[0, 0], transition[:, :1]
    value, vjp = hmm_log_likelihood.with_vjp((0, 1, 2), logs, initial, transition)
    assert value.shape == (4, 3)
    slopes = vjp(np.ones((4, 3)))
    expected = [np.zeros(a.shape) for a in (logs, initial, transition)]
    for i, j in np.ndindex(4, 3):
        one = forward_backward(logs[i, j], initial, transition[i, 0])
        expected[0][i, j] = one.log_emissions
        expected[1] += one.initial
        expected[2][i, 0] += one.transition
    for slope, truth in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(slope, truth, rtol=1e-12)


def changepoint(length):
    """Two series for a chain that never goes back, of which one fits the first state at its end."""
    rng = np.random.default_rng(12)
    logs = 3.0 * rng.standard_normal((2, length, 2))
    logs[1, : length // 2, 0] -= 3.0
    logs[1, length // 2 :, 1] -= 3.0
    return logs, np.array([0.5, 0.5]), np.array([[0.99, 0.01], [0.0, 1.0]])


def test_what_would_underflow_is_computed_by_logarithms():
    logs, initial, transition = changepoint(3000)
    found = forward_backward(logs, initial, transition)
    flat = [np.broadcast_to(a, (2, *a.shape)) for a in (initial, transition)]
    with np.errstate(all="ignore"):
        safe = forward._scaled([logs, *flat], slopes=True)[1]
    assert not safe.all()
    for i in range(2):
        expected = by_recursion(logs[i], initial, transition)
        assert found.value[i] == pytest.approx(expected, rel=1e-13)
    assert all(np.isfinite(a).all() for a in found)
    v = np.array([[-1.0, 1.0], [0.0, 0.0]])
    expected = directional(hmm_log_likelihood, (logs, initial, transition), 2, v, 1e-6)
    np.testing.assert_allclose(np.sum(found.transition * v, axis=(1, 2)), expected, rtol=1e-4)


def test_both_ways_of_computing_agree():
    args = chain(13, 90, 3, (4,))
    scaled, safe = forward._scaled(args, slopes=True)
    assert safe.all()
    for one, other in zip(scaled, forward._by_autograd(args, slopes=True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_impossible_series_and_bad_rows_leave_the_others_alone():
    logs, initial, transition = chain(14, 20, 2, (4,))
    good = forward_backward(logs, initial, transition)
    logs[0, 3], logs[1, 5, 1] = -np.inf, -np.inf
    transition[3, 0, 0] = np.nan
    with np.errstate(all="ignore"):
        found = forward_backward(logs, initial, transition)
    assert found.value[0] == -np.inf
    assert np.isfinite(found.value[1])
    assert found.log_emissions[1, 5, 1] == 0.0
    assert found.value[2] == good.value[2]
    np.testing.assert_array_equal(found.log_emissions[2], good.log_emissions[2])
    assert np.isnan(found.value[3])


def test_shapes_that_do_not_fit_are_named():
    logs, initial, transition = chain(15, 6, 3)
    for bad in [
        (logs, initial[:2], transition),
        (logs, initial, transition[:, :2]),
        (logs, initial, transition[:2]),
        (logs[0], initial, transition),
    ]:
        with pytest.raises(ValueError, match=r"square transition matrix \(..., 3, 3\)"):
            hmm_log_likelihood(*bad)
