"""What may stand where: statements that belong to some blocks or functions, or into loops alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from probmodel.stan.complaints import complaint
from probmodel.stan.syntax import nodes as n

_PARAMETERS = ("parameters", "transformed parameters")


@dataclass(frozen=True)
class _Where:
    """What is around a statement.

    Attributes
    ----------
    what : in words, the block or function
    adds, adjusts : whether something may be added to the log density, or to its Jacobian
    loop, function : whether it stands in a loop, or in a function
    """

    what: str
    adds: bool
    adjusts: bool
    loop: bool = False
    function: bool = False


def check_placement(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first statement, or variable, that must not stand where it does.

    Parameters
    ----------
    program : whose statements these are
    sources : its text, by file
    """
    check = _Check(sources)
    for function in program.functions:
        adds = function.name.endswith("_lp")
        adjusts = adds or function.name.endswith("_jacobian")
        where = _Where(f"the function {function.name}", adds, adjusts, function=True)
        check.statements((function.body,), where)
    for name, block in program.blocks.items():
        if name in _PARAMETERS:
            check.types(block, name)
        adds = name == "model"
        adjusts = adds or name == "transformed parameters"
        check.statements(block, _Where(f"the {name} block", adds, adjusts))


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
        """Check statements, and those inside them."""
        for node in found:
            self._statement(node, where)

    def _statement(self, node: Any, where: _Where) -> None:
        if isinstance(node, n.Block):
            self.statements(node.body, where)
        elif isinstance(node, n.If):
            self.statements((node.then, node.otherwise), where)
        elif isinstance(node, n.For | n.ForEach | n.While):
            inside = _Where(where.what, where.adds, where.adjusts, True, where.function)
            self._statement(node.body, inside)
        elif isinstance(node, n.Break | n.Continue) and not where.loop:
            word = "break" if isinstance(node, n.Break) else "continue"
            self._fail(f"{word} stands in a loop; here is none around it.", node)
        elif isinstance(node, n.Return) and not where.function:
            self._fail(f"return stands in a function; this is {where.what}.", node)
        elif isinstance(node, n.Tilde | n.Target):
            self._check_density(node, where)

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
