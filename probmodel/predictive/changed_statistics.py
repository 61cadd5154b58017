"""Sums, means, first elements and the like that are not, at new data, what they were in the fit.

A mean of group effects that a model subtracts is one over all groups of the fit; at new data it is
one over the groups that are bound there. The mean by which a model centres a predictor is that of
the new data. ``u[0]``, a reference group, is the first of those that are bound, and ``t[0]`` the
time of the first new row. All make something else of the parameters of the fit, without any error.

Sums and single elements of data are often meant as such: a total number of trials, the dose of a
patient. They are named where the same data are also used element by element, as in
``x / np.sum(x)`` and ``t - t[0]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from probmodel.density.forward_runs import Forward
from probmodel.expressions import Apply, Expression
from probmodel.expressions.graph import children, leaves
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    expressions_of,
)
from probmodel.model.recurrence_axes import RECURRENCES
from probmodel.predictive.anchors import same
from probmodel.predictive.changed_starts import leaves_of, restarts, text_of
from probmodel.predictive.fits import FromFit
from probmodel.predictive.left_out import left_out
from probmodel.predictive.matching import find_labels
from probmodel.types import Array

# Operations that say something of all elements together, by which data are centred and scaled.
_LOCATIONS = {
    "mean", "median", "std", "var", "min", "max", "quantile", "percentile", "average", "norm",
}  # fmt: skip
_SUMS = {"sum", "prod", "logsumexp", "softmax", "log_softmax"}
_PRODUCTS = {"matmul", "dot", "einsum", "tensordot", "inner", "vdot"}
_NUMBERS = _PRODUCTS | {"getitem"}  # of data, they are compared where they are single numbers
# Operations whose elements depend on other elements of what they are taken of.
_JOINT = _LOCATIONS | _SUMS | _PRODUCTS | {"cumsum", "cumprod"} | RECURRENCES
_NAMED = 3  # elements in a message
_BIND = "bind the model to all labels of the fit, in their order"
_DRAWS = 2  # in which the two are compared: if they differ, they do almost everywhere


def changed_statistics(
    binding: Binding, parameters: FromFit, names: Sequence[str]
) -> Iterator[str]:
    """Yield warnings about what the quantities that are predicted depend on.

    ``parameters`` are the values from the fit, after a plan has asked for them.
    """
    old = parameters.anchors.fitted()
    nodes = [
        node
        for node in _under(binding, names, parameters)
        if isinstance(node, Apply) and (node.operation.name in _JOINT or _is_element(node))
    ]
    if old is None or not nodes:
        return
    places = _places(old, binding, parameters)
    starts = {id(node): message for node, message in restarts(old, binding, nodes)}
    yield from starts.values()
    nodes = [node for node in nodes if id(node) not in starts]
    fixed = [n for n in nodes if all(b.evaluator.is_constant(n) for b in (old, binding))]
    yield from _of_data(binding, old, fixed, _under(binding, names, parameters, fixed), places)
    of_parameters: list[Apply] = []
    of_both: list[Apply] = []
    for node in nodes:
        made_of = leaves_of(node)
        if _moved(made_of, parameters):
            same_data = _same_data(made_of, old, binding)
            (of_parameters if same_data else of_both).append(node)
    yield from left_out(binding, old, of_both, parameters)
    yield from _of_parameters(binding, old, parameters, of_parameters, places)


def _is_element(node: Apply) -> bool:
    """Whether it is what lies at a place that the model gives as a number."""
    index = node.args[1] if node.operation.name == "getitem" else ()
    parts = index if isinstance(index, tuple) else (index,)
    return not list(leaves(parts)) and any(isinstance(part, int | np.integer) for part in parts)


def _of_data(
    binding: Binding,
    old: Binding,
    nodes: Sequence[Apply],
    otherwise: Sequence[Expression],
    places: Sequence[Array],
) -> Iterator[str]:
    """Compare what is computed from data alone; ``otherwise`` is what is computed without it."""
    whole = set(map(id, otherwise))
    for node in nodes:
        name = node.operation.name
        if name not in _LOCATIONS | _SUMS | _NUMBERS or not _over_rows(node, binding):
            continue
        before, now = old.evaluator.value(node), binding.evaluator.value(node)
        if name in _NUMBERS and now.ndim:
            continue
        if name not in _LOCATIONS and not any(id(leaf) in whole for leaf in leaves_of(node)):
            continue
        if not _agree(before[None], now[None], places, _size(old.evaluator.value(node.args[0]))):
            yield (
                f"predict: {text_of(node)} is computed from the new data{_values(before, now)}. "
                "To centre or scale new data as those of the fit were, do it before they are "
                "bound, or bind the number as data."
            )


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
    elements = []
    for key, node in named.items():
        size = _size(before.get(f"{key} of", 0.0))
        if _agree(before[key], now[key], places, size):
            continue
        if _is_element(node):
            elements.append(text_of(node))
        else:
            yield (
                f"predict: {text_of(node)} runs over the elements that are bound here, and is not "
                "what it was in the fit, whose elements are others. If a prediction depends on it "
                f"as the fit knew it, {_BIND}."
            )
    if elements:
        more = f" and {len(elements) - _NAMED} more" if len(elements) > _NAMED else ""
        yield (
            f"predict: the model takes {', '.join(sorted(elements)[:_NAMED])}{more} by position, "
            "and other elements are bound there than in the fit. If those of the fit are meant, "
            f"{_BIND}."
        )


def _under(
    binding: Binding, names: Sequence[str], parameters: FromFit, without: Sequence[Expression] = ()
) -> list[Expression]:
    """Return what quantities are computed from, up to parameters that the fit knows."""
    pending: list[Expression] = [binding.declarations[name] for name in names]
    seen: dict[int, Expression] = {id(node): node for node in without}
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
    return list(seen.values())[len(without) :]


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
