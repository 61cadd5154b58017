"""States of hidden Markov models that are drawn given what was seen, for all draws at once."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel.distributions.process import forward_passes
from probmodel.stan.library.rng_functions import hidden_paths


def test_paths_have_their_probabilities():
    seen = np.random.default_rng(1).normal(size=(2, 5))
    move, start = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4])
    every = np.array(list(np.ndindex(*(2,) * 5)))
    chance = start[every[:, 0]] * np.prod(move[every[:, :-1], every[:, 1:]], axis=1)
    chance = chance * np.exp(seen[every, np.arange(5)].sum(axis=1))
    omega = np.broadcast_to(seen, (40_000, 2, 5))
    found = hidden_paths(np.random.default_rng(1), omega, move, start) - 1
    powers = 2 ** np.arange(5)
    counts = np.bincount(found @ powers, minlength=32)[every @ powers]
    expected = chance / chance.sum() * len(found)
    assert np.sum((counts - expected) ** 2 / expected) < 62  # 31 degrees of freedom, p = 0.001


def test_each_draw_has_its_own_model_in_parts_of_any_length(monkeypatch):
    monkeypatch.setattr(forward_passes, "_AT_ONCE", 1)
    rng, seen = np.random.default_rng(2), np.random.default_rng(3).integers(3, size=(100, 7))
    omega = np.where(np.arange(3)[:, None] == seen[:, None], 0.0, -np.inf)
    move = rng.dirichlet(np.ones(3), (100, 3))
    np.testing.assert_array_equal(hidden_paths(rng, omega, move, np.ones(3) / 3), seen + 1)
    np.testing.assert_array_equal(hidden_paths(rng, omega[0], move[0], np.ones(3) / 3), seen[0] + 1)
    assert hidden_paths(rng, omega[:, :, :1], move, np.ones(3) / 3).shape == (100, 1)


def test_what_seems_impossible_at_first_may_be_what_explains_the_rest():
    omega = np.zeros((2, 4))
    omega[:, 0] = [-900.0, 0.0]
    path = hidden_paths(np.random.default_rng(4), omega, np.eye(2), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(path, 1)
    omega[:, 1:] = [[0.0], [-900.0]]
    path = hidden_paths(np.random.default_rng(4), omega, np.eye(2), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(path, 1)


@pytest.mark.parametrize("bad", [-np.inf, np.nan])
def test_what_no_states_explain_is_an_error(bad):
    omega = np.zeros((3, 2, 4))
    omega[1, :, 2] = bad
    with pytest.raises(ValueError, match="no states explain what was seen"):
        hidden_paths(np.random.default_rng(5), omega, np.full((2, 2), 0.5), np.array([0.5, 0.5]))
