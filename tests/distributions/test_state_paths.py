"""Paths of the states of many hidden Markov chains at once, against one chain after the other."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import distributions as d
from probmodel.distributions.process import state_paths
from probmodel.functions import most_likely_states

SHAPES = [
    ((), (), ()), ((130,), (130,), (130,)), ((2, 60), (60,), (2, 1)), ((1, 3), (), (2, 1)),
    ((), (1,), (3,)), ((0,), (), ()),
]  # fmt: skip


def chains(seed, shapes, length, states):
    rng = np.random.default_rng(seed)
    logs, initial, transition = shapes
    moves = rng.dirichlet(np.ones(states), (*transition, states)) + np.zeros((states, states))
    moves[..., 0, -1] = 0.0
    return [
        2.0 * rng.standard_normal((*logs, length, states)),
        rng.dirichlet(np.ones(states), initial),
        moves / np.sum(moves, axis=-1, keepdims=True),
    ]


def spread(args):
    """Arguments with the same batch shape, and that shape."""
    events = [a.shape[a.ndim - n :] for a, n in zip(args, (2, 1, 2), strict=True)]
    batch = np.broadcast_shapes(
        *(a.shape[: a.ndim - len(e)] for a, e in zip(args, events, strict=True))
    )
    return batch, [np.broadcast_to(a, batch + e) for a, e in zip(args, events, strict=True)]


@np.errstate(divide="ignore")
def best_path(logs, initial, transition):
    best, came_from = np.log(initial) + logs[0], []
    for now in logs[1:]:
        ways = best[:, None] + np.log(transition)
        came_from.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + now
    path = [best.argmax()]
    for step in came_from[::-1]:
        path.append(step[path[-1]])
    return path[::-1]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("length", "states"), [(9, 3), (1, 4), (6, 2)])
def test_most_likely_paths(shapes, length, states, monkeypatch):
    args = chains(1, shapes, length, states)
    batch, each = spread(args)
    expected = np.zeros((*batch, length), dtype=int)
    for place in np.ndindex(batch):
        expected[place] = best_path(*(a[place] for a in each))
    np.testing.assert_array_equal(most_likely_states(*args), expected)
    monkeypatch.setattr(state_paths, "series_at_once", lambda length, states: 50)
    np.testing.assert_array_equal(most_likely_states(*args), expected)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("length", "states"), [(9, 3), (1, 4)])
def test_chains_follow_their_numbers(shapes, length, states):
    args = chains(2, shapes, length, states)
    batch, (_, initial, transition) = spread(args)
    uniform = np.random.default_rng(3).random((*batch, length))
    drawn = state_paths.draw_chains(uniform, *args[1:])
    expected = np.zeros(uniform.shape, dtype=int)
    for place in np.ndindex(batch):
        row = initial[place]
        for t, number in enumerate(uniform[place]):
            expected[(*place, t)] = state = np.searchsorted(np.cumsum(row)[:-1], number, "right")
            row = transition[place][state]
    np.testing.assert_array_equal(drawn, expected)


def test_series_are_worked_off_together(monkeypatch):
    """Time is spent by step, not by series: NumPy is called as often for many as for one."""
    calls = []
    original = state_paths._best_of_many
    monkeypatch.setattr(
        state_paths, "_best_of_many", lambda *args: calls.append(1) or original(*args)
    )
    most_likely_states(*chains(4, SHAPES[1], 9, 3))
    assert len(calls) == 8
    change = [[0.9, 0.1], [0.2, 0.8]]
    law = d.HiddenMarkov([1.0, 0.0], change, d.Normal(np.array([-50.0, 50.0]), 1.0))
    drawn = law.sample(np.random.default_rng(5), (4000, 3), *map(np.asarray, law.args.values()))
    np.testing.assert_allclose(np.mean(drawn > 0.0, axis=0), [0.0, 0.1, 0.17], atol=0.02)
