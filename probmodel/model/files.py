"""Reading data files: NPZ, CSV and Stan's JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from probmodel.errors import DataError
from probmodel.model.containers import Labelled, Labels
from probmodel.types import Array

_ATOMS = {
    "NaN": np.nan,
    "Inf": np.inf,
    "+Inf": np.inf,
    "-Inf": -np.inf,
    "Infinity": np.inf,
    "-Infinity": -np.inf,
}


def read_data(path: str | Path) -> dict[str, Any]:
    """Read a data file into arrays by name, ready for ``Model(**data)``.

    Parameters
    ----------
    path : ``.npz`` (arrays by name), ``.json`` (Stan's data format: an object of numbers and
        nested lists) or ``.csv`` (one array a column; columns ``X.age, X.dose`` become the
        matrix ``X`` with the labels ``age, dose``)

    Labels may be given as the entry ``coords`` of a JSON file, or as arrays ``coords.<dim>``
    of an NPZ file.

    Raises
    ------
    DataError
        If the file is missing or cannot be read as what its name says.
    """
    file = Path(path)
    reader = {".npz": _read_npz, ".json": _read_json, ".csv": _read_csv}.get(file.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: the name must end in .npz, .json or .csv; got {file.suffix!r}.",
            path=str(path),
        )
    if not file.is_file():
        raise DataError(f"there is no data file {str(path)!r}.", path=str(path))
    try:
        return reader(file)
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise DataError(
            f"{path} cannot be read as {file.suffix}: {error}", path=str(path)
        ) from error


def _read_npz(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return _split_coords(arrays)


def _split_coords(arrays: dict[str, Any]) -> dict[str, Any]:
    coords = {n.removeprefix("coords."): v for n, v in arrays.items() if n.startswith("coords.")}
    data = {name: value for name, value in arrays.items() if not name.startswith("coords.")}
    return {**data, "coords": coords} if coords else data


def _read_json(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text())
    if not isinstance(content, dict):
        raise ValueError("the top level must be an object of names and values")
    return {
        name: value if name == "coords" else _stan_value(value) for name, value in content.items()
    }


def _stan_value(value: Any) -> Any:
    """Replace Stan's spellings of non-finite numbers."""
    if isinstance(value, list):
        return [_stan_value(item) for item in value]
    return _ATOMS.get(value, value) if isinstance(value, str) else value


def _read_csv(file: Path) -> dict[str, Any]:
    with file.open(newline="") as stream:
        rows = list(csv.reader(line for line in stream if not line.startswith("#")))
    if len(rows) < 2:
        raise ValueError("expected a header and at least one row")
    header = [name.strip() for name in rows[0]]
    lengths = {len(row) for row in rows if row}
    if lengths != {len(header)}:
        raise ValueError(f"rows have {sorted(lengths)} fields, the header {len(header)}")
    columns = {name: _column([row[i] for row in rows[1:] if row]) for i, name in enumerate(header)}
    return _group_columns(columns)


def _column(cells: list[str]) -> Array:
    """Return numbers where every cell is one; an empty cell is NaN; else text."""
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)


def _group_columns(columns: dict[str, Array]) -> dict[str, Any]:
    """Join columns ``X.a, X.b`` into a labelled matrix."""
    out: dict[str, Any] = {}
    groups: dict[str, dict[str, Array]] = {}
    for name, column in columns.items():
        stem, dot, label = name.partition(".")
        if dot:
            groups.setdefault(stem, {})[label] = column
        else:
            out[name] = column
    for stem, members in groups.items():
        out[stem] = Labelled(
            np.stack(list(members.values()), axis=1), {1: Labels(np.asarray(list(members)))}
        )
    return out
