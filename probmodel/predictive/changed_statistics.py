"""Sums, means and the like that have another value at new data than in the fit.

A mean of group effects that a model subtracts is one over all groups of the fit; at new data it is
one over the groups that are bound there. The mean by which a model centres a predictor is that of
the new data. Either makes something else of the parameters of the fit, without any error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from probmodel.density.forward_runs import Forward
from probmodel.expressions import Apply, Expression, to_text
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
from probmodel.predictive.fits import FromFit
from probmodel.types import Array

# Operations that say something of all elements together, by which data are centred and scaled.
_LOCATIONS = {"mean", "median", "std", "var", "min", "max", "quantile", "percentile"}
# Operations whose elements depend on other elements of what they are taken of.
_JOINT = _LOCATIONS | {"sum", "prod", "logsumexp", "cumsum", "cumprod", "softmax", "log_softmax"}
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
    of_parameters = []
    for node in nodes:
        leaves = _leaves(node)
        if all(b.evaluator.is_constant(node) for b in (old, binding)):
            if node.operation.name in _LOCATIONS and _over_rows(node, binding):
                before, now = old.evaluator.value(node), binding.evaluator.value(node)
                if before.shape == now.shape and not same(before, now):
                    yield (
                        f"predict: {_text(node)} is computed from the new "
                        f"data{_values(before, now)}. "
                        "To centre or scale new data as those of the fit were, do it before they "
                        "are bound, or bind the number as data."
                    )
        elif _moved(leaves, parameters) and _same_data(leaves, old, binding):
            of_parameters.append(node)
    yield from _of_parameters(binding, old, parameters, of_parameters)


def _of_parameters(
    binding: Binding, old: Binding, parameters: FromFit, nodes: Sequence[Apply]
) -> Iterator[str]:
    """Compare what is computed from elements of parameters, some of which are left out or new."""
    if not nodes:
        return
    named = {str(i): node for i, node in enumerate(nodes)}
    rows = min(_DRAWS, parameters.rows)
    before, now = (
        Forward(b, parameters.at(b)).plan(named).run(np.random.default_rng(0), rows)
        for b in (old, binding)
    )
    for key, node in named.items():
        if not _agree(before[key], now[key], parameters.moved):
            yield (
                f"predict: {_text(node)} runs over the elements that are bound here, and is not "
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


def _leaves(node: Expression) -> list[Declaration]:
    """Return the data, parameters and observed quantities that an expression is made of."""
    pending, seen, found = [node], set(), []
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Deterministic):
            pending.append(node.expression)
        elif isinstance(node, Declaration):
            found.append(node)
        else:
            pending += children(node)
    return found


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


def _agree(before: Array, now: Array, moved: Mapping[str, Sequence[Array]]) -> bool:
    """Whether what is known of both is the same, in some way of matching their axes."""
    if before.ndim != now.ndim:
        return True
    places = [place for each in moved.values() for place in each]
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
        if same(old, now[np.ix_(rows, *known)]):
            return True
    return False


def _text(node: Apply) -> str:
    definition = to_text(node, definition=True)
    return definition if node.name is None else f"{node.name} = {definition}"


def _values(before: Array, now: Array) -> str:
    if before.ndim:
        return " and not what it was in the fit"
    return f": {float(now):.4g}, and {float(before):.4g} in the fit"
