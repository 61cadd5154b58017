"""What may stand where: statements that belong to some blocks or functions, or into loops alone.

Variables are assigned in the block that declares them; arguments and the variables of ``for``
statements nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from probmodel.stan.complaints import complaint
from probmodel.stan.syntax import nodes as n

_PARAMETERS = ("parameters", "transformed parameters")
_KINDS = {
    "data": "data",
    "transformed data": "a transformed datum",
    "parameters": "a parameter",
    "transformed parameters": "a transformed parameter",
}
_COUNTER = "the variable of a for statement"


@dataclass(frozen=True)
class _Where:
    """What is around a statement.

    Attributes
    ----------
    what : in words, the block or function
    adds, adjusts : whether something may be added to the log density, or to its Jacobian
    loop, function : whether it stands in a loop, or in a function
    fixed : variables that must not be assigned, with what they are
    """

    what: str
    adds: bool
    adjusts: bool
    loop: bool = False
    function: bool = False
    fixed: Mapping[str, str] = field(default_factory=dict)


def check_placement(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first statement, or variable, that stands where it must not."""
    check = _Check(sources)
    for function in program.functions:
        adds = function.name.endswith("_lp")
        adjusts = adds or function.name.endswith("_jacobian")
        what = f"the function {function.name}"
        fixed = {a.name: f"an argument of {function.name}" for a in function.arguments}
        where = _Where(what, adds, adjusts, function=True, fixed=fixed)
        check.statements((function.body,), where)
    fixed = {}
    for name, block in program.blocks.items():
        if name in _PARAMETERS:
            check.types(block, name)
        adds = name == "model"
        adjusts = adds or name == "transformed parameters"
        check.statements(block, _Where(f"the {name} block", adds, adjusts, fixed=fixed))
        if name in _KINDS:  # variables of other blocks are local
            declared = (node.name for node in block if isinstance(node, n.Declare))
            fixed = fixed | dict.fromkeys(declared, _KINDS[name])


class _Check:
    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def _fail(self, message: str, node: n.Node) -> NoReturn:
        raise complaint(message, node.place, self._sources)

    def types(self, block: Sequence[Any], name: str) -> None:
        """Check the variables of a block of parameters."""
        for node in block:
            if not isinstance(node, n.Declare):
                continue
            if node.type.kind == "int":
                self._fail(
                    f"{node.name} is a whole number, and these are no parameters here: sum over "
                    "its values in the model block, or declare it in braces.",
                    node,
                )
            if name == "parameters" and node.type.kind.startswith(("complex", "tuple")):
                self._fail(
                    f"{node.name} is a {node.type.kind}; declare its parts as parameters of "
                    "their own.",
                    node,
                )

    def statements(self, found: Sequence[Any], where: _Where) -> None:
        """Check statements, and those inside them. Names that they declare are their own."""
        own = {node.name for node in found if isinstance(node, n.Declare)}
        others = {name: kind for name, kind in where.fixed.items() if name not in own}
        for node in found:
            self._statement(node, replace(where, fixed=others))

    def _statement(self, node: Any, where: _Where) -> None:
        if isinstance(node, n.Block):
            self.statements(node.body, where)
        elif isinstance(node, n.If):
            self.statements((node.then, node.otherwise), where)
        elif isinstance(node, n.For | n.ForEach | n.While):
            counter = {} if isinstance(node, n.While) else {node.name: _COUNTER}
            self._statement(node.body, replace(where, loop=True, fixed={**where.fixed, **counter}))
        elif isinstance(node, n.Assign):
            for name in _assigned(node.target):
                if name in where.fixed:
                    self._refuse_assignment(node, name, where.fixed[name])
        elif isinstance(node, n.Break | n.Continue) and not where.loop:
            word = "break" if isinstance(node, n.Break) else "continue"
            self._fail(f"{word} stands in a loop; here is none around it.", node)
        elif isinstance(node, n.Return) and not where.function:
            self._fail(f"return stands in a function; this is {where.what}.", node)
        elif isinstance(node, n.Tilde | n.Target):
            self._check_density(node, where)

    def _refuse_assignment(self, node: n.Assign, name: str, kind: str) -> NoReturn:
        home = {"data": "transformed data", "a parameter": "transformed parameters"}.get(kind)
        there = f" in the {home} block" if home else ""
        self._fail(
            f"{name} is {kind}, and cannot be assigned to here. Declare another variable{there}, "
            f"with what {name} holds, and assign to that one.",
            node,
        )

    def _check_density(self, node: n.Tilde | n.Target, where: _Where) -> None:
        if isinstance(node, n.Target) and node.jacobian:
            if not where.adjusts:
                self._fail(
                    "jacobian += stands in the transformed parameters block, and in functions "
                    f"whose names end in _jacobian; this is {where.what}.",
                    node,
                )
        elif not where.adds:
            what = "a distribution of a variable" if isinstance(node, n.Tilde) else "target +="
            self._fail(
                f"{what} stands in the model block, and in functions whose names end in _lp; this "
                f"is {where.what}.",
                node,
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
