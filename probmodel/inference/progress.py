"""Progress of a run: one live line of plain text per group of chains, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TextIO

import numpy as np

from probmodel.inference.driver import Collector, Phase
from probmodel.samplers.base import Stretch

INTERVAL = 0.2  # seconds between refreshes
MOST_LINES = 8
_SMOOTHING = 0.98  # of the acceptance, steps and pace that are shown


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
    stream : where to write; ``sys.stderr`` if None. Nothing is written if it is no terminal.
    clock : seconds from any origin
    """

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._visible = bool(getattr(self._stream, "isatty", lambda: False)())
        self._lines: Sequence[Line] = []
        self._written = 0
        self._due = -np.inf

    def lines(self, sizes: Sequence[int], warmup: int, iterations: int) -> list[GroupLine]:
        """Start showing a run: a collector for each group.

        Parameters
        ----------
        sizes : number of chains of each group
        warmup, iterations : length of the two phases
        """
        begin = self._clock()
        lines = [
            GroupLine(self, g if len(sizes) > 1 else None, size, warmup, iterations, begin)
            for g, size in enumerate(sizes)
        ]
        self.show(lines, begin)
        return lines

    def show(self, lines: Sequence[Line], begin: float | None = None) -> None:
        """Start showing some lines, ``begin`` being the time; `refresh` writes them."""
        self._lines = lines
        self._written, self._due = 0, (self._clock() if begin is None else begin) + INTERVAL

    def refresh(self, now: float | None = None) -> None:
        """Write the lines anew if it is time to; at once without ``now``."""
        if not self._visible or not self._lines or (now is not None and now < self._due):
            return
        now = self._clock() if now is None else now
        shown = [line.text(now) for line in self._lines[:MOST_LINES]]
        if len(self._lines) > MOST_LINES:
            shown.append(f"... and {len(self._lines) - MOST_LINES} more groups")
        back = f"\x1b[{self._written - 1}A" if self._written > 1 else ""
        self._write(back + "\r" + "\n".join(f"{text}\x1b[K" for text in shown))
        self._written, self._due = len(shown), now + INTERVAL

    def close(self) -> None:
        """Write the lines a last time and end them."""
        if self._visible and self._lines:
            self.refresh()
            self._write("\n")
        self._lines = []

    def _write(self, text: str) -> None:
        """Write, and write no more once the terminal is gone: the run does not depend on it."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._visible = False

    @property
    def clock(self) -> Callable[[], float]:
        """The clock that times the run."""
        return self._clock


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
        return f"{self._chains} chain{plural}  on the way to the bulk {self._done}/{self._steps}"


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
        self._progress, self._chains = progress, chains
        self._label = "" if number is None else f"group {number}: "
        self._warmup, self._iterations, self._begin = warmup, iterations, begin
        self._phase: Phase = "warmup"
        self._done = self._gradients = self._divergences = 0
        self._acceptance = self._step_size = self._steps = self._pace = np.nan
        self._last, self._in_phase = begin, 0

    def go_on(self, iterations: int) -> None:
        """Count on so many more iterations of the sampling."""
        self._iterations += iterations

    def take(self, phase: Phase, first: int, stretch: Stretch, params: Any) -> None:
        """Note some iterations."""
        now, n, seen = self._progress.clock(), len(stretch), stretch.statistics
        self._in_phase = self._in_phase + n if phase == self._phase else n
        self._acceptance = self._smooth(
            self._acceptance, float(np.mean(seen["acceptance_rate"])), n
        )
        self._pace = self._smooth(self._pace, (now - self._last) / n, n)
        if stretch.has_trajectories:
            self._steps = self._smooth(self._steps, float(np.mean(seen["n_steps"])), n)
        self._phase, self._last = phase, now
        self._done = first + n + (self._warmup if phase == "draw" else 0)
        self._gradients += int(np.sum(seen["n_grad"]))
        if phase == "draw" and stretch.has_trajectories:
            self._divergences += int(np.count_nonzero(seen["diverging"]))
        step_size = seen.get("step_size", getattr(params, "step_size", np.nan))
        self._step_size = float(np.mean(step_size))
        self._progress.refresh(now)

    def _smooth(self, mean: float, new: float, n: int) -> float:
        """Mean of the iterations of a phase, in which the last ones, n of them new, weigh more."""
        weight = max(1.0 - _SMOOTHING**n, n / self._in_phase)
        return new if self._in_phase == n else mean + weight * (new - mean)

    def text(self, now: float) -> str:
        """Return the line."""
        total = self._warmup + self._iterations
        elapsed = max(now - self._begin, 1e-9)
        left = self._pace * (total - self._done)
        phase = "warm-up " if self._phase == "warmup" else "sampling"
        plural = "s" if self._chains > 1 else ""
        parts = [
            f"{self._label}{self._chains} chain{plural}  {phase} {self._done:{len(str(total))}d}"
            f"/{total} ({100 * self._done // max(total, 1):3d} %)"
        ]
        if not np.isnan(self._acceptance):
            parts.append(f"accept {self._acceptance:.2f}")
        if not np.isnan(self._steps):
            parts.append(f"{self._steps:.3g} step{'' if self._steps == 1.0 else 's'} an iteration")
        if not np.isnan(self._step_size):
            parts.append(f"step size {self._step_size:.3g}")
        if self._divergences:
            parts.append(f"{self._divergences} divergence{'s' if self._divergences > 1 else ''}")
        if self._gradients:
            parts.append(f"{self._gradients / elapsed:.3g} gradients/s")
        parts.append(f"{duration(left)} left")
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
