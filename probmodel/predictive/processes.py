"""Observed processes at new points, given what was observed at others.

Mean and covariance of old and new values together follow from the declaration, bound to the points
of the fit and the new ones. A model that holds all of them is used as it is; else the data along
the dims of the process are put one after another, the old before the new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from probmodel.arguments import child
from probmodel.compiler.symbols import Symbol
from probmodel.density.forward_runs import Forward
from probmodel.distributions.base import Distribution
from probmodel.errors import DataError, ProbmodelError
from probmodel.expressions import Expression, as_expression, topological
from probmodel.model.binding import Binding, bind
from probmodel.model.declarations import Data, Declaration, Deterministic, Observed
from probmodel.model.model_graph import dependencies, reachable
from probmodel.predictive.anchors import same
from probmodel.predictive.fits import FromFit
from probmodel.predictive.given_points import (
    Places,
    check_old_points,
    given_old,
    given_part,
    refusal,
    without_noise,
)
from probmodel.predictive.matching import find_labels, matched
from probmodel.predictive.models import dims_of
from probmodel.types import Array


class Observations:
    """Draws observed processes at new points given what the fit observed.

    Parameters
    ----------
    binding : of the model that predicts, without what it observes
    parameters : the values of its parameters, from the fit
    seed : of what is drawn besides the run of the model
    noise : whether processes are drawn with their noise
    part : by name, data of which some elements are NaN: these are drawn given the others
    """

    def __init__(
        self,
        binding: Binding,
        parameters: FromFit,
        seed: np.random.SeedSequence,
        noise: bool = True,
        part: Mapping[str, Array] = MappingProxyType({}),
    ) -> None:
        self._noise = noise
        self._part = part
        self._binding = binding
        self._parameters = parameters
        self._seed = seed
        self.warnings: list[str] = []

    def __call__(self, forward: Forward, node: Observed) -> Symbol | None:
        """Return the values of one quantity; None if they do not depend on what was observed.

        Raises a `DataError` if elements of the fit are bound to other points than there, and a
        `ModelError` if new points cannot be predicted from the old ones.
        """
        part = self._part.get(str(node.name))
        if part is not None:
            return given_part(forward, node, part, self._parameters.rows)
        if not _is_process(node.distribution):
            return None
        noise = self._noise or not node.distribution.is_noisy
        old = self._parameters.anchors.fitted()
        if old is None or node.name not in old.data:
            self.warnings.append(
                f"predict: the fit does not hold the data of {node.title} and its points, so that "
                "its draws do not look at what was observed. Keep the groups observed_data and "
                "constant_data of the fit."
            )
            return None
        places = self._find(node, old)
        if places is None or (noise and not self._has_new_points(node, places)):
            return None if noise else self._replicate(forward, node)
        left = _left_out(node, old, places)
        if left:
            return forward.given(self._joined(node, old, places, left, noise))
        parameters = self._parameters.at(self._binding)
        check_old_points(node, old, self._binding, places, parameters)
        return given_old(forward, node, old, places, parameters.rows, noise)

    def _has_new_points(self, node: Observed, places: Places) -> bool:
        return any((p < 0).any() for p in places[-node.distribution.event_ndim :])

    def _replicate(self, forward: Forward, node: Observed) -> Symbol:
        """Draw a process without its noise, whatever was observed."""
        shape = self._binding.evaluator.shape(node)
        known = np.zeros(shape, dtype=bool)
        return without_noise(forward, node, np.zeros(shape), known, self._parameters.rows)

    def _find(self, node: Observed, old: Binding) -> Places | None:
        """Return the places of the elements in the fit; None if none of its rows are there."""
        names = dims_of(self._binding, str(node.name))
        shape, before = self._binding.evaluator.shape(node), old.data[str(node.name)].shape
        rows = len(shape) - node.distribution.event_ndim
        if len(before) != len(shape):
            return None
        marks = [d for d in _marks(node) if d.dims]
        shared = [d for d in marks if not set(d.dims or ()) & set(names[:rows])]
        moved = not all(self._is_same(d, old, {}) for d in shared)
        places = []
        for axis, (dim, n, size) in enumerate(zip(names, before, shape, strict=True)):
            labels = self._binding.dimensions.coords.get(dim)
            if labels is not None:
                places.append(find_labels(labels, old.dimensions.coords.get(dim, np.arange(n))))
            else:
                stays = n == size and not (moved and axis >= rows)
                places.append(np.arange(size) if stays else np.full(size, -1))
        found = dict(zip(names, places, strict=True))
        if any((p < 0).all() for p in places[:rows]):
            return None
        labelled = set(self._binding.dimensions.coords)
        for datum in marks:
            if labelled & set(datum.dims or ()) and not self._is_same(datum, old, found):
                raise _moved(node, datum)
        return places

    def _is_same(self, datum: Data, old: Binding, found: dict[str, Array]) -> bool:
        """Whether a datum is that of the fit, in those elements that are found."""
        before, now = old.data[str(datum.name)], self._binding.data[str(datum.name)]
        for axis, dim in enumerate(datum.dims or ()):
            place = found.get(dim)
            if place is None and found:
                place = self._other_places(dim, old, before.shape[axis], found.values())
            if place is not None and place.size == now.shape[axis]:
                before, now = matched(before, now, axis, place)
        return same(before, now)

    def _other_places(
        self, dim: str, old: Binding, size: int, found: Iterable[Array]
    ) -> Array | None:
        """Places along a dim that the process lacks, such as the second one of distances."""
        labels = self._binding.dimensions.coords.get(dim)
        if labels is not None:
            return find_labels(labels, old.dimensions.coords.get(dim, np.arange(size)))
        now = self._binding.dimensions.sizes[dim]
        return None if now == size else next((p for p in found if p.size == now), None)

    def _joined(
        self, node: Observed, old: Binding, places: Places, left: dict[str, Array], noise: bool
    ) -> Array:
        """Draw a process at its new points, in a model of the old and the new ones."""
        if node.dims is None:
            raise refusal(node, "it has no dims= by which to put old and new points together")
        above = reachable([str(node.name)], dependencies(old.declarations)) - {node.name}
        if any(isinstance(old.declarations[name], Observed) for name in above):
            raise refusal(node, "it depends on other observed quantities")
        everywhere = [
            np.concatenate([left.get(dim, np.arange(0)), p])
            for dim, p in zip(node.dims, places, strict=True)
        ]
        try:
            whole = _put_together(self._binding, old, left)
            parameters = self._parameters.at(whole, draw=False)
            check_old_points(node, old, whole, everywhere, parameters)

            def observe(forward: Forward, other: Observed) -> Symbol | None:
                return given_old(forward, node, old, everywhere, parameters.rows, noise)

            plan = Forward(whole, parameters, observe).plan({"value": node})
        except ProbmodelError as error:
            why = f"with the old points before the new: {error.message.rstrip('.')}"
            raise refusal(node, why) from error
        values = plan.run(self._rng(node), parameters.rows)["value"]
        return values[:, *(slice(len(left.get(dim, ())), None) for dim in node.dims)]

    def _rng(self, node: Observed) -> np.random.Generator:
        """Randomness of one quantity, apart from that of the run of the model."""
        number = list(self._binding.declarations).index(str(node.name))
        return np.random.default_rng(child(self._seed, number))


def _is_process(distribution: Distribution) -> bool:
    """Whether elements of one value stand at points, of which there may be more."""
    if not distribution.event_ndim or distribution.discrete or distribution.sequential:
        return False
    return distribution.support().event_ndim == 0 or bool(distribution.anchors())


def _marks(node: Observed) -> Iterator[Data]:
    """Yield the data that tell at which points elements are: those that make the covariance."""
    distribution = node.distribution
    pending: list[Expression] = [as_expression(e) for e, _ in distribution.anchors().values()]
    for arg, spec in zip(distribution.args.values(), distribution.parameters.values(), strict=True):
        if spec.known or spec.constraint.event_ndim == 2:
            pending.append(as_expression(arg))
    done: set[int] = set()
    while pending:
        for leaf in topological([pending.pop()], done):
            if isinstance(leaf, Data):
                yield leaf
            elif isinstance(leaf, Deterministic):
                pending.append(leaf.expression)


def _left_out(node: Observed, old: Binding, places: Places) -> dict[str, Array]:
    """Places of the fit along the dims of the process that the model does not hold."""
    before = old.data[str(node.name)].shape
    rows = len(before) - node.distribution.event_ndim
    dims = node.dims or tuple(map(str, range(len(before))))
    missing = {
        dim: np.setdiff1d(np.arange(n), p)
        for dim, n, p in zip(dims[rows:], before[rows:], places[rows:], strict=True)
    }
    return {dim: gone for dim, gone in missing.items() if gone.size}


def _put_together(binding: Binding, old: Binding, left: dict[str, Array]) -> Binding:
    """Bind the model to the points that are left out of it, and its own behind them.

    Raises a `ProbmodelError` if the data do not fit together.
    """
    values: dict[str, Any] = {}
    for name, declaration in binding.declarations.items():
        dims = declaration.dims or ()
        if isinstance(declaration, Data):
            values[name] = binding.data[name]
            for axis, dim in enumerate(dims):
                if dim in left:
                    before = np.take(old.data[name], left[dim], axis=axis)
                    values[name] = _stacked(declaration, before, values[name], axis)
        elif isinstance(declaration, Observed) and dims:  # for its size alone
            shape = binding.evaluator.shape(declaration)
            more = [len(left.get(dim, ())) for dim in dims]
            values[name] = np.zeros(np.add(shape, more), dtype=int)
    known = {dim for d in binding.declarations.values() for dim in d.dims or ()}
    coords = {d: labels for d, labels in binding.dimensions.coords.items() if d in known}
    for dim, gone in left.items():
        before = old.dimensions.coords.get(dim, np.arange(gone.max() + 1))
        if dim in coords:
            coords[dim] = np.concatenate([before[gone], coords[dim]])
        elif np.array_equal(before, np.arange(len(before))):
            coords[dim] = np.arange(len(gone) + binding.dimensions.sizes[dim])
    redraw = [name for name, d in binding.declarations.items() if isinstance(d, Observed)]
    return bind(binding.name, binding.declarations, values, coords, redraw)


def _stacked(declaration: Declaration, before: Array, now: Array, axis: int) -> Array:
    try:
        return np.concatenate([before, now], axis=axis)
    except ValueError as error:
        raise declaration.data_error(
            f"{declaration.title} of shape {before.shape} in the fit and {now.shape} here cannot "
            "be put together.",
            shapes=(before.shape, now.shape),
        ) from error


def _moved(node: Observed, datum: Data) -> DataError:
    return node.data_error(
        f"{node.title}: {datum.title}, which says where its elements are, differs from that of the "
        "fit where labels are the same. Give new elements labels that the fit does not know: "
        f"coords={{{(datum.dims or ('dim',))[0]!r}: ...}}.",
        name=node.name,
        datum=datum.name,
    )
