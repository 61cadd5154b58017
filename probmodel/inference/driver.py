"""The one loop: warm up, freeze, draw. It knows no sampler, no model and no result format."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from probmodel.blas import one_blas_thread, suitable_blas_threads
from probmodel.inference.counting import Work, counting
from probmodel.inference.restarts import Restart, Restarts, taken
from probmodel.inference.settled import Settling
from probmodel.inference.signals import interruptible, raise_dropped
from probmodel.samplers.base import Info, Sampler, Stretch
from probmodel.samplers.streams import Place, Streams
from probmodel.types import Array, LogDensity

Phase = Literal["warmup", "draw"]


class Collector:
    """Takes what a group produces: draws, statistics, progress.

    A collector has one of the two methods, and the other one by inheritance.
    """

    def record(self, phase: Phase, i: int, state: Any, info: Info, params: Any) -> None:
        """Take iteration ``i`` of ``phase``: the state after it, and the parameters it used."""
        self.take(phase, i, Stretch(state, info), params)

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Take some iterations of ``phase`` in a row, from ``first`` on."""
        for i, (state, info) in enumerate(stretch, first):
            self.record(phase, i, state, info, params)


class Driven(Protocol):
    """What `drive` runs: the chains of a `Group`, or those of a `pilot.Pilot`."""

    @property
    def settled(self) -> bool:
        """Whether the warm-up may end before its time."""
        ...

    @property
    def warmed(self) -> int | None:
        """Iterations of the warm-up so far; None before it is started."""
        ...

    @property
    def frozen(self) -> bool:
        """Whether the warm-up has ended."""
        ...

    def evaluate_once(self) -> None:
        """Evaluate one starting point, to see how long that takes; it is not counted."""
        ...

    def start(self) -> None:
        """Evaluate the starting points."""
        ...

    def warm_up(self, i: int, n_warmup: int) -> None:
        """Make iteration ``i`` of the warm-up."""
        ...

    def freeze(self, n_warmup: int, iterations: int) -> None:
        """End the warm-up."""
        ...

    @property
    def drawn(self) -> int:
        """Iterations of the sampling so far."""
        ...

    @property
    def goal(self) -> int:
        """Iterations of the sampling that there are to be."""
        ...

    def draw(self) -> None:
        """Make the next iteration of the sampling, or several at once."""
        ...

    def go_on(self, iterations: int) -> None:
        """Set out for so many more iterations of the sampling."""
        ...


class _Mark(NamedTuple):
    """Where a group was between two iterations of the sampling; from there it can go on."""

    drawn: int
    state: Any
    adaptation: Any
    params: Any
    place: Place
    work: Work


