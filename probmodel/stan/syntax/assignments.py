"""What may be assigned: variables in the block that declares them, no arguments, no counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probmodel.stan.complaints import complaint
from probmodel.stan.syntax import nodes as n

_KINDS = {
    "data": "data",
    "transformed data": "a transformed datum",
    "parameters": "a parameter",
    "transformed parameters": "a transformed parameter",
}


def check_assignments(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first assignment to what is fixed there.

    An assigned parameter would have its prior, and its draws, without what was assigned.

    Parameters
    ----------
    program : whose statements these are
    sources : its text, by file
    """
    check = _Check(sources)
    for function in program.functions:
        kind = f"an argument of {function.name}"
        check.statement(function.body, {a.name: kind for a in function.arguments})
    fixed: dict[str, str] = {}
    for name, block in program.blocks.items():
        check.statements(block, fixed)
        if name in _KINDS:  # those of other blocks are local
            declared = [node.name for node in block if isinstance(node, n.Declare)]
            fixed |= dict.fromkeys(declared, _KINDS[name])


class _Check:
    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def statements(self, found: Sequence[Any], fixed: Mapping[str, str]) -> None:
        """Check what stands one after another: names that it declares are its own."""
        own = {node.name for node in found if isinstance(node, n.Declare)}
        others = {name: kind for name, kind in fixed.items() if name not in own}
        for node in found:
            self.statement(node, others)

    def statement(self, node: Any, fixed: Mapping[str, str]) -> None:
        """Check a statement and those inside it; ``fixed`` has what must not be assigned."""
        if isinstance(node, n.Assign):
            for name in _assigned(node.target):
                if name in fixed:
                    self._refuse(node, name, fixed[name])
        elif isinstance(node, n.Block):
            self.statements(node.body, fixed)
        elif isinstance(node, n.If):
            self.statement(node.then, fixed)
            self.statement(node.otherwise, fixed)
        elif isinstance(node, n.For | n.ForEach):
            self.statement(node.body, {**fixed, node.name: "the variable of a for statement"})
        elif isinstance(node, n.While):
            self.statement(node.body, fixed)

    def _refuse(self, node: n.Assign, name: str, kind: str) -> None:
        where = {"data": "transformed data", "a parameter": "transformed parameters"}.get(kind)
        there = f" in the {where} block" if where else ""
        raise complaint(
            f"{name} is {kind}, and cannot be assigned to here. Declare another variable{there}, "
            f"with what {name} holds, and assign to that one.",
            node.place,
            self._sources,
            name=name,
        )


def _assigned(target: n.Expression) -> Iterator[str]:
    """Yield names of the variables that are assigned."""
    if isinstance(target, n.Name):
        yield target.name
    elif isinstance(target, n.Index | n.Field):
        yield from _assigned(target.base)
    elif isinstance(target, n.TupleOf):
        for item in target.items:
            yield from _assigned(item)
