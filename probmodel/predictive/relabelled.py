"""Data of a fit beside new data that bring other labels: what is kept follows its labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from probmodel.errors import DataError
from probmodel.model.binding import Binding
from probmodel.model.columns import listed
from probmodel.model.containers import as_labels, same_labels, unpack
from probmodel.model.data_warnings import warn_of_data
from probmodel.model.declarations import Declaration
from probmodel.predictive.label_forms import alike, taken_as_new
from probmodel.predictive.matching import find_labels, kind_of
from probmodel.types import Array

_SHOWN = 5  # labels that a message lists


def new_labels(
    binding: Binding, given: Mapping[str, Any], coords: Mapping[str, Any]
) -> dict[str, Array]:
    """Return labels by dim, of those that new data and ``coords`` bring; the latter come first."""
    found: dict[str, Array] = {}
    for name, value in given.items():
        declared = binding.declarations.get(name)
        dims = (declared.dims if declared is not None else None) or ()
        for axis, own in unpack(value, dims or None).labels.items():
            if own.named and axis < len(dims):
                found[dims[axis]] = own.values
    return {**found, **{dim: as_labels(labels) for dim, labels in coords.items()}}


def column_labels(binding: Binding, table: Any, given: Mapping[str, Any]) -> dict[str, Array]:
    """Return labels by dim, of those that the columns of a frame bring for matrices.

    ``given`` are lists of columns by datum, where these are not named ``X.age``, ``X.dose``.
    """
    found: dict[str, Array] = {}
    for name, declared in binding.declarations.items():
        members = [c for c in table.columns if str(c).startswith(f"{name}.")]
        columns = given.get(name, members)
        if len(declared.dims or ()) == 2 and isinstance(columns, list | tuple) and columns:
            found[(declared.dims or ())[1]] = as_labels(
                [str(column).removeprefix(f"{name}.") for column in columns]
            )
    return found


def relabelled(
    binding: Binding,
    kept: Mapping[str, Array],
    labels: Mapping[str, Array],
    counted: Mapping[str, str],
) -> dict[str, Array]:
    """Return data of a fit in the order of new labels, and groups as they are numbered there.

    ``kept`` are data of the fit that stay, and ``counted`` those that number the elements of a dim,
    which they have; ``labels`` are by dim. Raises a `DataError` if the fit does not know some of
    the labels, or these lack groups of the fit.
    """
    found = {}
    for name, values in kept.items():
        declared = binding.declarations[name]
        for axis, dim in enumerate(binding.dimensions.names(declared, values.shape)):
            place = _places(binding, labels, dim)
            if place is not None:
                _check(declared, dim, labels[dim], place)
                values = np.take(values, place, axis=axis)
        dim = counted.get(name, "")
        if _places(binding, labels, dim) is not None:
            old = binding.labels[dim][values]
            place = find_labels(old.ravel(), labels[dim])
            _check(declared, dim, old.ravel(), place)
            values = place.reshape(values.shape)
        found[name] = values
    return found


def with_new_groups(
    table: Any, columns: Iterable[str], dim: str, labels: Array, new_groups: str
) -> Array:
    """Return the labels of a dim of groups, and behind them those that a frame has besides.

    Those that look like labels of the fit without a row in the frame have a warning.
    """
    of_fit = labels
    for column in columns:
        found = as_labels(table[column].dropna().unique())
        new = found[find_labels(found, labels) < 0]
        if not len(new) or kind_of(new) != kind_of(labels):  # others are refused when it is read
            continue
        if new_groups == "error":
            raise DataError(
                f"the column {column!r} has {listed(new)}, which the labels of the dim {dim!r} "
                "lack: the fit does not know them. Say what becomes of new groups: predict(..., "
                'new_groups="draw") draws their elements given the other parameters, '
                'new_groups="zero" sets them to the centre of their population.',
                column=column,
                labels=new.tolist(),
            )
        looks, like = alike(found, of_fit)
        if looks:
            warn_of_data(taken_as_new(dim, looks, like))
        labels = np.concatenate([labels, new])
    return labels


def _places(binding: Binding, labels: Mapping[str, Array], dim: str) -> Array | None:
    """Return where in the fit the elements along a dim are; None if its labels stay."""
    old = binding.labels.get(dim)
    if old is None or dim not in labels or same_labels(old, labels[dim]):
        return None
    return find_labels(labels[dim], old)


def _check(declared: Declaration, dim: str, labels: Array, place: Array) -> None:
    lost = list(dict.fromkeys(map(str, labels[place < 0])))
    if lost:
        raise declared.data_error(
            f"{declared.title} is not among the new data, and those of the fit do not go with the "
            f"new labels of {dim!r}: it is not known what becomes of {', '.join(lost[:_SHOWN])}"
            f"{', ...' * (len(lost) > _SHOWN)}. Give {declared.name} too.",
            name=declared.name,
            dim=dim,
        )
