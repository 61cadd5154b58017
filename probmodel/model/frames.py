"""Data frames as people have them become data of a model: `Model.from_frame`.

    column of numbers        the datum of its name, with the row labels of the frame
    columns X.age, X.dose    the matrix X with these labels
    text, numbers of groups  whole numbers from 0, where the model has an index; the groups label
                             the dim that they count
    dates                    days since ``origin``
    one value a group        a datum along the dim of groups, such as a county's
    level of the index       the same as a column of its name

Which dim an index counts is seen in the model: that of the declarations it is an index of, and of
groups of sums, by `segment_sum`, that of what the sums are combined with. Columns that count the
same dim are coded together. What is no index is never coded: another frame, with fewer categories
in it, would be coded otherwise, and nobody would know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from probmodel.errors import DataError, nearest, reason
from probmodel.model.columns import listed, no_column, no_numbers, no_values
from probmodel.model.containers import Labelled, Labels, as_labels
from probmodel.model.counted_dims import counted_dims, indices
from probmodel.model.data_warnings import warn_of_data
from probmodel.model.declarations import Data, Declaration, Observed
from probmodel.types import Array

_DAY = np.timedelta64(1, "D")


def from_frame(
    kind: Any,
    frame: Any,
    coords: Mapping[str, Any],
    origin: Any,
    given: Mapping[str, Any],
    before: Mapping[str, Array] = MappingProxyType({}),
) -> Any:
    """Bind a model to the columns of a data frame; see `Model.from_frame`.

    Groups of which the frame has no row have the values of ``before``, which are of the first
    labels in ``coords``, for data with one value for each group. Numbers of groups are labels
    there, as in a frame.
    """
    return _Reader(kind, as_table(kind, frame), coords, origin, before).bound(given)


def as_table(kind: Any, frame: Any) -> Any:
    """Return a frame of pandas, in which the named levels of the index are columns too.

    Raises a `DataError` if it is none, or has several columns of one name.
    """
    table = _in_pandas(frame)
    if not (hasattr(table, "index") and hasattr(table, "columns")):
        first = " Collect it first: frame.collect()." if hasattr(frame, "collect_schema") else ""
        raise DataError(
            f"{kind.__name__}.from_frame takes a data frame first, of pandas or with a method "
            f"to_pandas(); got {type(frame).__name__}.{first}",
            given=frame,
        )
    repeated = list(dict.fromkeys(table.columns[table.columns.duplicated()]))
    if repeated:
        raise DataError(
            f"the frame has several columns {listed(repeated)}. Rename or drop some.",
            columns=repeated,
        )
    if not len(table) and len(table.columns):
        raise DataError("the frame has no rows: its filter, such as frame[frame.x > 0], left none.")
    levels = [n for n in table.index.names if isinstance(n, str) and n not in table.columns]
    return table.assign(**{name: table.index.get_level_values(name) for name in levels})


def _in_pandas(frame: Any) -> Any:
    """Return what a frame of another package is in pandas; raise a `DataError` if that fails."""
    if not hasattr(frame, "to_pandas"):
        return frame
    try:
        return frame.to_pandas()
    except (ImportError, ValueError) as error:  # polars needs pyarrow; xarray may have more axes
        lacks = "Install what is missing, or give" if isinstance(error, ImportError) else "Give"
        raise DataError(
            f"the {type(frame).__name__} cannot become a data frame of pandas: {reason(error)}. "
            f"{lacks} its columns as data, Model(x=frame['x'], ...).",
            given=frame,
        ) from error


class _Reader:
    """Reads the data of a model from a frame."""

    def __init__(
        self,
        kind: Any,
        table: Any,
        coords: Mapping[str, Any],
        origin: Any,
        before: Mapping[str, Array],
    ) -> None:
        self._kind, self._table, self._origin, self._before = kind, table, origin, before
        self._coords = {dim: as_labels(labels) for dim, labels in coords.items()}
        every: dict[str, Declaration] = kind._declarations
        self._declared = {n: d for n, d in every.items() if isinstance(d, Data | Observed)}
        counted = counted_dims(kind)
        self._counted = {name: dim for name, dim in counted.items() if name in self._declared}
        # Dims of groups: those that rows count. Neighbours count the dim of the rows themselves.
        self._grouped = {dim for n, dim in self._counted.items() if self._own_dim(n) != dim}
        self._codes: dict[str, Array] = {}  # by datum
        self._rows = _row_labels(table.index)

    def _own_dim(self, name: str) -> str:
        return (self._declared[name].dims or ("",))[0]

    def bound(self, given: Mapping[str, Any]) -> Any:
        """Bind the model; what is given names columns, or is a value."""
        values: dict[str, Any] = {n: v for n, v in given.items() if n not in self._declared}
        columns: dict[str, str] = {}
        for name in self._declared:
            source = _as_list(given.get(name, self._columns(name)))
            numbered = self._numbers_columns(name, source)
            if isinstance(source, str) or (numbered and not isinstance(source, list | tuple)):
                columns[name] = source
            elif _names_columns(source) or numbered:
                values[name] = self._matrix(name, source)
            elif source is not None:
                values[name] = source
        self._check_complete(values, columns)
        self._code(columns)
        for name, column in columns.items():
            if name in self._codes:
                along_rows = self._own_dim(name) not in self._grouped
                codes = self._codes[name]
                values[name] = self._labelled(codes) if along_rows else codes
            elif self._own_dim(name) in self._grouped:
                values[name] = self._one_each(name, self._numbers(name, column))
            else:
                values[name] = self._labelled(self._numbers(name, column))
        model = self._kind(**values, coords=self._coords)
        if self._origin is not None:
            model._origin = str(np.datetime64(self._origin, "s")).removesuffix("T00:00:00")
        return model

    def _check_complete(self, values: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        """Raise a `DataError` for a datum that has neither columns nor a value."""
        if values.keys() - self._declared.keys():  # a name that is not the model's: it may be meant
            return
        for name, declaration in self._declared.items():
            if isinstance(declaration, Data) and name not in values and name not in columns:
                known, model = [str(c) for c in self._table.columns], self._kind.__name__
                raise no_column(model, declaration, known, list(columns.values()))

    def _columns(self, name: str) -> Any:
        """Return the column of a datum, or those of a matrix; None if there are none."""
        if name in self._table.columns:
            return name
        members = [c for c in self._table.columns if str(c).startswith(f"{name}.")]
        return members or None

    def _numbers_columns(self, name: str, source: Any) -> bool:
        """Whether a source is numbers that are names of columns, and no value of the datum."""
        ndim = len(self._declared[name].dims or ())
        several = isinstance(source, list | tuple)
        parts = source if several else [source]
        whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in parts)
        known = whole and len(parts) > 0 and all(c in self._table.columns for c in parts)
        return known and ndim == 1 + several

    def _series(self, column: str) -> Any:
        if column not in self._table.columns:
            known = map(str, self._table.columns)
            raise DataError(
                f"the frame has no column {column!r}.{nearest(column, known)}", column=column
            )
        return self._table[column]

    def _labelled(self, values: Array, columns: Labels | None = None) -> Labelled:
        """Return values of the rows, with the labels that rows and columns have."""
        axes = enumerate((self._rows, columns))
        return Labelled(values, {axis: labels for axis, labels in axes if labels is not None})

    # -- numbers -----------------------------------------------------------------------------------

    def _numbers(self, name: str, column: str) -> Any:
        """Return a column that is no index: numbers, or dates as days."""
        series = self._checked(name, column)
        kind = getattr(series.dtype, "kind", "O")
        if kind == "M":
            return self._days(column, series)
        text = kind == "O" and any(isinstance(value, str) for value in series)
        odd = text or kind in "mUS" or hasattr(series, "cat")
        if odd or type(series.dtype).__name__ in ("PeriodDtype", "IntervalDtype"):
            raise no_numbers(self._declared[name], column, series, name in indices(self._kind))
        values = series.to_numpy(dtype=float, na_value=np.nan) if kind not in "biuf" else series
        return np.asarray(values)

    def _checked(self, name: str, column: str) -> Any:
        """Return a column, once it is sure that no value is missing that has to be there."""
        series = self._series(column)
        if getattr(self._declared[name], "missing", None) == "impute":
            return series
        rows = np.flatnonzero(series.isna().to_numpy())
        if len(rows):
            raise no_values(self._declared[name], column, [self._table.index[i] for i in rows])
        return series

    def _days(self, column: str, series: Any) -> Array:
        if self._origin is None:
            raise DataError(
                f"the column {column!r} holds dates, which become days since a date that has to be "
                "the same for every frame of a model. Give it as origin=: of data to fit, any date "
                f"such as {str(series.min())[:10]!r}; of data to predict, that of the fit.",
                column=column,
            )
        plain = series.dt.tz_convert("UTC").dt.tz_localize(None) if series.dt.tz else series
        days: Array = (plain.to_numpy() - np.datetime64(self._origin)) / _DAY
        return days

    def _matrix(self, name: str, columns: Sequence[str]) -> Labelled:
        parts = [np.asarray(self._numbers(name, column)) for column in columns]
        labels = as_labels([str(column).removeprefix(f"{name}.") for column in columns])
        return self._labelled(np.stack(parts, axis=1), Labels(labels))

    # -- groups ------------------------------------------------------------------------------------

    def _code(self, columns: Mapping[str, str]) -> None:
        """Code the data that are indices, those of rows first and then those of groups."""
        left = {name for name in columns if name in self._counted}
        while left:
            ready = {n for n in left if self._own_dim(n) not in self._grouped
                     or self._coder(self._own_dim(n)) is not None}  # fmt: skip
            if not ready:
                name = sorted(left)[0]
                raise DataError(
                    f"the frame does not say to which {self._own_dim(name)} its rows belong, so "
                    f"that {self._declared[name].title} has no value there.",
                    name=name,
                )
            for dim in sorted({self._counted[name] for name in ready}):
                own = sorted(name for name in ready if self._counted[name] == dim)
                raw = {name: self._raw(name, columns[name]) for name in own}
                self._codes.update(self._coded(dim, columns, raw))
            left -= ready

    def _coder(self, dim: str, above: frozenset[str] = frozenset()) -> Array | None:
        """Return the codes of the rows in a dim of groups; None if no column has them.

        Groups of groups are those of the rows of each group: the region of a store.
        """
        names = [n for n, counted in self._counted.items() if counted == dim and n in self._codes]
        owners = {name: self._own_dim(name) for name in names}
        for name in names:
            if owners[name] not in self._grouped:
                return self._codes[name]
        for name in names:
            if owners[name] in above | {dim}:
                continue
            of_rows = self._coder(owners[name], above | {dim})
            if of_rows is not None:
                return self._codes[name][of_rows]
        return None

    def _raw(self, name: str, column: str) -> Array:
        """Return what an index is in the frame: of each row, or of each group."""
        values = as_labels(self._checked(name, column).to_numpy())
        return self._one_each(name, values) if self._own_dim(name) in self._grouped else values

    def _coded(
        self, dim: str, columns: Mapping[str, str], raw: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Code columns that count one dim, together."""
        labels = self._coords.get(dim)
        if labels is None and dim not in self._grouped and self._rows is not None:
            labels = self._rows.values
        together = np.concatenate(list(raw.values()))
        whole = together.dtype.kind in "iu"
        if labels is None and dim not in self._grouped and not whole:
            name = next(iter(raw))
            raise DataError(
                f"the column {columns[name]!r} says which rows are meant, and the rows have no "
                "labels: give the frame an index, or count rows from 0.",
                column=columns[name],
            )
        if labels is None and whole and (dim not in self._grouped or _is_count(together)):
            if not any(dim in (d.dims or ()) for d in self._declared.values()):
                self._coords[dim] = np.arange(together.max() + 1)
            return dict(raw)
        if labels is None:
            first = self._table[columns[next(iter(raw))]]
            ordered = hasattr(first, "cat") and len(raw) == 1
            labels = as_labels(first.cat.categories) if ordered else np.unique(together)
            if whole:
                _check_missing_codes(dim, columns[next(iter(raw))], labels, together.dtype)
            self._coords[dim] = labels
        return {name: _looked_up(dim, columns[name], v, labels) for name, v in raw.items()}

    def _one_each(self, name: str, values: Array) -> Array:
        """Return the one value that a column has for each group."""
        dim, declaration = self._own_dim(name), self._declared[name]
        codes = self._coder(dim)
        if codes is None:
            raise DataError(
                f"the frame does not say to which {dim} its rows belong, so that "
                f"{declaration.title} has no value there.",
                name=name,
            )
        labels = self._coords.get(dim)
        names = list(range(int(codes.max()) + 1)) if labels is None else labels.tolist()
        first = np.full(len(names), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        before = self._before.get(name, np.empty(0))
        lacking = np.flatnonzero(first < 0)
        if (lacking >= len(before)).any():
            raise DataError(
                f"the frame has no row of {dim} {names[int(lacking[-1])]!r}, so that "
                f"{declaration.title} has no value there. Give it as a value of its own.",
                dim=dim,
            )
        differs = values != values[first[codes]]
        if differs.any():
            where = names[int(codes[np.argmax(differs)])]
            raise declaration.data_error(
                f"{declaration.title} has one value for each {dim}, and its column has several for "
                f"{where!r}.", name=name
            )  # fmt: skip
        if not len(lacking):
            return values[first]
        first[lacking] = len(values) + lacking
        return np.concatenate([values, before])[first]  # of the type that holds both


def _check_missing_codes(dim: str, column: str, labels: Array, dtype: np.dtype[Any]) -> None:
    """Warn of codes from -1, which pandas writes for what is missing, as a group of their own.

    Effects coded by -1, 0 and 1 are left alone, unless their type is the small one of such codes.
    """
    counted = np.array_equal(labels, np.arange(-1, len(labels) - 1))
    if counted and len(labels) > 1 and (len(labels) > 3 or dtype.itemsize < 4):
        warn_of_data(
            f"the column {column!r} counts from -1: -1 is taken as the label of one of the "
            f"{len(labels)} groups of {dim!r}. pandas writes -1 for what is missing (cat.codes, "
            "factorize). If these are such codes, leave out the rows where it is -1, or hand over "
            f"the labels themselves; else give coords={{{dim!r}: ...}} to say that -1 is a label."
        )


def _looked_up(dim: str, column: str, values: Array, labels: Array) -> Array:
    """Return where values are among the labels of a dim."""
    found, known = _comparable(values, labels)
    places = {label: i for i, label in enumerate(known)}
    new = [i for i, value in enumerate(found) if value not in places]
    if new:
        raise DataError(
            f"the column {column!r} has {listed(np.unique(values[new]))}, which the labels of the "
            f"dim {dim!r} lack. These are {listed(labels)}.",
            column=column, labels=np.unique(values[new]).tolist(),
        )  # fmt: skip
    return np.array([places[value] for value in found])


def _comparable(values: Array, labels: Array) -> tuple[list[Any], list[Any]]:
    """Return values and labels as objects that are equal where they mean the same.

    NumPy's dates are numbers in some units, and objects in others.
    """
    if values.dtype.kind == labels.dtype.kind and values.dtype.kind in "mM":
        unit = np.promote_types(values.dtype, labels.dtype)
        return values.astype(unit).view("i8").tolist(), labels.astype(unit).view("i8").tolist()
    return values.tolist(), labels.tolist()


def _as_list(source: Any) -> Any:
    """Return names of columns that are an array, or an index such as frame.columns, as a list."""
    array = isinstance(source, np.ndarray) or type(source).__name__ == "Index"
    named = array and source.ndim == 1 and all(isinstance(name, str) for name in source)
    return list(source) if named and len(source) else source


def _names_columns(source: Any) -> bool:
    several = isinstance(source, list | tuple) and len(source) > 0
    return several and all(isinstance(name, str) for name in source)


def _is_count(values: Array) -> bool:
    """Whether whole numbers are codes already: from 0, none left out."""
    return np.array_equal(np.unique(values), np.arange(values.max() + 1))


def _row_labels(index: Any) -> Labels | None:
    """Return the labels of the rows; none for a count from zero. What repeats names nothing."""
    values = as_labels(index)
    counts = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return None if counts else Labels(values, bool(index.is_unique))
