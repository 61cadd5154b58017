"""Sampling on other machines: the chains in parts, which workers of an executor draw side by side.

All chains warm up together in this process, so that they teach one adaptation, and are independent
of each other from then on. Each part has random numbers of its own, so that its draws do not
depend on which worker makes them, how many there are, or how many iterations are asked for at a
time. Those of a round are put together to a stretch of all chains: nobody else sees the parts.

    job     what a worker needs for a round: the density, once it has forgotten it; the part's
            state, parameters, place among its random numbers; how many iterations
    done    what it made of that, and the state and place after it

A part whose worker is lost is left out from then on, and its chains from the result.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from probmodel.blas import one_blas_thread
from probmodel.errors import SamplerError, reason
from probmodel.inference.chains import Group
from probmodel.inference.counting import Work, counting
from probmodel.inference.driver import EndRun
from probmodel.inference.restarts import taken
from probmodel.inference.tasks import packed, unpacked, unsent
from probmodel.samplers.base import Broken, Sampler, Stretch, Totals
from probmodel.samplers.streams import Place
from probmodel.threads import at_most
from probmodel.types import Array

ROUND = 1.0  # seconds that a round is to take
FEWEST, MOST = 8, 1 << 14  # iterations of a round
LARGEST = 1 << 22  # numbers in the positions of a round
_KEPT = 2  # densities that a worker remembers


class Job(NamedTuple):
    """A round of one part.

    Attributes
    ----------
    density : the target and its snapshot, pickled; or the target, for this process
    sampler, params, state, place : of the part, as `Sampler.stretches` takes them
    iterations : how many to make
    skipped, thin : the first one that is kept, and each how many-th is from there on
    """

    density: Any
    sampler: Sampler
    params: Any
    state: Any
    place: Place
    iterations: int
    skipped: int = 0
    thin: int = 1


class Done(NamedTuple):
    """What came of a job.

    Attributes
    ----------
    x, stats : of the iterations that are kept, as by `Stretch.kept`
    totals, broken : of all of them, as of a `Stretch`
    trajectories : whether the method has any
    state, place : after it
    work : evaluations that it took
    """

    x: Array
    stats: dict[str, Array]
    totals: Totals
    broken: Broken
    trajectories: bool
    state: Any
    place: Place
    work: Work


_densities: dict[str, Any] = {}


def _density(pickled: Any, x: Array) -> Any:
    """Return the density of a job; machine code is made once in a process."""
    if not isinstance(pickled, bytes):
        return pickled
    key = hashlib.sha256(pickled).hexdigest()
    if key not in _densities:
        density, snapshot = unpacked(pickled)
        if hasattr(density, "use_engine"):
            density.use_engine(None, 1)
        while len(_densities) >= _KEPT:
            _densities.pop(next(iter(_densities)))
        resumed = hasattr(density, "resumed")
        _densities[key] = density.resumed(snapshot, x)[0] if resumed else density
    return _densities[key]


def work(job: Job) -> Done:
    """Do a job; what a worker is sent."""
    with one_blas_thread(), at_most(1):
        density = counting(_density(job.density, job.state.x))
        streams = job.sampler.streams(np.random.default_rng(0)).at(job.place)
        made, kept, totals, broken = 0, [], Totals(), []
        rounds = job.sampler.stretches(
            streams, density, job.state, job.params, lambda: job.iterations - made
        )
        for stretch in rounds:
            x, stats = stretch.kept((job.skipped - made) % job.thin, job.thin)
            kept.append((x.copy(), {name: column.copy() for name, column in stats.items()}))
            totals = totals.plus(stretch.totals)
            found = stretch.broken()
            broken.append(found._replace(transition=found.transition + made))
            made += len(stretch)
        whole = {n: np.concatenate([stats[n] for _, stats in kept]) for n in kept[0][1]}
        return Done(
            np.concatenate([x for x, _ in kept]), whole, totals, _in_a_row(broken),
            stretch.has_trajectories, stretch.last, streams.place, density.work,
        )  # fmt: skip


def _in_a_row(parts: Sequence[Broken]) -> Broken:
    """Put trajectories that broke down together."""
    return Broken(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Round(Stretch):
    """Iterations of all chains, made by workers: of those that are not kept sums alone."""

    def __init__(self, iterations: int, last: Any, parts: Sequence[Done]) -> None:
        self._iterations, self.last, self._parts = iterations, last, parts

    @property
    def has_trajectories(self) -> bool:
        """See `Stretch`."""
        return self._parts[0].trajectories

    @cached_property
    def totals(self) -> Totals:
        """See `Stretch`."""
        return reduce(Totals.plus, (part.totals for part in self._parts))

    def kept(self, begin: int, thin: int) -> tuple[Array, dict[str, Array]]:
        """See `Stretch`; what chains share is repeated for each. The workers knew which."""

        def spread(part: Done, name: str) -> Array:
            return np.broadcast_to(part.stats[name], part.x.shape[:2])

        names = self._parts[0].stats
        stats = {n: np.concatenate([spread(p, n) for p in self._parts], axis=1) for n in names}
        return np.concatenate([part.x for part in self._parts], axis=1), stats

    def broken(self) -> Broken:
        """See `Stretch`."""
        ends = np.cumsum([0, *(part.x.shape[1] for part in self._parts)])
        found = _in_a_row([
            part.broken._replace(chain=part.broken.chain + first)
            for part, first in zip(self._parts, ends[:-1], strict=True)
        ])  # fmt: skip
        order = np.lexsort((found.chain, found.transition))
        return Broken(*(column[order] for column in found))

    def __len__(self) -> int:
        return self._iterations


class Here:
    """An executor that is none: it works in this process, at once."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function, and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


