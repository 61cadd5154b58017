"""Progress of a run: a live line for each group of chains, and what a callback is told.

What is shown and told are means over the last iterations; R-hat and effective sizes are of the
coordinates that look worst. They are computed from time to time, in a small share of the run's.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TextIO

import numpy as np

from probmodel.inference.displays import display_at
from probmodel.inference.driver import Collector, EndRun, Phase
from probmodel.samplers.base import Stretch
from probmodel.types import Array

INTERVAL = 0.2  # seconds between refreshes
MOST_LINES = 8
JUDGED = 1.0  # seconds at least between two computations of R-hat and effective sizes
SHARE = 0.02  # of the time that these may take, beyond which they are done more seldom
_SMOOTHING = 0.98  # of the acceptance, steps and pace that are shown
_FEWEST = 20  # draws of a chain that are judged

Judge = Callable[[Array], tuple[float, float]]


class Status(NamedTuple):
    """How far a run is, as a callback is told. Numbers that are not known yet are NaN.

    Attributes
    ----------
    phase : ``"warmup"`` or ``"sampling"``
    iteration, iterations : how many of all have been made, warm-up included; of several groups, of
        the last one. There may be more, where a run goes on until it has draws enough
    chains : number of chains
    acceptance, steps, step_size : means of the last iterations; steps of a trajectory
    divergences : so far, while sampling
    gradients : evaluated so far, over all chains
    seconds, seconds_left : since the warm-up began, and until the end, at the present pace
    rhat, ess : the largest R-hat, and the smallest effective size, of the worst coordinates
    """

    phase: str
    iteration: int
    iterations: int
    chains: int
    acceptance: float
    steps: float
    step_size: float
    divergences: int
    gradients: int
    seconds: float
    seconds_left: float
    rhat: float
    ess: float


class Line(Protocol):
    """A line that is written anew from time to time."""

    def text(self, now: float) -> str:
        """Return the line as it is at the time ``now``."""
        ...


class Progress:
    """Shows how far each group is, its acceptance, steps, step size, speed and the time left.

    The time left is that of the iterations left, at the pace of the last ones. Divergences while
    sampling are counted in the line from the first one on.

    Parameters
    ----------
    stream : where to write: by default a notebook, or ``sys.stderr``. Nothing is written if it is
        no terminal.
    clock : seconds from any origin
    judge : returns R-hat and the smallest effective size of draws, (chains, draws, dim)
    callback : told of the `Status` every `INTERVAL`; the run ends if it returns True
    show : whether to show anything

    Attributes
    ----------
    problem : what the callback raised; it is not called any more then
    ended : whether the callback ended the run
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        judge: Judge | None = None,
        callback: Callable[[Status], Any] | None = None,
        show: bool = True,
    ) -> None:
        self.clock, self._judge, self._callback = clock, judge, callback
        self._display = display_at(stream) if show else None
        self._lines: Sequence[Line] = []
        self._groups: list[GroupLine] = []
        self._draws: Callable[[], Array] | None = None
        self._due = self._judged = self._told = -np.inf
        self.figures = (np.nan, np.nan)
        self.problem: Exception | None = None
        self.ended = False

    def lines(self, sizes: Sequence[int], warmup: int, iterations: int) -> list[GroupLine]:
        """Start showing a run: a collector for each group, of ``sizes`` chains."""
        begin = self.clock()
        self._groups = [
            GroupLine(self, g if len(sizes) > 1 else None, size, warmup, iterations, begin)
            for g, size in enumerate(sizes)
        ]
        self.show(self._groups, begin)
        return self._groups

    def watch(self, draws: Callable[[], Array]) -> None:
        """Judge draws from time to time; the function returns those so far."""
        self._draws = draws

    def show(self, lines: Sequence[Line], begin: float | None = None) -> None:
        """Start showing some lines, ``begin`` being the time; `refresh` writes them."""
        self._lines, self._due = lines, (self.clock() if begin is None else begin) + INTERVAL

    def refresh(self, now: float | None = None) -> None:
        """Write the lines anew if it is time to; at once without ``now``."""
        if self._display is None or not self._lines or (now is not None and now < self._due):
            return
        now = self.clock() if now is None else now
        self._display.show(self._texts(now))
        self._due = now + INTERVAL

    def say(self, text: str) -> None:
        """Show what takes long now, below the lines, until they are written anew."""
        if self._display is not None:
            self._display.show([*self._texts(self.clock()), text])

    def _texts(self, now: float) -> list[str]:
        """Return the lines as they are at the time ``now``."""
        shown = [line.text(now) for line in self._lines[:MOST_LINES]]
        if len(self._lines) > MOST_LINES:
            shown.append(f"... and {len(self._lines) - MOST_LINES} more groups")
        rhat, ess = self.figures
        if np.isfinite(rhat) or np.isfinite(ess):
            known = f"R-hat {rhat:.3f}  ESS {ess:.0f}"
            shown = [f"{shown[0]}  {known}"] if len(shown) == 1 else [*shown, f"all: {known}"]
        return shown

    def tick(self, last: bool = False) -> None:
        """Do what is done between two iterations, if it is time to: judge the draws, and tell.

        Raises an `EndRun` if the callback returned True.
        """
        if self._judge is not None:
            self._compute()
        if self._callback is None or self.problem is not None:
            return
        now = self.clock()
        if now < self._told and not last:
            return
        self._told = now + INTERVAL
        try:
            ends = self._callback(self.status())
        except Exception as error:  # the run does not depend on it
            self.problem = error
            return
        if isinstance(ends, bool | np.bool_) and ends:
            self.ended = True
            raise EndRun

    def _compute(self) -> None:
        """Compute R-hat and effective sizes, if it is time to."""
        now = self.clock()
        if self._judge is None or self._draws is None or now < self._judged:
            return
        draws = self._draws()
        if draws.shape[1] >= _FEWEST:
            self.figures = self._judge(draws)
        took = self.clock() - now
        self._judged = now + max(JUDGED, took / SHARE)

    def status(self) -> Status:
        """Return how far the run is."""
        now, groups = self.clock(), self._groups
        last = min(groups, key=lambda group: group.done)
        rhat, ess = self.figures

        def mean(name: str) -> float:
            return float(np.mean([getattr(group, name) for group in groups]))

        return Status(
            phase="sampling" if last.phase == "draw" else "warmup",
            iteration=last.done, iterations=last.total,
            chains=sum(group.chains for group in groups),
            acceptance=mean("acceptance"), steps=mean("steps"), step_size=mean("step_size"),
            divergences=sum(group.divergences for group in groups),
            gradients=sum(group.gradients for group in groups),
            seconds=now - last.begin, seconds_left=max(group.left for group in groups),
            rhat=rhat, ess=ess,
        )  # fmt: skip

    def close(self) -> None:
        """Tell of the end, write the lines a last time and end them."""
        if self._groups:
            with contextlib.suppress(EndRun, KeyboardInterrupt):  # it has ended already
                self.tick(last=True)
            self._groups = []
        if self._display is not None and self._lines:
            self.refresh()
            self._display.close()
        self._lines = []


