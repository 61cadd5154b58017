"""A run on its way: its groups of chains, what is kept of them, and what it has taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from probmodel.inference.chains import Group
from probmodel.inference.collectors import (
    Columns,
    Counter,
    Divergences,
    DivergenceStore,
    DrawStore,
    join_divergences,
)
from probmodel.inference.counting import Work
from probmodel.inference.driver import Collector, Outcome
from probmodel.inference.restarts import Restart
from probmodel.types import Array

Allocate = Callable[[str, tuple[int, ...], Any], Array]  # makes an array of draws

_MOST_DIVERGENCES = 1000  # kept of a run, over all chains
_MOST_NUMBERS = 1 << 22  # in the positions of those that are kept: 32 MB for their starts


def array_in_memory(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array for draws."""
    return np.empty(shape, dtype)


@dataclass(frozen=True)
class SampleRun:
    """What a run produced. Chains are in the order of the starting points.

    Attributes
    ----------
    x : (chains, draws_done, dim)
    stats : name -> (chains, draws_done): lp, acceptance_rate, accepted, step_size, n_steps, n_grad,
        diverging, and the sampler's own
    warmup_x, warmup_stats : the same for the warm-up, or None if it was not to be saved
    warmup_done, draws_done : iterations of warm-up, and kept draws, of every chain
    draws : kept draws of every chain that there were to be in the end
    interrupted, timed_out : whether Ctrl-C or the time limit ended the run early
    work_warmup, work_sampling : evaluations of each phase, over all chains; the warm-up includes
        those of the pilot, the starting points and the adaptation
    seconds_warmup, seconds_sampling : time each phase took
    blas_threads : that matrix products were split between
    nonfinite : proposals with a density that is not finite while sampling, over all chains
    divergences : trajectories that diverged while sampling
    params : parameters of each group at the end
    groups : number of groups
    positions : (chains, dim), where the chains were at the end
    restarted : chains that were lost in the warm-up and began again from another's place
    density : the target on the scale of the draws
    snapshot : all that the chains need to go on; None if they were interrupted in the warm-up
    lost : by chains that were sampled elsewhere, why the worker was lost. They are left out, unless
        all were lost
    """

    x: Array
    stats: dict[str, Array]
    warmup_x: Array | None
    warmup_stats: dict[str, Array] | None
    warmup_done: int
    draws_done: int
    draws: int
    interrupted: bool
    timed_out: bool
    work_warmup: Work
    work_sampling: Work
    seconds_warmup: float
    seconds_sampling: float
    blas_threads: int
    nonfinite: int
    divergences: Divergences
    params: tuple[Any, ...]
    groups: int
    positions: Array
    restarted: tuple[Restart, ...]
    density: Any
    snapshot: dict[str, Any] | None = None
    lost: dict[tuple[int, ...], str] = field(default_factory=dict)


class WarmupStart(NamedTuple):
    """Where the warm-up began.

    Attributes
    ----------
    density : the target on the scale that is sampled
    positions : (chains, dim), on that scale
    work : what it took to get there
    """

    density: Any
    positions: Array
    work: Work


