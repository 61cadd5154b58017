"""Transitions that are made several at a time, in one call of the density.

What is random is drawn beforehand, transition by transition and in the order of `step`, so that the
draws do not depend on how many are made at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from probmodel.roots import Root
from probmodel.samplers.base import Info, Stretch
from probmodel.samplers.hamiltonian import LEAPFROG, TWO_STAGE, Integrator, Phase
from probmodel.samplers.suited_steps import HOPELESS, TOLERATED
from probmodel.types import Array, Halving, LogDensity, Moved, Transitions

LARGEST = 1 << 18  # numbers in the momenta of one call
LONGEST = 0.02  # seconds of a call, for a run that shows progress and can be interrupted

Plan = Callable[[Array], tuple[Array, Array, Array]]


class Record(NamedTuple):
    """What was planned for a transition.

    Attributes
    ----------
    time : length of the trajectory in time
    worth : (chains,), alpha, or half of it where steps are halved: alpha (1 + a_0) / 2
    """

    time: float
    worth: Array


def in_calls(
    made: Callable[[Any, int], Iterator[Stretch]], state: Any, n: int
) -> Iterator[Stretch]:
    """Yield n transitions, a few at a time: as many as take no longer than `LONGEST`.

    Parameters
    ----------
    made : makes so many transitions from a state
    state : where the chains are
    """
    most, count = max(1, LARGEST // max(1, state.x.size)), 1
    while n:
        count, begin = min(n, count), time.perf_counter()
        for stretch in made(state, count):
            state = stretch.last
            yield stretch
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
) -> Stretch | None:
    """Make n transitions; None, with the generator as it was, if the density cannot.

    Parameters
    ----------
    rng, density, start, root : as of `suited_steps.simulate_suited`
    plan : usual step sizes, numbers of steps, and which are cut off, for numbers in [-1, 1)
    finest, most : as of `suited_steps.simulate_suited`
    n : how many
    """
    if getattr(density, "move", None) is None:
        return None
    before, (chains, dim) = rng.bit_generator.state, start.x.shape
    # Of a transition: the length, the levels of all chains, the acceptance of all.
    momenta, numbers = np.empty((n, chains, dim)), np.empty((n, 1 + chains * (finest + 1)))
    for normal, uniform in zip(momenta, numbers, strict=True):
        rng.standard_normal(out=normal)
        rng.random(out=uniform)
    h, steps, cut_off = plan(2.0 * numbers[:, 0] - 1.0)
    halving = Halving(numbers[:, 1:], most, TOLERATED, HOPELESS)
    moved = _moved(density, start, momenta, root, (h[:, None], steps), TWO_STAGE, halving)
    if moved is None:
        rng.bit_generator.state = before
        return None
    return _Moves(moved, start, momenta, h * steps, cut_off)


def leapfrogs(
    rng: np.random.Generator,
    density: LogDensity,
    start: Phase,
    root: Root,
    h: float | Array,
    n: int,
) -> Stretch | None:
    """Make n transitions of one leapfrog step, of size h or (chains,); None as in `several`."""
    if getattr(density, "move", None) is None:
        return None
    before, chains = rng.bit_generator.state, len(start.x)
    momenta, u = np.empty((n, *start.x.shape)), np.empty((n, chains))
    for normal, uniform in zip(momenta, u, strict=True):
        rng.standard_normal(out=normal)
        rng.random(out=uniform)
    sizes = np.broadcast_to(h, (n, chains)), np.ones(n, dtype=int)
    halving = Halving(u, 1, np.inf, np.inf)
    moved = _moved(density, start, momenta, root, sizes, LEAPFROG, halving)
    if moved is None:
        rng.bit_generator.state = before
        return None
    return _Moves(moved, start, momenta, np.zeros(n), np.zeros(n, dtype=bool))


def _moved(
    density: Any,
    start: Phase,
    momenta: Array,
    root: Root,
    sizes: tuple[Array, Array],
    integrator: Integrator,
    halving: Halving,
) -> Moved | None:
    """Let the density make transitions, of steps of some sizes and so many of them."""
    x, logp, grad, _ = start
    wanted = Transitions(x, grad, logp, momenta, root, *sizes, *integrator, halving)
    moved: Moved | None = density.move(wanted)
    return moved


class _Moves(Stretch):
    """What was made in one call."""

    def __init__(
        self, moved: Moved, start: Phase, momenta: Array, times: Array, cut_off: Array
    ) -> None:
        self._moved, self._start, self._momenta, self._times = moved, start, momenta, times
        accepted, ends = moved.accepted, moved.ends
        cuts = np.repeat(cut_off[:, None], len(start.x), axis=1)
        energy = np.where(accepted, ends.after, ends.before)
        self._stats = {"n_steps": ends.taken, "energy": energy, "cut_off": cuts}
        momentum = np.where(accepted[-1][:, None], ends.momentum[-1], -momenta[-1])
        self.last = Phase(moved.x[-1], moved.logp[-1], moved.grad[-1], momentum)

    has_trajectories = True
    x = property(lambda self: self._moved.x[1:])
    proposed = property(lambda self: self._moved.ends.logp)

    def __len__(self) -> int:
        return len(self._momenta)

    @cached_property
    def statistics(self) -> dict[str, Array]:
        """See `Stretch.statistics`."""
        moved = self._moved
        return {
            "lp": moved.logp[1:], "acceptance_rate": moved.accept_prob, "accepted": moved.accepted,
            "n_grad": moved.ends.taken, "diverging": moved.ends.failed, **self._stats,
        }  # fmt: skip

    def __iter__(self) -> Iterator[tuple[Phase, Info]]:
        moved, ends, previous = self._moved, self._moved.ends, self._start
        momentum = np.where(moved.accepted[:-1, :, None], ends.momentum[:-1], -self._momenta[:-1])
        worth = 0.5 * (1.0 + ends.first) * moved.accept_prob
        states = map(Phase, moved.x[1:-1], moved.logp[1:-1], moved.grad[1:-1], momentum)
        for k, state in enumerate((*states, self.last)):
            proposal = Phase(ends.x[k], ends.logp[k], ends.grad[k], ends.momentum[k])
            stats = {name: column[k] for name, column in self._stats.items()}
            record = Record(float(self._times[k]), worth[k])
            yield state, Info(
                moved.accept_prob[k], moved.accepted[k], ends.failed[k], ends.taken[k], previous,
                proposal, stats, record,
            )  # fmt: skip
            previous = state
