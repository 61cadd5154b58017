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
def assigned(node: n.Node) -> frozenset[str]:
    """Return the variables that a statement assigns to."""
    names = set()
    for part in parts(node):
        if isinstance(part, n.Assign):
            targets = part.target.items if isinstance(part.target, n.TupleOf) else [part.target]
            names |= {root(t) for t in targets}
    return frozenset(names)


@lru_cache(maxsize=4096)
def can_run_side_by_side(loop: n.For) -> bool:
    """Whether each iteration writes elements of its own alone, and reads no others of these.

    What a loop assigns to must be declared inside it, or be elements whose index along one axis is
    the loop's own variable; wherever else the loop looks at such a variable, it must look at the
    elements of the same index.
    """
    inside = list(parts(loop.body))
    forbidden = n.Break | n.Continue | n.Return | n.While | n.ForEach | n.Say | n.Do
    if any(isinstance(p, forbidden) for p in inside):
        return False
    if any(isinstance(p, n.Call) and p.name.endswith(("_rng", "_lp")) for p in inside):
        return False
    local = {p.name for p in inside if isinstance(p, n.Declare | n.For)}
    outer = assigned(loop.body) - local
    return all(_own_elements(name, loop, inside) for name in outer)


def _own_elements(name: str, loop: n.For, inside: list[Any]) -> bool:
    """Whether all elements of a variable that a loop names have one place for its variable."""
    bases = {id(p.base): p for p in inside if isinstance(p, n.Index)}
    axes: set[int] = set()
    for part in inside:
        if not (isinstance(part, n.Name) and part.name == name):
            continue
        index = bases.get(id(part))
        own = {
            axis
            for axis, i in enumerate(index.indices if index else ())
            if isinstance(i, n.Name) and i.name == loop.name
        }
        if not own or (axes and not axes & own):
            return False
        axes = axes & own if axes else own
    return bool(axes)
