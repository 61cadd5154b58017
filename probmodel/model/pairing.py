"""Which dim an observed quantity without dims runs along, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from probmodel.expressions import Apply, Expression
from probmodel.model.declarations import Declaration, Deterministic, Observed


def paired_dims(declaration: Observed) -> Iterator[str]:
    """Yield dims whose elements the parameters pair with those of a vector that has no dims.

    These are the dims of what is added up, multiplied and so on, of what indices run along, and of
    the rows of a matrix in front of ``@``. Other expressions are not looked into.
    """
    if declaration.distribution.event_ndim == 0:
        for arg in declaration.distribution.args.values():
            yield from _last_dim(arg)


def _last_dim(root: Any) -> Iterator[str]:
    """Yield the dims along the last axis of an expression."""
    pending, seen = [root], set()
    while pending:
        node = pending.pop()
        if not isinstance(node, Expression) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Declaration) and node.dims:
            yield node.dims[-1]
        elif isinstance(node, Deterministic):
            pending.append(node.expression)
        elif isinstance(node, Apply):
            yield from _rows(node)
            if node.operation.elementwise:
                pending += node.args
            elif node.operation.name == "getitem":
                pending.append(node.args[1])


def _rows(node: Apply) -> Iterator[str]:
    matrix = node.args[0] if node.args else None
    is_product = node.operation.name in ("matmul", "dot")
    if is_product and isinstance(matrix, Declaration) and len(matrix.dims or ()) == 2:
        yield (matrix.dims or ())[0]
