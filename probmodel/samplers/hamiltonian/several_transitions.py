"""Batched transitions: several at a time, in one call of the density.

Random numbers are drawn beforehand, by another thread during the transitions before. Momenta and
uniform numbers come from generators of their own, so that the draws do not depend on how many are
made at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from probmodel.numerics.roots import Root
from probmodel.samplers.base import Info, Stretch
from probmodel.samplers.hamiltonian.dynamics import LEAPFROG, TWO_STAGE, Integrator, Phase
from probmodel.samplers.hamiltonian.step_halving import CERTAIN_RANGE, LARGEST_RANGE
from probmodel.samplers.streams import Place, Streams
from probmodel.threads import ahead
from probmodel.types import Array, Halving, LogDensity, Moved, Transitions

LARGEST = 1 << 18  # numbers in the momenta of one call
LONGEST = 0.02  # seconds of a call, for a run that shows progress and can be interrupted

Drawn = tuple[Array, Array]  # momenta, (n, chains, dim), and what else is random, (n, ...)
Plan = Callable[[Array], tuple[Array, Array, Array]]


class Record(NamedTuple):
    """What was planned for a transition.

    Attributes
    ----------
    time : length of the trajectory in time
    weighted_acceptance : (chains,), alpha, or half of it where steps are halved:
        alpha (1 + a_0) / 2
    single : (chains, k), acceptance of the coordinates that were moved by themselves
    """

    time: float
    weighted_acceptance: Array
    single: Array | None = None


def in_calls(
    streams: Streams,
    draw: Callable[[int], Drawn],
    made: Callable[[Any, Drawn], Stretch],
    state: Any,
    left: Callable[[], int],
) -> Iterator[Stretch]:
    """Yield transitions, a few at a time: as many as take no longer than `LONGEST`.

    Parameters
    ----------
    streams : that ``draw`` draws from
    draw : draws what is random in so many transitions; the first of the arrays is momenta
    made : makes these transitions from a state, or the first of them: the density may learn to
        make them all at once in between
    state : where the chains are
    left : tells how many are wanted
    """
    most, count = max(1, LARGEST // max(1, state.x.size)), 1
    states, together, used = streams.place
    drawn: Callable[[], Drawn] | None = (lambda: draw(together)) if together > used else None
    while n := left():
        given = draw(min(count, n)) if drawn is None else drawn()
        here, following = states, streams.states()
        together = len(given[0])
        waiting = min(count, n - (together - used))
        drawn = ahead(draw, waiting) if waiting > 0 else None
        begin = time.perf_counter()
        while used < together:
            stretch = made(state, (given[0][used:], given[1][used:]))
            state, used = stretch.last, used + len(stretch)
            last = used == together
            streams.place = Place(following) if last else Place(here, together, used)
            yield stretch
        states, used = following, 0
        slow = time.perf_counter() - begin > 0.5 * LONGEST
        count = max(1, count // 2) if slow else min(most, 2 * count)


def several(
    density: LogDensity, start: Phase, root: Root, drawn: Drawn, plan: Plan, most: int
) -> Stretch | None:
    """Make transitions; None if the density cannot.

    Parameters
    ----------
    density, start, root, most : as of `step_halving.simulate_halving`
    drawn : momenta, (n, chains, dim), and uniform numbers: of the length, of the levels of all
        chains, of the acceptance of all
    plan : usual step sizes, numbers of steps, and which are cut off, for numbers in [-1, 1)
    """
    momenta, numbers = drawn
    h, steps, cut_off = plan(2.0 * numbers[:, 0] - 1.0)
    halving = Halving(numbers[:, 1:], most, CERTAIN_RANGE, LARGEST_RANGE)
    moved = _moved(density, start, momenta, root, (h[:, None], steps), TWO_STAGE, halving)
    return None if moved is None else _Moves(moved, start, momenta, h * steps, cut_off)


def leapfrogs(
    density: LogDensity, start: Phase, root: Root, drawn: Drawn, h: float | Array
) -> Stretch | None:
    """Make transitions of one leapfrog step, of size h or (chains,); None if the density cannot.

    The numbers that are drawn are momenta and those of the acceptance.
    """
    momenta, u = drawn
    sizes = np.broadcast_to(h, u.shape), np.ones(len(u), dtype=int)
    moved = _moved(density, start, momenta, root, sizes, LEAPFROG, Halving(u, 1, np.inf, np.inf))
    none = np.zeros(len(u))
    return None if moved is None else _Moves(moved, start, momenta, none, none > 0.0)


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
    own: Callable[[Transitions], Moved | None] | None = getattr(density, "simulate_dynamics", None)
    x, logp, grad, _ = start
    wanted = Transitions(x, grad, logp, momenta, root, *sizes, *integrator, halving)
    return None if own is None else own(wanted)


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
        weighted = 0.5 * (1.0 + ends.first) * moved.accept_prob
        states = map(Phase, moved.x[1:-1], moved.logp[1:-1], moved.grad[1:-1], momentum)
        for k, state in enumerate((*states, self.last)):
            proposal = Phase(ends.x[k], ends.logp[k], ends.grad[k], ends.momentum[k])
            stats = {name: column[k] for name, column in self._stats.items()}
            record = Record(float(self._times[k]), weighted[k])
            yield state, Info(
                moved.accept_prob[k], moved.accepted[k], ends.failed[k], ends.taken[k], previous,
                proposal, stats, record,
            )  # fmt: skip
            previous = state
