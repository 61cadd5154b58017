"""Collectors: what is kept of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.inference.driver import Collector, Phase
from probmodel.samplers.base import Info, Stretch
from probmodel.types import Array


class DrawStore(Collector):
    """Keeps the draws of one phase, and their statistics, in memory.

    Parameters
    ----------
    phase : the phase to keep
    chains, draws, dim : sizes
    thin : keep the last of every ``thin`` iterations

    Attributes
    ----------
    count : draws kept so far
    """

    def __init__(self, phase: Phase, chains: int, draws: int, dim: int, thin: int = 1) -> None:
        self._phase, self._thin = phase, thin
        self._shape = (chains, draws)
        self._x = np.empty((chains, draws, dim))
        self._stats: dict[str, Array] = {}
        self.count = 0

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self._x = _longer(self._x, draws)
        self._stats = {name: _longer(column, draws) for name, column in self._stats.items()}
        self._shape = self._x.shape[:2]

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Keep the iterations that are to be kept."""
        skipped = (-1 - first) % self._thin
        if phase != self._phase or skipped >= len(stretch):
            return
        begin, x = (first + skipped) // self._thin, stretch.x[skipped :: self._thin]
        end, columns = begin + len(x), statistics(stretch, params)
        if not self._stats:
            self._stats = {
                name: np.empty(self._shape, dtype=value.dtype) for name, value in columns.items()
            }
        self._x[:, begin:end] = x.swapaxes(0, 1)
        for name, value in columns.items():
            self._stats[name][:, begin:end] = value[skipped :: self._thin].T
        self.count = end  # last, so that an interrupt leaves no half-written draw

    def x(self, count: int) -> Array:
        """First ``count`` draws: (chains, count, dim)."""
        return self._x[:, :count]

    def stats(self, count: int) -> dict[str, Array]:
        """Statistics of the first ``count`` draws: name -> (chains, count)."""
        return {name: column[:, :count] for name, column in self._stats.items()}


def _longer(columns: Array, draws: int) -> Array:
    """Return (chains, n, ...) with room for more draws, where nothing is written yet."""
    longer = np.empty((len(columns), columns.shape[1] + draws, *columns.shape[2:]), columns.dtype)
    longer[:, : columns.shape[1]] = columns
    return longer


def statistics(stretch: Stretch, params: Any) -> dict[str, Array]:
    """Statistics of iterations, (n, chains), under ArviZ's names; (n, 1) if chains share them."""
    own = stretch.statistics
    first = {name: own[name] for name in ("lp", "acceptance_rate", "accepted")}
    step_size = np.atleast_1d(np.asarray(getattr(params, "step_size", np.nan), dtype=float))
    same = {
        "step_size": np.broadcast_to(step_size, (len(stretch), len(step_size))),
        "n_steps": np.ones((len(stretch), 1), dtype=int),
    }
    return {**first, **same, **own}


class Counter(Collector):
    """Counts iterations, and proposals that were not finite.

    Attributes
    ----------
    iterations : dict of phase to int
    nonfinite : dict of phase to int; proposals, totals over chains
    """

    def __init__(self) -> None:
        self.iterations: dict[Phase, int] = {"warmup": 0, "draw": 0}
        self.nonfinite: dict[Phase, int] = {"warmup": 0, "draw": 0}

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Count some iterations."""
        self.iterations[phase] = first + len(stretch)
        logp = stretch.proposed
        self.nonfinite[phase] += logp.size - int(np.count_nonzero(np.isfinite(logp)))


class Divergences(NamedTuple):
    """Trajectories that diverged while sampling. At most some are kept, chosen at random.

    Attributes
    ----------
    counts : (chains, draws) int
        Divergences in the iterations that led to each kept draw; none is left out.
    chain, draw : (kept,) int
        Where in the run those happened that are kept, in the order of the draws. A divergence in
        an iteration that was thinned out belongs to the next draw.
    start, end : (kept, dim)
        Where their trajectories began, and where they broke down.
    """

    counts: Array
    chain: Array
    draw: Array
    start: Array
    end: Array


class DivergenceStore(Collector):
    """Keeps where trajectories diverged while sampling.

    Only methods that report ``n_steps`` have trajectories: for one that takes a single step, a
    proposal out of proportion is a rejection like others. Where the transition's record has an
    attribute ``divergence``, (chains, dim), it says where a trajectory broke down; else the
    proposal does. What is kept beyond ``most`` is a random sample, drawn without the run's
    randomness.

    Parameters
    ----------
    chains, draws, dim : sizes
    thin : iterations per kept draw
    most : divergences to keep
    """

    def __init__(self, chains: int, draws: int, dim: int, thin: int = 1, most: int = 1000) -> None:
        self._thin, self._most, self._seen = thin, most, 0
        self._counts = np.zeros((chains, draws), dtype=np.int32)
        self._chain = np.empty(most, dtype=np.int64)
        self._draw = np.full(most, np.iinfo(np.int64).max)  # what is not written: of no draw
        self._start, self._end = np.empty((most, dim)), np.empty((most, dim))
        self._rng = np.random.default_rng(0)

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self._counts = np.pad(self._counts, ((0, 0), (0, draws)))

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Take the divergences of some iterations."""
        if phase != "draw" or not stretch.has_trajectories:
            return
        if stretch.statistics["diverging"].any():
            for i, (_, info) in enumerate(stretch, first):
                self._take(i, info)

    def _take(self, i: int, info: Info) -> None:
        chains = np.flatnonzero(info.diverging)
        slots = self._slots(len(chains))
        chains, slots = chains[slots < self._most], slots[slots < self._most]
        # The draw is written first: after an interrupt, what is half written belongs to a draw
        # that was not kept, and is left out with it.
        self._draw[slots] = i // self._thin
        self._chain[slots] = chains
        self._start[slots] = info.previous.x[chains]
        self._end[slots] = getattr(info.record, "divergence", info.proposal.x)[chains]
        self._counts[:, i // self._thin] += info.diverging

    def _slots(self, n: int) -> Array:
        """Places of the next ``n`` divergences by reservoir sampling; beyond the last: none."""
        numbers = np.arange(self._seen, self._seen + n)
        self._seen += n
        drawn = (self._rng.random(n) * (numbers + 1)).astype(np.int64)
        return np.where(numbers < self._most, numbers, drawn)

    def divergences(self, count: int) -> Divergences:
        """Divergences of the first ``count`` draws."""
        kept = min(self._seen, self._most)
        rows = np.flatnonzero(self._draw[:kept] < count)
        rows = rows[np.lexsort((self._chain[rows], self._draw[rows]))]
        columns = (self._chain, self._draw, self._start, self._end)
        return Divergences(self._counts[:, :count], *(column[rows] for column in columns))


def join_divergences(parts: Sequence[Divergences]) -> Divergences:
    """Put together the divergences of groups of chains, which are numbered through."""
    offsets = np.cumsum([0, *(len(part.counts) for part in parts[:-1])])
    numbered = [p._replace(chain=p.chain + first) for p, first in zip(parts, offsets, strict=True)]
    whole = Divergences(*(np.concatenate(column) for column in zip(*numbered, strict=True)))
    order = np.lexsort((whole.chain, whole.draw))
    return Divergences(whole.counts, *(column[order] for column in whole[1:]))
