"""Walking an expression graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from probmodel.expressions.expression import Apply, Expression


def children(node: Expression) -> Iterator[Expression]:
    """Yield the expressions that ``node`` is made of, in order."""
    if isinstance(node, Apply):
        for arg in (*node.args, *node.kwargs.values()):
            yield from leaves(arg)


def leaves(arg: Any) -> Iterator[Expression]:
    """Yield the expressions inside an argument: itself, or nested in tuples, lists, slices."""
    if isinstance(arg, Expression):
        yield arg
    elif isinstance(arg, (tuple, list)):
        for item in arg:
            yield from leaves(item)
    elif isinstance(arg, slice):
        yield from leaves((arg.start, arg.stop, arg.step))


def map_leaves(arg: Any, function: Callable[[Expression], Any]) -> Any:
    """Return an argument with each expression inside it replaced by ``function`` of it."""
    if isinstance(arg, Expression):
        return function(arg)
    if isinstance(arg, tuple):
        return tuple(map_leaves(item, function) for item in arg)
    if isinstance(arg, list):
        return [map_leaves(item, function) for item in arg]
    if isinstance(arg, slice):
        return slice(*(map_leaves(item, function) for item in (arg.start, arg.stop, arg.step)))
    return arg


def each_once(pending: list[Expression]) -> Iterator[Expression]:
    """Yield expressions that are pending, each once; more may be put there while this goes on."""
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node


def topological(
    roots: Iterable[Expression],
    done: set[int] | None = None,
    whole: Callable[[Expression], bool] | None = None,
) -> list[Expression]:
    """Every expression under ``roots``, each after the expressions it is made of.

    Those whose ``id`` is in ``done`` are left out, and it is updated; so is what an expression is
    made of that ``whole`` tells to take as a whole. Written without recursion: a model may chain
    thousands of operations.
    """
    seen = done if done is not None else set()

    def inside(node: Expression) -> Iterator[Expression]:
        return iter(()) if whole is not None and whole(node) else children(node)

    order: list[Expression] = []
    stack: list[tuple[Expression, Iterator[Expression]]] = []
    for root in roots:
        if id(root) in seen:
            continue
        seen.add(id(root))
        stack.append((root, inside(root)))
        while stack:
            node, pending = stack[-1]
            child = next((c for c in pending if id(c) not in seen), None)
            if child is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(id(child))
                stack.append((child, inside(child)))
    return order