class Record:
    """The collectors of one of ``groups`` groups, whose starting points are ``x0``."""

    def __init__(
        self,
        x0: Array,
        draws: int,
        warmup: int,
        thin: int,
        groups: int,
        columns: Columns | None = None,
    ) -> None:
        chains, dim = x0.shape
        self.chains, self.planned = chains, draws
        most = max(1, min(_MOST_DIVERGENCES, _MOST_NUMBERS // dim) // groups)
        self.divergences = DivergenceStore(chains, draws, dim, thin, most)
        kept, of_warmup = (columns(p) if columns else None for p in ("draw", "warmup"))
        self.draws = DrawStore("draw", chains, draws, dim, thin, kept)
        self.warmup = DrawStore("warmup", chains, warmup, dim, 1, of_warmup) if warmup else None
        self.counter = Counter()

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self.planned += draws
        self.divergences.grow(draws)
        self.draws.grow(draws)

    @property
    def collectors(self) -> list[Collector]:
        """All of them."""
        stores: list[Collector] = [self.divergences, self.draws, self.counter]
        return stores if self.warmup is None else [*stores, self.warmup]

    def snapshot(self, iterations: int) -> dict[str, Any]:
        """Return what another one needs to go on from so many iterations, but for the draws."""
        return {
            "divergences": self.divergences.snapshot(iterations),
            "draw": self.draws.snapshot(iterations),
            "warmup": self.warmup and self.warmup.snapshot(self.warmup.count),
            "counter": self.counter.snapshot(iterations),
        }

    def resume(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""
        self.divergences.resume(snapshot["divergences"])
        self.draws.resume(snapshot["draw"])
        if self.warmup is not None and snapshot["warmup"] is not None:
            self.warmup.resume(snapshot["warmup"])
        self.counter.resume(snapshot["counter"])


class RunInProgress:
    """A run on its way: its groups, what is kept of them, and what it had taken before.

    It begins with groups that are not started, or goes on from a snapshot.
    """

    def __init__(
        self,
        origin: WarmupStart,
        groups: Sequence[Group],
        records: Sequence[Record],
        before: Outcome,
        snapshot: dict[str, Any] | None = None,
        drawn: tuple[Array, dict[str, Array]] | None = None,
    ) -> None:
        self._origin, self._groups, self._records = origin, groups, records
        self._before = before
        if snapshot is not None:
            for group, known in zip(groups, snapshot["groups"], strict=True):
                group.resume(known)
            for record, known in zip(records, snapshot["records"], strict=True):
                record.resume(known)
        if drawn is not None:
            self._fill(*drawn)

    def _fill(self, x: Array, stats: dict[str, Array]) -> None:
        """Begin with draws that there are already."""
        ends = np.cumsum([record.chains for record in self._records])[:-1]
        for g, record in enumerate(self._records):
            own = {name: np.split(column, ends)[g] for name, column in stats.items()}
            record.draws.fill(np.split(x, ends)[g], own)

    @property
    def density(self) -> Any:
        """The target on the scale that is sampled."""
        return self._origin.density

    @property
    def draws(self) -> Any:
        """Draws so far of the chains that are not lost: (chains, draws, dim)."""
        x = drawn_by([record.draws for record in self._records])
        lost = self._lost()
        return np.delete(x, lost, axis=0) if lost else x

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        for record in self._records:
            record.grow(draws)

    def _lost(self) -> list[int]:
        """Chains of parts whose workers were lost; none if all were."""
        lost = [c for g in self._groups for rows in getattr(g, "lost", ()) for c in rows]
        return lost if len(lost) < sum(record.chains for record in self._records) else []

    def taken(self, outcome: Outcome) -> Outcome:
        """Add what the run had taken before."""
        if outcome is self._before:
            return outcome
        return outcome._replace(
            seconds_warmup=outcome.seconds_warmup + self._before.seconds_warmup,
            seconds_sampling=outcome.seconds_sampling + self._before.seconds_sampling,
        )

    def snapshot(self, outcome: Outcome, between: bool = False) -> dict[str, Any] | None:
        """Return all that the run needs to go on; None if it is lost in its warm-up.

        ``between`` says that no iteration is under way.
        """
        if not (between or all(group.frozen for group in self._groups)):
            return None
        density, positions, work = self._origin
        groups = [group.snapshot() for group in self._groups]
        records = [
            record.snapshot(group["drawn"])
            for record, group in zip(self._records, groups, strict=True)
        ]
        known = density.snapshot() if hasattr(density, "snapshot") else {}
        engines = [group["engine"] for group in groups if group["engine"] is not None]
        if engines:  # as far as after the last whole iteration of any group
            known["engine"] = tuple(
                max(states, key=lambda state: (state[0], state[2] == "llvm"))
                for states in zip(*engines, strict=True)
            )
        return {
            "origin": (positions, work), "groups": groups, "records": records, "density": known,
            "planned": self._records[0].planned, "taken": tuple(self.taken(outcome)[2:]),
        }  # fmt: skip

    def assembled(
        self,
        outcome: Outcome,
        save_warmup: bool,
        snapshot: dict[str, Any] | None,
        allocate: Allocate = array_in_memory,
    ) -> SampleRun:
        """Put the groups' draws together, as many as every group has."""
        records, groups, outcome = self._records, self._groups, self.taken(outcome)
        x, stats, draws_done = joined([record.draws for record in records], allocate)
        warmup_x = warmup_stats = None
        stores = [record.warmup for record in records if record.warmup is not None]
        if save_warmup and stores:
            warmup_x, warmup_stats, _ = joined(stores, lambda n, *of: allocate(f"warmup.{n}", *of))
        run = SampleRun(
            x=x,
            stats=stats,
            warmup_x=warmup_x,
            warmup_stats=warmup_stats,
            warmup_done=min(record.counter.iterations["warmup"] for record in records),
            draws_done=draws_done,
            draws=records[0].planned,
            interrupted=outcome.interrupted,
            timed_out=outcome.timed_out,
            work_warmup=reduce(Work.plus, (group.work[0] for group in groups), self._origin.work),
            work_sampling=reduce(Work.plus, (group.work[1] for group in groups)),
            seconds_warmup=outcome.seconds_warmup,
            seconds_sampling=outcome.seconds_sampling,
            blas_threads=outcome.blas_threads,
            nonfinite=sum(record.counter.nonfinite["draw"] for record in records),
            divergences=join_divergences([r.divergences.divergences(draws_done) for r in records]),
            params=tuple(group.params for group in groups),
            groups=len(records),
            positions=np.concatenate([group.positions for group in groups]),
            restarted=tuple(_numbered(groups, records)),
            density=self._origin.density,
            snapshot=snapshot,
            lost={rows: why for g in groups for rows, why in getattr(g, "lost", {}).items()},
        )
        lost = self._lost()
        return _without(run, lost) if lost else run


def _without(run: SampleRun, lost: Sequence[int]) -> SampleRun:
    """Leave out chains."""
    kept = np.setdiff1d(np.arange(len(run.x)), lost)
    number = np.full(len(run.x), -1)
    number[kept] = np.arange(len(kept))
    events = np.isin(run.divergences.chain, kept)
    columns = [column[events] for column in run.divergences[1:]]
    divergences = Divergences(run.divergences.counts[kept], number[columns[0]], *columns[1:])
    return replace(
        run, x=run.x[kept], stats=_rows(run.stats, kept),
        warmup_x=None if run.warmup_x is None else run.warmup_x[kept],
        warmup_stats=None if run.warmup_stats is None else _rows(run.warmup_stats, kept),
        positions=run.positions[kept], divergences=divergences, snapshot=None,
    )  # fmt: skip


def _rows(stats: dict[str, Array], kept: Array) -> dict[str, Array]:
    return {name: column[kept] for name, column in stats.items()}


def _numbered(groups: Sequence[Group], records: Sequence[Record]) -> Iterator[Restart]:
    """Yield the restarts of all groups, with the numbers that chains have in the run."""
    first = 0
    for group, record in zip(groups, records, strict=True):
        for restart in group.restarted:
            chain, source = first + restart.chain, first + restart.source
            yield restart._replace(chain=chain, source=source)
        first += record.chains


class Beside:
    """Draws of several groups, put together where they are read: (chains, draws, dim)."""

    def __init__(self, parts: Sequence[Array]) -> None:
        self._parts = parts
        self.shape = (sum(map(len, parts)), *parts[0].shape[1:])
        self.size = math.prod(self.shape)

    def __getitem__(self, key: Any) -> Array:
        """Return these of each chain; the first index takes them all."""
        return np.concatenate([part[key] for part in self._parts])


def drawn_by(stores: Sequence[DrawStore]) -> Any:
    """Draws of all groups so far, without a copy: an array, or what is read like one."""
    count = min(store.count for store in stores)
    parts = [store.x(count) for store in stores]
    whole = _of_one(parts)
    return Beside(parts) if whole is None else whole


def joined(
    stores: Sequence[DrawStore], allocate: Allocate = array_in_memory
) -> tuple[Array, dict[str, Array], int]:
    """Draws and statistics of all groups: (chains, count, dim), name -> (chains, count), count."""
    count = min(store.count for store in stores)
    parts = [store.stats(count) for store in stores]
    # An interrupt may come when a group has begun to keep its first draw.
    names = [name for name in parts[0] if all(name in part for part in parts)]
    stats = {name: _concatenated(name, [part[name] for part in parts], allocate) for name in names}
    return _concatenated("x", [store.x(count) for store in stores], allocate), stats, count


def _concatenated(name: str, arrays: Sequence[Array], allocate: Allocate) -> Array:
    """Put arrays together; what is one already is not copied: draws may fill half the memory."""
    whole = _of_one(arrays)
    if whole is None:
        whole = allocate(name, (sum(map(len, arrays)), *arrays[0].shape[1:]), arrays[0].dtype)
        np.concatenate(arrays, out=whole)
    return whole


def _of_one(arrays: Sequence[Array]) -> Array | None:
    """Return the array whose rows some arrays are, if there is one."""
    base, count = arrays[0].base, arrays[0].shape[1]
    if len(arrays) == 1:
        return arrays[0]
    if base is None or any(array.base is not base for array in arrays):
        return None
    return base[:, :count] if len(base) == sum(map(len, arrays)) else None
