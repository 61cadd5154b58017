"""Trajectories of the No-U-Turn sampler: all chains in one batch, one block of leaves at a time.

    q, r      position and whitened momentum of a leaf, see `tree_leaves` (chains, dim)
    S         sum of the momenta of the tree                             (chains, dim)
    w         log weight of a leaf: energy at the start less its own     (chains,)
    W         log of the summed weights of a tree                        (chains,)

A trajectory doubles again and again, by a subtree of as many leaves as it has, to either side.
Leaves are made four at a time, and all that is asked of them is asked of the four at once, which
takes a quarter of the operations. Block 0 is the start with the leaves of the
first two doublings; block b > 0 is number n = b - 2^j of its subtree, j = floor(log2(b)). A
trajectory that ends within a block has made up to three leaves for nothing.

Time runs away from the start: on the way back into the past momenta change their sign, so that one
leapfrog step is the same operation for all chains, and the dot products of the criterion, which are
even in the sign, stay what they are. `tree_checks` says what the criterion is asked of.

Whoever has ended idles, or begins its next transition at once, in the warm-up with the step size
that it and all others have taught by then. An idle chain has momentum and kick zero and is not
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import DIVERGENCE
from probmodel.samplers.transitions import Results, selection
from probmodel.samplers.tree_checks import BLOCK, FIRST, LAST, WITHIN, schedule
from probmodel.samplers.tree_leaves import Leaves
from probmodel.samplers.windowed import Params
from probmodel.types import Array, LogDensity

EARLY = 6  # doublings whose random numbers are drawn at once; few trajectories come to need more
AHEAD = 128  # transitions that a chain may be ahead of the slowest one
LEAD = 16  # the same while they teach one step size, so that each is heard at all times
_NUMBERS = np.arange(1, BLOCK + 1)[:, None]
_NOBODY = np.zeros(0, dtype=int)


class Trees:
    """The trajectories of a batch of chains.

    Parameters
    ----------
    density : the target
    state : where the chains are
    params : root, step sizes, and what steers these
    max_depth : doublings of a trajectory, at most
    """

    def __init__(self, density: LogDensity, state: State, params: Params, max_depth: int) -> None:
        chains, dim = state.x.shape
        self._depth_limit = max_depth
        self._steering, h = params.steering, params.step_size
        self._step_size = h if self._steering is None else np.full(chains, h)
        self._leaves = Leaves(density, params.root, self._step_size, (chains, dim))
        self._all = np.arange(chains)
        self._live: Array | None = None  # who does not idle; None if nobody idles
        self._fresh = _NOBODY  # who is to grow block 0
        self._start = state
        self._lay_out(chains, dim)
        self._draw[:], self._logp[:] = (state.x, state.grad), state.logp

    def _lay_out(self, chains: int, dim: int) -> None:
        """Make the arrays of all chains."""
        self._plan = schedule(self._depth_limit)
        self._idle_block = len(self._plan.whole) - 1
        self._block = np.full(chains, self._idle_block)
        self._first_leaf = np.empty(chains, dtype=int)  # of block 0: its row in the block
        # Momentum and sum before it where a block begins, then at the leaf before; in all slots.
        self._sum, self._begins = np.zeros((chains, dim)), np.empty((4, chains, dim))
        self._slots = self._all * self._plan.slots
        self._kept = np.zeros((4, chains * self._plan.slots, dim))
        self._place = self._plan.begin + 2 * self._kept.shape[1] * self._plan.before
        self._now = np.empty((2, chains, dim))  # sums at the first and the last leaf
        # Both ends of each trajectory: q, g and the momentum that leads away from it.
        self._ends = np.empty((3, 2 * chains, dim))
        self._side = np.empty(chains, dtype=int)
        # The draw of the trajectory so far, and of the subtree.
        self._draw, self._new_draw = np.empty((2, chains, dim)), np.empty((2, chains, dim))
        self._scalars, self._new_scalars = np.zeros((6, chains)), np.empty((3, chains))
        self._logp, self._weight, self._total, self._alpha, self._energy, self._h = self._scalars
        self._h[:] = self._step_size
        self._new_total = self._new_scalars[2]
        self._weights = np.empty((BLOCK + 1, chains))
        self._counts = np.zeros((2, chains), dtype=int)
        self._steps, self._depth = self._counts
        self._flags = np.zeros((4, chains), dtype=bool)
        self._moved, self._turned, self._failed, self._diverged = self._flags
        self._broken = np.empty((chains, dim))  # where trajectories diverged
        # Uniform numbers, for the leaves; for the joins and the sides of the doublings.
        self._uniform = np.empty((chains, self._idle_block, BLOCK))
        self._coins = np.empty((chains, 2 * self._depth_limit))
        self._early = min(self._idle_block, 2**EARLY // BLOCK)

    def run(self, rng: np.random.Generator, n: int) -> Iterator[tuple[State, Info]]:
        """Yield the states and infos of ``n`` transitions of every chain.

        Chains begin their next transition when they have ended one, unless they are too far ahead;
        with ``n`` = 1 they wait for each other.
        """
        self._rng = rng
        self._goal, self._given = n, 0
        self._ahead = AHEAD if self._steering is None else LEAD
        self._finished, self._slowest = np.zeros(len(self._all), dtype=int), 0
        _, chains, dim = self._draw.shape
        self._results = Results(chains, dim, min(n, self._ahead))
        previous = self._start
        self._wake(self._all)
        while self._given < n:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                while self._slowest == self._given:
                    self._sweep()
            state, info = self._results.take(self._given, previous, self._steering)
            self._given += 1
            yield state, info
            previous = state
            if self._live is not None:
                self._wake((self._block == self._idle_block).nonzero()[0])

    # -- one block of leaves ---------------------------------------------------------------------

    def _sweep(self) -> None:
        """Add a block to the trajectory of every chain that does not idle."""
        fresh = self._grow()
        r = self._leaves.r
        products = np.vecdot(r[:, None], r).reshape(BLOCK * BLOCK, -1)
        weight = -0.5 * products[:: BLOCK + 1]
        weight += self._leaves.logp
        weight += self._energy
        flat = weight.ravel()
        # The sum of squares is smaller than this only if every weight is in proportion.
        if not np.dot(flat, flat) < DIVERGENCE**2:
            self._break_down(weight, products)
        if fresh.size:
            self._first_doubling(fresh, weight)
        self._choose(weight)
        self._look_within(products, fresh)
        self._look_back()
        block = self._block
        whole = self._plan.whole.take(block).nonzero()[0]
        block += 1 if self._live is None else block < self._idle_block
        event = bool(np.logical_or.reduce(self._failed))
        if event or whole.size:
            self._complete(whole, event)

    def _grow(self) -> Array:
        """Make the leaves; return the chains that began with a block 0."""
        fresh, self._fresh, old, back = self._fresh, _NOBODY, _NOBODY, _NOBODY
        if fresh.size:
            old = (self._block % self._idle_block).nonzero()[0]
            back = fresh[self._first_leaf[fresh] == 0]
        self._leaves.grow(self._live, old, fresh, self._logp[fresh], back)
        self._steps += BLOCK
        return fresh

    def _break_down(self, weight: Array, products: Array) -> None:
        """Take the weight of leaves away that are out of proportion, and of all that follow.

        That is a divergence, unless the trajectory was over after the first two of the block.
        """
        lost = np.logical_or.accumulate(~((weight >= DIVERGENCE) & (weight < np.inf)), axis=0)
        weight[lost] = -np.inf
        products.reshape(BLOCK, BLOCK, -1)[lost[:, None] | lost] = 0.0
        rows = lost[-1].nonzero()[0]
        at = lost[:, rows].argmax(axis=0)
        over = (products[:, rows].T @ WITHIN[:, :2] <= 0.0).any(axis=1) | (self._depth_limit == 1)
        broken, at = (values[~over | (at < 2)] for values in (rows, at))
        self._diverged[broken] = self._failed[broken] = True
        self._broken[broken] = self._leaves.q[at, broken]

    def _first_doubling(self, fresh: Array, weight: Array) -> None:
        """Join the first leaves to the starts, and leave the two that follow in ``weight``."""
        leaves, first = self._leaves, self._first_leaf[fresh]
        new = weight[first, fresh]
        self._alpha[fresh] = np.exp(np.minimum(new, 0.0))
        self._total[fresh] = np.logaddexp(0.0, new)
        self._depth[fresh] = new > -np.inf
        won = (self._coins[fresh, 0] < np.exp(new)).nonzero()[0]
        if won.size:
            rows, at = fresh[won], first[won]
            self._draw[0, rows], self._draw[1, rows] = leaves.q[at, rows], leaves.g[at, rows]
            self._logp[rows], self._weight[rows] = leaves.logp[at, rows], new[won]
            self._moved[rows] = True
        weight[:2, fresh] = -np.inf

    def _choose(self, weight: Array) -> None:
        """Take leaf after leaf as the draw of its subtree, with its share of the weight."""
        leaves = self._leaves
        self._weights[0], self._weights[1:] = self._new_total, weight
        totals = np.logaddexp.accumulate(self._weights, axis=0)
        self._new_total[:] = totals[BLOCK]
        share = np.exp(weight - totals[1:])
        self._alpha += np.add.reduce(np.exp(np.minimum(weight, 0.0)), axis=0)
        u = self._uniform[self._all, self._block % self._idle_block].T
        chosen = np.maximum.reduce((u < share) * _NUMBERS, axis=0)
        taken = chosen.nonzero()[0]
        if taken.size:
            rows = selection(taken)
            at = chosen[rows] - 1
            self._new_draw[0, rows] = leaves.q[at, rows]
            self._new_draw[1, rows] = leaves.g[at, rows]
            self._new_scalars[0, rows] = leaves.logp[at, rows]
            self._new_scalars[1, rows] = weight[at, rows]

    # -- the criterion ---------------------------------------------------------------------------

    def _look_within(self, products: Array, fresh: Array) -> None:
        """Ask the stretches within the block, of the products of its momenta."""
        turning = np.less_equal(products.T @ WITHIN, 0.0)
        if self._live is not None:
            turning[self._block == self._idle_block] = False
        if not turning.any():
            return
        turned = turning.reshape(len(turning), -1, 2).any(axis=2)
        if fresh.size:
            # The first doubling, and the second; then the trajectory of both.
            young = turned[fresh] if self._depth_limit > 1 else turned[fresh, :1]
            self._failed[fresh] |= young[:, :2].any(axis=1)
            self._turned[fresh] |= young[:, 2:].any(axis=1)
            turned[fresh] = False
        self._failed |= turned.any(axis=1)

    def _look_back(self) -> None:
        """Ask the stretches that began before the block, and keep where it begins itself."""
        plan, total, r, begins = self._plan, self._sum, self._leaves.r, self._begins
        begins[0], begins[1], begins[2] = r[0], total, self._leaves.before
        np.subtract(total, begins[2], out=begins[3])
        self._kept[:, self._slots + plan.slot.take(self._block)] = begins
        sums = self._now
        np.add(total, r[0], out=sums[FIRST])
        total += np.add.reduce(r, axis=0)
        sums[LAST] = total
        rows, columns = plan.asked.take(self._block, axis=0).nonzero()
        if not rows.size:
            return
        chains, dim = total.shape
        place = self._slots.take(rows) + self._place.take(columns)
        end = chains * plan.end.take(columns)
        kept = self._kept.reshape(-1, dim)
        stretch = sums.reshape(-1, dim).take(rows + end, axis=0)
        stretch -= kept.take(place + self._kept.shape[1], axis=0)
        turning = np.vecdot(stretch, kept.take(place, axis=0))
        momenta = r.reshape(-1, dim).take(rows + (BLOCK - 1) * end, axis=0)
        np.minimum(turning, np.vecdot(stretch, momenta), out=turning)
        turned = (turning <= 0.0).nonzero()[0]
        if turned.size:
            outer = plan.outer.take(columns[turned])
            self._turned[rows[turned[outer]]] = True
            self._failed[rows[turned[~outer]]] = True

    # -- whole subtrees and trajectories ---------------------------------------------------------

    def _complete(self, index: Array, event: bool) -> None:
        """Join whole subtrees to their trajectories; end those that are over, or where one failed.

        The subtrees of the chains ``index`` have all their leaves.
        """
        if event:
            index = index[~self._failed[index]]
        if index.size:
            if self._depth_limit > 1:
                self._join(index)
            rows = selection(index)
            last = self._turned[rows] | (self._depth[rows] == self._depth_limit)
            over, index = index[last], index[~last]
            if index.size:
                self._double(index)
            if over.size:
                self._end(over)
        if event:
            self._end(self._failed.nonzero()[0])

    def _join(self, index: Array) -> None:
        """Join a subtree: its draw is taken by its weight over that of the trajectory so far."""
        rows = selection(index)
        total, new = self._total[rows], self._new_total[rows]
        depth = self._depth[rows]
        won = index[self._coins[index, depth] < np.exp(new - total)]
        if won.size:
            taken = selection(won)
            self._draw[:, taken] = self._new_draw[:, taken]
            self._scalars[:2, taken] = self._new_scalars[:2, taken]
            self._moved[taken] = True
        self._total[rows] = np.logaddexp(total, new)
        number = 2 * index + self._side[rows]
        self._ends[:, selection(number)] = self._leaves.stack[:, -1, rows]
        young = index[depth == 1]
        if young.size:
            far = selection(2 * young + 1 - self._side[young])
            self._ends[:, far] = self._leaves.stack[:, 0, selection(young)]
            self._ends[1, far] *= -1.0
        self._depth[rows] += 1

    def _double(self, index: Array) -> None:
        """Set out to double trajectories, each to a random side."""
        rows = selection(index)
        depth = self._depth[rows]
        side = self._coins[index, self._depth_limit + depth] < 0.5
        other = index[side != self._side[rows]]
        if other.size:
            self._sum[selection(other)] *= -1.0
        self._side[rows] = side
        number = 2 * index + side
        self._leaves.stack[:, -1, rows] = self._ends[:, selection(number)]
        self._kept[0, self._slots[rows]] = -self._ends[1, selection(number ^ 1)]
        self._new_total[rows] = -np.inf
        for row in index[depth == EARLY]:
            self._draw_late(row)

    def _draw_late(self, row: int) -> None:
        """Draw numbers for the leaves beyond `EARLY`, by a generator that an unused one seeds.

        What a chain draws from the one that all share does not depend on what becomes of others.
        """
        late = self._uniform[row, self._early :]
        late[:] = np.random.default_rng(int(self._uniform[row, 0, 0] * 2**53)).random(late.shape)

    def _end(self, index: Array) -> None:
        """Hand in the draws of trajectories that are over, and go on to the next."""
        rows = selection(index)
        finished = self._finished[index]
        self._results.put(
            index, finished,
            self._draw[:, rows], self._scalars[:, rows], self._counts[:, rows],
            self._flags[:, rows],
        )  # fmt: skip
        diverged = self._diverged[rows]
        if np.count_nonzero(diverged):
            lost = index[diverged]
            self._results.break_down(lost, self._finished[lost], self._broken[lost])
        if self._steering is not None:
            alpha = self._alpha[rows] / self._steps[rows]
            self._steering = self._steering.learned(rows, alpha, self._moved[rows])
        self._finished[rows] += 1
        self._slowest = int(np.minimum.reduce(self._finished))
        self._wake(index)

    def _wake(self, index: Array) -> None:
        """Begin the next transitions of some chains, unless they are to wait or done: they idle."""
        going = self._finished[index] < min(self._goal, self._given + self._ahead)
        awake = index[going]
        if awake.size:
            self._begin(awake)
        if awake.size < index.size:
            self._idle(index[~going])
        if awake.size < index.size or self._live is not None:
            live = self._block < self._idle_block
            self._live = None if live.all() else live.nonzero()[0]

    def _idle(self, index: Array) -> None:
        """Let some chains idle."""
        self._block[index] = self._idle_block
        self._leaves.rest(index)
        self._sum[index], self._energy[index] = 0.0, 0.0
        self._failed[index] = False

    def _begin(self, index: Array) -> None:
        """Begin transitions: fresh momenta, and the sides of the first two doublings."""
        rows = selection(index)
        if self._steering is not None:
            self._h[rows] = np.broadcast_to(self._steering.step_sizes(), self._h.shape)[rows]
            self._leaves.change_steps(rows, self._h[rows])
        x, grad = self._draw[:, rows]
        r = self._rng.standard_normal(x.shape)
        leaves = self._early * BLOCK
        u = self._rng.random((len(index), leaves + 2 * self._depth_limit))
        self._uniform[rows, : self._early] = u[:, :leaves].reshape(len(index), -1, BLOCK)
        self._coins[rows] = u[:, leaves:]
        side = u[:, leaves + self._depth_limit :][:, :2] < 0.5
        self._side[rows], self._first_leaf[rows] = side[:, -1], side[:, 0] == side[:, -1]
        self._leaves.begin(rows, x, np.where(side[:, :1], r, -r), grad)
        self._scalars[1:4, rows], self._sum[rows] = 0.0, 0.0
        self._energy[rows] = 0.5 * np.vecdot(r, r) - self._logp[rows]
        self._flags[:, rows], self._new_total[rows] = False, -np.inf
        self._block[rows], self._depth[rows], self._steps[rows] = 0, 0, -1  # the start is no step
        self._fresh = np.concatenate([self._fresh, index]) if self._fresh.size else index
