"""Recurrences that start anew at new data, because these begin at other rows than those of the fit.

What a recurrence is at a row depends on the rows before it. Bound to future rows alone, a model
knows of nothing before the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from probmodel.expressions import Apply, Expression, to_text
from probmodel.expressions.graph import children, each_once
from probmodel.model.axes import namer
from probmodel.model.binding import Binding
from probmodel.model.declarations import Data, Declaration, Deterministic, Observed
from probmodel.model.recurrence_axes import RECURRENCES, Run, dim_of, runs
from probmodel.predictive.anchors import same
from probmodel.predictive.matching import find_labels, kind_of, matched


def restarts(old: Binding, now: Binding, nodes: Sequence[Apply]) -> Iterator[tuple[Apply, str]]:
    """Yield recurrences that start at other rows than in the fit, with a warning about each.

    ``old`` and ``now`` are a model bound to the data of the fit, and to new data.
    """
    recurrences = [node for node in nodes if node.operation.name in RECURRENCES]
    if not recurrences:
        return
    names = [namer(b.declarations, b.evaluator, b.dimensions.sizes) for b in (old, now)]

    for node in recurrences:
        for run in runs(node, old.evaluator):
            dim = dim_of(run, names)
            if message := _changed_start(old, now, node, run, dim):
                yield node, message
                break


def _changed_start(
    old: Binding, now: Binding, node: Apply, run: Run, dim: str | None
) -> str | None:
    """Say that a recurrence starts at another row; None where it does not, or it is not known."""
    if dim is None:
        return _without_labels(node, "row") if _other_rows(old, now, run) else None
    before, after = (b.dimensions.coords.get(dim) for b in (old, now))
    data = [leaf for leaf in leaves_of(node) if isinstance(leaf, Data | Observed)]
    data = [leaf for leaf in data if dim in (leaf.dims or ())]
    if before is not None and after is not None and kind_of(before) == kind_of(after):
        few = min(len(before), len(after))
        begun = not few or bool(np.all(before[:few] == after[:few]))
        # Of parameters alone, the values are compared elsewhere, if some are those of the fit.
        apart = bool(data) or (find_labels(after, before) < 0).all()
        if begun or not apart:
            return None
        return (
            f"predict: {text_of(node)} starts anew at {_label(after[0])}, the first {dim!r} that "
            f"is bound here, as if nothing had gone before it; in the fit it starts at "
            f"{_label(before[0])}. To go on from the rows of the fit, bind all of them and the new "
            "ones behind them."
        )
    if any(_other_start(old, now, leaf, dim) for leaf in data):
        return _without_labels(node, dim)
    return None


def _label(label: Any) -> str:
    """Print a label, a day without the hour."""
    return repr(re.sub(r"T00:00:00(\.0+)?$", "", str(label)))


def _without_labels(node: Apply, dim: str) -> str:
    label = "" if dim == "row" else (
        f" If the rows are those of the fit with other values, say so by labels of {dim!r} in both "
        f"(coords={{{dim!r}: ...}})."
    )  # fmt: skip
    return (
        f"predict: {text_of(node)} starts anew at the first row that is bound here, whose data are "
        "not those of the fit, as if nothing had gone before it. To go on from the rows of the "
        f"fit, bind all of them and the new ones behind them.{label}"
    )


def _other_start(old: Binding, now: Binding, leaf: Declaration, dim: str) -> bool:
    """Whether data without labels along a dim begin otherwise than in the fit."""
    name = str(leaf.name)
    if name not in old.data or name not in now.data:
        return False
    before, after = old.data[name], now.data[name]
    for axis, along in enumerate(leaf.dims or ()):
        labels = [b.dimensions.coords.get(along) for b in (old, now)]
        if along == dim:
            few = min(before.shape[axis], after.shape[axis])
            before, after = (np.take(v, np.arange(few), axis) for v in (before, after))
        elif labels[0] is not None and labels[1] is not None:
            place = find_labels(labels[1], labels[0])
            before, after = matched(before, after, axis, place)
    return before.shape == after.shape and not same(before, after)


def _other_rows(old: Binding, now: Binding, run: Run) -> bool:
    """Whether rows of no known dim begin otherwise, and are not as many."""
    operand = run.operand
    if not isinstance(operand, Expression):
        return False
    if not all(b.evaluator.is_constant(operand) for b in (old, now)):
        return False
    before, after = (np.asarray(b.evaluator.value(operand)) for b in (old, now))
    if run.axis is None:
        before, after = before.ravel(), after.ravel()
    axis = run.axis or 0
    if before.ndim != after.ndim or before.shape[axis] == after.shape[axis]:
        return False
    few = np.arange(min(before.shape[axis], after.shape[axis]))
    before, after = (np.take(v, few, axis) for v in (before, after))
    return before.shape == after.shape and not same(before, after)


def leaves_of(node: Expression) -> list[Declaration]:
    """Return the data, parameters and observed quantities that an expression is made of."""
    pending, found = [node], []
    for part in each_once(pending):
        if isinstance(part, Deterministic):
            pending.append(part.expression)
        elif isinstance(part, Declaration):
            found.append(part)
        else:
            pending += children(part)
    return found


def text_of(node: Apply) -> str:
    """Print an expression, with its name if it has one."""
    definition = to_text(node, definition=True)
    return definition if node.name is None else f"{node.name} = {definition}"
