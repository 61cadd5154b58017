"""What data come in: lists, masked arrays, pandas, xarray and dict become arrays with labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from probmodel.types import Array


class Labels(NamedTuple):
    """Labels of one axis.

    Attributes
    ----------
    values : one for each element; what shares the dim must have the same
    named : whether they name the elements in the result. A count from zero does not, nor do labels
        that repeat or are missing.
    """

    values: Array
    named: bool = True


class Labelled(NamedTuple):
    """An array, or what becomes one, and the labels of those of its axes that have some."""

    values: Any
    labels: dict[int, Labels]


def unpack(given: Any, dims: tuple[str, ...] | None) -> Labelled:
    """Take labels from what holds some, and put NaN where a mask or pandas says "missing".

    An xarray object with the declared dims has its axes put in their order.
    """
    if isinstance(given, Labelled):
        return given
    package = type(given).__module__.partition(".")[0]
    if package == "pandas":
        return _from_pandas(given)
    if package == "xarray":
        is_array = type(given).__name__ == "DataArray"
        return _from_xarray(given, dims) if is_array else Labelled(given, {})
    if isinstance(given, Mapping):
        return Labelled(_filled(list(given.values())), {0: Labels(as_labels(list(given)))})
    return Labelled(_filled(given), {})


def as_labels(index: Any) -> Array:
    """Return labels as an array of numbers, truth values, dates or text.

    Objects that all are numbers become numbers, so that they are equal to those of another frame
    whose column has a type of its own.
    """
    if isinstance(index, list) and any(isinstance(label, tuple) for label in index):
        return np.array([str(label) for label in index])  # as of an index with levels
    labels = as_dates(np.asarray(index))
    if labels.dtype != object:
        return labels
    for kinds, types in (((int, np.integer), "iu"), ((int, float, np.number), "iuf")):
        if labels.size and all(isinstance(v, kinds) and not isinstance(v, bool) for v in labels):
            plain = np.array(labels.tolist())
            if plain.dtype.kind in types:
                return plain
    if labels.size and all(isinstance(v, bool | np.bool_) for v in labels):
        return labels.astype(bool)
    return np.array([str(label) for label in labels])


def as_dates(labels: Array) -> Array:
    """Return dates and durations that are Python objects as NumPy's; others as they are."""
    if labels.dtype != object or labels.ndim != 1 or not labels.size:
        return labels
    for kind, unit in ((dt.datetime, "datetime64[us]"), (dt.date, "datetime64[D]"),
                       (dt.timedelta, "timedelta64[us]")):  # fmt: skip
        if all(isinstance(v, kind) and getattr(v, "tzinfo", None) is None for v in labels):
            exact = all(hasattr(v, "asm8") for v in labels)  # pandas' own
            return np.array([v.asm8 for v in labels]) if exact else labels.astype(unit)
    return labels


def same_labels(first: Array, second: Array) -> bool:
    """Whether two axes have the same labels in the same order; missing ones equal each other."""
    first, second = as_labels(first), as_labels(second)
    kinds = [labels.dtype.kind for labels in (first, second)]
    if kinds[0] != kinds[1] and not set(kinds) <= set("iuf") and not set(kinds) <= set("US"):
        return False
    return np.array_equal(first, second, equal_nan=bool(set(kinds) <= set("iufmM")))


def is_missing(value: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, pandas' NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def _filled(value: Any) -> Any:
    """Replace what is masked, also inside of lists, by NaN."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value) and value.dtype.kind in "biuf":
            return np.ma.filled(value.astype(np.float64), np.nan)
        return value.data
    if isinstance(value, list | tuple):
        held = any(isinstance(item, np.ma.MaskedArray | list | tuple) for item in value)
        return [_filled(item) for item in value] if held else value
    return value


def _from_pandas(given: Any) -> Labelled:
    import pandas as pd

    if isinstance(given, pd.DataFrame):
        labels = {0: _pandas_labels(given.index), 1: Labels(as_labels(given.columns))}
        if all(isinstance(dtype, np.dtype) for dtype in given.dtypes) or given.empty:
            return Labelled(_numbers(given.to_numpy(), given.dtypes), labels)
        columns = [_column(given.iloc[:, i]) for i in range(given.shape[1])]
        return Labelled(np.stack(columns, axis=1), labels)
    if isinstance(given, pd.Series):
        return Labelled(_column(given), {0: _pandas_labels(given.index)})
    if isinstance(given, pd.Index | pd.api.extensions.ExtensionArray):
        return Labelled(_column(pd.Series(given)), {})
    return Labelled(given, {})


def _pandas_labels(index: Any) -> Labels:
    values = as_labels(index)
    counts = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return Labels(values, not counts and _names_all(index))


def _numbers(values: Array, dtypes: Any) -> Array:
    """Columns of numbers and truth values together are an array of objects in pandas."""
    mixed = values.dtype == object and all(dtype.kind in "biuf" for dtype in dtypes)
    return values.astype(float) if mixed else values


def _column(series: Any) -> Array:
    """Values of a series, NaN where it says NA; pandas' own types of numbers become NumPy's."""
    kind = getattr(series.dtype, "kind", "O")
    if isinstance(series.dtype, np.dtype) or kind not in "biuf":
        return np.asarray(series.to_numpy())
    if series.isna().any():
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    plain = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}[kind]
    return np.asarray(series.to_numpy(dtype=plain))


def _from_xarray(given: Any, dims: tuple[str, ...] | None) -> Labelled:
    """Axes are put in declared order by name, where the names are the declared ones."""
    if dims and set(given.dims) == set(dims):
        given = given.transpose(*dims)
    labels = {
        axis: Labels(as_labels(given.indexes[dim]), _names_all(given.indexes[dim]))
        for axis, dim in enumerate(given.dims)
        if dim in given.indexes
    }
    return Labelled(given.values, labels)


def _names_all(index: Any) -> bool:
    """Whether an index of pandas has one label for each element, none of them missing."""
    return bool(index.is_unique and (index.nlevels > 1 or not index.hasnans))
