"""Loops whose iterations can be run side by side: none of them needs what another did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any

from probmodel.stan.syntax import nodes as n


def parts(node: Any) -> Iterator[Any]:
    """Yield a node and all nodes inside it."""
    if isinstance(node, n.Node):
        yield node
        for field in fields(node):
            if field.name != "place":
                yield from parts(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from parts(item)
    elif isinstance(node, dict):
        for item in node.values():
            yield from parts(item)


def root(target: n.Expression) -> str:
    """Return the variable that an assignment changes."""
    while isinstance(target, n.Index | n.Field):
        target = target.base
    return target.name if isinstance(target, n.Name) else ""


@lru_cache(maxsize=4096)
def assigned(node: n.Node | tuple[n.Node, ...]) -> frozenset[str]:
    """Return the variables that statements assign to."""
    names = set()
    for part in parts(node):
        if isinstance(part, n.Assign):
            targets = part.target.items if isinstance(part.target, n.TupleOf) else [part.target]
            names |= {root(t) for t in targets}
    return frozenset(names)


@lru_cache(maxsize=4096)
def mentioned(node: n.Node | tuple[n.Node, ...]) -> frozenset[str]:
    """Return the variables that are named inside."""
    return frozenset(p.name for p in parts(node) if isinstance(p, n.Name))


@lru_cache(maxsize=4096)
def own_axes(loop: n.For) -> dict[str, int] | None:
    """Return the axis along which each iteration has elements of its own, by variable; or None.

    Of the variables from outside that a loop assigns to, these are those of which it looks at
    elements alone whose index along one axis is the loop's own variable. None stands for loops
    that are never run side by side.
    """
    inside = list(parts(loop.body))
    if any(isinstance(p, n.Return | n.Do) for p in inside) or _breaks(loop.body):
        return None
    if any(isinstance(p, n.Call) and p.name.endswith(("_rng", "_lp")) for p in inside):
        return None
    local = {p.name for p in inside if isinstance(p, n.Declare | n.For | n.ForEach)}
    axes = {name: _own_axis(name, loop, inside) for name in assigned(loop.body) - local}
    return {name: axis for name, axis in axes.items() if axis >= 0}


@lru_cache(maxsize=4096)
def has_recurrence(loop: n.For) -> bool:
    """Whether a loop inside needs, in an iteration, what earlier ones left in a variable."""
    return any(isinstance(p, n.For) and carries(p) for p in parts(loop.body))


@lru_cache(maxsize=4096)
def carries(loop: n.For) -> bool:
    """Whether iterations of a loop need what earlier ones left in a variable."""
    axes = own_axes(loop)
    if axes is None:
        return False
    inside = tuple(parts(loop.body))
    local = {p.name for p in inside if isinstance(p, n.Declare | n.For | n.ForEach)}
    shared = assigned(loop.body) - local - axes.keys()
    return any(_is_read_first(name, loop.body) for name in shared)


def _is_read_first(name: str, body: n.Statement) -> bool:
    """Whether statements use a variable before one of them, not in a branch, sets all of it."""
    for statement in body.body if isinstance(body, n.Block) else (body,):
        if isinstance(statement, n.Assign) and not statement.operator:
            target = statement.target
            if isinstance(target, n.Name) and target.name == name:
                return name in mentioned(statement.value)
        if name in mentioned(statement):
            return True
    return False


def _breaks(node: Any) -> bool:
    """Whether a statement may end the loop that it is in."""
    if isinstance(node, n.Block):
        return any(map(_breaks, node.body))
    if isinstance(node, n.If):
        return _breaks(node.then) or _breaks(node.otherwise)
    return isinstance(node, n.Break)


def _own_axis(name: str, loop: n.For, inside: list[Any]) -> int:
    """Return an axis along which a loop has its variable wherever it names another; -1 if none."""
    bases = {id(p.base): p for p in inside if isinstance(p, n.Index)}
    axes: set[int] | None = None
    for part in inside:
        if not (isinstance(part, n.Name) and part.name == name):
            continue
        index = bases.get(id(part))
        own = {
            axis
            for axis, i in enumerate(index.indices if index else ())
            if isinstance(i, n.Name) and i.name == loop.name
        }
        axes = own if axes is None else axes & own
    return min(axes, default=-1) if axes else -1
