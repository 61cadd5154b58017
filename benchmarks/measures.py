"""What the benchmarks of whole runs have in common: how a run is judged, charged and recorded."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probmodel.inference.counting import Work
from probmodel.results.convergence import convergence, ensemble_convergence
from probmodel.results.quantity_checks import ESS_LIMIT, RHAT_LIMIT
from probmodel.types import Array

Row = dict[str, Any]


class Worst(NamedTuple):
    """The worst diagnostics over all quantities of a run; NaN where one of them is not defined.

    Attributes
    ----------
    rhat : largest R-hat
    bulk, tail : smallest effective sample sizes
    """

    rhat: float
    bulk: float
    tail: float

    @property
    def ess(self) -> float:
        """The smaller of the two effective sample sizes."""
        return float(np.minimum(self.bulk, self.tail))

    @property
    def converged(self) -> bool:
        """Whether a result with these diagnostics is to be trusted."""
        return self.rhat <= RHAT_LIMIT and self.ess >= ESS_LIMIT


def worst(draws: Array, ensembles: int | None = None) -> Worst:
    """Judge the draws of a run.

    Parameters
    ----------
    draws : (chains, draws, quantities)
    ensembles : number of groups of chains, if only these are independent
    """
    rows = np.moveaxis(draws, 2, 0)
    found = convergence(rows) if ensembles is None else ensemble_convergence(rows, ensembles)
    return Worst(
        float(np.max(found.rhat)), float(np.min(found.ess_bulk)), float(np.min(found.ess_tail))
    )


def gradients(work: Work, dim: int) -> int:
    """Count evaluations as gradients: a Hessian-vector product as two, a Hessian as ``dim``."""
    return work.grad + 2 * work.hvp + dim * work.hessian


def per(size: float, count: float) -> float:
    """Return a quotient, NaN where nothing was counted."""
    return size / count if count else float("nan")


def r_hat(value: float) -> str:
    """Format an R-hat with the digits that decide."""
    return "–" if np.isnan(value) else f"{value:.4f}" if value < 10.0 else f"{value:.0f}"


def stored(paths: Sequence[Path], words: Collection[str]) -> Iterator[Row]:
    """Read rows that `recorded` wrote; all columns but those named in ``words`` are numbers."""
    for path in paths:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                yield {name: text if name in words else _number(text) for name, text in row.items()}


def _number(text: str) -> float:
    """Return the number that a cell stands for; NaN where it is empty."""
    return int(text) if text.isdigit() else float(text or "nan")


def recorded(path: Path | None, columns: Sequence[str], rows: Iterable[Row]) -> Iterator[Row]:
    """Pass rows on, each written to a CSV file, if there is one, before the next is asked for.

    The file has the ``columns``, empty where a row lacks them, with numbers to six digits.
    """
    if path is None:
        yield from rows
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
            file.flush()
            yield row