class StartLine:
    """Progress of what comes before the warm-up.

    Parameters
    ----------
    progress : shows it
    chains, steps : how many; it may be done after fewer steps
    """

    def __init__(self, progress: Progress, chains: int, steps: int) -> None:
        self._progress, self._chains, self._steps, self._done = progress, chains, steps, 0
        progress.show([self])

    def advance(self) -> None:
        """Note one step."""
        self._done += 1
        self._progress.refresh(self._progress.clock())

    def text(self, now: float) -> str:
        """Return the line."""
        plural = "s" if self._chains > 1 else ""
        chains = f"{self._chains} chain{plural}"
        return f"{chains}  climbing to the bulk of the posterior {self._done}/{self._steps}"


class GroupLine(Collector):
    """Collector of one group's progress; see `Progress.lines`."""

    def __init__(
        self,
        progress: Progress,
        number: int | None,
        chains: int,
        warmup: int,
        iterations: int,
        begin: float,
    ) -> None:
        self._progress, self.chains = progress, chains
        self._label = "" if number is None else f"group {number}: "
        self._warmup, self._iterations, self.begin = warmup, iterations, begin
        self.phase: Phase = "warmup"
        self.done = self.gradients = self.divergences = 0
        self.acceptance = self.step_size = self.steps = self._pace = np.nan
        self._last, self._in_phase = begin, 0

    @property
    def total(self) -> int:
        """Iterations in all, as far as that is known."""
        return self._warmup + self._iterations

    @property
    def left(self) -> float:
        """Seconds until the end, at the present pace."""
        return float(self._pace * (self.total - self.done))

    def go_on(self, iterations: int) -> None:
        """Count on so many more iterations of the sampling."""
        self._iterations += iterations

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Note some iterations."""
        now, n, seen = self._progress.clock(), len(stretch), stretch.totals
        self._in_phase = self._in_phase + n if phase == self.phase else n
        acceptance, steps = seen.acceptance / seen.transitions, seen.steps / seen.transitions
        self.acceptance = self._smooth(self.acceptance, acceptance, n)
        self._pace = self._smooth(self._pace, (now - self._last) / n, n)
        if stretch.has_trajectories:
            self.steps = self._smooth(self.steps, steps, n)
        self.phase, self._last = phase, now
        self.done = first + n + (self._warmup if phase == "draw" else 0)
        self.gradients += seen.gradients
        self.divergences += seen.divergences if phase == "draw" else 0
        own = seen.step_size / seen.transitions
        shared = getattr(params, "step_size", np.nan)
        self.step_size = float(np.mean(shared)) if np.isnan(own) else own
        self._progress.refresh(now)

    def _smooth(self, mean: float, new: float, n: int) -> float:
        """Mean of the iterations of a phase, in which the last ones, n of them new, weigh more."""
        weight = max(1.0 - _SMOOTHING**n, n / self._in_phase)
        return new if self._in_phase == n else mean + weight * (new - mean)

    def text(self, now: float) -> str:
        """Return the line."""
        elapsed = max(now - self.begin, 1e-9)
        phase = "warm-up " if self.phase == "warmup" else "sampling"
        plural = "s" if self.chains > 1 else ""
        parts = [
            f"{self._label}{self.chains} chain{plural}  {phase} "
            f"{self.done:{len(str(self.total))}d}/{self.total} "
            f"({100 * self.done // max(self.total, 1):3d} %)"
        ]
        if not np.isnan(self.acceptance):
            parts.append(f"accept {self.acceptance:.2f}")
        if not np.isnan(self.steps):
            parts.append(f"{self.steps:.3g} step{'' if self.steps == 1.0 else 's'} an iteration")
        if not np.isnan(self.step_size):
            parts.append(f"step size {self.step_size:.3g}")
        if self.divergences:
            parts.append(f"{self.divergences} divergence{'s' if self.divergences > 1 else ''}")
        if self.gradients:
            parts.append(f"{self.gradients / elapsed:.3g} gradients/s")
        parts.append(f"{duration(self.left)} left")
        return "  ".join(parts)


def duration(seconds: float) -> str:
    """Format a time span: ``12 s``, ``3:05``, ``1:02:03``."""
    if not np.isfinite(seconds):
        return "?"
    whole = int(np.ceil(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
