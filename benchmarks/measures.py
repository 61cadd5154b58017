"""What the benchmarks of whole runs have in common: how a run is judged, charged and recorded."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from references import flat
from report import markdown, number

from probmodel import TimeLimitError, infer
from probmodel.density import ModelDensity
from probmodel.inference.counting import Work
from probmodel.results.convergence import convergence, ensemble_convergence
from probmodel.results.quantity_checks import ESS_LIMIT, RHAT_LIMIT
from probmodel.types import Array

Row = dict[str, Any]

YES, NO, LATE, FAILED = "yes", "no", "time limit", "error"
ROUNDING = 16 * np.finfo(np.float64).eps
PHASES = ("warmup", "sampling")


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
    draws : (chains, draws, quantities); those that do not vary are left out
    ensembles : number of groups of chains, if only these are independent
    """
    free = varying(draws)
    rows = np.moveaxis(draws[:, :, free] if free.any() else draws, 2, 0)
    found = convergence(rows) if ensembles is None else ensemble_convergence(rows, ensembles)
    return Worst(
        float(np.max(found.rhat)), float(np.min(found.ess_bulk)), float(np.min(found.ess_tail))
    )


def varying(draws: Array) -> Array:
    """Tell which quantities change by more than rounding; the diagonal of a correlation does not.

    Parameters
    ----------
    draws : (chains, draws, quantities)
    """
    return ~(np.ptp(draws, axis=(0, 1)) <= ROUNDING * np.max(np.abs(draws), axis=(0, 1)))


def gradients(work: Work, dim: int) -> int:
    """Count evaluations as gradients: a Hessian-vector product as two, a Hessian as ``dim``."""
    return work.grad + 2 * work.hvp + dim * work.hessian


def per(size: float, count: float) -> float:
    """Return a quotient, NaN where nothing was counted."""
    return size / count if count else float("nan")


def r_hat(value: float) -> str:
    """Format an R-hat with the digits that decide."""
    return "–" if np.isnan(value) else f"{value:.4f}" if value < 10.0 else f"{value:.0f}"


def measured(
    density: ModelDensity,
    settings: Mapping[str, Any],
    limit: float | None = None,
    *,
    with_density: bool = False,
) -> tuple[Row, Any]:
    """Call `infer`; return what is measured, and the result, if there is one.

    Parameters
    ----------
    density : the posterior
    settings : of `infer`, with the seed
    limit : seconds
    with_density : judge the log density besides the quantities
    """
    row: Row = {"dim": density.dim, "seed": settings["seed"], "warnings": ""}
    try:
        run = infer(density, max_time=limit, quiet=True, **settings)
    except TimeLimitError:
        return row | {"converged": LATE, "seconds": limit, "seconds_to_400": limit}, None
    except Exception as error:
        return row | {"converged": FAILED, "warnings": f"{type(error).__name__}: {error}"}, None
    if run.attrs["interrupted"]:
        raise KeyboardInterrupt
    return row | described(run, density.dim, with_density), run


def described(run: Any, dim: int, with_density: bool = False) -> Row:
    """Judge a result, and read off what it cost.

    ``_to_400`` are the costs of the warm-up, and of as much of the sampling as takes the smaller of
    bulk and tail effective sample size to `ESS_LIMIT`; of the whole run, if it has not converged.
    """
    attrs, draws = run.attrs, flat(run)[1]
    if with_density:
        draws = np.concatenate([draws, np.asarray(run["sample_stats"]["lp"])[:, :, None]], axis=2)
    found = worst(draws, attrs["groups"] if attrs["coupling"] == "ensemble" else None)
    converged = LATE if attrs["timed_out"] else YES if found.converged else NO
    part = ESS_LIMIT / found.ess if converged == YES else 1.0
    seconds = [attrs[f"{phase}_time"] for phase in PHASES]
    works = [_work(attrs, phase) for phase in PHASES]
    spent = [gradients(work, dim) for work in works]
    return {
        "method": attrs["method"], "converged": converged, "chains": attrs["chains"],
        "rhat": found.rhat, "ess_bulk": found.bulk, "ess_tail": found.tail,
        "warmup": attrs["warmup_done"], "draws": attrs["draws_done"],
        "seconds": sum(seconds), "seconds_warmup": seconds[0], "seconds_sampling": seconds[1],
        "seconds_to_400": seconds[0] + part * seconds[1],
        "gradients": sum(spent), "gradients_warmup": spent[0], "gradients_sampling": spent[1],
        "gradients_to_400": spent[0] + part * spent[1],
        "densities_warmup": works[0].logp, "densities_sampling": works[1].logp,
        "ess_per_gradient": per(found.ess, spent[1]),
        "warnings": " ".join(finding["kind"] for finding in json.loads(attrs["warnings"])),
    }  # fmt: skip


def _work(attrs: Mapping[str, Any], phase: str) -> Work:
    return Work(*(attrs[f"n_{kind}_{phase}"] for kind in Work._fields))


def typical(rows: Sequence[Row], cost: str) -> float:
    """Median of a cost over the seeds, infinite for those that did not converge."""
    costs = [row[cost] if row["converged"] == YES else np.inf for row in rows]
    return float(np.sort(costs)[len(costs) // 2])  # of two, the larger


def table(rows: Sequence[Row], columns: Mapping[str, str]) -> str:
    """Format runs as Markdown, one line each.

    Parameters
    ----------
    rows : what `measured` returned
    columns : an entry of the rows -> its heading
    """
    return markdown(list(columns.values()), [[_cell(row, n) for n in columns] for row in rows])


def _cell(row: Row, name: str) -> str:
    """Format an entry; a cost until 400 has a > before it if 400 was not reached."""
    value = row.get(name, np.nan)
    if isinstance(value, str):
        return value
    late = name.endswith("_to_400") and row["converged"] in (NO, LATE)
    return ("> " if late else "") + (r_hat if name == "rhat" else number)(value)


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

    The file has the ``columns``, empty where a row lacks them or has NaN. Numbers have six digits,
    so that tables of what was run and of what was stored are the same.
    """
    if path is None:
        yield from rows
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            short = {name: _short(value) for name, value in row.items()}
            writer.writerow({name: _text(value) for name, value in short.items()})
            file.flush()
            yield short


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _text(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return "" if np.isnan(value) else f"{value:.6g}"
