"""Which elements of a fit are which elements of a model: by label, or by position without any."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from probmodel.errors import DataError
from probmodel.model.calendars import calendars, read_times
from probmodel.model.parameters import FreeParameter
from probmodel.results.draws import plain_labels
from probmodel.types import Array, Variable

if TYPE_CHECKING:
    import xarray as xr

_KINDS = {"b": "booleans", "M": "dates", "m": "durations"} | dict.fromkeys("iuf", "numbers")


def find_places(
    free: FreeParameter, variable: Variable, values: xr.DataArray, labelled: Collection[str] = ()
) -> list[Array]:
    """Return where along each axis of the fit the elements of a parameter are; -1 for new ones.

    ``variable`` has its dims and labels, ``values`` its draws in the fit, (chain, draw, ...). Of
    the dims ``labelled`` it is known that they were given labels there. Raises a `DataError` if it
    is not known which element is which.
    """
    own = values.dims[2:]
    return [
        _along(
            free,
            dim,
            size,
            variable.coords.get(dim),
            old_labels(values, axis),
            own[axis] in labelled,
        )
        for axis, (dim, size) in enumerate(zip(variable.dims, free.shape, strict=True))
    ]


def old_labels(values: xr.DataArray, axis: int) -> Array:
    """Labels of a fit along an axis behind chain and draw; counts from 0 where it has none."""
    own, count = values.dims[2 + axis], values.shape[2 + axis]
    return plain_labels(values.coords[own].values) if own in values.coords else np.arange(count)


def _along(
    free: FreeParameter, dim: str, size: int, labels: Array | None, old: Array, given_labels: bool
) -> Array:
    count = len(old)
    numbered = kind_of(old) == "numbers" and np.array_equal(old, np.arange(count))
    if labels is not None:
        labels = plain_labels(labels)
        given, known = kind_of(labels), kind_of(old)
        places = find_labels(labels, old)
        if numbered and not given_labels and (places < 0).all():
            raise _mismatch(
                free,
                f"has labels along {dim!r} here that the fit lacks, which has none or 0 to "
                f"{count - 1}",
                f"Give both models coords={{{dim!r}: ...}} with the same labels.", labels,
            )  # fmt: skip
        if given != known:
            raise _mismatch(
                free, f"has labels along {dim!r} that are {given} here and {known} in the fit",
                f"Pass coords={{{dim!r}: [...]}} with {known}.", labels,
            )  # fmt: skip
        return places
    if not numbered:
        raise _mismatch(
            free, f"has labels along {dim!r} in the fit and none here",
            f"Pass coords={{{dim!r}: [...]}} with the labels in the new order.", old,
        )  # fmt: skip
    if count != size:
        raise _mismatch(
            free, f"has {count} elements along {dim!r} in the fit and {size} here, without labels",
            f"Pass coords={{{dim!r}: [...]}} with 0 to {count - 1} for those of the fit.", old,
        )  # fmt: skip
    return np.arange(size)


def kind_of(labels: Array) -> str:
    """Say of which type labels are: numbers, dates, text and so on."""
    return _KINDS.get(labels.dtype.kind, "text")


def find_labels(labels: Array, known: Array) -> Array:
    """Position of each label among the known ones, -1 where it is none of them."""
    labels, known = plain_labels(labels), plain_labels(known)
    if kind_of(labels) != kind_of(known):
        return np.full(len(labels), -1)
    order = np.argsort(known, kind="stable")
    ranks = np.minimum(np.searchsorted(known[order], labels), len(known) - 1)
    found = order[ranks]
    return np.where(known[found] == labels, found, -1)


def matched(before: Array, now: Array, axis: int, place: Array) -> tuple[Array, Array]:
    """Take those elements of two arrays along an axis that are the same; ``place`` as found."""
    known = place >= 0
    return np.take(before, place[known], axis=axis), np.compress(known, now, axis=axis)


def all_known(places: Sequence[Array]) -> Array:
    """Tell which elements of an array are known along all of its axes."""
    known = np.ones((), dtype=bool)
    for place in places:
        known = known[..., None] & (place >= 0)
    return known


def _mismatch(free: FreeParameter, what: str, advice: str, labels: Array) -> DataError:
    return free.declaration.data_error(
        f"{free.declaration.title} {what}, so it is not known which element is which. {advice}",
        name=free.name,
        labels=labels,
    )


def check_times(
    free: FreeParameter, dim: str, place: Array, labels: Array | None, old: Array
) -> None:
    """Refuse new elements of a series that are not whole steps before or after those of the fit.

    They are along ``dim`` of a parameter; ``place`` has the place in the fit of each, -1 for new
    ones. Raises a `DataError` if those of the fit do not follow each other as there, or new labels
    are not as far from their neighbours as those of the fit, ``old``, are, in any calendar that
    these follow.
    """
    known = np.flatnonzero(place >= 0)
    if known.size == place.size:
        return
    if not (np.array_equal(place[known], np.arange(len(old))) and (np.diff(known) == 1).all()):
        raise _untimely(
            free, dim, "the times of the fit do not follow each other here as they do there. "
            "Neighbours are one step apart: keep them together and in their order"
        )  # fmt: skip
    before, now = read_times(old), None if labels is None else read_times(labels)
    if before is None or now is None:
        return
    followed = calendars(before)
    new = (place[1:] < 0) | (place[:-1] < 0)
    if followed and not any(calendar.goes_on(now, new) for calendar in followed):
        raise _untimely(
            free, dim, "the labels of the fit are evenly spaced, by the clock or the calendar, and "
            "those here are not, or not with the same step. Leave out no time between"
        )  # fmt: skip


def _untimely(free: FreeParameter, dim: str, what: str) -> DataError:
    return free.declaration.data_error(
        f"{free.declaration.title}: new elements along {dim!r} are steps of a series, and {what}.",
        name=free.name,
        dim=dim,
    )
