"""Recurrences: what they run over, and along which dim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.expressions import Apply, Expression
from probmodel.model.evaluation import Evaluator

RECURRENCES = {
    "linear_recurrence", "matrix_recurrence", "scan", "cumsum", "cumprod", "diff",
}  # fmt: skip


class Run(NamedTuple):
    """What a recurrence runs over, and along which of its axes; None for all, flattened."""

    operand: Any
    axis: int | None


def runs(node: Apply, evaluator: Evaluator) -> list[Run]:
    """Return what a recurrence runs over; the evaluator knows the shapes."""
    name = node.operation.name
    if name == "scan":
        return [Run(sequence, 0) for sequence in node.args[1]]
    if name == "matrix_recurrence":
        return [Run(node.args[1], 0)]
    if name == "linear_recurrence":  # over the first axis of what the two broadcast to
        rank = max(_rank(operand, evaluator) for operand in node.args[:2])
        long = [operand for operand in node.args[:2] if _rank(operand, evaluator) == rank]
        return [Run(operand, 0) for operand in long]
    default = -1 if name == "diff" else None
    return [Run(node.args[0], node.kwargs.get("axis", default))]


def dim_of(run: Run, names: Sequence[Callable[[Any], tuple[str | None, ...]]]) -> str | None:
    """Return the dim that a recurrence runs along; None where that is not known."""
    for name in names:  # an axis of length one has no name
        found = name(run.operand)
        if run.axis is None and len(found) != 1:
            return None
        axis = run.axis or 0
        if -len(found) <= axis < len(found) and found[axis] is not None:
            return found[axis]
    return None


def _rank(operand: Any, evaluator: Evaluator) -> int:
    known = isinstance(operand, Expression)
    return len(evaluator.shape(operand)) if known else np.ndim(operand)
