"""Data frames as people have them become data of a model: `Model.from_frame`.

    column of numbers        the datum of its name, with the row labels of the frame
    columns X.age, X.dose    the matrix X with these labels
    text, categories         whole numbers from 0; the categories label the dim that they count
    dates                    days since the first one; the dates label the rows
    one value a group        a datum along the dim of a category, such as a county's

Which dim a column of categories counts is seen in the model: that of what the datum is an index of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.errors import DataError, nearest
from probmodel.expressions import Apply, Expression, topological
from probmodel.model.containers import Labelled, Labels, as_labels
from probmodel.model.declarations import Data, Declaration, Observed, expressions_of
from probmodel.types import Array

_SHOWN = 5  # rows or categories that a message lists
_DAY = np.timedelta64(1, "D")


def from_frame(kind: Any, frame: Any, coords: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """Bind a model to the columns of a data frame; see `Model.from_frame`."""
    table = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    if not (hasattr(table, "columns") and hasattr(table, "index")):
        raise DataError(
            f"{kind.__name__}.from_frame takes a data frame first, of pandas or with a method "
            f"to_pandas(); got {type(frame).__name__}.",
            given=frame,
        )
    return _Reader(kind, table, coords).bound(given)


class _Reader:
    """Reads the data of a model from a frame."""

    def __init__(self, kind: Any, table: Any, coords: Mapping[str, Any]) -> None:
        self._kind, self._table = kind, table
        self._coords = {dim: as_labels(labels) for dim, labels in coords.items()}
        self._counted = dict(_counted_dims(kind))  # dims that data are indices of
        self._codes: dict[str, Array] = {}  # of the rows, by the dim that they count
        self._rows = _row_labels(table.index)

    def bound(self, given: Mapping[str, Any]) -> Any:
        """Bind the model; what is given names columns, or is a value."""
        declared = {
            name: d
            for name, d in self._kind._declarations.items()
            if isinstance(d, Data | Observed)
        }
        values, groups = {}, []
        for name in sorted(declared, key=lambda name: name not in self._counted):
            source = given.get(name, self._columns(name))
            if isinstance(source, str):
                if (declared[name].dims or ("",))[0] in self._codes:
                    groups.append((name, source))
                else:
                    values[name] = self._column(declared[name], source)
            elif _names_columns(source):
                values[name] = self._matrix(name, source)
            elif source is not None:
                values[name] = source
        for name, source in groups:
            values[name] = self._one_each(declared[name], source)
        others = {name: value for name, value in given.items() if name not in declared}
        return self._kind(**values, **others, coords=self._coords)

    def _columns(self, name: str) -> Any:
        """Return the column of a datum, or those of a matrix; None if there are none."""
        if name in self._table.columns:
            return name
        members = [c for c in self._table.columns if str(c).startswith(f"{name}.")]
        return members or None

    def _series(self, column: str) -> Any:
        if column not in self._table.columns:
            raise DataError(
                f"the frame has no column {column!r}.{nearest(column, self._table.columns)}",
                column=column,
            )
        return self._table[column]

    def _column(self, declaration: Declaration, column: str) -> Any:
        series = self._series(column)
        if getattr(declaration, "missing", None) != "impute":
            self._check_complete(column, series)
        if getattr(series.dtype, "kind", "O") == "M":
            return self._days(declaration, series)
        name = str(declaration.name)
        if name in self._counted or not _is_numeric(series):
            return self._as_codes(name, column, series)
        return self._labelled(series.to_numpy())

    def _labelled(self, values: Array, columns: Labels | None = None) -> Labelled:
        """Return values of the rows, with the labels that rows and columns have."""
        axes = enumerate((self._rows, columns))
        return Labelled(values, {axis: labels for axis, labels in axes if labels is not None})

    def _check_complete(self, column: str, series: Any) -> None:
        """Raise a `DataError` with the rows of missing values."""
        rows = np.flatnonzero(series.isna().to_numpy())
        if len(rows):
            shown = ", ".join(repr(self._table.index[i]) for i in rows[:_SHOWN])
            more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
            plural = "s" if len(rows) > 1 else ""
            raise DataError(
                f"the column {column!r} has no value in row{plural} {shown}{more}. Leave such rows "
                f"out, frame.dropna(subset=[{column!r}]), or give them a value.",
                column=column, rows=rows.tolist(),
            )  # fmt: skip

    def _as_codes(self, name: str, column: str, series: Any) -> Labelled:
        """Turn categories into whole numbers, and let them label what they count."""
        dim = self._counted.get(name)
        labels = self._coords.get(dim or "")
        named = labels is not None and labels.dtype.kind in "US"
        if (
            dim is not None
            and getattr(series.dtype, "kind", "O") in "iu"
            and (named or _is_count(series))
        ):
            codes = series.to_numpy()  # they count already
        elif dim is not None and labels is not None:
            codes = self._looked_up(dim, column, series)
        else:
            codes, labels = _factorised(series)
            if dim is not None:
                self._coords[dim] = as_labels(labels)
        if dim is not None:
            self._codes[dim] = codes
        return self._labelled(codes)

    def _looked_up(self, dim: str, column: str, series: Any) -> Array:
        """Return where values are among the labels of a dim."""
        known = {label: i for i, label in enumerate(self._coords[dim].tolist())}
        values = as_labels(series.to_numpy()).tolist()
        new = [value for value in dict.fromkeys(values) if value not in known]
        if new:
            raise DataError(
                f"the column {column!r} has {_listed(new)}, which the labels of the dim {dim!r} "
                f"lack. These are {_listed(list(known))}.",
                column=column, labels=new,
            )  # fmt: skip
        return np.array([known[value] for value in values])

    def _days(self, declaration: Declaration, series: Any) -> Labelled:
        dates, dims = series.to_numpy(), declaration.dims or ()
        if self._rows is None and len(dims) == 1 and series.is_unique:
            self._coords.setdefault(dims[0], dates)
        return self._labelled((dates - dates.min()) / _DAY)

    def _matrix(self, name: str, columns: Sequence[str]) -> Labelled:
        series = [self._series(column) for column in columns]
        for column, values in zip(columns, series, strict=True):
            self._check_complete(column, values)
        labels = as_labels([str(column).removeprefix(f"{name}.") for column in columns])
        values = np.stack([one.to_numpy() for one in series], axis=1)
        return self._labelled(values, columns=Labels(labels))

    def _one_each(self, declaration: Declaration, column: str) -> Any:
        """Return the one value that a column has for each category of a dim."""
        dim = (declaration.dims or ("",))[0]
        codes, series = self._codes[dim], self._series(column)
        self._check_complete(column, series)
        labels = self._coords.get(dim)
        size = int(codes.max()) + 1 if labels is None else len(labels)
        values = series.to_numpy()
        first = np.full(size, -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        names = list(range(size)) if labels is None else labels.tolist()
        if (first < 0).any():
            raise DataError(
                f"the frame has no row of {dim} {names[int(np.argmin(first))]!r}, so that "
                f"{declaration.title} has no value there. Give it as a value of its own.",
                dim=dim,
            )
        differs = values != values[first[codes]]
        if differs.any():
            where = names[int(codes[np.argmax(differs)])]
            raise DataError(
                f"{declaration.title} has one value for each {dim}, and the column {column!r} has "
                f"several for {where!r}.",
                location=declaration.location, column=column,
            )  # fmt: skip
        return values[first]


def _counted_dims(kind: Any) -> Iterator[tuple[str, str]]:
    """Yield data that are used as indices, with the dim of what they are indices of."""
    roots = [e for d in kind._declarations.values() for e in expressions_of(d)]
    for node in topological(roots):
        if not (isinstance(node, Apply) and node.operation.name == "getitem"):
            continue
        target, index = node.args
        for axis, part in enumerate(index if isinstance(index, tuple) else (index,)):
            if isinstance(part, Data) and part.name is not None:
                dims = list(_dims_of(target))
                if dims and axis < len(dims):
                    yield part.name, dims[axis]


def _dims_of(target: Any) -> Sequence[str]:
    """Return the dims of an expression: those of the declarations in it that have most."""
    nodes = topological([target]) if isinstance(target, Expression) else []
    known = [tuple(n.dims) for n in nodes if isinstance(n, Declaration) and n.dims]
    return max(known, key=len, default=())


def _names_columns(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and all(isinstance(s, str) for s in source)
        and bool(source)
    )


def _is_numeric(series: Any) -> bool:
    return getattr(series.dtype, "kind", "O") in "biuf"


def _is_whole(series: Any) -> bool:
    return getattr(series.dtype, "kind", "O") in "iu"


def _is_count(series: Any) -> bool:
    """Whether whole numbers are codes already: from 0, none left out."""
    values = series.to_numpy()
    return values.dtype.kind in "iu" and np.array_equal(
        np.unique(values), np.arange(values.max() + 1)
    )


def _factorised(series: Any) -> tuple[Array, Any]:
    """Return codes and categories: those of a categorical column in its order, else sorted."""
    if hasattr(series, "cat"):
        return series.cat.codes.to_numpy().astype(int), np.asarray(series.cat.categories)
    labels, codes = np.unique(as_labels(series.to_numpy()), return_inverse=True)
    return codes, labels


def _row_labels(index: Any) -> Labels | None:
    """Return the labels of the rows; a count from zero, or what repeats, names nothing."""
    values = as_labels(index)
    counts = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return None if counts or not index.is_unique else Labels(values)


def _listed(labels: list[Any]) -> str:
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(map(repr, labels[:_SHOWN])) + more
