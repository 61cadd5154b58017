"""Collectors: what is kept of a run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from probmodel.inference.driver import Collector, Phase
from probmodel.samplers.base import Stretch
from probmodel.types import Array


class Column(Protocol):
    """Keeps one quantity of every draw: (chains, ...) each."""

    def write(self, begin: int, values: Array) -> None:
        """Keep (n, chains, ...), of the draws from ``begin`` on."""
        ...

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        ...

    def first(self, count: int) -> Array:
        """Return the first draws, (chains, count, ...)."""
        ...


class Room:
    """Draws in memory, (chains, draws, ...)."""

    def __init__(self, draws: int, shape: tuple[int, ...], dtype: Any) -> None:
        self.values = np.empty((shape[0], draws, *shape[1:]), dtype)

    def grow(self, draws: int) -> None:
        """Make room for so many draws in all."""
        old, count = self.values, self.values.shape[1]
        if draws > count:
            self.values = np.empty((len(old), draws, *old.shape[2:]), old.dtype)
            self.values[:, :count] = old


class MemoryColumn:
    """Keeps a quantity in memory; see `Column`.

    Parameters
    ----------
    room : that of all chains
    rows : the chains whose draws these are
    """

    def __init__(self, room: Room, rows: slice) -> None:
        self._room, self._rows, self._draws = room, rows, room.values.shape[1]

    def write(self, begin: int, values: Array) -> None:
        """Keep (n, chains, ...), of the draws from ``begin`` on."""
        self._room.values[self._rows, begin : begin + len(values)] = values.swapaxes(0, 1)

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self._draws += draws
        self._room.grow(self._draws)

    def first(self, count: int) -> Array:
        """Return the first draws, (chains, count, ...)."""
        return self._room.values[self._rows, :count]


Columns = Callable[[str], Callable[..., Column]]  # from the phase to what makes its columns


def in_memory(sizes: Sequence[int]) -> list[Columns]:
    """Return what makes the columns of groups of some sizes: rows of one array of all chains."""
    rooms: dict[tuple[str, str], Room] = {}
    ends = np.cumsum([0, *sizes])

    def of_group(first: int, end: int) -> Columns:
        def of_phase(phase: str) -> Callable[..., Column]:
            def make(name: str, draws: int, shape: tuple[int, ...], dtype: Any) -> Column:
                if (phase, name) not in rooms:
                    rooms[phase, name] = Room(draws, (int(ends[-1]), *shape[1:]), dtype)
                return MemoryColumn(rooms[phase, name], slice(first, end))

            return make

        return of_phase

    return [of_group(int(a), int(b)) for a, b in itertools.pairwise(ends)]


class DrawStore(Collector):
    """Keeps the draws of one phase, and their statistics.

    Parameters
    ----------
    phase : the phase to keep
    chains, draws, dim : sizes
    thin : keep the last of every ``thin`` iterations
    column : makes what keeps one quantity, from its name, the draws there are to be, its shape of
        one draw, (chains, ...), and its type; in memory by default

    Attributes
    ----------
    count : draws kept so far
    """

    def __init__(
        self,
        phase: Phase,
        chains: int,
        draws: int,
        dim: int,
        thin: int = 1,
        column: Callable[[str, int, tuple[int, ...], Any], Column] | None = None,
    ) -> None:
        self._phase, self._thin, self._draws, self._chains = phase, thin, draws, chains
        self._make = column or in_memory([chains])[0](phase)
        self._x = self._make("x", draws, (chains, dim), np.dtype(float))
        self._stats: dict[str, Column] = {}
        self._types: dict[str, str] = {}
        self.count = 0

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self._draws += draws
        for column in (self._x, *self._stats.values()):
            column.grow(draws)

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Keep the iterations that are to be kept."""
        skipped = (-1 - first) % self._thin
        if phase != self._phase or skipped >= len(stretch):
            return
        x, own = stretch.kept(skipped, self._thin)
        self._keep((first + skipped) // self._thin, x, statistics(own, params))

    def _keep(self, begin: int, x: Array, stats: dict[str, Array]) -> None:
        self._x.write(begin, x)
        for name, value in stats.items():
            if name not in self._stats:
                self._begin(name, value.dtype)
            self._stats[name].write(begin, np.broadcast_to(value, (len(x), self._chains)))
        self.count = begin + len(x)  # last, so that an interrupt leaves no half-written draw

    def fill(self, x: Array, stats: Mapping[str, Array]) -> None:
        """Begin with draws that there are already: (chains, n, dim), name -> (chains, n)."""
        self._keep(0, x.swapaxes(0, 1), {name: value.T for name, value in stats.items()})

    def snapshot(self, iterations: int) -> dict[str, Any]:
        """Return what another store needs, beside the draws, to go on from so many iterations."""
        return {"count": iterations // self._thin, "stats": dict(self._types)}

    def resume(self, snapshot: dict[str, Any]) -> None:
        """Go on from there; whatever makes the columns has the draws."""
        self.count = snapshot["count"]
        for name, dtype in snapshot["stats"].items():
            self._begin(name, np.dtype(dtype))

    def _begin(self, name: str, dtype: Any) -> None:
        self._types[name] = dtype.str
        self._stats[name] = self._make(name, self._draws, (self._chains,), dtype)

    def x(self, count: int) -> Array:
        """First ``count`` draws: (chains, count, dim)."""
        return self._x.first(count)

    def stats(self, count: int) -> dict[str, Array]:
        """Statistics of the first ``count`` draws: name -> (chains, count)."""
        return {name: column.first(count) for name, column in self._stats.items()}


def statistics(own: Mapping[str, Array], params: Any) -> dict[str, Array]:
    """Complete the statistics of draws, (n, chains), by what they share: (n, 1)."""
    first = {name: own[name] for name in ("lp", "acceptance_rate", "accepted")}
    n = len(first["lp"])
    step_size = np.atleast_1d(np.asarray(getattr(params, "step_size", np.nan), dtype=float))
    same = {
        "step_size": np.broadcast_to(step_size, (n, len(step_size))),
        "n_steps": np.ones((n, 1), dtype=int),
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
        self._before = (-1, 0)  # the first of the last iterations, and what there was before them

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Count some iterations."""
        found = stretch.totals.nonfinite
        if phase == "draw":
            self._before = (first, self.nonfinite[phase])
        self.iterations[phase] = first + len(stretch)
        self.nonfinite[phase] += found

    def snapshot(self, iterations: int) -> dict[str, Any]:
        """Return the counts after so many iterations of the sampling, see `resume`.

        These are all, or all but the last ones that were taken.
        """
        first, before = self._before
        nonfinite = before if first >= iterations else self.nonfinite["draw"]
        return {
            "iterations": {**self.iterations, "draw": iterations},
            "nonfinite": {**self.nonfinite, "draw": nonfinite},
        }

    def resume(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""
        self.iterations = dict(snapshot["iterations"])
        self.nonfinite = dict(snapshot["nonfinite"])


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


class _Before(NamedTuple):
    """What a store of divergences was before it took the last iterations.

    Attributes
    ----------
    first : of these iterations
    seen, rng : divergences until then, and the state of its generator
    span, counts : draws that they may belong to, and the counts of these
    slots, columns : places that are written over, and what was there
    """

    first: int
    seen: int
    rng: Any
    span: slice
    counts: Array
    slots: Array = np.zeros(0, dtype=int)
    columns: Sequence[Array] = ()


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
        # The last column is of a draw that an interrupt left unfinished.
        self._counts = np.zeros((chains, draws + 1), dtype=np.int32)
        self._chain = np.empty(most, dtype=np.int64)
        self._draw = np.full(most, np.iinfo(np.int64).max)  # what is not written: of no draw
        self._start, self._end = np.empty((most, dim)), np.empty((most, dim))
        self._rng = np.random.default_rng(0)
        self._before: _Before | None = None

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self._counts = np.pad(self._counts, ((0, 0), (0, draws)))

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Take the divergences of some iterations."""
        if phase != "draw" or not stretch.totals.divergences:
            return
        found = stretch.broken()
        draw, begin = (first + found.transition) // self._thin, first // self._thin
        counts = np.zeros((len(self._counts), (first + len(stretch) - 1) // self._thin + 1 - begin))
        np.add.at(counts, (found.chain, draw - begin), 1)
        self._keep(first, counts.astype(self._counts.dtype), (draw, *found[1:]))

    def _keep(self, first: int, counts: Array, events: tuple[Array, ...]) -> None:
        """Keep divergences of some iterations."""
        span = slice(first // self._thin, first // self._thin + counts.shape[1])
        columns = (self._draw, self._chain, self._start, self._end)
        before = _Before(
            first, self._seen, self._rng.bit_generator.state, span, self._counts[:, span].copy()
        )
        self._before = before  # first: an interrupt may come at any moment
        slots = self._slots(len(events[0]))
        kept, slots = slots < self._most, slots[slots < self._most]
        self._before = before._replace(slots=slots, columns=[column[slots] for column in columns])
        # The draw is written first: after an interrupt, what is half written belongs to a draw
        # that was not kept, and is left out with it.
        for column, values in zip(columns, events, strict=True):
            column[slots] = values[kept]
        self._counts[:, span] += counts

    def _slots(self, n: int) -> Array:
        """Places of the next ``n`` divergences by reservoir sampling; beyond the last: none."""
        numbers = np.arange(self._seen, self._seen + n)
        self._seen += n
        drawn = (self._rng.random(n) * (numbers + 1)).astype(np.int64)
        return np.where(numbers < self._most, numbers, drawn)

    def snapshot(self, iterations: int) -> dict[str, Any]:
        """Return what another store needs to go on from so many iterations, see `resume`.

        These are all, or all but the last ones that were taken.
        """
        columns: tuple[Array, ...] = (self._draw, self._chain, self._start, self._end)
        counts, seen, rng = self._counts, self._seen, self._rng.bit_generator.state
        before = self._before
        if before is not None and before.first >= iterations:
            seen, rng, counts = before.seen, before.rng, counts.copy()
            counts[:, before.span] = before.counts
            columns = tuple(column.copy() for column in columns)
            for column, values in zip(columns, before.columns, strict=False):  # none, or all
                column[before.slots] = values
        kept, where = min(seen, self._most), np.nonzero(counts)
        return {
            "seen": seen, "rng": rng, "where": where, "counts": counts[where],
            "columns": tuple(column[:kept] for column in columns),
        }  # fmt: skip

    def resume(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""
        self._seen, self._rng.bit_generator.state = snapshot["seen"], snapshot["rng"]
        self._counts[snapshot["where"]] = snapshot["counts"]
        columns = (self._draw, self._chain, self._start, self._end)
        for column, values in zip(columns, snapshot["columns"], strict=True):
            column[: len(values)] = values

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
