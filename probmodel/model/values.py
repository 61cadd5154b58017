"""Turning what people pass as data into checked arrays with labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from probmodel.errors import DataError, ModelError
from probmodel.model.containers import Labelled, Labels, unpack
from probmodel.model.declarations import Data, Declaration, Observed
from probmodel.model.refusals import boxed, filled_objects, what_came
from probmodel.types import Array


def read_value(declaration: Declaration, given: Any) -> Labelled:
    """Return a datum as an array, taking labels from pandas, xarray and dict.

    Raises a `DataError` if the value is not numeric or not finite, observed data are empty, or
    labels repeat, and a `ShapeError` if it has the wrong number of axes.
    """
    value, labels = unpack(given, declaration.dims)
    try:
        array = filled_objects(np.asarray(value))
    except ValueError as error:
        raise declaration.data_error(
            f"{declaration.title} is a ragged list: its rows differ in length. "
            f"{_expected(declaration)}",
            name=declaration.name,
        ) from error
    except (TypeError, RuntimeError, ModelError) as error:
        raise _not_numeric(declaration, boxed(value)) from error
    if array.dtype.kind not in "biuf":
        raise _not_numeric(declaration, array)
    array = _plain_floats(array)
    _check_finite(declaration, array)
    _check_rank(declaration, array)
    _check_labels(declaration, labels)
    return Labelled(_convert(declaration, array), labels)


def _check_labels(declaration: Declaration, labels: Mapping[int, Labels]) -> None:
    """Refuse labels that name the elements in the result and repeat, such as those of columns."""
    for axis, (values, named) in labels.items():
        several, counts = np.unique(values, return_counts=True)
        repeated = several[counts > 1].tolist()
        if named and repeated and declaration.dims:
            raise declaration.data_error(
                f"{declaration.title} has the labels {', '.join(map(repr, repeated))} more than "
                f"once along its dim {declaration.dims[axis]!r}; labels must differ. Rename or "
                "drop some.",
                name=declaration.name,
                labels=repeated,
            )


def _not_numeric(declaration: Declaration, array: Array) -> DataError:
    found, advice = what_came(array)
    return declaration.data_error(
        f"{declaration.title} must be numeric; got {found}. {advice}",
        name=declaration.name,
        dtype=array.dtype,
    )


def _plain_floats(array: Array) -> Array:
    """Floats in the one width that everything is computed in; too large ones are infinite there."""
    with np.errstate(over="ignore"):
        return array.astype(np.float64) if array.dtype.kind == "f" else array


def _check_finite(declaration: Declaration, array: Array) -> None:
    if array.size == 0 and not (isinstance(declaration, Data) and declaration.dims):
        unknown = isinstance(declaration, Observed)
        remedy = " Leave it out where nothing was observed, as for prior_predictive." * unknown
        raise declaration.data_error(
            f"{declaration.title} is empty (shape {array.shape}). {_expected(declaration)}{remedy}",
            name=declaration.name,
            shape=array.shape,
        )
    imputed = isinstance(declaration, Observed) and declaration.missing == "impute"
    bad = np.isinf(array) if imputed else ~np.isfinite(array) & ~_meant(declaration, array)
    if bad.any():
        found = "infinite" if imputed else "NaN or infinite"
        counts = " (None and what is masked count as NaN)" if np.isnan(array[bad]).any() else ""
        raise declaration.data_error(
            f"{declaration.title} has {int(bad.sum())} values that are {found}, the first "
            f"at {where(bad)}{counts}. {_without(declaration, array[bad])}",
            name=declaration.name,
            count=int(bad.sum()),
        )


def _without(declaration: Declaration, bad: Array) -> str:
    """Say what to do about values that are NaN or infinite."""
    infinite = np.isinf(bad)
    if not isinstance(declaration, Observed):
        also = " Where infinity is meant, declare data(upper=np.inf), or lower=-np.inf."
        return "Remove or impute them before binding." + (also if infinite.any() else "")
    advice = [] if infinite.all() else [declaration.without_missing]
    if infinite.any():
        nan = "; where a value is missing, give NaN" if declaration.can_be_imputed else ""
        also = ' and declare observed(..., missing="impute")' if declaration.missing is None else ""
        advice.append(f"Remove what is infinite{nan}{also if nan else ''}.")
    return " ".join(advice)


def _meant(declaration: Declaration, array: Array) -> Array:
    """Which elements are an infinity that a datum's bounds, which are inclusive, name."""
    found = np.zeros(array.shape, dtype=bool)
    if isinstance(declaration, Data):
        for bound in (declaration.lower, declaration.upper):
            if isinstance(bound, float) and np.isinf(bound):
                found |= array == bound
    return found


def _check_rank(declaration: Declaration, array: Array) -> None:
    dims = declaration.dims
    if dims is None:
        if isinstance(declaration, Data) and array.ndim > 0:
            raise declaration.shape_error(
                f"{declaration.title} is declared without dims, so a single number was expected; "
                f"got shape {array.shape}. Declare its axes, such as data(dims='obs').",
                name=declaration.name,
                shape=array.shape,
            )
        return
    if array.ndim != len(dims):
        hint = ""
        if array.ndim == len(dims) + 1 and 1 in array.shape:
            axis = array.shape.index(1)
            hint = f" Drop the axis of length 1: np.squeeze({declaration.name}, axis={axis})."
        raise declaration.shape_error(
            f"{declaration.title} has dims {', '.join(dims)}, so {len(dims)} axes were expected; "
            f"got shape {array.shape}.{hint}",
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
    wanted = "0 or 1" if dtype is bool else "whole numbers"
    if not bad.any():  # then those that 64 bits cannot hold
        bad = _beyond_64_bits(array)
        wanted = "whole numbers below 2**63, which a float datum may exceed"
    if bad.any():
        raise declaration.data_error(
            f"{declaration.title} must hold {wanted}; got {array[bad].flat[0]:g} at {where(bad)}.",
            name=declaration.name,
            count=int(bad.sum()),
        )
    return array.astype(np.bool_ if dtype is bool else np.int64)


def _beyond_64_bits(array: Array) -> Array:
    """Which numbers are no integers of 64 bits, as far as their type allows that."""
    if array.dtype.kind == "f":
        return (array >= 2.0**63) | (array < -(2.0**63))
    return array >= np.uint64(2**63) if array.dtype.kind == "u" else np.zeros(array.shape, bool)


def check_bounds(declaration: Data, values: Array, lower: Any, upper: Any) -> None:
    """Raise a `DataError` naming the first element outside the declared bounds."""
    for bound, name, outside in ((lower, "lower", np.less), (upper, "upper", np.greater)):
        if bound is None:
            continue
        bad = outside(values, bound)
        if np.any(bad):
            limit = np.broadcast_to(bound, np.shape(bad))[bad].flat[0]
            raise declaration.data_error(
                f"{declaration.title} has {name}={limit:g}; got "
                f"{np.asarray(values)[bad].flat[0]:g} at {where(bad)}.",
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
