"""Whether elements of a fit are what the elements of a model are that they are matched to.

The values of a process belong to the points that it was bound to, weights of basis functions to
their box, effects of a graph to its edges. A result holds the data of its model: bound to these
again, the model tells what its elements stood for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from probmodel.errors import DataError, ProbmodelError
from probmodel.expressions import as_expression
from probmodel.model.binding import Binding, bind
from probmodel.model.declarations import Data, Observed
from probmodel.model.parameters import FreeParameter
from probmodel.predictive.matching import matched
from probmodel.results.arviz_object import groups_of
from probmodel.types import Array

_TOLERANCE = 1e-9  # relative; data may have been computed anew


class Anchors:
    """Compares what data say of the elements of parameters, in a fit and in a model.

    Parameters
    ----------
    binding : of the model
    result : the fit
    """

    def __init__(self, binding: Binding, result: Any) -> None:
        self._binding = binding
        self._result = result
        self._old: Binding | None = None
        self._looked = False

    def check(self, free: FreeParameter, places: Sequence[Array], dims: Sequence[str]) -> None:
        """Refuse elements of a parameter that are matched although data say that they are others.

        ``places`` has, along each axis, the place in the fit of each element, -1 for new ones.
        Raises a `DataError` if they differ; nothing is raised where the fit does not hold its data.
        """
        prior = free.declaration.prior
        if prior is None or not (anchors := prior.anchors()):
            return
        old = self.fitted()
        if old is None:
            return
        start = len(free.shape) - prior.event_ndim
        for name, (given, along) in anchors.items():
            expression = as_expression(given)
            before, now = old.evaluator.value(expression), self._binding.evaluator.value(expression)
            axes = [None if axis is None else start + axis for axis in along]
            if _is_by_edges(before, now, axes, places):  # compared as a whole
                axes = [None] * len(axes)
            for k, axis in enumerate(axes):
                if axis is not None:
                    before, now = matched(before, now, k, places[axis])
            if not same(before, now):
                raise _moved(free, name, [dims[axis] for axis in axes if axis is not None])

    def fitted(self) -> Binding | None:
        """Bind the model to the data of the fit; None if they are not there."""
        if not self._looked:
            self._looked = True
            self._old = _bound_again(self._binding, self._result)
        return self._old


def _is_by_edges(
    before: Array, now: Array, axes: Sequence[int | None], places: Sequence[Array]
) -> bool:
    """Whether data that may run twice along an axis of elements, as a matrix, are lists instead."""
    if len(axes) != 2 or axes[0] is None or axes[0] != axes[1]:
        return False
    place = places[axes[0]]
    return now.shape != 2 * place.shape or min(before.shape) <= np.max(place, initial=-1)


def _bound_again(binding: Binding, result: Any) -> Binding | None:
    declared = binding.declarations
    values: dict[str, Array] = {}
    labels: dict[str, Array] = {}
    dims = {dim for d in declared.values() for dim in d.dims or ()}
    groups = groups_of(result, "posterior", "constant_data", "observed_data")
    for name, found in groups.items():
        labels |= {str(d): c.values for d, c in found.coords.items() if d in dims and c.ndim == 1}
        if name != "posterior":
            values |= {
                str(key): array.values
                for key, array in found.data_vars.items()
                if isinstance(declared.get(str(key)), Data | Observed)
            }
    try:
        return bind(binding.name, declared, values, labels)
    except ProbmodelError:
        return None


def other_data(binding: Binding, result: Any, names: Iterable[str]) -> list[str]:
    """Return which of some data of a model differ from those that a fit holds."""
    known = groups_of(result, "observed_data", "constant_data").values()
    old = {str(key): array.values for found in known for key, array in found.data_vars.items()}
    both = [name for name in names if name in old and name in binding.data]
    return [name for name in both if not same(old[name], binding.data[name])]


def same(before: Array, now: Array, size: float = 0.0) -> bool:
    """Whether two arrays of data are the same, up to how they were computed.

    Missing elements are the same, and infinite ones of one sign. What is computed from numbers of a
    given size has their rounding.
    """
    if before.shape != now.shape:
        return False
    size = max(size, float(np.max(np.abs(now), initial=0.0, where=np.isfinite(now))))
    return bool(np.allclose(before, now, rtol=_TOLERANCE, atol=_TOLERANCE * size, equal_nan=True))


def _moved(free: FreeParameter, name: str, dims: list[str]) -> DataError:
    prior = free.declaration.prior
    assert prior is not None
    advice = (
        f"Where elements are new, give them labels along {dims[0]!r} that the fit does not know: "
        f"coords={{{dims[0]!r}: ...}}."
        if dims
        else "Bind them to the same data as the fit, and pass new places as data of their own: a "
        "HilbertSpaceGP has basis(new_points) for these, within its box."
    )
    return free.declaration.data_error(
        f"{free.declaration.title}: the {name} of its {prior.name} differ from those of the fit, "
        f"so that the values of the fit belong to something else. {advice}",
        name=free.name,
        argument=name,
    )
