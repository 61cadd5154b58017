"""Rows of runs in CSV files: their columns, and how they are written and read."""

from __future__ import annotations

import csv
import datetime
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from report import processor_name

import probmodel

Row = dict[str, Any]

IDENTITY = ("paper", "target", "method", "seed", "repeat", "scale", "engine", "standardise")
PROVENANCE = ("date", "probmodel", "python", "numpy", "machine", "clock")
NOT_RECORDED = "not recorded"  # of rows from before these columns
TEXT = ("paper", "target", "method", "engine", "estimator", "error")
COLUMNS = (
    *IDENTITY, "estimator",
    "dim", "chains", "warmup", "draws", "thin", "points",
    "ess_max", "ess_mean", "ess_median", "ess_min", "rhat_max", "rhat_median",
    "ess_of_means_max", "ess_of_means_median", "ess_of_means_min",
    "ess_of_squares_min", "correlation",
    "acceptance_rate", "accepted", "step_size", "nonfinite",
    "densities_warmup", "gradients_warmup", "hvps_warmup", "hessians_warmup",
    "densities_sampling", "gradients_sampling", "hvps_sampling", "hessians_sampling",
    "seconds_warmup", "seconds_sampling",
    "ess_min_per_1000", "ess_median_per_1000", "ess_min_per_gradient",
    "ess_min_per_second", "ess_median_per_second", "condition", "eigenvalue", "error",
    *PROVENANCE,
)  # fmt: skip


def provenance() -> Row:
    """When and with what a run was made, and what its seconds are."""
    return {
        "date": datetime.date.today().isoformat(), "probmodel": probmodel.__version__,
        "python": platform.python_version(), "numpy": np.__version__,
        "machine": processor_name(), "clock": "processor time",
    }  # fmt: skip


def written(path: Path | None, rows: Iterable[Row]) -> Iterator[Row]:
    """Pass rows on, each written to a CSV file before the next one is asked for."""
    if path is None:
        yield from rows
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()
            yield row


def stored(paths: Iterable[Path]) -> Iterator[Row]:
    """Read rows that `written` wrote, in the order of the files."""
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                yield {name: _plain(name, row.get(name) or "") for name in COLUMNS}


def _plain(name: str, text: str) -> Any:
    """Return what a cell stands for: text, a truth value, or a number (NaN where it is empty)."""
    if name in PROVENANCE:
        return text or NOT_RECORDED
    if name in TEXT:
        return text
    if text in ("True", "False"):
        return text == "True"
    return float(text) if text else float("nan")