class Parts(Group):
    """Chains that warm up together here and sample in parts elsewhere.

    Parameters
    ----------
    *arguments, **options : of the `Group`
    executor : anything with a method ``submit``
    parts : how many
    thin : iterations per draw that workers send

    Attributes
    ----------
    lost : by the chains of a part, why its worker was lost
    """

    def __init__(
        self, *arguments: Any, executor: Any, parts: int, thin: int, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._thin = thin
        self._executor, self._rows = executor, np.array_split(np.arange(len(self._x0)), parts)
        self._places: list[Place] = []
        self._noted: list[Place] = []  # where the parts were when the group noted where it was
        self._sent: Any = None
        self._iterations = FEWEST
        self.lost: dict[tuple[int, ...], str] = {}

    def snapshot(self) -> dict[str, Any]:
        """See `Group`; with the places of the parts, and what was lost."""
        lost = {} if len(self.lost) == len(self._rows) else dict(self.lost)  # all can come back
        return {**super().snapshot(), "places": self._noted, "lost": lost}

    def _note(self) -> None:
        super()._note()
        self._noted = list(self._places)

    def resume(self, snapshot: dict[str, Any]) -> None:
        """See `Group`."""
        known = {**snapshot}
        self._places, self.lost = known.pop("places"), known.pop("lost")
        self._noted = list(self._places)
        super().resume(known)

    def _set_out(self) -> None:
        if not self._places:
            own: Any = self._rng.bit_generator.seed_seq
            seeds = own.spawn(len(self._rows))
            rngs = [np.random.default_rng(seed) for seed in seeds]
            self._places = [self._sampler.streams(rng).place for rng in rngs]
        if hasattr(self._target, "settle_engine"):  # else it would depend on who makes what
            self._target.settle_engine(self._state.x)
        self._sent = self._target if isinstance(self._executor, Here) else self._pickled()
        self._stretches = self._rounds()

    def _pickled(self) -> bytes:
        """Return the density as workers get it, if all that they need can be sent."""
        target: Any = self._target
        snapshot = target.snapshot() if hasattr(target, "snapshot") else {}
        packed((self._sampler, self.params))  # what a job holds besides
        return packed((target, snapshot))

    def _rounds(self) -> Iterator[Stretch]:
        while left := self.goal - self.drawn:
            begin, n = time.perf_counter(), min(self._iterations, left)
            found = self._round(n)
            yield found
            took = time.perf_counter() - begin
            most = max(FEWEST, min(MOST, LARGEST // self._state.x.size) * self._thin)
            self._iterations = int(np.clip(n * min(2.0, ROUND / max(took, 1e-9)), FEWEST, most))

    def _round(self, n: int) -> Stretch:
        """Let all parts that are left make so many iterations."""
        kept = (-1 - self.drawn) % self._thin, self._thin
        jobs = [
            Job(self._sent, self._sampler, self.params, taken(self._state, rows), place, n, *kept)
            for rows, place in zip(self._rows, self._places, strict=True)
        ]
        futures = [self._submitted(r, job) for r, job in zip(self._rows, jobs, strict=True)]
        done = [self._awaited(r, f, futures) for r, f in zip(self._rows, futures, strict=True)]
        found = [part for part in done if part is not None]
        if not found and not self.drawn:
            why = "; ".join(dict.fromkeys(self.lost.values()))
            raise SamplerError(f"all workers of executor= were lost before the first draw: {why}.")
        if not found:
            raise EndRun
        both = zip(done, jobs, strict=True)
        whole = [_nothing(job, found[0]) if part is None else part for part, job in both]
        self._places = [part.place for part in whole]
        total = self._density.work
        for part in found:
            total = total.plus(part.work)
        self._density.go_on_from(total)
        return Round(n, _joined([part.state for part in whole]), whole)

    def _submitted(self, rows: Array, job: Job) -> Any:
        """Hand a job to the executor; None if that takes none, or the part was lost before."""
        if tuple(rows.tolist()) in self.lost:
            return None
        try:
            return self._executor.submit(work, job)
        except Exception as error:
            self.lost[tuple(rows.tolist())] = reason(error)
            return None

    def _awaited(self, rows: Array, future: Any, others: Sequence[Any]) -> Done | None:
        """Return what a worker made; None if it was lost. An interrupt calls the others off."""
        if future is None:
            return None
        try:
            done: Done = future.result()
        except Exception as error:
            unread = isinstance(error, AttributeError | ImportError | pickle.PickleError)
            if not self.drawn and (unread or isinstance(error, SamplerError)):
                raise unsent(error) from error
            self.lost[tuple(rows.tolist())] = reason(error)
            return None
        except BaseException:
            for other in others:
                if other is not None and hasattr(other, "cancel"):
                    other.cancel()
            raise
        return done


def _nothing(job: Job, like: Done) -> Done:
    """Stand for a part that was lost: its chains stay, and are NaN."""
    chains, dim = job.state.x.shape
    n, none = len(like.x), np.zeros(0, dtype=int)
    stats = {
        name: np.full((n, chains), np.nan if values.dtype.kind == "f" else 0, values.dtype)
        for name, values in like.stats.items()
    }
    broken = Broken(none, none, np.empty((0, dim)), np.empty((0, dim)))
    x = np.full((n, chains, dim), np.nan)
    return Done(x, stats, Totals(), broken, like.trajectories, job.state, job.place, Work())


def _joined(states: Sequence[Any]) -> Any:
    """Put states together, tuples of arrays of which the first axis is the chains'."""
    first = states[0]
    if isinstance(first, tuple):
        return type(first)(*(_joined(parts) for parts in zip(*states, strict=True)))
    return np.concatenate(states) if np.ndim(first) else first
