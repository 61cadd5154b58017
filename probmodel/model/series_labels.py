"""Whether labels along the axes of series are in the order of time, without gaps.

A series takes its elements as equal steps in time, in the order in which they stand, whatever their
labels say. Labels that are names are left alone. Those that are times, by `calendars.read_times`,

- must increase, or stay the same: else the binding is refused;
- should have no gap, where they follow a calendar: all steps but a tenth are the same number of
  seconds, days, business days or months, or all but one of five or more. A step is a gap from one
  and a half times the usual step on. Business days may be holidays: up to five may be missing.

Times that follow no calendar are irregular by design: there the labels are an order, nothing more.

Recurrences in formulas, such as `linear_recurrence` and `np.cumsum`, may run backwards in time, or
along what is no time. Where their labels are not in order, there is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.expressions import Apply, to_text, topological
from probmodel.model.axes import namer
from probmodel.model.binding import Binding
from probmodel.model.calendars import Times, calendars, read_times
from probmodel.model.data_warnings import warn_of_data
from probmodel.model.declarations import Declaration, Observed, Parameter, expressions_of
from probmodel.model.density_calls import distribution_of
from probmodel.model.recurrence_axes import RECURRENCES, dim_of, runs
from probmodel.types import Array

_IN_ORDER = (
    "Bring the data into the order of time, as x.sort_index() does in pandas. If they are in that "
    "order as they stand, the labels are no times: leave them out, as x.to_numpy() or "
    "x.reset_index(drop=True) do."
)


class _Axis(NamedTuple):
    """An axis: its dim, if that is known, and its labels, if it has some."""

    dim: str | None
    labels: Array | None

    @property
    def times(self) -> Times | None:
        return None if self.labels is None else read_times(self.labels)

    @property
    def title(self) -> str:
        return "its axis of time" if self.dim is None else repr(self.dim)


class _Series(NamedTuple):
    """A distribution of series, the axes of its values, and which of them is that of time."""

    declaration: Declaration
    distribution: Distribution
    axes: list[_Axis]
    place: int

    @property
    def run(self) -> str:
        """What its steps run along, for messages."""
        name, title = self.distribution.name, self.axes[self.place].title
        return f"{self.declaration.title}: the steps of {name} run along {title}"


def check_series_labels(binding: Binding) -> None:
    """Refuse labels of series that are out of order; warn of gaps, and of axes that look swapped.

    Raises a `DataError` if labels along an axis of time are times that do not increase.
    """
    warned: set[str | None] = set()
    for series in _all_series(binding):
        axis = series.axes[series.place]
        dated = next((a for a in series.axes if a.times and a.times.dates is not None), None)
        times = axis.times
        if times is not None:
            _check_order(series, times, dated)
        if axis.dim in warned and axis.dim is not None:
            continue
        what = _gap(series, times) if times is not None else _swapped(series, dated)
        if what:
            warned.add(axis.dim)
            warn_of_data(what)


def check_recurrence_labels(binding: Binding) -> None:
    """Warn of recurrences along labels that are times and do not increase."""
    dims_of, done, warned = None, set[int](), set[str]()
    for declaration in binding.declarations.values():
        for node in topological(expressions_of(declaration), done=done):
            if not isinstance(node, Apply) or node.operation.name not in RECURRENCES:
                continue
            dims_of = dims_of or namer(
                binding.declarations, binding.evaluator, binding.dimensions.sizes
            )
            dims = {dim_of(run, [dims_of]) for run in runs(node, binding.evaluator)}
            for dim in sorted(dim for dim in dims if dim is not None and dim not in warned):
                axis = _Axis(dim, binding.dimensions.labels(dim))
                fault = _out_of_order(axis, axis.times)
                if fault:
                    warned.add(dim)
                    warn_of_data(
                        f"{declaration.title}: {to_text(node, definition=True)} runs along "
                        f"{dim!r}, whose labels {fault}. {_IN_ORDER}"
                    )


def _all_series(binding: Binding) -> Iterator[_Series]:
    """Find distributions of series: of declarations, and of log densities in formulas."""
    dims_of, done = None, set[int]()
    for name, declaration in binding.declarations.items():
        own = _distribution(declaration)
        if own is not None and own.sequential:
            found = declaration.dims or declaration.axes or binding.found_dims[name]
            axes = _labelled(binding, found)
            for place, labels in binding.unnamed.get(name, {}).items():
                axes[place] = _Axis(axes[place].dim, labels.values)
            yield from _placed(declaration, own, axes)
        for node in topological(expressions_of(declaration), done=done):
            called = distribution_of(node)
            if isinstance(node, Apply) and called is not None and called.sequential:
                dims_of = dims_of or namer(
                    binding.declarations, binding.evaluator, binding.dimensions.sizes
                )
                yield from _placed(declaration, called, _labelled(binding, dims_of(node.args[0])))


def _labelled(binding: Binding, dims: Sequence[str | None]) -> list[_Axis]:
    return [_Axis(dim, binding.dimensions.labels(dim)) for dim in dims]


def _distribution(declaration: Declaration) -> Distribution | None:
    if isinstance(declaration, Observed):
        return declaration.distribution
    return declaration.prior if isinstance(declaration, Parameter) else None


def _placed(
    declaration: Declaration, distribution: Distribution, axes: list[_Axis]
) -> Iterator[_Series]:
    place = len(axes) - distribution.event_ndim
    if 0 <= place < len(axes):
        yield _Series(declaration, distribution, axes, place)


def _check_order(series: _Series, times: Times, dated: _Axis | None) -> None:
    """Refuse labels that do not increase."""
    axis = series.axes[series.place]
    fault = _out_of_order(axis, times)
    if not fault:
        return
    advice = _turned(series, dated) if dated is not None and times.dates is None else _IN_ORDER
    raise series.declaration.data_error(
        f"{series.run}, whose labels {fault}. {advice}",
        name=series.declaration.name,
        dim=axis.dim,
        labels=axis.labels,
    )


def _out_of_order(axis: _Axis, times: Times | None) -> str:
    """Say how labels that are times do not increase; nothing where they do, or are no times."""
    labels = axis.labels
    if labels is None or times is None:
        return ""
    steps = np.diff(times.instants)
    back = np.flatnonzero(steps < 0)
    if not back.size:
        return ""
    if (steps <= 0).all():
        return f"decrease, from {_shown(labels[0])} to {_shown(labels[-1])}"
    first = int(back[0]) + 1
    before, after = _shown(labels[first - 1]), _shown(labels[first])
    return f"are not in order: {after} comes after {before}, at [{first}]"


def _gap(series: _Series, times: Times) -> str:
    """Say where labels leave out times of their calendar; nothing where there is no gap."""
    gaps = min((calendar.gaps for calendar in calendars(times)), key=np.sum, default=None)
    labels = series.axes[series.place].labels
    if gaps is None or labels is None or not gaps.any():
        return ""
    places = np.flatnonzero(gaps)
    first = int(places[0])
    more = f" Such gaps: {len(places)}." if len(places) > 1 else ""
    return (
        f"{series.run}, whose labels are equal steps but for a gap between {_shown(labels[first])} "
        f"and {_shown(labels[first + 1])}, which counts as one step.{more} "
        f"{_filled(series.declaration)}"
    )


def _filled(declaration: Declaration) -> str:
    """Say how to give a series the times that its labels leave out."""
    if isinstance(declaration, Observed) and not declaration.can_be_imputed:
        return "Its values cannot be inferred where they are missing: give it times without a gap."
    data = (
        "Put in the labels that are left out, as x.reindex(...) does in pandas, with NaN for data "
        'that are missing, and declare these observed(..., missing="impute")'
    )
    if not isinstance(declaration, Parameter):
        return f"{data}."
    name = declaration.name
    return f"{data}; or give all labels as coords=, and use {name}[i] where data are at index i."


def _swapped(series: _Series, dated: _Axis | None) -> str:
    """Say that another axis than that of the steps has dates; nothing where that is not so."""
    axis = series.axes[series.place]
    if dated is None or axis.labels is None:
        return ""
    return f"{series.run}, whose labels are names. {_turned(series, dated)}"


def _turned(series: _Series, dated: _Axis) -> str:
    """Say how to put the axis with the dates where the steps run."""
    dims = [axis.dim for axis in series.axes]
    if None in dims:
        return "Another axis has dates. If the series go on along it, transpose the data."
    other = next(i for i, axis in enumerate(series.axes) if axis is dated)
    dims[other], dims[series.place] = dims[series.place], dims[other]
    written = ", ".join(repr(dim) for dim in dims)
    return (
        f"It is {dated.title} that has dates. If the series go on along it, declare "
        f"dims=({written}), and transpose the data."
    )


def _shown(label: object) -> str:
    """Return a label as text, dates without a time of day where it is midnight."""
    if isinstance(label, np.datetime64):
        for unit in ("D", "m", "s"):
            short = label.astype(f"datetime64[{unit}]")
            if short == label:
                return str(short)
    return str(label)
