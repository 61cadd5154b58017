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

    def draw(self) -> None:
        """Make the next iteration of the sampling, or several at once."""
        ...

    def go_on(self, iterations: int) -> None:
        """Set out for so many more iterations of the sampling."""
        ...


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
        self._stretches: Iterator[Stretch] = iter(())
        self.drawn = self._goal = 0  # iterations of the sampling, so far and in all
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
        self._goal = iterations
        if not self._sampler.adapts_forever:
            self.params = self._sampler.params(self._adaptation, final=True)
            self._stretches = self._sampler.stretches(
                self._rng, self._density, self._state, self.params, lambda: self._goal - self.drawn
            )

    def go_on(self, iterations: int) -> None:
        """Set out for so many more iterations."""
        self._goal += iterations

    def draw(self) -> None:
        """Move every chain, as often as the sampler does at once."""
        i = self.drawn
        if not self._sampler.adapts_forever:
            stretch = next(self._stretches)
            self._state = stretch.last
            self._record("draw", i, stretch)
            self.drawn = i + len(stretch)
            return
        info = self._step()
        self._record("draw", i, Stretch(self._state, info))
        self._learn(self._n_warmup + i, self._n_warmup, info)
        self.drawn = i + 1

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
) -> Outcome:
    """Run all groups side by side: the one with the fewest draws makes the next.

    A KeyboardInterrupt ends the run wherever it comes; some groups may have made more draws than
    others then, by as many as they make at once. So does a signal that `signals.held` holds back.
    The time limit ends the run between two iterations.

    Parameters
    ----------
    groups : the groups, not yet started
    warmup : iterations that adapt; fewer are made if all groups have settled before
    iterations : iterations with frozen parameters
    max_time : seconds after which no further iteration is begun
    further : called when all iterations have been made: how many more are to be; 0 ends the run
    """
    begin = time.perf_counter()
    frozen = None
    interrupted = timed_out = False
    threads = 1
    try:
        with (
            one_blas_thread(),
            suitable_blas_threads(groups[0].evaluate_once) as threads,
            interruptible(),
        ):
            for group in groups:
                group.start()
            for i in _until(begin + max_time, warmup):
                for group in groups:
                    group.warm_up(i, warmup)
                if all(group.settled for group in groups):
                    break
            for group in groups:
                group.freeze(warmup, iterations)
            frozen = time.perf_counter()
            wanted, more = iterations, iterations
            while more:
                _draw(groups, wanted, begin + max_time)
                more = further()
                wanted += more
                for group in groups if more else ():
                    group.go_on(more)
    except KeyboardInterrupt:
        interrupted = True
    except _OutOfTimeError:
        timed_out = True
    end = time.perf_counter()
    turn = end if frozen is None else frozen
    return Outcome(interrupted, timed_out, turn - begin, end - turn, threads)


def _until(deadline: float, n: int) -> Iterator[int]:
    """Count to n as long as there is time, and no interrupt."""
    for i in range(n):
        _check(deadline)
        yield i


def _draw(groups: Sequence[Driven], wanted: int, deadline: float) -> None:
    """Let all groups make so many iterations of the sampling, as long as there is time."""
    while (group := min(groups, key=lambda group: group.drawn)).drawn < wanted:
        _check(deadline)
        group.draw()


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
