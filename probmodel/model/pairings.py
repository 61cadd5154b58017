"""Sums of a log density over pairs of rows that nobody asked for.

    n      a dim
    k      an axis of length one that was declared, or that a product of matrices left

Of (n, k) and (n,), NumPy makes (n, n): each row with every other. A likelihood of n rows has n
terms; where pairs are meant, an axis is written for them, with None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from probmodel.expressions import Apply, Expression, as_expression, to_text
from probmodel.expressions.graph import each_once
from probmodel.model.axes import namer
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.evaluation import Evaluator

Named = Callable[[Any], tuple[str | None, ...]]


def unasked_pairs(binding: Binding) -> Iterator[tuple[Declaration, str]]:
    """Yield each potential that sums over pairs of rows, and what to write."""
    named = None
    for declaration in binding.declarations.values():
        if not isinstance(declaration, Potential):
            continue
        named = named or namer(binding.declarations, binding.evaluator, binding.dimensions.sizes)
        message = _first_pair(declaration.expression, binding.evaluator, named)
        if message:
            yield declaration, message


def _first_pair(expression: Expression, evaluator: Evaluator, named: Named) -> str:
    """Describe the first operation that makes pairs among those whose elements are added up."""
    pending = [expression]
    for node in each_once(pending):
        if isinstance(node, Deterministic):
            pending.append(node.expression)
        if not isinstance(node, Apply):
            continue
        operands = _batch_operands(node)
        if operands is not None:
            for column in operands:
                for row in operands:
                    dim = _shared_dim(column, row, evaluator, named)
                    if dim is not None:
                        return _message(node, column, row, dim, evaluator)
        summed = node.operation.name in ("sum", "mean")
        pending += node.args[:1] if summed else operands or ()
    return ""


def _batch_operands(node: Apply) -> list[Expression] | None:
    """Return what broadcasts in an operation element by element, None for any other."""
    if node.operation.elementwise:
        return [as_expression(arg) for arg in node.args]
    if node.operation.name == "call" and hasattr(node.kwargs["function"], "distribution"):
        given = zip(node.args, node.kwargs["event_ndims"], strict=True)
        return [as_expression(arg) for arg, events in given if not events]
    return None


def _shared_dim(
    column: Expression, row: Expression, evaluator: Evaluator, named: Named
) -> str | None:
    """Return the dim that two operands lay along two axes, where the second was not asked for.

    These are a column, (n, 1), and a row, (n,).
    """
    tall, flat = evaluator.shape(column), evaluator.shape(row)
    if len(tall) != 2 or len(flat) != 1 or tall[1] != 1 or tall[0] != flat[0] or flat[0] < 2:
        return None
    dim = named(row)[0]
    same = dim is not None and named(column)[0] == dim
    return dim if same and _unasked(column, 1, evaluator) else None


def _unasked(root: Expression, axis: int, evaluator: Evaluator) -> bool:
    """Whether an axis of length one was declared, or comes from a product of what was declared."""
    pending, seen = [(root, len(evaluator.shape(root)) - axis)], set[tuple[int, int]]()
    while pending:
        node, from_end = pending.pop()
        if (id(node), from_end) in seen:
            continue
        seen.add((id(node), from_end))
        sources = _sources(node, from_end, evaluator)
        if sources is None:
            return False
        pending += sources
    return True


def _sources(
    node: Expression, from_end: int, evaluator: Evaluator
) -> list[tuple[Expression, int]] | None:
    """Return the axes that an axis, counted from the end, comes from; None where that is not known.

    There are none for an axis that was declared.
    """
    if isinstance(node, Deterministic):
        return [(node.expression, from_end)]
    if not isinstance(node, Apply):
        return [] if isinstance(node, Data | Observed | Parameter) else None
    name = node.operation.name
    if name in ("matmul", "dot"):
        last = as_expression(node.args[1])
        return [(last, 1)] if from_end == 1 and len(evaluator.shape(last)) == 2 else None
    if name == "transpose" and node.kwargs.get("axes") is None:
        return [(as_expression(node.args[0]), len(evaluator.shape(node)) - from_end + 1)]
    having = [a for a in _batch_operands(node) or () if len(evaluator.shape(a)) >= from_end]
    return [(a, from_end) for a in having] or None


def _message(
    node: Apply, column: Expression, row: Expression, dim: str, evaluator: Evaluator
) -> str:
    n = evaluator.shape(row)[0]
    one, other = to_text(column), to_text(row)
    inner = one if one.isidentifier() else f"({one})"
    line = f", line {node.location.line}," if node.location else ""
    return (
        f"{to_text(node)}{line} pairs each element along {dim!r} with every other: {one} has the "
        f"shape ({n}, 1) and {other} the shape ({n},), which make {n} x {n} terms. For one term "
        f"each, write {inner}[:, 0]; if all pairs are meant, say so by None, as in "
        f"{other if other.isidentifier() else f'({other})'}[None, :]."
    )
