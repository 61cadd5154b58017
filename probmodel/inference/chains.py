"""A group of chains that share one adaptation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.inference.counting import Work, counting
from probmodel.inference.driver import Collector, Phase, drive
from probmodel.inference.restarts import Restart, Restarts, taken
from probmodel.inference.settled import Settling
from probmodel.samplers.base import Info, Sampler, Stretch
from probmodel.samplers.streams import Place, Streams
from probmodel.types import Array, LogDensity


def rehearse_once(density: Any, x: Array, gradient: bool = True) -> None:
    """Evaluate a density, to see how long that takes, so that what comes later does not differ."""
    if hasattr(density, "rehearse"):
        density.rehearse(x, gradient)
    else:
        (density if gradient else density.log_density)(x)


class _Mark(NamedTuple):
    """Where a group was between two iterations of the sampling; from there it can go on."""

    drawn: int
    state: Any
    adaptation: Any
    params: Any
    place: Place
    work: Work
    engine: Any


class Group:
    """Chains that share one adaptation, where they are and what they have learned.

    Parameters
    ----------
    sampler : the method with its settings
    density : the target
    x0 : (chains, dim), starting points; (chains, points, dim) of chains that have several
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
        self._wanted = restarts and sampler.restarts
        self._early, self._settling = early, Settling(())
        self.params: Any = None

    def evaluate_once(self) -> None:
        """Evaluate one starting point, to see how long that takes; it is not counted."""
        alone = self._sampler.needs == "log density"
        x = self._x0.reshape(-1, self._x0.shape[-1])[:1]
        rehearse_once(self._target, x, gradient=not alone)

    def start(self) -> None:
        """Evaluate the starting points and begin the adaptation."""
        self._state = self._sampler.init(self._rng, self._density, self._x0)
        self._adaptation = self._sampler.adapt_init(self._rng, self._density, self._state)
        self.warmed = 0

    def warm_up(self, i: int, n_warmup: int) -> None:
        """Move every chain and learn from the moves."""
        if i == 0:
            self._restarts = Restarts(n_warmup) if self._wanted else None
            dim = self._x0.shape[-1]
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
        ended = self._sampler.ends_warmup(self._state)
        return ended or (self._settling.settled and self._sampler.is_learned(self._adaptation))

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
            self._adaptation = None  # it may be large, and is not asked any more
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
            self._density.work, self._density.engine_state,
        )  # fmt: skip

    def snapshot(self) -> dict[str, Any]:
        """Return all that a group of the same chains needs to go on from here, see `resume`.

        That is where the group was after its last iteration, also if it has been interrupted in the
        next one since; in the warm-up it must not have been.
        """
        known = {name: getattr(self, name) for name in _SNAPSHOT}
        mark = self._mark or _Mark(
            0, self._state, self._adaptation, self.params, Streams(self._rng).place,
            self._density.work, self._density.engine_state,
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
    x0 : (chains, dim), starting points; (chains, points, dim) of chains that have several
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
