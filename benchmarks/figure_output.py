"""What the command line says about figures, and how their numbers are written."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stored_rows import Row


class Settings(NamedTuple):
    """What the command line says about figures.

    Attributes
    ----------
    directory : where CSV and PNG go
    scale : multiplies the iterations
    seed : of all runs
    processes : that run side by side, where there are several runs
    warmup_scale : multiplies the warm-up instead, in Zhu's figures
    chains : of each run, in Zhu's figures; by default the paper's number
    """

    directory: Path
    scale: float = 1.0
    seed: int = 0
    processes: int = 1
    warmup_scale: float | None = None
    chains: int | None = None

    @property
    def lengths(self) -> dict[str, Any]:
        """What a job of Zhu's figures takes from the command line."""
        return {
            "scale": self.scale, "seed": self.seed, "warmup_scale": self.warmup_scale,
            "chains": self.chains,
        }  # fmt: skip


def points(series: str, x: Iterable[float], y: Iterable[float]) -> list[dict[str, Any]]:
    """One row a point, for a CSV file."""
    return [{"series": series, "x": f"{a:.8g}", "y": f"{b:.6g}"} for a, b in zip(x, y, strict=True)]


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write one line per row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
