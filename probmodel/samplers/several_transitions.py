"""Transitions of `fisher_hmc` that are made several at a time, in one call of the density.

What is random is drawn beforehand, transition by transition and in the order of `step`, so that the
draws do not depend on how many are made at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from probmodel.roots import Root
from probmodel.samplers.base import Info
from probmodel.samplers.hamiltonian import TWO_STAGE, Phase
from probmodel.samplers.suited_steps import HOPELESS, TOLERATED
from probmodel.types import Array, Halving, LogDensity, Moved, Transitions

LARGEST = 1 << 18  # numbers in the momenta of one call
LONGEST = 0.02  # seconds of a call, for a run that shows progress and can be interrupted

Plan = Callable[[float], tuple[float, int, bool]]
Move = tuple[Phase, Info]


class Record(NamedTuple):
    """What was planned for a transition.

    Attributes
    ----------
    time : length of the trajectory in time
    worth : (chains,), alpha, or half of it where steps are halved: alpha (1 + a_0) / 2
    """

    time: float
    worth: Array


def in_calls(made: Callable[[Phase, int], Iterator[Move]], state: Phase, n: int) -> Iterator[Move]:
    """Yield n transitions that are made a few at a time: as many as take no longer than `LONGEST`.

    Parameters
    ----------
    made : makes so many transitions from a state
    state : where the chains are
    """
    most, count = max(1, LARGEST // max(1, state.x.size)), 1
    while n:
        count, begin = min(n, count), time.perf_counter()
        for move in made(state, count):
            state = move[0]
            yield move
        n -= count
        slow = time.perf_counter() - begin > 0.5 * LONGEST
        count = max(1, count // 2) if slow else min(most, 2 * count)


def several(
    rng: np.random.Generator,
    density: LogDensity,
    start: Phase,
    root: Root,
    plan: Plan,
    finest: int,
    most: int,
    n: int,
) -> Iterator[Move] | None:
    """Make n transitions; None, with the generator as it was, if the density cannot.

    Parameters
    ----------
    rng, density, start, root : as of `suited_steps.simulate_suited`
    plan : usual step size, number of steps, and whether it is cut off, for a number in [-1, 1)
    finest, most : as of `suited_steps.simulate_suited`
    n : how many; one alone is left to `step`
    """
    move = getattr(density, "move", None)
    if n == 1 or move is None:
        return None
    before, (chains, dim) = rng.bit_generator.state, start.x.shape
    momenta, u, plans = np.empty((n, chains, dim)), np.empty((n, chains, finest + 1)), []
    for k in range(n):
        rng.standard_normal(out=momenta[k])
        plans.append(plan(2.0 * rng.random() - 1.0))
        u[k, :, :-1], u[k, :, -1] = rng.random((chains, finest)), rng.random(chains)
    h, steps, cut_off = map(np.array, zip(*plans, strict=True))
    halving = Halving(u, most, TOLERATED, HOPELESS)
    x, logp, grad, _ = start
    moved: Moved | None = move(
        Transitions(x, grad, logp, momenta, root, h, steps, *TWO_STAGE, halving)
    )
    if moved is None:
        rng.bit_generator.state = before
        return None
    return _moves(moved, start, momenta, h * steps, cut_off)


def _moves(
    moved: Moved, start: Phase, momenta: Array, times: Array, cut_off: Array
) -> Iterator[Move]:
    """Yield the states and what is told of the transitions, as `step` does."""
    ends, chains = moved.ends, len(start.x)
    momentum = np.where(moved.accepted[..., None], ends.momentum, -momenta)
    energy = np.where(moved.accepted, ends.after, ends.before)
    worth = 0.5 * (1.0 + ends.first) * moved.accept_prob
    state = start
    for k in range(len(momenta)):
        previous, proposal = state, Phase(ends.x[k], ends.logp[k], ends.grad[k], ends.momentum[k])
        state = Phase(moved.x[k + 1], moved.logp[k + 1], moved.grad[k + 1], momentum[k])
        stats: dict[str, Any] = {
            "n_steps": ends.taken[k], "energy": energy[k], "cut_off": np.full(chains, cut_off[k]),
        }  # fmt: skip
        yield state, Info(
            moved.accept_prob[k], moved.accepted[k], ends.failed[k], ends.taken[k], previous,
            proposal, stats, Record(float(times[k]), worth[k]),
        )  # fmt: skip
