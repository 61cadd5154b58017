"""What happens before the warm-up: chains arrive, and hierarchies are standardised.

1. All chains climb from where they start towards the bulk, see `adaptation.ascent`.
2. Where parameters have priors that depend on other parameters, what the data tell of each element
   is measured at these places, and standardises the parameters, see `density.standardising`. On
   that scale chains climb again.
3. They take Langevin steps, with what is measured anew after each of `ROUNDS`. If chains rise in
   the second one, what is measured there is not yet of the bulk, and there are more, until they no
   longer do. The last measurement is the scale that is sampled.

Climbs of hierarchies end earlier. Where effects that vary as freely as the data are observed with
noise, as a level that moves or the true values behind errors, the density rises without bound as
the noise vanishes and the effects interpolate the data; the volume shrinks faster. A chain that
climbs on from the bulk goes there, and takes long to return.

Nothing that is learned here is kept but the places and the scale. Machine code for a scale that
chains pass through would cost more than the evaluations there: only what is sampled has it soon.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from probmodel.adaptation.ascent import CLIMBS, climb
from probmodel.inference.chains import Group, rehearse_once
from probmodel.inference.counting import CountingDensity, Work, counting
from probmodel.inference.driver import Collector
from probmodel.inference.progress import Progress, StartLine
from probmodel.samplers.base import Info
from probmodel.samplers.langevin.fisher_mala import FisherMALA
from probmodel.types import Array, LogDensity, StandardisingDensity

MOST = 150  # trial points of each chain in a climb
SMALL, OF_HIERARCHIES = 0.1, 0.3  # gain of a small step, in units of the dimension
ROUNDS = (40, 40, 80, 160, 320)  # Langevin steps
FEWEST = 2  # rounds; the others are for chains that rise
RISE = 1.0  # from the first to the last third of a round, in standard deviations of a normal draw
LARGEST_DENSE = 300  # parameters up to which they are preconditioned by a whole matrix
TIMES = 5  # at which what the data tell is measured, in the last third of a round

_OVER = object()


class Pilot:
    """Chains on their way from their starting points to the warm-up.

    It is driven as a `Group` is: `start`, then `warm_up` so many times as `steps` says.

    Parameters
    ----------
    density : the target, as it was declared
    x0 : (chains, dim), starting points
    rng : all randomness
    arrive : whether chains climb
    standardise : whether hierarchies are standardised
    progress : shows a line

    Attributes
    ----------
    density : the target on the scale that is to be sampled
    positions : (chains, dim), where the chains are on that scale
    """

    def __init__(
        self,
        density: LogDensity,
        x0: Array,
        rng: np.random.Generator,
        arrive: bool = True,
        standardise: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.density, self.positions = density, x0
        self._rng, self._arrive = rng, arrive
        takes = isinstance(density, StandardisingDensity) and density.hierarchical
        self._standardise = standardise and takes
        self._counted: list[CountingDensity] = []
        self._plan_left: Iterator[None] = iter(())
        self._over = False
        self._progress = progress
        self._line: StartLine | None = None

    @property
    def steps(self) -> int:
        """Steps of each chain, at most."""
        climbs = MOST * (1 + CLIMBS) * self._arrive * (1 + self._standardise)
        return climbs + (sum(ROUNDS) + 1) * self._standardise

    @property
    def work(self) -> Work:
        """Evaluations so far."""
        total = Work()
        for counted in self._counted:
            total = total.plus(counted.work)
        return total

    @property
    def settled(self) -> bool:
        """Whether there is nothing left to do."""
        return self._over

    def evaluate_once(self) -> None:
        """Evaluate one starting point, to see how long that takes; it is not counted."""
        rehearse_once(self.density, self.positions[:1])

    def start(self) -> None:
        """Set out."""
        self._plan_left = self._plan()
        if self._progress is not None:
            self._line = StartLine(self._progress, len(self.positions), self.steps)

    def warm_up(self, i: int, n_warmup: int) -> None:
        """Take one more step with all chains, if there is anything left to do."""
        self._over = next(self._plan_left, _OVER) is _OVER
        if self._over:
            self._put_off(False)
        if self._line is not None:
            self._line.advance()

    def go_on(self, iterations: int) -> None:
        """There is no sampling to go on with."""

    def freeze(self, n_warmup: int, iterations: int) -> None:
        """Do nothing: there is no sampling."""

    @property
    def drawn(self) -> int:
        """There is no sampling."""
        return 0

    goal, frozen = 0, False
    warmed: int | None = None

    def draw(self) -> None:
        """Do nothing: there is no sampling."""

    def _plan(self) -> Generator[None, None, None]:
        """Go on by one step of all chains at a time."""
        self._put_off(True)
        if self._arrive:
            yield from self._climb(OF_HIERARCHIES if self._standardise else SMALL)
        if not self._standardise:
            return
        self._measure(self.positions[None])
        if self._arrive:
            yield from self._climb(OF_HIERARCHIES)
        for i, n in enumerate(ROUNDS, 1):
            visited = yield from self._langevin(n)
            self._measure(visited.positions[-n // 3 :: max(1, n // (3 * TIMES))])
            if i >= FEWEST and not visited.rising:
                return

    def _climb(self, depth: float) -> Generator[None, None, None]:
        for x in climb(self._count(self.density), self.positions, self._rng, MOST, depth):
            self.positions = x.copy()
            yield

    def _langevin(self, n: int) -> Generator[None, None, _Visited]:
        """Take Langevin steps; returns where the chains have been."""
        visited = _Visited()
        method = FisherMALA(metric="dense" if self.density.dim <= LARGEST_DENSE else "diag")
        group = Group(method, self._count(self.density), self.positions, self._rng, [visited])
        group.start()
        for i in range(n):
            group.warm_up(i, n)
            self.positions = group.positions
            yield
        return visited

    def _measure(self, visited: Array) -> None:
        """Standardise by what the data tell at some places, (times, chains, dim)."""
        origin: Any = self.density
        target = origin.standardised(visited, self._rng, self._count)
        x = target.translated(self.positions, origin)
        fine = np.isfinite(self._count(target)(x).logp)
        if fine.any():  # where a scale has vanished there is nothing to standardise by
            rows = np.where(fine, np.arange(len(x)), self._rng.choice(np.flatnonzero(fine), len(x)))
            self.density, self.positions = target, x[rows]
            self._put_off(True)

    def _put_off(self, off: bool) -> None:
        """Make machine code late, or soon again."""
        if self._standardise:
            density: Any = self.density
            density.put_off_machine_code(off)

    def _count(self, density: LogDensity) -> CountingDensity:
        self._counted.append(counting(density))
        return self._counted[-1]


class _Visited(Collector):
    """Collects where chains have been."""

    def __init__(self) -> None:
        self._x: list[Array] = []
        self._logp: list[Array] = []

    def record(self, phase: Any, i: int, state: Any, info: Info, params: Any) -> None:
        """Take an iteration."""
        self._x.append(state.x)
        self._logp.append(state.logp)

    @property
    def positions(self) -> Array:
        """Where they have been: (times, chains, dim)."""
        return np.stack(self._x)

    @property
    def rising(self) -> bool:
        """Whether half of them are on their way up."""
        third = len(self._logp) // 3
        first, last = (np.mean(part, axis=0) for part in (self._logp[:third], self._logp[-third:]))
        with np.errstate(invalid="ignore"):
            rise = last - first
        return float(np.median(rise)) > RISE * np.sqrt(0.5 * self._x[0].shape[1])
