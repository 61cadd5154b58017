"""All statements of a program, and its functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.errors import DataError
from probmodel.stan.complaints import Sources
from probmodel.stan.density_terms import Increment
from probmodel.stan.lane_branches import Flow
from probmodel.stan.library.table_names import is_built_in
from probmodel.stan.loop_statements import Loops
from probmodel.stan.operators import Frame
from probmodel.stan.own_functions import closest, promotions
from probmodel.stan.stan_values import Value, real, type_text
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.printing import text_of

_MOST_CALLS = 400  # of functions inside each other


class Interpreter(Loops):
    """Runs the statements of a program.

    Parameters
    ----------
    functions : of the program
    sources : its text, by file
    """

    def __init__(self, functions: Sequence[n.Function], sources: Sources) -> None:
        super().__init__(sources)
        self.functions: dict[str, list[n.Function]] = {}
        for function in functions:
            if function.body is not None:
                self.functions.setdefault(function.name, []).append(function)
        self._calls = 0
        self._run = {
            n.Declare: self._declare, n.Assign: self._assign, n.Tilde: self._tilde,
            n.Target: self._target, n.If: self._if, n.For: self._for, n.ForEach: self._for_each,
            n.While: self._while, n.Return: self._return, n.Block: self._block, n.Say: self._say,
            n.Do: self._do, n.Break: lambda *_: Flow("break"),
            n.Continue: lambda *_: Flow("continue"),
        }  # fmt: skip

    def _block(self, node: n.Block, frame: Frame) -> Flow | None:
        flow = self.run(node.body, frame)
        for statement in node.body:
            if isinstance(statement, n.Declare):
                frame.pop(statement.name, None)
        return flow

    # -- functions ---------------------------------------------------------------------------------

    def _return(self, node: n.Return, frame: Frame) -> Flow:
        return Flow("return", None if node.value is None else self.evaluate(node.value, frame))

    def _do(self, node: n.Do, frame: Frame) -> None:
        self.call(node.call, frame)

    def _say(self, node: n.Say, frame: Frame) -> None:
        """Say nothing of ``print``; ``reject`` excludes the cases that come here."""
        if node.what == "print":
            return
        said = "".join(
            item.value if isinstance(item, n.Text) else _shown(self.evaluate(item, frame))
            for item in node.args
        )
        if not self.guards:
            fatal = node.what == "fatal_error"
            self.fail(f"{node.what}: {said}", node, DataError, fatal=fatal)
        self.add(Increment(node, real(-np.inf)))

    def own_functions(self) -> list[str]:
        """Return the names of the functions of the program."""
        return list(self.functions)

    def user_function(self, name: str, args: list[Any], node: n.Node) -> Any:
        """Return what a function of the program returns; None if it has none of that name."""
        name = defined_name(name)
        if name not in self.functions:
            return None
        function = closest(self.functions[name], args)
        if function is None:
            given = ", ".join(map(type_text, args))
            takes = " or ".join(map(_arguments, self.functions[name]))
            self.misfit(f"{name} takes {takes}; got ({given}).", node)
        frame: Frame = {}
        for argument, value in zip(function.arguments, args, strict=True):
            frame[argument.name] = self.promoted(value, argument.type)
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self.fail(f"{name} calls itself more than {_MOST_CALLS} times.", node)
        try:
            assert function.body is not None
            flow = self.run(function.body.body, frame)
        except RecursionError:
            if self._calls > 1:  # said where the first of them was called
                raise
            self.fail(f"{name} calls itself, or others each other, too many times.", node)
        finally:
            self._calls -= 1
        if function.returns.kind == "void":
            return ()
        if flow is not None and flow.condition is not None:
            self.fail(f"{name} returns nothing in some cases.", node)
        if flow is None or flow.value is None:
            self.fail(f"{name} ends without a return.", node)
        if promotions(function.returns, flow.value) is None:
            declared, found = text_of(function.returns), type_text(flow.value)
            self.misfit(
                f"{name} is declared to return a {declared}; it returns a {found}.", function
            )
        return self.promoted(flow.value, function.returns)

    def is_own(self, name: str, args: Sequence[Any]) -> bool:
        """Whether a call means a function of the program, and not one of the tables."""
        name = defined_name(name)
        return name in self.functions and (
            not is_built_in(name) or closest(self.functions[name], args) is not None
        )


def defined_name(name: str) -> str:
    """Return the name that a function is defined by: ``f_lpdf`` of ``f_lupdf``."""
    for old, new in (("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")):
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _arguments(function: n.Function) -> str:
    """Return the types that a function takes, as messages have them."""
    return f"({', '.join(text_of(argument.type) for argument in function.arguments)})"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Value) or value.traced:
        return "..."
    return str(value.array)
