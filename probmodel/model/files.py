"""Reading data files: NPZ, CSV, Stan's JSON and R's dump format.

A data file is read, never run: nothing in it is evaluated or unpickled.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from probmodel.arguments import existing_file
from probmodel.errors import DataError, reason
from probmodel.model import gallery
from probmodel.model.archives import check_size, read_arrays
from probmodel.model.containers import Labelled, Labels
from probmodel.model.r_dump import parse_dump
from probmodel.types import Array

MAX_BYTES = 4 * 2**30

_ATOMS = {
    "NaN": np.nan,
    "Inf": np.inf,
    "+Inf": np.inf,
    "-Inf": -np.inf,
    "Infinity": np.inf,
    "+Infinity": np.inf,
    "-Infinity": -np.inf,
}
_TRUTHS = {"TRUE": True, "True": True, "FALSE": False, "False": False}  # of R, pandas and Excel
_MARKS = {  # byte order marks at the head of a file; Excel writes one
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MOST_AXES = 32  # far beyond any model, and within what NumPy can hold


def read_data(path: str | Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Read a data file into arrays by name, ready for ``Model(**data)``.

    A data file is read, never run: nothing in it is evaluated or unpickled.

    Parameters
    ----------
    path : ``.npz`` (arrays by name), ``.json`` (Stan's data format: an object of numbers and
        nested lists), ``.R`` or ``.dump`` (what R's ``dump`` and ``stan_rdump`` write) or ``.csv``
        (one array a column; columns ``X.age, X.dose`` become the matrix ``X`` with the labels
        ``age, dose``); or ``"gallery:radon.json"``, data of the gallery, where
        ``"gallery:radon"`` is the first data set of that model
    max_bytes : how many bytes the file may take, unpacked; 4 GiB by default. A small damaged or
        hostile archive can claim to hold more than any memory.

    Labels may be given as the entry ``coords`` of a JSON file, or as arrays ``coords.<dim>``
    of an NPZ file. Text is UTF-8, or UTF-16 with a byte order mark.

    Raises
    ------
    DataError
        If the file is missing, cannot be read as what its name says, or is too large.
    """
    if gallery.is_named(path):
        file = gallery.data_file(path)
    else:
        file = existing_file(path, "data file", DataError)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path}: the name must end in .npz, .json, .csv or .R; got {file.suffix!r}.",
            path=str(path),
        )
    try:
        size = file.stat().st_size
        if not size:
            raise ValueError("it is empty")
        check_size("it has", size, max_bytes)
        return reader(file, max_bytes)
    except Exception as error:  # the parsers say of no kind of damage which error it raises
        raise DataError(
            f"{path} cannot be read as {file.suffix}: {reason(error)}.", path=str(path)
        ) from error


def _read_npz(file: Path, max_bytes: int) -> dict[str, Any]:
    return _split_coords(read_arrays(file, max_bytes))


def _split_coords(arrays: dict[str, Any]) -> dict[str, Any]:
    if "coords" in arrays:
        raise ValueError("no array can be named 'coords'; labels of a dim x are named 'coords.x'")
    coords = {n.removeprefix("coords."): v for n, v in arrays.items() if n.startswith("coords.")}
    data = {name: value for name, value in arrays.items() if not name.startswith("coords.")}
    return {**data, "coords": coords} if coords else data


