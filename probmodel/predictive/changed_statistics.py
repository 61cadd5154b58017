"""Sums, means and the like that have another value at new data than in the fit.

A mean of group effects that a model subtracts is one over all groups of the fit; at new data it is
one over the groups that are bound there. The mean by which a model centres a predictor is that of
the new data. Either makes something else of the parameters of the fit, without any error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from probmodel.density.forward_runs import Forward
from probmodel.expressions import Apply, Expression
from probmodel.expressions.graph import children
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    expressions_of,
)
from probmodel.predictive.anchors import same
from probmodel.predictive.changed_starts import RECURRENCES, leaves_of, restarts, text_of
from probmodel.predictive.fits import FromFit
from probmodel.predictive.matching import find_labels
from probmodel.types import Array

# Operations that say something of all elements together, by which data are centred and scaled.
_LOCATIONS = {"mean", "median", "std", "var", "min", "max", "quantile", "percentile"}
# Operations whose elements depend on other elements of what they are taken of.
_JOINT = _LOCATIONS | {"sum", "prod", "logsumexp", "cumsum", "cumprod", "softmax", "log_softmax"}
_JOINT |= RECURRENCES
_DRAWS = 2  # in which the two are compared: if they differ, they do almost everywhere


def changed_statistics(
    binding: Binding, parameters: FromFit, names: Sequence[str]
) -> Iterator[str]:
    """Yield warnings about what named quantities depend on.

    Parameters
    ----------
    binding : of the model that predicts
    parameters : the values of its parameters, from the fit, after a plan has asked for them
    names : what is predicted
    """
    old = parameters.anchors.fitted()
    nodes = [
        node
        for node in _under(binding, names, parameters)
        if isinstance(node, Apply) and node.operation.name in _JOINT
    ]
    if old is None or not nodes:
        return
    places = _places(old, binding, parameters)
    begun = restarts(old, binding, nodes)
    starts = {id(node): message for node, message in begun}
    yield from starts.values()
    of_parameters = []
    for node in nodes:
        if id(node) in starts:
            continue
        leaves = leaves_of(node)
        if all(b.evaluator.is_constant(node) for b in (old, binding)):
            if node.operation.name in _LOCATIONS and _over_rows(node, binding):
                before, now = old.evaluator.value(node), binding.evaluator.value(node)
                size = _size(old.evaluator.value(node.args[0]))
                if not _agree(before[None], now[None], places, size):
                    yield (
                        f"predict: {text_of(node)} is computed from the new "
                        f"data{_values(before, now)}. "
                        "To centre or scale new data as those of the fit were, do it before they "
                        "are bound, or bind the number as data."
                    )
        elif _moved(leaves, parameters) and _same_data(leaves, old, binding):
            of_parameters.append(node)
    yield from _of_parameters(binding, old, parameters, of_parameters, places)


def _places(old: Binding, now: Binding, parameters: FromFit) -> list[Array]:
    """Return where in the fit elements are: of parameters that moved, and of dims with labels."""
    found = [place for each in parameters.moved.values() for place in each]
    for dim, labels in now.dimensions.coords.items():
        if dim in old.dimensions.coords:
            place = find_labels(labels, old.dimensions.coords[dim])
            if (place >= 0).any():
                found.append(place)
    return found


def _of_parameters(
    binding: Binding,
    old: Binding,
    parameters: FromFit,
    nodes: Sequence[Apply],
    places: Sequence[Array],
) -> Iterator[str]:
    """Compare what is computed from elements of parameters, some of which are left out or new."""
    if not nodes:
        return
    named = {str(i): node for i, node in enumerate(nodes)}
    summed = {f"{key} of": node.args[0] for key, node in named.items()
              if isinstance(node.args[0], Expression)}  # fmt: skip
    rows = min(_DRAWS, parameters.rows)
    before, now = (
        Forward(b, parameters.at(b)).plan({**named, **summed}).run(np.random.default_rng(0), rows)
        for b in (old, binding)
    )
    for key, node in named.items():
        size = _size(before.get(f"{key} of", 0.0))
        if not _agree(before[key], now[key], places, size):
            yield (
                f"predict: {text_of(node)} runs over the elements that are bound here, and is not "
                "what it was in the fit, whose elements are others. If a prediction depends on it "
                "as the fit knew it, bind the model to all labels of the fit, in their order."
            )


def _under(binding: Binding, names: Sequence[str], parameters: FromFit) -> list[Expression]:
    """Return what quantities are computed from, up to parameters that the fit knows."""
    pending: list[Expression] = [binding.declarations[name] for name in names]
    seen: dict[int, Expression] = {}
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if isinstance(node, Parameter):
            if str(node.name) in parameters.filled and node.prior is not None:
                pending += [a for a in node.prior.args.values() if isinstance(a, Expression)]
        elif isinstance(node, Observed | Deterministic):
            pending += expressions_of(node)
        else:
            pending += children(node)
    return list(seen.values())


def _over_rows(node: Apply, binding: Binding) -> bool:
    """Whether it is taken over the first axis of its operand, or all of them."""
    axis = node.kwargs.get("axis")
    return axis in (None, 0) or binding.evaluator.value(node).ndim == 0


def _moved(leaves: Sequence[Declaration], parameters: FromFit) -> bool:
    return any(str(leaf.name) in parameters.moved for leaf in leaves)


def _same_data(leaves: Sequence[Declaration], old: Binding, now: Binding) -> bool:
    """Whether all that is no parameter is as it was."""
    return all(
        isinstance(leaf, Parameter)
        or (isinstance(leaf, Data) and same(old.data[str(leaf.name)], now.data[str(leaf.name)]))
        for leaf in leaves
    )


def _agree(before: Array, now: Array, places: Sequence[Array], size: float = 0.0) -> bool:
    """Whether what is known of both is the same, in some way of matching their axes.

    They are computed from numbers of a given size, whose rounding makes no difference.
    """
    if before.ndim != now.ndim:
        return True
    ways = [
        [p for p in places if len(p) == size and p.max(initial=-1) < count]
        + ([np.arange(size)] if size == count else [])
        for count, size in zip(before.shape[1:], now.shape[1:], strict=True)
    ]
    if any(not way for way in ways):  # such as differences between neighbours
        return True
    for way in product(*ways):
        known = [np.flatnonzero(p >= 0) for p in way]
        rows = np.arange(len(now))
        old = before[np.ix_(rows, *(p[k] for p, k in zip(way, known, strict=True)))]
        if same(old, now[np.ix_(rows, *known)], size):
            return True
    return False


def _size(values: Any) -> float:
    values = np.abs(values)
    return float(np.max(values, initial=0.0, where=np.isfinite(values)))


def _values(before: Array, now: Array) -> str:
    if before.ndim:
        return " and not what it was in the fit"
    return f": {float(now):.4g}, and {float(before):.4g} in the fit"
