"""Progress of many simulations: one live line, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable

from probmodel.inference.progress import Progress, duration


class SimulationLine:
    """How many simulations are done, failed or had warnings, and the time left.

    Parameters
    ----------
    asked : simulations in all
    clock : seconds from any origin
    """

    def __init__(self, asked: int, clock: Callable[[], float]) -> None:
        self._asked, self._begin = asked, clock()
        self.done = self.failed = self.warned = 0

    def text(self, now: float) -> str:
        """Return the line."""
        tried = self.done + self.failed
        left = (now - self._begin) / tried * (self._asked - tried) if tried else float("nan")
        parts = [
            f"simulation {tried:{len(str(self._asked))}d}/{self._asked} "
            f"({100 * tried // self._asked:3d} %)"
        ]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.warned:
            parts.append(f"{self.warned} with warnings")
        return "  ".join([*parts, f"{duration(left)} left"])


def watched(asked: int, show: bool) -> tuple[SimulationLine, Progress | None]:
    """Return the line, and what shows it if it is to be shown."""
    progress = Progress()
    line = SimulationLine(asked, progress.clock)
    if not show:
        return line, None
    progress.show([line])
    return line, progress