class Group:
    """Chains that share one adaptation, where they are and what they have learned.

    Parameters
    ----------
    sampler : the method with its settings
    density : the target
    x0 : (chains, dim), starting points
    rng : all randomness of the group
    collectors : each gets every iteration
    restarts : whether chains that are lost in the warm-up begin again, see `restarts`
    early : whether the warm-up may end early, see `settled`

    Attributes
    ----------
    params : those of the last iteration; the frozen ones from `freeze` on, if they freeze
    drawn : iterations of the sampling so far
    warmed : iterations of the warm-up so far; None before it is started
    frozen : whether the warm-up has ended
    """

    def __init__(
        self,
        sampler: Sampler,
        density: LogDensity,
        x0: Array,
        rng: np.random.Generator,
        collectors: Sequence[Collector] = (),
        restarts: bool = False,
        early: bool = False,
    ) -> None:
        self._sampler, self._density, self._rng = sampler, counting(density), rng
        self._target = density
        self._x0, self._collectors = x0, collectors
        self._state: Any = None
        self._adaptation: Any = None
        self._work_warmup: Work | None = None
        self._n_warmup = 0
        self._streams = Streams(rng)
        self._stretches: Iterator[Stretch] = iter(())
        self.drawn = self.goal = 0  # iterations of the sampling, so far and in all
        self.warmed: int | None = None
        self.frozen = False
        self._mark: _Mark | None = None
        self._restarts: Restarts | None = None
        self._wanted = restarts and sampler.coupling == "pooled_warmup"
        self._early, self._settling = early, Settling(())
        self.params: Any = None

    def evaluate_once(self) -> None:
        """Evaluate one starting point, to see how long that takes; it is not counted."""
        alone = self._sampler.needs == "log density"
        evaluate = self._target.log_density if alone else self._target
        evaluate(self._x0[:1])

    def start(self) -> None:
        """Evaluate the starting points and begin the adaptation."""
        self._state = self._sampler.init(self._rng, self._density, self._x0)
        self._adaptation = self._sampler.adapt_init(self._rng, self._density, self._state)
        self.warmed = 0

    def warm_up(self, i: int, n_warmup: int) -> None:
        """Move every chain and learn from the moves."""
        if i == 0:
            self._restarts = Restarts(n_warmup) if self._wanted else None
            dim = self._x0.shape[1]
            self._settling = Settling(self._sampler.windows(n_warmup, dim) if self._early else ())
        info = self._step()
        self._record("warmup", i, Stretch(self._state, info))
        self._learn(i, n_warmup, info)
        self._settling.add(i, self._state.x, self._state.logp, info.diverging)
        if self._restarts is not None:
            self._restart(self._restarts.sources(i, self._state, self._rng))
        self.warmed = i + 1

    def _restart(self, rows: Array | None) -> None:
        """Let chains go on from those in ``rows``."""
        if rows is not None:
            self._state = taken(self._state, rows)
            self._adaptation = self._sampler.restarted(self._adaptation, rows)

    @property
    def settled(self) -> bool:
        """Whether the warm-up may end before its time."""
        return self._settling.settled and self._sampler.is_learned(self._adaptation)

    @property
    def positions(self) -> Array:
        """Where the chains are, (chains, dim), if only at their starting points."""
        return self._x0 if self._state is None else np.asarray(self._state.x)

    @property
    def restarted(self) -> Sequence[Restart]:
        """Chains that were lost in the warm-up and began again."""
        return () if self._restarts is None else self._restarts.made

    @property
    def work(self) -> tuple[Work, Work]:
        """Evaluations of the warm-up, starting points and adaptation included, and since then."""
        total = self._density.work
        warmup = total if self._work_warmup is None else self._work_warmup
        return warmup, total.minus(warmup)

    def freeze(self, n_warmup: int, iterations: int) -> None:
        """Fix the parameters for good, unless the method adapts for ever, and set out to sample."""
        self._work_warmup, self._n_warmup = self._density.work, n_warmup
        self.goal, self.frozen = iterations, True
        if not self._sampler.adapts_forever:
            self.params = self._sampler.params(self._adaptation, final=True)
            self._streams = self._sampler.streams(self._rng)
            self._set_out()
        self._note()

    def _set_out(self) -> None:
        self._stretches = self._sampler.stretches(
            self._streams, self._density, self._state, self.params, lambda: self.goal - self.drawn
        )

    def go_on(self, iterations: int) -> None:
        """Set out for so many more iterations."""
        self.goal += iterations

    def draw(self) -> None:
        """Move every chain, as often as the sampler does at once."""
        i = self.drawn
        if not self._sampler.adapts_forever:
            stretch = next(self._stretches)
            self._state = stretch.last
            self._record("draw", i, stretch)
            self.drawn = i + len(stretch)
        else:
            info = self._step()
            self._record("draw", i, Stretch(self._state, info))
            self._learn(self._n_warmup + i, self._n_warmup, info)
            self._streams.place = Place(self._streams.states())
            self.drawn = i + 1
        self._note()

    def _note(self) -> None:
        """Note where the group is."""
        self._mark = _Mark(
            self.drawn, self._state, self._adaptation, self.params, self._streams.place,
            self._density.work,
        )  # fmt: skip

    def snapshot(self) -> dict[str, Any]:
        """Return all that a group of the same chains needs to go on from here, see `resume`.

        That is where the group was after its last iteration, also if it has been interrupted in the
        next one since; in the warm-up it must not have been.
        """
        known = {name: getattr(self, name) for name in _SNAPSHOT}
        mark = self._mark or _Mark(
            0, self._state, self._adaptation, self.params, Streams(self._rng).place,
            self._density.work,
        )  # fmt: skip
        return {**known, **mark._asdict()}

    def resume(self, snapshot: dict[str, Any]) -> None:
        """Go back to where a group of the same method, density and collectors was."""
        known = {**snapshot}
        for name in _SNAPSHOT:
            setattr(self, name, known.pop(name))
        mark = _Mark(**known)
        self.drawn, self._state, self._adaptation, self.params = mark[:4]
        self._density.go_on_from(mark.work)
        lasting = self.frozen and not self._sampler.adapts_forever
        streams = self._sampler.streams(self._rng) if lasting else Streams(self._rng)
        self._streams = streams.at(mark.place)
        if self.frozen:
            self._mark = mark
        if lasting:
            self._set_out()

    def _step(self) -> Info:
        """Move every chain with the parameters that have been learned so far."""
        self.params = self._sampler.params(self._adaptation)
        self._state, info = self._sampler.step(self._rng, self._density, self._state, self.params)
        return info

    def _learn(self, i: int, n_warmup: int, info: Info) -> None:
        self._adaptation = self._sampler.adapt(
            self._rng, self._density, i, n_warmup, self._adaptation, self._state, info
        )

    def _record(self, phase: Phase, first: int, stretch: Stretch) -> None:
        for collector in self._collectors:
            collector.take(phase, first, stretch, self.params)