def _text(file: Path) -> str:
    raw = file.read_bytes()
    encoding = next((name for mark, name in _MARKS.items() if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} is no {encoding.upper()} text. Save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise ValueError("it has NUL characters, as files that are no text do")
    return text


def _read_json(file: Path, max_bytes: int) -> dict[str, Any]:
    content = json.loads(_text(file), object_pairs_hook=_object)
    if not isinstance(content, dict):
        raise ValueError("the top level must be an object of names and values")
    return {
        name: _labels(value) if name == "coords" else _value(name, value, max_bytes)
        for name, value in content.items()
    }


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_repeats("name", [name for name, _ in pairs])
    return dict(pairs)


def _check_repeats(kind: str, names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"the {kind} {repeated[0]!r} is there more than once")


def _labels(coords: Any) -> Any:
    """Check labels by dim; whether they fit the data is seen at binding."""
    if not isinstance(coords, dict):
        raise ValueError('coords must be an object of lists of labels, as in {"school": ["A"]}')
    for dim, labels in coords.items():
        kinds = set(map(type, labels)) if isinstance(labels, list) else {list}
        if not (kinds <= {str} or kinds <= {int, float, bool}):
            raise ValueError(f"the labels of dim {dim!r} must be a list of text or of numbers")
    return coords


def _value(name: str, value: Any, max_bytes: int) -> Any:
    """Return an array, or numbers by label for an object of them, or the elements of tuples.

    A tuple, as Stan writes it, is an object with the names ``1``, ``2`` and so on. Of these there
    may be lists.
    """
    if _is_tuple(value):
        return {key: _value(f"{name}.{key}", item, max_bytes) for key, item in value.items()}
    first = value
    while isinstance(first, list) and first:
        first = first[0]
    if first is not value and _is_tuple(first):
        return [_value(name, item, max_bytes) for item in value]
    if isinstance(value, dict):
        return dict(zip(value, _array(name, list(value.values()), max_bytes), strict=True))
    return _array(name, value, max_bytes)


def _is_tuple(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return list(value) == [str(i + 1) for i in range(len(value))]


def _array(name: str, value: Any, max_bytes: int) -> Array:
    """Return nested lists as an array, read level by level."""
    shape: list[int] = []
    items = [value]
    while list in (kinds := set(map(type, items))):
        lengths = {len(item) if isinstance(item, list) else None for item in items}
        length = lengths.pop()
        if lengths or length is None:
            raise ValueError(f"{name!r} is a ragged list: its rows differ in length")
        shape.append(length)
        if len(shape) > _MOST_AXES:
            raise ValueError(f"the lists of {name!r} are nested more than {_MOST_AXES} deep")
        items = list(chain.from_iterable(items))
    if str in kinds:
        items = [_ATOMS.get(item, item) if isinstance(item, str) else item for item in items]
        kinds = set(map(type, items))
    if kinds == {str}:
        flat = _text_array(name, items, max_bytes)
    elif kinds == {bool}:
        flat = np.array(items)
    elif kinds <= {int, float}:
        flat = _numbers(name, items, kinds)
    else:
        raise _no_number(name, items, shape)
    return flat.reshape(shape)[()]


def _numbers(name: str, items: list[Any], kinds: set[type]) -> Array:
    """Return integers where all are, and 64 bits hold them; else floats."""
    if kinds == {int} and min(items) >= -(2**63) and max(items) < 2**63:
        return np.array(items, dtype=np.int64)
    try:
        return np.array(items, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(f"{name!r} has a whole number beyond the range of floats") from error


def _no_number(name: str, items: list[Any], shape: list[int]) -> ValueError:
    first = next(i for i, item in enumerate(items) if type(item) not in (int, float))
    place = ", ".join(map(str, np.unravel_index(first, shape))) if shape else ""
    advice = '. Write "NaN" for what is missing' if items[first] is None else ""
    where = f" at [{place}]" if shape else ""
    shown = json.dumps(items[first])[:40]
    return ValueError(f"{name!r} must hold numbers; it has {shown}{where}{advice}")


def _text_array(name: str, items: Sequence[str], max_bytes: int) -> Array:
    """Return text as an array, whose elements all take the room of the longest."""
    size = len(items) * max(map(len, items)) * np.dtype("U1").itemsize
    check_size(f"the array of text {name!r} takes", size, max_bytes)
    return np.array(items)


def _read_dump(file: Path, max_bytes: int) -> dict[str, Any]:
    return {name: array[()] for name, array in parse_dump(_text(file), max_bytes).items()}


def _read_csv(file: Path, max_bytes: int) -> dict[str, Any]:
    stream = io.StringIO(_text(file), newline="")
    # A comment becomes an empty line, so that the lines keep their numbers.
    reader = csv.reader(("\n" if line.startswith("#") else line for line in stream), strict=True)
    try:
        (_, names), *rows = [(reader.line_num, row) for row in reader if row] or [(0, [])]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    if not rows:
        raise ValueError("expected a header and at least one row")
    header = _header([name.strip() for name in names])
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(f"line {line} has {len(row)} fields, the header {len(header)}")
    cells = zip(*(row for _, row in rows), strict=True)
    lines = [line for line, _ in rows]
    columns = {n: _column(n, c, lines, max_bytes) for n, c in zip(header, cells, strict=True)}
    return _group_columns(columns)


def _header(header: list[str]) -> list[str]:
    """Check the names of the columns."""
    _check_repeats("column", header)
    for i, name in enumerate(header):
        stem, dot, _ = name.partition(".")
        if not stem:
            raise ValueError(f"column {i + 1} has no name. Name it in the header, or leave it out")
        if stem == "coords":
            raise ValueError("no column can be named 'coords': labels need a JSON or NPZ file")
        if dot and stem in header:
            raise ValueError(f"the column {stem!r} and the matrix of {name!r} have the same name")
        if any(separator in name for separator in ";\t"):
            raise ValueError(f"the header has {name!r}: separate columns by commas")
    return header


def _column(name: str, cells: Sequence[str], lines: Sequence[int], max_bytes: int) -> Array:
    """Return numbers or truth values where every cell is one, else text.

    An empty cell is NaN, and so is R's NA beside numbers.
    """
    truths = [_TRUTHS.get(cell.strip()) for cell in cells]
    if None not in truths:
        return np.array(truths)
    known = [cell for cell in cells if cell.strip() not in ("", "NA")]
    missing = ("", "NA") if known else ("",)
    try:
        numbers = np.array([np.nan if c.strip() in missing else float(c) for c in cells])
    except ValueError:
        return _text_array(name, cells, max_bytes)
    for line, cell in zip(lines, cells, strict=True):
        if "_" in cell or not cell.isascii():  # Python reads 1_0 as 10, and digits of any script
            raise ValueError(f"line {line} has {cell!r} in the column {name!r}, which is no number")
    return numbers


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


_READERS = {
    ".npz": _read_npz,
    ".json": _read_json,
    ".csv": _read_csv,
    ".r": _read_dump,
    ".rdump": _read_dump,
    ".dump": _read_dump,
}
