"""Transitions of the No-U-Turn sampler: doublings of a trajectory, U-turn checks, and the draw.

    q, r      position and whitened momentum of a leaf, s its slope      see `hamiltonian`
    S         sum of the momenta of the tree, up to a leaf               (chains, dim)
    w         log weight of a leaf: energy at the start less its own     (chains,)
    W         log of the summed weights of a tree                        (chains,)
    n         number of a leaf within its subtree, from zero

A trajectory of 2^j leaves is doubled by a subtree of as many, to either side. Time runs away from
the start: on the way back into the past momenta change their sign, so that a leapfrog step is the
same for all chains, and the dot products of the checks, which are even in the sign, stay what they
are.

U-turn checks: which stretches of leaves are tested, and when. A stretch a, ..., b turns if
S'r_a <= 0 or S'r_b <= 0, S being the sum of its momenta. Tested are the trees that a recursion
would build, and of each the left half with the first leaf of the right half, and the right half
with the last leaf of the left half. Stretches end at the newest leaf. One that is the first of a
right half of 2^k leaves, k being the zeros at the end of n in base two, is tested with the left
half; one that completes trees, one for each of the ones at the end of n, is tested with each of
these and with its right half. Where a stretch begins, its momentum and S before it are kept in a
slot: number "ones of n", as that of a tree that is complete is not needed any more.

Random numbers are drawn beforehand: momenta, and for each transition of a chain a seed, of which
uniform numbers are made, see `numerics.split_mix`. A density that is machine code makes the
transitions itself, with the same numbers and to the same rules, each chain at its own pace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.numerics.split_mix import JOIN, SIDE, uniform
from probmodel.samplers.hamiltonian.dynamics import Phase, leapfrog
from probmodel.samplers.metropolis import placed, select
from probmodel.types import Array, Doublings, Grown, LogDensity


def grown(density: LogDensity, wanted: Doublings) -> Grown:
    """Make all transitions by the density itself if it can, or else the first one."""
    own = getattr(density, "simulate_dynamics", None)
    found: Grown | None = None if own is None else own(wanted)
    if found is not None:
        return found
    start = wanted.x, wanted.logp, wanted.grad
    transition = _Transition(density, Phase(*start, wanted.momenta[0]), wanted.seeds[0], wanted)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        transition.grow()
    states = (np.stack(both) for both in zip(start, transition.draw[:3], strict=True))
    return Grown(*states, *(np.stack([column]) for column in transition.found()))


class _Stretch(NamedTuple):
    """Leaves from one on: its momentum, and the sum of those before it."""

    momentum: Array
    before: Array

    def turns(self, total: Array, momentum: Array) -> Array:
        """Whether it turns, up to a leaf with this sum and momentum."""
        own = total - self.before
        ends = np.vecdot(own, self.momentum), np.vecdot(own, momentum)
        return np.asarray(np.minimum(*ends) <= 0.0)


class _Transition:
    """One transition of every chain.

    All double their trajectories at the same time. Those that are over are not evaluated any more,
    and what is computed for them is not used.
    """

    def __init__(self, density: LogDensity, start: Phase, seeds: Array, wanted: Doublings) -> None:
        chains = len(start.x)
        self._density, self._seeds, self._wanted = density, seeds, wanted
        self._h = np.broadcast_to(wanted.step_size, chains)
        self._energy, self._total = start.energy, np.zeros(chains)
        self.draw, self._weight = start, np.zeros(chains)
        # Backward and forward, with momenta that lead away; and their sum.
        self._ends = [start._replace(momentum=-start.momentum), start]
        self._sum = start.momentum
        self._alpha, self._broken = np.zeros(chains), np.full(start.x.shape, np.nan)
        self._steps, self._depth = np.zeros((2, chains), dtype=int)
        self._moved, self._turned, self._diverged = np.zeros((3, chains), dtype=bool)

    def grow(self) -> None:
        """Double the trajectories until all are over."""
        live = np.ones(len(self._seeds), dtype=bool)
        for depth in range(self._wanted.max_depth):
            live = self._doubled(depth, live)
            if not live.any():
                return

    def found(self) -> tuple[Array, ...]:
        """Return what `Grown` has of a transition, after the states."""
        energy = self._energy - self._weight
        reached = (self._depth == self._wanted.max_depth) & ~self._turned
        return (
            energy, self._alpha / self._steps, self._steps, self._depth, self._moved, reached,
            self._diverged, self._broken,
        )  # fmt: skip

    def _doubled(self, depth: int, live: Array) -> Array:
        """Double the trajectories of some chains, and return whose may be doubled again."""
        forward = uniform(self._seeds, SIDE + depth) < 0.5
        leaf, other = (select(side, *self._ends[::-1]) for side in (forward, ~forward))
        total = np.where(forward[:, None], self._sum, -self._sum)
        whole = _Stretch(-other.momentum, np.zeros_like(total))
        last = _Stretch(leaf.momentum, total - leaf.momentum)
        size, turned = 2**depth, np.zeros(len(live), dtype=bool)
        draw, weight, sum_of_weights = leaf, self._weight, np.full(len(live), -np.inf)
        slots: list[tuple[_Stretch, _Stretch]] = []
        for n in range(size):
            before = _Stretch(leaf.momentum, total - leaf.momentum)
            leaf, w = self._next(leaf, live)
            here, total = _Stretch(leaf.momentum, total), total + leaf.momentum
            live = live & (w > -np.inf)
            sum_of_weights = np.logaddexp(sum_of_weights, w)
            taken = uniform(self._seeds, size - 1 + n) < np.exp(w - sum_of_weights)
            draw, weight = select(taken, leaf, draw), np.where(taken, w, weight)
            for stretch in _stretches(n, here, before, slots):
                live = live & ~stretch.turns(total, leaf.momentum)
            if depth and n == 0:
                turned = whole.turns(total, leaf.momentum)
            if not live.any():
                return live
        for stretch in (whole, last) if depth else (whole,):
            turned = turned | stretch.turns(total, leaf.momentum)
        joins = live & (uniform(self._seeds, JOIN + depth) < np.exp(sum_of_weights - self._total))
        self.draw, self._weight = (
            select(joins, draw, self.draw), np.where(joins, weight, self._weight)
        )  # fmt: skip
        self._moved |= joins
        self._total = np.logaddexp(self._total, sum_of_weights)
        self._ends = [
            select(side, leaf, end)
            for side, end in zip((~forward, forward), self._ends, strict=True)
        ]
        self._sum = np.where(forward[:, None], total, -total)
        self._depth += live
        self._turned |= live & turned
        return np.asarray(live & ~turned)

    def _next(self, leaf: Phase, live: Array) -> tuple[Phase, Array]:
        """Make the next leaf of some chains; its log weight is -inf if out of proportion."""
        rows = live.nonzero()[0]
        root, h = self._wanted.root, self._h[rows]
        leaf = placed(leaf, rows, leapfrog(self._density, leaf.rows(rows), root, h))
        w = self._energy - leaf.energy
        fine = (w >= self._wanted.least) & (w < np.inf)
        lost = live & ~fine
        self._diverged |= lost
        self._broken[lost] = leaf.x[lost]
        w = np.where(live & fine, w, -np.inf)
        self._alpha += np.exp(np.minimum(w, 0.0))
        self._steps += live
        return leaf, w


def _stretches(
    n: int, here: _Stretch, before: _Stretch, slots: list[tuple[_Stretch, _Stretch]]
) -> list[_Stretch]:
    """Return the stretches that end with leaf n of a subtree; keep what begins with it."""
    ones = n.bit_count()
    if n % 2 == 0:
        slots[ones:] = [(here, before)]
        return [slots[ones - 1][0]] if n else []
    trees = (~n & (n + 1)).bit_length() - 1  # ones at the end of n
    whole = [slots[ones - k][0] for k in range(1, trees + 1)]
    return whole + [slots[ones - k + 1][1] for k in range(2, trees + 1)]
