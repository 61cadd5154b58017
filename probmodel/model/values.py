"""Turning what people pass as data into checked arrays with labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import DataError, ShapeError
from probmodel.model.declarations import Data, Declaration, Observed
from probmodel.types import Array


class Labelled(NamedTuple):
    """An array and the labels of those of its axes that have some, by axis number."""

    values: Array
    labels: dict[int, Array]


def read_value(declaration: Declaration, given: Any) -> Labelled:
    """Return a datum as an array, taking labels from pandas, xarray and dict.

    Raises
    ------
    DataError
        If the value is not numeric, is empty, or is not finite.
    ShapeError
        If it has the wrong number of axes.
    """
    value, labels = _unpack(declaration, given)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise DataError(
            f"{declaration.title} is a ragged list: its rows differ in length. "
            f"{_expected(declaration)}",
            location=declaration.location,
            name=declaration.name,
        ) from error
    _check_numeric(declaration, array)
    _check_rank(declaration, array)
    return Labelled(_convert(declaration, array), labels)


def _unpack(declaration: Declaration, given: Any) -> tuple[Any, dict[int, Array]]:
    if isinstance(given, Labelled):
        return given.values, given.labels
    package = type(given).__module__.partition(".")[0]
    if package == "pandas":
        return _from_pandas(given)
    if package == "xarray":
        return _from_xarray(declaration, given)
    if isinstance(given, Mapping):
        return list(given.values()), {0: np.asarray(list(given))}
    return given, {}


def _from_pandas(given: Any) -> tuple[Any, dict[int, Array]]:
    """Columns are labels; so is the index, unless it is the default count from zero."""
    labels = {}
    if type(given.index).__name__ != "RangeIndex":
        labels[0] = _label_array(given.index)
    if hasattr(given, "columns"):
        labels[1] = _label_array(given.columns)
    values = given.to_numpy()
    if (
        values.dtype == object
        and np.ndim(values) == 2
        and all(np.dtype(t).kind in "biuf" for t in given.dtypes if isinstance(t, np.dtype))
    ):
        values = values.astype(float)
    return values, labels


def _label_array(index: Any) -> Array:
    labels = np.asarray(index)
    return labels.astype(str) if labels.dtype == object else labels


def _from_xarray(declaration: Declaration, given: Any) -> tuple[Any, dict[int, Array]]:
    """Axes are put in declared order by name, where the names are the declared ones."""
    if declaration.dims and set(given.dims) == set(declaration.dims):
        given = given.transpose(*declaration.dims)
    labels = {
        axis: _label_array(given.coords[dim].values)
        for axis, dim in enumerate(given.dims)
        if dim in given.coords
    }
    return given.values, labels


def _check_numeric(declaration: Declaration, array: Array) -> None:
    if array.dtype.kind not in "biuf":
        found = "text" if array.dtype.kind in "US" else f"dtype {array.dtype}"
        raise DataError(
            f"{declaration.title} must be numeric; got {found}. "
            "Code categories as integers 0, 1, ... (np.unique(x, return_inverse=True)).",
            location=declaration.location,
            name=declaration.name,
            dtype=array.dtype,
        )
    if array.size == 0:
        raise DataError(
            f"{declaration.title} is empty (shape {array.shape}). {_expected(declaration)}",
            location=declaration.location,
            name=declaration.name,
            shape=array.shape,
        )
    imputed = isinstance(declaration, Observed) and declaration.missing == "impute"
    bad = np.isinf(array) if imputed else ~np.isfinite(array)
    if bad.any():
        advice = (
            'Remove them, or declare observed(..., missing="impute") to infer those that are NaN.'
            if isinstance(declaration, Observed)
            else "Remove or impute them before binding."
        )
        raise DataError(
            f"{declaration.title} has {int(bad.sum())} values that are NaN or infinite, the first "
            f"at {where(bad)}. {advice}",
            location=declaration.location,
            name=declaration.name,
            count=int(bad.sum()),
        )


def _check_rank(declaration: Declaration, array: Array) -> None:
    dims = declaration.dims
    if dims is None:
        if isinstance(declaration, Data) and array.ndim > 0:
            raise ShapeError(
                f"{declaration.title} is declared without dims, so a single number was expected; "
                f"got shape {array.shape}. Declare its axes, such as data(dims='obs').",
                location=declaration.location,
                name=declaration.name,
                shape=array.shape,
            )
        return
    if array.ndim != len(dims):
        hint = ""
        if array.ndim == len(dims) + 1 and 1 in array.shape:
            hint = f" Drop the axis of length 1: {declaration.name}.reshape(-1)."
        raise ShapeError(
            f"{declaration.title} has dims {', '.join(dims)}, so {len(dims)} axes were expected; "
            f"got shape {array.shape}.{hint}",
            location=declaration.location,
            name=declaration.name,
            shape=array.shape,
        )


def _convert(declaration: Declaration, array: Array) -> Array:
    discrete = isinstance(declaration, Observed) and declaration.distribution.discrete
    dtype = declaration.dtype if isinstance(declaration, Data) else (int if discrete else float)
    if dtype is float:
        return array.astype(np.float64)
    bad = array != np.round(array)
    if dtype is bool:
        bad |= (array != 0) & (array != 1)
    if bad.any():
        wanted = "0 or 1" if dtype is bool else "whole numbers"
        raise DataError(
            f"{declaration.title} must hold {wanted}; got {array[bad].flat[0]:g} at {where(bad)}.",
            location=declaration.location,
            name=declaration.name,
            count=int(bad.sum()),
        )
    return array.astype(np.bool_ if dtype is bool else np.int64)


def check_bounds(declaration: Data, values: Array, lower: Any, upper: Any) -> None:
    """Raise a `DataError` naming the first element outside the declared bounds."""
    for bound, name, outside in (
        (lower, "lower", np.less),
        (upper, "upper", np.greater),
    ):
        if bound is None:
            continue
        bad = outside(values, bound)
        if np.any(bad):
            limit = np.broadcast_to(bound, np.shape(bad))[bad].flat[0]
            raise DataError(
                f"{declaration.title} has {name}={limit:g}; got "
                f"{np.asarray(values)[bad].flat[0]:g} at {where(bad)}.",
                location=declaration.location,
                name=declaration.name,
                bound=name,
            )


def where(bad: Array) -> str:
    """Return the first True of a mask as an index in words: ``[3, 0]``."""
    if np.ndim(bad) == 0:
        return "its only value"
    return "[" + ", ".join(str(int(i[0])) for i in np.nonzero(bad)) + "]"


def _expected(declaration: Declaration) -> str:
    dims = declaration.dims
    return f"Expected an array with dims {', '.join(dims)}." if dims else "Expected a number."
