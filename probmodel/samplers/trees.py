"""Trajectories of the No-U-Turn sampler: all chains in one batch, one leapfrog step at a time.

    q, r      position and whitened momentum of the newest leaf          (chains, dim)
    k         half a kick, h/2 C'g(q)                                    (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'               see `roots`
    h         step size                                                  () or (chains, 1)
    t         number of the newest leaf of the trajectory, from zero     (chains,)
    n         number of the newest leaf of its subtree, from zero        (chains,)
    S         sum of the momenta of the tree, newest leaf included       (chains, dim)
    w         log weight of a leaf: energy at the start less its own     (chains,)
    W         log of the summed weights of a tree                        (chains,)

A trajectory doubles again and again, by a subtree of as many leaves as it has, grown leaf by leaf
to either side. Leaf t is leaf n = t + 1 - 2^j of the subtree of doubling j = floor(log2(t + 1)).
Time runs away from the start: on the way back into the past momenta change their sign, so that one
leapfrog step is the same operation for all chains, and the dot products of the criterion, which are
even in the sign, stay what they are.

A tree turns if S'r <= 0 at one of its ends, where S sums up the tree. It also turns if its left
half does with the first leaf of the right half, or its right half with the last of the left half.
All three are asked of all subtrees that a recursion would build. A leaf where an aligned subtree
begins is kept in a slot, with the sum of all momenta before it, and so is the leaf before: any
stretch of leaves that ends with the newest one is then a difference of sums. Slot 0 is the far end
of the whole trajectory. Half a tree with one more leaf is looked at as soon as that leaf is there.

Whoever has ended idles, or begins its next transition at once. An idle chain has momentum and kick
zero and is not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import DIVERGENCE
from probmodel.samplers.roots import Root, times, transposed_times
from probmodel.samplers.transitions import Results, selection
from probmodel.types import Array, LogDensity

EARLY = 6  # doublings whose random numbers are drawn at once; few trajectories come to need more
AHEAD = 128  # transitions that a chain may be ahead of the slowest one
BACKWARD, FORWARD = 0, 1  # sides of a trajectory


class Schedule(NamedTuple):
    """What is done with each leaf of a trajectory; the last row is that of an idle chain.

    Attributes
    ----------
    slot : (2^depth,) int
        Where the leaf is kept; `depth` + 1, which is never read, for one that begins nothing.
    checks : (2^depth, 2 (depth + 2)) bool
        What is asked of the stretches that end with it: entry 2 i is that of the stretch from the
        leaf in slot i, entry 2 i + 1 that from the leaf before it.
    whole : (2^depth,) bool
        Whether it completes a doubling.
    """

    slot: Array
    checks: Array
    whole: Array


OUTER = (0, 3)  # entries of `Schedule.checks` that ask of the whole trajectory, not of a subtree


@cache
def schedule(depth: int) -> Schedule:
    """Return the schedule of trajectories of up to ``depth`` doublings."""
    t = np.arange(2**depth)
    size = 2 ** np.array([int(i + 1).bit_length() - 1 for i in t])
    n = t + 1 - size
    own = 1 + np.array([int(i >> 1).bit_count() for i in n])
    ones = np.array([(~int(i) & (int(i) + 1)).bit_length() - 1 for i in n])  # trailing ones of n
    checks = np.zeros((len(t), depth + 2, 2), dtype=bool)
    slots = np.arange(depth + 2)
    whole, even = n == size - 1, n % 2 == 0
    # Subtrees that the leaf completes: their beginnings, and those of their right halves.
    least = np.where(whole, 0, own - ones + 1)[:, None]
    complete = (~even | whole)[:, None]
    checks[:, :, 0] = complete & (slots >= least) & (slots <= own[:, None])
    checks[:, :, 1] = complete & (slots > least) & (slots <= own[:, None])
    # A left half, and the first leaf of the right one.
    checks[even, own[even] - 1, 0] = True
    checks[0, 1] = False  # a tree of one leaf has no halves
    slot = np.where(even, own, depth + 1)
    checks[-1], slot[-1], whole[-1] = False, depth + 1, False
    return Schedule(slot, checks.reshape(len(t), -1), whole)


class Trees:
    """The trajectories of a batch of chains.

    Parameters
    ----------
    density : the target
    state : where the chains are
    root : C
    step_size : h; one for all, or (chains,)
    max_depth : doublings of a trajectory, at most
    """

    def __init__(
        self,
        density: LogDensity,
        state: State,
        root: Root,
        step_size: float | Array,
        max_depth: int,
    ) -> None:
        chains, dim = state.x.shape
        self._density, self._root, self._depth_limit = density, root, max_depth
        h = np.asarray(step_size, dtype=float)
        self._h = h[:, None] if h.ndim else h
        self._plan = schedule(max_depth)
        self._idle_leaf = 2**max_depth - 1
        self._all = np.arange(chains)
        self._live: Array | None = None  # who does not idle; None if nobody idles
        self._start = state
        # The newest leaves: q, k, S, r, S before, the last r, and S before that.
        self._leaf = np.zeros((7, chains, dim))
        self._q, self._k, self._sum, self._r = self._leaf[:4]
        self._now, self._before, self._before_last = self._leaf[2:4], self._leaf[4:6], self._leaf[6]
        # Each chain's slots: r, S before it, the r before that, and S before that one.
        self._kept = np.zeros((chains, max_depth + 2, 4, dim))
        self._stretches = self._kept.reshape(-1, 2, dim)  # r and S before, by chain and check
        # Both ends of each trajectory: q, k and the momentum that leads away from it.
        self._ends = np.empty((3, 2 * chains, dim))
        self._side = np.empty(chains, dtype=int)
        # The draw of the trajectory so far, and of the subtree.
        self._draw, self._new_draw = np.array([state.x, state.grad]), np.empty((2, chains, dim))
        self._scalars, self._new_scalars = np.zeros((5, chains)), np.empty((3, chains))
        self._logp, self._weight, self._total, self._alpha, self._energy = self._scalars
        self._logp[:] = state.logp
        self._new_total = self._new_scalars[2]
        self._counts = np.zeros((2, chains), dtype=int)
        self._t, self._depth = self._counts
        self._t[:] = self._idle_leaf
        self._flags = np.zeros((4, chains), dtype=bool)
        self._moved, self._turned, self._failed, self._diverged = self._flags
        self._logp_here, self._grad_here = np.zeros(chains), np.zeros((chains, dim))
        # Uniform numbers, for the leaves; for the joins and the sides of the doublings.
        self._uniform = np.empty((chains, 2**max_depth))
        self._coins = np.empty((chains, 2 * max_depth))
        self._early = 2 ** min(max_depth, EARLY)
        self._prepare()

    def _prepare(self) -> None:
        """Multiply the step size into the root, where that is a diagonal."""
        self._diagonal = self._root is None or getattr(self._root, "ndim", 0) == 1
        scale = self._h * (1.0 if self._root is None else self._root) if self._diagonal else self._h
        self._drift = scale
        self._half_kick = 0.5 * scale

    def run(self, rng: np.random.Generator, n: int) -> Iterator[tuple[State, Info]]:
        """Yield the states and infos of ``n`` transitions of every chain.

        Chains begin their next transition when they have ended one, unless they are too far ahead;
        with ``n`` = 1 they wait for each other.
        """
        self._rng = rng
        self._goal, self._given = n, 0
        self._finished, self._slowest = np.zeros(len(self._all), dtype=int), 0
        _, chains, dim = self._draw.shape
        self._results = Results(chains, dim, min(n, AHEAD))
        previous = self._start
        self._wake(self._all)
        while self._given < n:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                while self._slowest == self._given:
                    self._sweep()
            state, info = self._results.take(self._given, previous)
            self._given += 1
            yield state, info
            previous = state
            if self._live is not None:
                self._wake((self._t == self._idle_leaf).nonzero()[0])

    # -- one leaf ------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Add a leaf to the trajectory of every chain that does not idle."""
        logp, grad = self._leapfrog()
        weight = np.vecdot(self._r, self._r)
        weight *= -0.5
        weight += logp
        weight += self._energy
        # The sum of squares is smaller than this only if every weight is in proportion.
        event = not np.dot(weight, weight) < DIVERGENCE**2 and self._break_down(weight)
        self._choose(weight, logp, grad)
        t = self._t
        self._keep(self._plan.slot.take(t))
        event |= self._look_back(t)
        whole = self._plan.whole.take(t).nonzero()[0]
        t += 1 if self._live is None else t < self._idle_leaf
        if event or whole.size:
            self._complete(whole, event)

    def _leapfrog(self) -> tuple[Array, Array]:
        """One leapfrog step; the log density at the new leaf, and its gradient."""
        r = self._r
        np.copyto(self._before, self._now)
        np.subtract(self._sum, r, out=self._before_last)
        r += self._k
        self._q += self._drift * (r if self._diagonal else times(self._root, r))
        logp, grad = self._evaluate()
        slope = grad if self._diagonal else transposed_times(self._root, grad)
        np.multiply(self._half_kick, slope, out=self._k)
        r += self._k
        self._sum += r
        return logp, grad

    def _evaluate(self) -> tuple[Array, Array]:
        """Evaluate the chains that do not idle; for the others nothing changes."""
        if self._live is None:
            logp, grad = self._density(self._q.copy())
            return logp, grad
        rows = self._live
        self._logp_here[rows], self._grad_here[rows] = self._density(self._q[rows])
        return self._logp_here, self._grad_here

    def _break_down(self, weight: Array) -> bool:
        """Take the weight of leaves away that are out of proportion; return whether some are."""
        lost = ~((weight >= DIVERGENCE) & (weight < np.inf))
        self._diverged |= lost
        self._failed |= lost
        weight[lost] = -np.inf
        return bool(lost.any())

    def _choose(self, weight: Array, logp: Array, grad: Array) -> None:
        """Take the newest leaf as the draw of its subtree, with its share of the weight."""
        np.logaddexp(self._new_total, weight, out=self._new_total)
        self._alpha += np.exp(np.minimum(weight, 0.0))
        share = np.exp(weight - self._new_total)
        taken = (self._uniform[self._all, self._t] < share).nonzero()[0]
        if taken.size:
            rows = selection(taken)
            self._new_draw[0, rows], self._new_draw[1, rows] = self._q[rows], grad[rows]
            self._new_scalars[0, rows], self._new_scalars[1, rows] = logp[rows], weight[rows]

    def _keep(self, slot: Array) -> None:
        """Keep the newest leaves that begin a subtree in their slots, with the ones before."""
        index = (slot <= self._depth_limit).nonzero()[0]
        if index.size:
            self._kept[index, slot[index]] = self._leaf[3:, selection(index)].swapaxes(0, 1)

    def _look_back(self, t: Array) -> bool:
        """Ask all stretches that end with the newest leaf; return whether a subtree has failed."""
        checks = self._plan.checks
        found = checks.take(t, axis=0).ravel().nonzero()[0]
        rows = found // checks.shape[1]
        first = self._stretches.take(found, axis=0)
        stretch, r = self._now.take(rows, axis=1)
        stretch -= first[:, 1]
        turning = np.minimum(np.vecdot(stretch, first[:, 0]), np.vecdot(stretch, r))
        turned = (turning <= 0.0).nonzero()[0]
        if not turned.size:
            return False
        rows, entries = rows[turned], found[turned] % checks.shape[1]
        outer = (entries == OUTER[0]) | (entries == OUTER[1])
        self._turned[rows[outer]] = True
        self._failed[rows[~outer]] = True
        return not outer.all()

    # -- whole subtrees and trajectories -------------------------------------------------------

    def _complete(self, index: Array, event: bool) -> None:
        """Join whole subtrees to their trajectories; end those that are over, or where one failed.

        The subtrees of the chains ``index`` have all their leaves.
        """
        if event:
            index = index[~self._failed[index]]
        if index.size:
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
        u = self._coins[index, self._depth[rows]]
        won = index[u < np.exp(new - total)]
        if won.size:
            taken = selection(won)
            self._draw[:, taken] = self._new_draw[:, taken]
            self._scalars[:2, taken] = self._new_scalars[:2, taken]
            self._moved[taken] = True
        self._total[rows] = np.logaddexp(total, new)
        self._depth[rows] += 1
        end = selection(2 * index + self._side[rows])
        self._ends[:2, end], self._ends[2, end] = self._leaf[:2, rows], self._r[rows]

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
        end = selection(number)
        self._leaf[:2, rows], self._r[rows] = self._ends[:2, end], self._ends[2, end]
        self._kept[rows, 0, 0] = -self._ends[2, selection(number ^ 1)]
        self._new_total[rows] = -np.inf
        for row in index[depth == EARLY]:
            self._draw_late(row)

    def _draw_late(self, row: int) -> None:
        """Draw numbers for the leaves beyond `EARLY`, by a generator that the first one seeds.

        What a chain draws from the one that all share does not depend on what becomes of others.
        """
        late = self._uniform[row, self._early - 1 :]
        late[:] = np.random.default_rng(int(late[0] * 2**53)).random(len(late))

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
            self._results.break_down(lost, self._finished[lost], self._q[lost])
        self._finished[rows] += 1
        self._slowest = int(np.minimum.reduce(self._finished))
        self._wake(index)

    def _wake(self, index: Array) -> None:
        """Begin the next transitions of some chains, unless they are to wait or done: they idle."""
        going = self._finished[index] < min(self._goal, self._given + AHEAD)
        awake = index[going]
        if awake.size:
            self._begin(awake)
        if awake.size < index.size:
            self._idle(index[~going])
        if awake.size < index.size or self._live is not None:
            live = self._t < self._idle_leaf
            self._live = None if live.all() else live.nonzero()[0]

    def _idle(self, index: Array) -> None:
        """Let some chains idle."""
        self._t[index] = self._idle_leaf
        self._leaf[:, index], self._energy[index] = 0.0, 0.0
        self._failed[index] = False
        self._logp_here[index], self._grad_here[index] = 0.0, 0.0

    def _begin(self, index: Array) -> None:
        """Begin transitions: fresh momenta, and a trajectory of one leaf."""
        rows = selection(index)
        x, grad = self._draw[:, rows]
        r = self._rng.standard_normal(x.shape)
        u = self._rng.random((len(index), self._early + 2 * self._depth_limit))
        self._uniform[rows, : self._early] = u[:, : self._early]
        self._coins[rows] = u[:, self._early :]
        slope = grad if self._diagonal else transposed_times(self._root, grad)
        half = self._half_kick[rows] if self._h.ndim else self._half_kick
        k = half * slope
        ends = self._ends.reshape(3, len(self._all), 2, -1)
        ends[0, rows], ends[1, rows] = x[:, None], k[:, None]
        ends[2, rows, FORWARD], ends[2, rows, BACKWARD] = r, -r
        self._sum[rows], self._side[rows] = r, FORWARD
        self._scalars[1:4, rows] = 0.0
        self._energy[rows] = 0.5 * np.vecdot(r, r) - self._logp[rows]
        self._counts[:, rows], self._flags[:, rows] = 0, False
        self._double(index)
