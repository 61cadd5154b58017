"""Progress of many simulations: one live line, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from probmodel.inference.progress import Progress, duration


class SimulationLine:
    """How many simulations are done, failed or had warnings, and the time left.

    Parameters
    ----------
    asked : simulations in all
    clock : seconds from any origin
    progress : what shows the line; None if it is not shown
    """

    def __init__(
        self, asked: int, clock: Callable[[], float], progress: Progress | None = None
    ) -> None:
        self._asked, self._begin = asked, clock()
        self._progress = progress
        self._done = self._failed = self._warned = 0

    def update(self, done: int, failed: int, warned: int = 0) -> None:
        """Tell how many simulations there are by now, and show it."""
        self._done, self._failed, self._warned = done, failed, warned
        if self._progress is not None:
            self._progress.refresh(self._progress.clock())

    def text(self, now: float) -> str:
        """Return the line."""
        tried = self._done + self._failed
        left = (now - self._begin) / tried * (self._asked - tried) if tried else float("nan")
        parts = [
            f"simulation {tried:{len(str(self._asked))}d}/{self._asked} "
            f"({100 * tried // self._asked:3d} %)"
        ]
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._warned:
            parts.append(f"{self._warned} with warnings")
        return "  ".join([*parts, f"{duration(left)} left"])


@contextmanager
def watched(asked: int, show: bool) -> Iterator[SimulationLine]:
    """Give the line, which is there until the end, if it is to be shown."""
    progress = Progress()
    line = SimulationLine(asked, progress.clock, progress if show else None)
    if show:
        progress.show([line])
    try:
        yield line
    finally:
        if show:
            progress.close()
