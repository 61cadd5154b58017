"""Hidden Markov chains of many series: passes over time against the tree and sums over paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from probmodel.distributions.process import forward_algorithm as forward
from probmodel.distributions.process import forward_passes as passes
from probmodel.functions import state_probabilities

SERIES = 100


def chains(seed, length, states, spread=3.0):
    rng = np.random.default_rng(seed)
    return [
        spread * rng.standard_normal((SERIES, length, states)) - 20.0,
        rng.dirichlet(np.ones(states), SERIES),
        rng.dirichlet(np.ones(states), (SERIES, states)),
    ]


@np.errstate(all="ignore")
def by_tree(args, slopes=True):
    return forward._with_exact(forward._scaled, forward._by_autograd, args, slopes)


def agree(found, expected, rtol=1e-11, rows=slice(None)):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[rows], other[rows], rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("length", [1, 2, 3, 9, 60])
@pytest.mark.parametrize("states", [1, 2, 3, 5])
def test_passes_and_tree_agree(monkeypatch, length, states):
    args = chains(length, length, states)
    expected = by_tree(args)
    monkeypatch.delattr(forward, "_scaled")  # the tree takes many times as long for many series
    found = forward.forward_backward(*args)
    agree(found, expected)
    value = forward.hmm_log_likelihood(*args)
    np.testing.assert_allclose(value, expected.value, rtol=1e-13)


@pytest.mark.parametrize(("length", "states"), [(1, 1), (1, 3), (4, 2), (4, 3)])
def test_sums_over_all_paths(length, states):
    logs, initial, transition = chains(length, length, states)
    shares, total = np.zeros(logs.shape), 0.0
    for path in itertools.product(range(states), repeat=length):
        p = initial[:, path[0]] * np.exp(logs[:, np.arange(length), path].sum(axis=1))
        for i, j in itertools.pairwise(path):
            p = p * transition[:, i, j]
        total = total + p
        shares[:, np.arange(length), path] += p[:, None]
    for exact in (False, True):
        found = passes.by_logarithms([logs, initial, transition], True)
        if not exact:
            found, safe = passes.by_probabilities([logs, initial, transition], True)
            assert safe.all()
        np.testing.assert_allclose(found.value, np.log(total), rtol=1e-13)
        np.testing.assert_allclose(found.log_emissions, shares / total[:, None, None], rtol=1e-11)


def test_series_have_the_axes_of_chains_and_draws():
    logs, initial, transition = chains(3, 12, 2)
    logs = logs.reshape(4, 25, 12, 2)
    found = state_probabilities(logs, initial[0], transition.reshape(4, 25, 2, 2))
    assert found.shape == (4, 25, 12, 2)
    for i, j in [(0, 0), (1, 24), (3, 7)]:
        alone = state_probabilities(logs[i, j], initial[0], transition[25 * i + j])
        np.testing.assert_allclose(found[i, j], alone, rtol=1e-12)


@pytest.mark.parametrize("slopes", [False, True])
def test_series_are_worked_off_in_parts(monkeypatch, slopes):
    args = chains(4, 6, 3)
    args[2][40] = np.eye(3)  # in one part alone
    expected = forward.forward_backward(*args, slopes=slopes)
    monkeypatch.setattr(passes, "_AT_ONCE", 1)
    assert passes.series_at_once(6, 3) == 32
    found = forward.forward_backward(*args, slopes=slopes)
    agree(found if slopes else found[:1], expected if slopes else expected[:1], rtol=1e-15)


@pytest.mark.parametrize("slopes", [False, True])
def test_what_would_underflow_is_computed_by_logarithms(monkeypatch, slopes):
    rng = np.random.default_rng(5)
    logs = 3.0 * rng.standard_normal((SERIES, 600, 2))
    logs[::2, :300, 0] -= 3.0
    logs[::2, 300:, 1] -= 3.0
    initial, transition = np.array([0.5, 0.5]), np.array([[0.99, 0.01], [0.0, 1.0]])
    flat = [np.broadcast_to(a, (SERIES, *a.shape)) for a in (initial, transition)]
    with np.errstate(all="ignore"):
        safe = passes.by_probabilities([logs, *flat], slopes)[1]
    assert 0 < safe.sum() < SERIES
    expected = by_tree([logs, *flat], slopes)
    monkeypatch.delattr(forward, "_by_autograd")
    found = forward.forward_backward(logs, initial, transition, slopes=slopes)
    if slopes:
        agree(found, expected, rtol=1e-10)
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12, atol=1e-10)


def test_states_that_cannot_be_left_or_begun_with():
    args = chains(6, 20, 2)
    logs, initial, transition = args
    initial[0], logs[0, 0] = [0.0, 1.0], [0.0, -900.0]
    initial[1], transition[1] = [1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]]
    transition[2] = np.eye(2)
    logs[3], transition[3] = [0.0, -800.0], [[0.0, 1.0], [1e-200, 1.0]]
    agree(forward.forward_backward(*args), by_tree(args), rtol=1e-10)


def test_impossible_series_and_bad_rows_leave_the_others_alone():
    args = chains(7, 20, 2)
    good = forward.forward_backward(*args)
    logs, _, transition = args
    logs[0, 3], logs[1, 5, 1] = -np.inf, -np.inf
    transition[3, 0, 0], logs[4, 2] = np.nan, np.nan
    logs[5, :, 0] = np.inf
    found = forward.forward_backward(*args)
    agree(found, by_tree(args), rows=slice(0, 3), rtol=1e-10)
    assert found.value[0] == -np.inf
    assert found.log_emissions[1, 5, 1] == 0.0
    assert np.isnan(found.value[3:5]).all()
    assert found.value[5] == np.inf
    for one, other in zip(found, good, strict=True):
        np.testing.assert_array_equal(one[6:], other[6:])
