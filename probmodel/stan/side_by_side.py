"""Loops whose iterations can be run side by side: none of them needs what another did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from typing import Any

from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.printing import text_of


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
def assigned(node: n.Node) -> frozenset[str]:
    """Return the variables that a statement assigns to."""
    names = set()
    for part in parts(node):
        if isinstance(part, n.Assign):
            targets = part.target.items if isinstance(part.target, n.TupleOf) else [part.target]
            names |= {root(t) for t in targets}
    return frozenset(names)


@lru_cache(maxsize=4096)
def own_axes(loop: n.For) -> dict[str, int] | None:
    """Return the axis along which each iteration has elements of its own, by variable; or None.

    What a loop assigns to must be declared inside it, or be `private`, or be elements whose index
    along one axis is the loop's own variable; wherever else the loop looks at such a variable, it
    must look at the elements of the same index. None stands for loops that cannot be run so.
    """
    inside = list(parts(loop.body))
    forbidden = n.Break | n.Continue | n.Return | n.While | n.ForEach | n.Say | n.Do
    if any(isinstance(p, forbidden) for p in inside):
        return None
    if any(isinstance(p, n.Call) and p.name.endswith(("_rng", "_lp")) for p in inside):
        return None
    local = {p.name for p in inside if isinstance(p, n.Declare | n.For)}
    outer = assigned(loop.body) - local - private(loop)
    found = {name: _own_axis(name, loop, inside) for name in outer}
    return None if -1 in found.values() else found


@lru_cache(maxsize=4096)
def private(loop: n.For) -> frozenset[str]:
    """Return the variables from outside that each iteration sets before it looks at them."""
    return frozenset(name for name in assigned(loop.body) if _is_set_first(name, loop.body))


def _is_set_first(name: str, body: Any) -> bool:
    """Whether the first statement that mentions a variable sets it, or its elements one by one.

    In the latter case, all that is set later must be the same elements: others would keep what an
    earlier iteration left there.
    """
    statements = body.body if isinstance(body, n.Block) else (body,)
    found = [s for s in statements if _mentions(s, name)]
    if not found or not _sets(found[0], name, ()):
        return False
    if not isinstance(found[0], n.For):
        return True
    _, ranges = _nest(found[0], name)
    changing = assigned(body) & {p.name for p in parts(ranges) if isinstance(p, n.Name)}
    return not changing and all(
        name not in assigned(s) or _sets_same(s, name, ranges) for s in found[1:]
    )


def _sets_same(statement: Any, name: str, ranges: tuple[Any, ...]) -> bool:
    """Whether a statement looks at elements in some ranges alone."""
    loops, own = _nest(statement, name)
    same = [tuple(map(text_of, r)) for r in own] == [tuple(map(text_of, r)) for r in ranges]
    return same and bool(loops) and _only_elements(statement, name, loops)


def _nest(statement: Any, name: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the variables and the ranges of loops inside each other around a variable."""
    loops: list[str] = []
    ranges: list[Any] = []
    while isinstance(statement, n.For):
        loops.append(statement.name)
        ranges.append((statement.lower, statement.upper))
        inner = statement.body.body if isinstance(statement.body, n.Block) else (statement.body,)
        own = [s for s in inner if _mentions(s, name)]
        statement = own[0] if len(own) == 1 else None
    return tuple(loops), tuple(ranges)


def _mentions(node: Any, name: str) -> bool:
    return any(isinstance(p, n.Name) and p.name == name for p in parts(node))


def _sets(statement: Any, name: str, loops: tuple[str, ...]) -> bool:
    """Whether a statement sets a variable, within loops that run over its elements."""
    if isinstance(statement, n.For):
        loops = (*loops, statement.name)
        inner = statement.body.body if isinstance(statement.body, n.Block) else (statement.body,)
        own = [s for s in inner if _mentions(s, name)]
        if _mentions((statement.lower, statement.upper), name) or not _sets(own[0], name, loops):
            return False
        if isinstance(own[0], n.For) and len(own) > 1:
            return False
        return all(_only_elements(s, name, loops) for s in own[1:])
    if not isinstance(statement, n.Assign) or statement.operator:
        return False
    if _mentions(statement.value, name):
        return False
    target = statement.target
    if isinstance(target, n.Name):
        return target.name == name and not loops
    return bool(loops) and _only_elements(target, name, loops)


def _only_elements(node: Any, name: str, loops: tuple[str, ...]) -> bool:
    """Whether a variable is only looked at by the indices of some loops, in their order."""
    fine = {
        id(p.base)
        for p in parts(node)
        if isinstance(p, n.Index)
        and tuple(i.name if isinstance(i, n.Name) else "" for i in p.indices) == loops
    }
    named = [p for p in parts(node) if isinstance(p, n.Name) and p.name == name]
    return all(id(p) in fine for p in named)


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
