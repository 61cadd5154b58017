"""The one loop: warm up, freeze, draw. It knows no sampler, no model and no result format."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from probmodel.blas import one_blas_thread, suitable_blas_threads
from probmodel.inference.signals import interruptible, raise_dropped
from probmodel.samplers.base import Info, Stretch

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


class EndRun(Exception):  # noqa: N818 (no error, but a request)
    """Raised by what is called between two iterations, to end the run with what there is."""


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
    except (KeyboardInterrupt, EndRun):
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
