"""Both engines on hidden Markov models, against NumPy's tree of products by autograd."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import value_and_grad
from both_engines import CHAINS, chains_in_turn, engines, machine_of

from probmodel.compiler.hidden_markov_code import HiddenMarkovWriter
from probmodel.distributions.process.forward_algorithm import hmm_log_likelihood


def simplex(x):
    p = anp.exp(x)
    return p / anp.sum(p, axis=-1, keepdims=True)


def model(times, states, stack=(), spread=1.0):
    """Log likelihood in log densities, initial and transition probabilities, and its length."""
    sizes = np.cumsum([int(np.prod(stack)) * times * states, states])

    def function(x):
        e = spread * anp.reshape(x[: sizes[0]], (*stack, times, states))
        initial = simplex(x[sizes[0] : sizes[1]])
        transition = simplex(anp.reshape(x[sizes[1] :], (states, states)))
        return anp.sum(hmm_log_likelihood(e, initial, transition))

    return function, sizes[1] + states * states


def assert_same(function, x, tolerance=1e-11):
    for engine in engines(function, x.shape[1]):
        assert_rows(function, x, *engine(x), tolerance)


def assert_rows(function, x, found, slope, tolerance):
    for row, value, gradient in zip(x, found, slope, strict=True):
        expected, grad = value_and_grad(function)(row)
        np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)
        size = 1.0 + np.abs(grad).max()
        np.testing.assert_allclose(gradient, grad, rtol=0, atol=tolerance * size)


TIMES, STATES = (1, 2, 8, 17), (1, 2, 3, 8)


def assert_series(times, states, chains):
    function, dim = model(times, states)
    assert_same(function, np.random.default_rng(states).standard_normal((chains, dim)))


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("states", STATES)
def test_series(times, states):
    chains = chains_in_turn(TIMES.index(times), STATES.index(states))
    assert_series(times, states, chains)


@pytest.mark.statistical
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("states", STATES)
@pytest.mark.parametrize("chains", CHAINS)
def test_series_in_vectors_of_every_kind(times, states, chains):
    assert_series(times, states, chains)


def test_several_series():
    function, dim = model(7, 3, stack=(2, 3))
    assert_same(function, np.random.default_rng(1).standard_normal((5, dim)))


@pytest.mark.parametrize("spread", [30.0, 300.0, 3000.0])
def test_what_would_underflow(spread):
    function, dim = model(20, 3, spread=spread)
    assert_same(function, np.random.default_rng(2).standard_normal((9, dim)), 1e-10)


def test_probabilities_that_are_zero():
    """A chain of states that can only be left to the next one."""
    A = np.array([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])

    def function(x):
        return hmm_log_likelihood(anp.reshape(x, (9, 3)), np.array([1.0, 0.0, 0.0]), A)

    assert_same(function, np.random.default_rng(3).standard_normal((9, 27)))


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_transitions_that_nearly_cannot_be(spread):
    """Beside chains where they can: forward by probabilities, and by logarithms, is the same."""

    def function(x):
        rare = anp.exp(x[0] * np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
        A = rare / anp.sum(rare, axis=1, keepdims=True)
        return hmm_log_likelihood(spread * anp.reshape(x[1:], (9, 3)), np.ones(3) / 3, A)

    x = np.random.default_rng(6).standard_normal((17, 28))
    x[:, 0] = -np.log(10.0) * np.r_[np.linspace(90.0, 110.0, 9), np.linspace(0.0, 300.0, 8)]
    assert_same(function, x, 1e-10)


def test_impossible_series_stay_alone():
    def function(x):
        return hmm_log_likelihood(anp.reshape(anp.log(x), (3, 2)), np.ones(2) / 2, np.eye(2))

    x = np.random.default_rng(4).uniform(0.5, 1.0, (9, 6))
    x[3, 2:4] = 0.0  # impossible in both states
    x[5, :2], x[5, 2:4] = (1.0, 0.0), (0.0, 1.0)  # a transition that is impossible
    x[7] = np.nan
    with np.errstate(all="ignore"):
        found, _ = machine_of(function, 6)(x)
        expected = np.array([function(row) for row in x])
    fine = np.isfinite(expected)
    np.testing.assert_array_equal(np.flatnonzero(~fine), [3, 5, 7])
    np.testing.assert_allclose(found[fine], expected[fine], rtol=1e-12)
    assert not np.isfinite(found[~fine]).any()


def test_a_step_back_that_is_left_out_is_found(monkeypatch):
    """Negative control."""
    monkeypatch.setattr(HiddenMarkovWriter, "_back", lambda self, s, t: None)
    with pytest.raises(AssertionError):
        assert_series(3, 2, 9)