# Attributes of a group that are a matter of its warm-up, or do not change while it samples.
_SNAPSHOT = ("warmed", "frozen", "goal", "_work_warmup", "_n_warmup", "_restarts", "_settling")


class Outcome(NamedTuple):
    """How a run went.

    Attributes
    ----------
    interrupted : whether Ctrl-C, or another signal, ended it early
    timed_out : whether the time limit ended it early
    seconds_warmup : time until the parameters were frozen, starting points included
    seconds_sampling : time from then on
    blas_threads : that matrix products were split between
    """

    interrupted: bool
    timed_out: bool
    seconds_warmup: float
    seconds_sampling: float
    blas_threads: int


class _OutOfTimeError(Exception):
    """The time limit has passed."""


def drive(
    groups: Sequence[Driven],
    *,
    warmup: int,
    iterations: int,
    max_time: float = math.inf,
    further: Callable[[], int] = lambda: 0,
    keep: Callable[[Callable[[], Outcome]], None] = lambda so_far: None,
    blas_threads: int | None = None,
) -> Outcome:
    """Run all groups side by side: the one with the fewest draws makes the next.

    A KeyboardInterrupt ends the run wherever it comes; some groups may have made more draws than
    others then, by as many as they make at once. So does a signal that `signals.held` holds back.
    The time limit ends the run between two iterations.

    Parameters
    ----------
    groups : the groups, not yet started, or all of them somewhere on their way
    warmup : iterations that adapt; fewer are made if all groups have settled before
    iterations : iterations with frozen parameters, of groups that begin to sample
    max_time : seconds after which no further iteration is begun
    further : called when all iterations have been made: how many more are to be; 0 ends the run
    keep : called between two iterations of all groups, with what tells how the run has gone so far
    blas_threads : that matrix products are to be split between; found out by default
    """
    begin = time.perf_counter()
    frozen = begin if groups[0].frozen else None
    interrupted = timed_out = False
    threads = 1

    def outcome() -> Outcome:
        end = time.perf_counter()
        turn = end if frozen is None else frozen
        return Outcome(interrupted, timed_out, turn - begin, end - turn, threads)

    try:
        with (
            one_blas_thread(),
            suitable_blas_threads(groups[0].evaluate_once, blas_threads) as threads,
            interruptible(),
        ):
            for _ in _warm_up(groups, warmup, begin + max_time):
                keep(outcome)
            for group in groups:
                if not group.frozen:
                    group.freeze(warmup, iterations)
            frozen = time.perf_counter() if frozen is None else frozen
            more = 1
            while more:
                for _ in _draw(groups, begin + max_time):
                    keep(outcome)
                more = further()
                for group in groups if more else ():
                    group.go_on(more)
    except KeyboardInterrupt:
        interrupted = True
    except _OutOfTimeError:
        timed_out = True
    return outcome()


def _warm_up(groups: Sequence[Driven], warmup: int, deadline: float) -> Iterator[None]:
    """Make the iterations of the warm-up that are left; yields after each of all groups."""
    for group in groups:
        if group.warmed is None:
            group.start()
    i = groups[0].warmed or 0
    while i < warmup and not (groups[0].frozen or all(group.settled for group in groups)):
        _check(deadline)
        for group in groups:
            group.warm_up(i, warmup)
        i += 1
        yield


def _draw(groups: Sequence[Driven], deadline: float) -> Iterator[None]:
    """Let all groups make their iterations of the sampling; yields after those made at once."""
    while (group := min(groups, key=lambda group: group.drawn)).drawn < group.goal:
        _check(deadline)
        group.draw()
        yield


def _check(deadline: float) -> None:
    raise_dropped()
    if time.perf_counter() >= deadline:
        raise _OutOfTimeError


def run(
    sampler: Sampler,
    density: LogDensity,
    x0: Array,
    rng: np.random.Generator,
    *,
    warmup: int,
    draws: int,
    thin: int = 1,
    collectors: Sequence[Collector] = (),
) -> Any:
    """Run one group of chains.

    Parameters
    ----------
    sampler : the method with its settings
    density : the target
    x0 : (chains, dim), starting points
    rng : all randomness of the run
    warmup : iterations that adapt
    draws : draws per chain to keep; ``draws * thin`` iterations are run
    thin : iterations per kept draw
    collectors : each gets every iteration

    Returns
    -------
    The frozen parameters, or the last ones if Ctrl-C came before they were frozen (None if it came
    before the first iteration).
    """
    group = Group(sampler, density, x0, rng, collectors)
    drive([group], warmup=warmup, iterations=draws * thin)
    return group.params
