"""A text table of a result for the terminal."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.errors import reason
from probmodel.results.arviz_object import as_numbers, group, group_names, import_arviz, wrap
from probmodel.results.convergence import convergence
from probmodel.results.draws import element_labels
from probmodel.results.quantities import element_rows
from probmodel.types import Variable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MOST_ROWS = 40


def summary_text(result: Any, rows: int = MOST_ROWS) -> str:
    """ArviZ's summary of the posterior as text.

    Where ArviZ fails, as it does under ``python -OO``, which takes the docstrings that it adds to,
    a table of our own takes its place. ``rows`` is the most quantities to show; the others are left
    out and not summarised either, which is what takes the time.
    """
    if "posterior" not in group_names(result):
        return "The result holds no posterior draws."
    posterior = as_numbers(group(result, "posterior"))
    total = sum(_size(values) for values in posterior.data_vars.values())
    if not total:
        return "The posterior holds no variables."
    shown, arviz = _first(posterior, rows), import_arviz()
    try:
        with _quiet(arviz):
            table = arviz.summary(wrap({"posterior": shown}, {}))
        text: str = table.to_string()
    except Exception as error:
        table = _own_table(shown)
        text = f"{table.to_string()}\n(ArviZ's summary failed, {reason(error)}; this is our own.)"
    if total > rows:
        text += (
            f"\n({len(table)} of {total} quantities are shown; arviz.summary in Python shows all)"
        )
    return text


def _own_table(posterior: xr.Dataset) -> pd.DataFrame:
    """Means, quantiles and diagnostics of every scalar quantity."""
    import pandas as pd

    labels: list[str] = []
    blocks = []
    for name, values in posterior.data_vars.items():
        dims = values.dims[2:]
        coords = {str(dim): values[dim].values for dim in dims}
        shape = tuple(values.sizes[dim] for dim in dims)
        variable = Variable(str(name), shape, tuple(coords), coords, "")
        labels += element_labels(variable, {})
        blocks.append(values.values.reshape(*values.shape[:2], -1))
    draws = element_rows(np.concatenate(blocks, axis=2).astype(float))
    low, high = np.quantile(draws, (0.05, 0.95), axis=(1, 2))
    found = convergence(draws)
    columns = {
        "mean": draws.mean(axis=(1, 2)), "sd": draws.std(axis=(1, 2), ddof=1), "5%": low,
        "95%": high, "ess_bulk": found.ess_bulk.round(), "ess_tail": found.ess_tail.round(),
        "r_hat": found.rhat,
    }  # fmt: skip
    return pd.DataFrame(columns, index=labels).round(3)


@contextlib.contextmanager
def _quiet(arviz: Any) -> Iterator[None]:
    """Silence what ArviZ says of short or constant draws: the findings say it with advice."""
    logger = getattr(arviz, "_log", None)  # a logger that the logging module does not know
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if logger is not None:
                logger.disabled = True
            yield
        finally:
            if logger is not None:
                logger.disabled = False


def _size(values: xr.DataArray) -> int:
    return int(np.prod([values.sizes[dim] for dim in values.dims[2:]], dtype=int))


def _first(posterior: xr.Dataset, rows: int) -> xr.Dataset:
    """Keep the first ``rows`` scalar quantities; the last variable is cut to fit."""
    import xarray as xr

    kept: dict[Any, xr.DataArray] = {}
    for name, values in posterior.data_vars.items():
        if rows <= 0:
            break
        kept[name] = values if _size(values) <= rows else _cut(values, rows)
        rows -= max(1, _size(values))
    return xr.Dataset(kept, coords={dim: posterior.coords[dim] for dim in ("chain", "draw")})


def _cut(values: xr.DataArray, rows: int) -> xr.DataArray:
    """Keep at most ``rows`` leading elements of a variable, under dims of its own."""
    for dim in values.dims[2:]:
        inner = _size(values) // values.sizes[dim]
        values = values.isel({dim: slice(0, max(1, rows // inner))})
    # A dim that another variable has in full cannot be shorter here: the cut one gets a new name.
    return values.rename({dim: f"{dim}_cut" for dim in values.dims[2:]})


def heading(attrs: Mapping[str, Any]) -> str:
    """Return how the draws were made, in a line."""
    seconds = attrs["warmup_time"] + attrs["sampling_time"]
    return (
        f"{attrs['name']}: {attrs['method']}, {_count(attrs['chains'], 'chain')} of "
        f"{_count(attrs['draws_done'], 'draw')} after "
        f"{_count(attrs['warmup_done'], 'warm-up iteration')}, "
        f"seed {attrs['seed']}; {seconds:.1f} s, {_work(attrs)}{_evidence(attrs)}"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _evidence(attrs: Mapping[str, Any]) -> str:
    """Return the log evidence with its standard error, in words, where there is one."""
    if "log_evidence" not in attrs:
        return ""
    error = attrs["log_evidence_error"]
    known = f" (standard error {error:.2f})" if np.isfinite(error) else ""
    return f"; log evidence {attrs['log_evidence']:.2f}{known}"


def _work(attrs: Mapping[str, Any]) -> str:
    """Return what a run evaluated, in words: ``48496 gradients``."""
    kinds = {
        "logp": "log densities",
        "grad": "gradients",
        "hvp": "Hessian-vector products",
        "hessian": "Hessians",
    }
    counts = {
        name: attrs.get(f"n_{kind}_warmup", 0) + attrs.get(f"n_{kind}_sampling", 0)
        for kind, name in kinds.items()
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
