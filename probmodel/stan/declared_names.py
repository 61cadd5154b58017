"""Names of variables and functions: each is declared before it is used, also where nothing runs.

The model block runs when data are bound, and generated quantities after sampling: a name that is
wrong there is found before. So are calls of functions that return nothing, where values belong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

from probmodel.errors import nearest
from probmodel.stan.complaints import complaint
from probmodel.stan.function_calls import no_function
from probmodel.stan.library.density_names import LAPLACE
from probmodel.stan.library.stan_densities import DENSITIES
from probmodel.stan.library.table_names import is_built_in
from probmodel.stan.solver_calls import takes_function
from probmodel.stan.statements import defined_name
from probmodel.stan.syntax import nodes as n
from probmodel.stan.transform_calls import split_transform

# Functions that are in no table, and those of Stan that are not here, where no call may be run.
_SPECIAL = frozenset(
    {"target", "hmm_latent_rng", "hypergeometric_3F2", "hypergeometric_pFq", "wiener_lcdf_unnorm",
     "wiener_lccdf_unnorm"}
)  # fmt: skip
_LOCAL = ("model", "generated quantities")  # blocks whose variables no other block sees


def check_names(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first variable that is not declared where it is used."""
    check = _Names(program, sources)
    for function in program.functions:
        if function.body is not None:
            check.statement(function.body, [argument.name for argument in function.arguments])
    shared: list[str] = []
    for name, block in program.blocks.items():
        own = check.statements(block, shared)
        if name not in _LOCAL:
            shared = own


class _Names:
    def __init__(self, program: n.Program, sources: Mapping[str, str]) -> None:
        self._sources = sources
        results: dict[str, set[str]] = {}
        for function in program.functions:
            results.setdefault(function.name, set()).add(function.returns.kind)
        self._functions = set(results)
        self._void = {name for name, kinds in results.items() if kinds == {"void"}}

    def _fail(self, message: str, node: n.Node) -> NoReturn:
        raise complaint(message, node.place, self._sources)

    def _is_function(self, name: str) -> bool:
        """Whether there is a function of a name, or an error of its own for it."""
        if name in _SPECIAL or name in DENSITIES or name.startswith(LAPLACE):
            return True
        return (
            defined_name(name) in self._functions
            or is_built_in(name)
            or takes_function(name)
            or split_transform(name) is not None
        )

    def statements(self, found: Iterable[Any], known: Sequence[str]) -> list[str]:
        """Check statements in their order; returns what is known behind them."""
        names = list(known)
        for node in found:
            if isinstance(node, n.Declare):
                self.inside(node.type, names)
                names.append(node.name)
                self.inside(node.value, names)
            else:
                self.statement(node, names)
        return names

    def statement(self, node: Any, known: Sequence[str]) -> None:
        """Check a statement that is no declaration."""
        if isinstance(node, n.Block):
            self.statements(node.body, known)
        elif isinstance(node, n.For | n.ForEach):
            for field in ("lower", "upper", "container"):
                self.inside(getattr(node, field, None), known)
            self.statement(node.body, [*known, node.name])
        elif isinstance(node, n.Do):
            self.arguments(node.call, known)
        else:
            self.inside(node, known)

    def arguments(self, node: n.Call, known: Sequence[str]) -> None:
        """Check the arguments of a call, except for functions, and where another error comes."""
        if node.name.startswith(LAPLACE):
            return
        if takes_function(node.name):
            self.inside(node.args[1:], known)
        else:
            self.inside(node.args, known)

    def inside(self, node: Any, known: Sequence[str]) -> None:
        """Check an expression, a type, or the parts of a statement."""
        if isinstance(node, n.Block | n.For | n.ForEach | n.Do):
            self.statement(node, known)
        elif isinstance(node, n.Name):
            if node.name not in known and node.name not in self._functions:
                self._fail(f"{node.name!r} is not declared here.{nearest(node.name, known)}", node)
        elif isinstance(node, n.Call):
            if node.name in self._void:
                self._fail(f"{node.name} returns nothing: it is called as a statement.", node)
            if node.name == "not" and "not" not in self._functions:
                self._fail("Stan writes '!' for 'not'.", node)
            if not self._is_function(node.name):
                self._fail(no_function(node.name, self._functions), node)
            self.arguments(node, known)
        elif isinstance(node, n.Tilde) and node.distribution.startswith(LAPLACE):
            self.inside(node.value, known)
        elif isinstance(node, n.Node):
            for field in fields(node):
                self.inside(getattr(node, field.name), known)
        elif isinstance(node, tuple | list):
            for item in node:
                self.inside(item, known)
        elif isinstance(node, dict):
            self.inside(tuple(node.values()), known)
