"""The order in which statements run: blocks, conditions, loops, functions of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from probmodel.errors import DataError, ProbmodelError
from probmodel.stan.complaints import Sources
from probmodel.stan.conditions import Conditions, Flow
from probmodel.stan.density_terms import Increment, Term
from probmodel.stan.indexing import LanesDifferError, select
from probmodel.stan.operators import Frame, as_real
from probmodel.stan.side_by_side import assigned, own_axes, private
from probmodel.stan.stan_values import Tuple, Value, integer, real, type_text
from probmodel.stan.syntax import nodes as n

MOST_ITERATIONS = 20_000_000  # of all loops of a program together: beyond, it is taken for endless
MOST_ROUNDS = 100_000  # the same of those that have a condition
_MOST_CALLS = 400  # of functions inside each other
_FEWEST_LANES = 16  # iterations from which on a loop is tried side by side


class Interpreter(Conditions):
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
        self.terms: list[Term | Increment] = []
        self._iterations = self._rounds = 0
        self._calls = 0
        self._run = {
            n.Declare: self._declare, n.Assign: self._assign, n.Tilde: self._tilde,
            n.Target: self._target, n.If: self._if, n.For: self._for, n.ForEach: self._for_each,
            n.While: self._while, n.Return: self._return, n.Block: self._block, n.Say: self._say,
            n.Do: self._do, n.Break: lambda *_: Flow("break"),
            n.Continue: lambda *_: Flow("continue"),
        }  # fmt: skip

    # -- control -----------------------------------------------------------------------------------

    def _block(self, node: n.Block, frame: Frame) -> Flow | None:
        flow = self.run(node.body, frame)
        for statement in node.body:
            if isinstance(statement, n.Declare):
                frame.pop(statement.name, None)
        return flow

    def _count(self, node: n.Node) -> None:
        self._iterations += 1
        if self._iterations > MOST_ITERATIONS:
            self.fail(
                f"the program's loops have run {MOST_ITERATIONS:,} times, which is too often.", node
            )

    def _for(self, node: n.For, frame: Frame) -> Flow | None:
        lower = self.whole(node.lower, frame, "the start of a loop")
        upper = self.whole(node.upper, frame, "the end of a loop")
        if upper - lower + 1 >= _FEWEST_LANES and self.lanes is None:
            axes = own_axes(node)
            if axes is not None and self._side(node, lower, upper, axes, frame):
                return None
        return self._loop(node, (Value("int", i) for i in range(lower, upper + 1)), frame)

    def _loop(self, node: n.For | n.ForEach, values: Iterator[Any], frame: Frame) -> Flow | None:
        if node.name in frame:
            self.fail(f"{node.name!r} is declared twice.", node)
        starts, steps = [], self.graph.steps

        def rounds() -> Iterator[None]:
            for value in values:
                self._count(node)
                starts.append(len(steps))
                frame[node.name] = value
                yield

        try:
            flow = self._repeat(node, rounds(), frame)
        finally:
            frame.pop(node.name, None)
        if starts and len(steps) > starts[0] and flow is None:
            self.graph.loops.append((node, (*starts, len(steps))))
        return flow

    def _repeat(
        self, node: n.For | n.ForEach | n.While, rounds: Iterator[None], frame: Frame
    ) -> Flow | None:
        """Run the body of a loop, in some cases up to a break or return that parameters decide."""
        body, left = node.body, None

        def run(inside: Frame) -> Flow | None:
            flow = self._run[type(body)](body, inside)
            return None if flow is not None and flow.kind == "continue" else flow

        for _ in rounds:
            if left is None:
                flow = run(frame)
            else:
                assert left.condition is not None
                branches = partial(_left, left), run
                flow = self.either(left.condition, branches, assigned(body), frame, node)
            if flow is None:
                continue
            if flow.condition is None:
                return None if flow.kind == "break" else flow
            if not flow.condition.traced:  # by lane
                raise LanesDifferError
            left = flow
        return None if left is None or left.kind == "break" else left

    def _side(
        self, node: n.For, lower: int, upper: int, axes: dict[str, int], frame: Frame
    ) -> bool:
        """Run all iterations at once, if that can be done; undo what was done if not."""
        inside = dict(frame)
        for name in assigned(node.body):
            if name in inside and isinstance(inside[name], Value):
                inside[name].shared = True
        terms, mark = len(self.terms), self.graph.mark()
        numbers = np.arange(lower, upper + 1)
        own = [name for name in private(node) if isinstance(inside.get(name), Value)]
        for name in own:
            value = inside[name]
            array = np.repeat(np.asarray(value.array)[None], len(numbers), 0)
            inside[name] = Value(value.kind, array, value.traced, True)
        inside[node.name] = Value("int", numbers, laned=True)
        self.lanes, self._side_by_side, self._own = len(numbers), True, (node.name, axes)
        try:
            flow = self._run[type(node.body)](node.body, inside)
            if flow is not None:
                raise LanesDifferError
        except (LanesDifferError, ProbmodelError):  # the latter comes again, at its iteration
            del self.terms[terms:]
            self.graph.undo(mark)
            return False
        finally:
            self.lanes, self._side_by_side = None, False
        for name in own:  # what the last iteration left in them
            inside[name] = inside[name].like(inside[name].array[-1])
            inside[name].laned = False
        for name in frame:
            frame[name] = inside[name]
        return True

    def _for_each(self, node: n.ForEach, frame: Frame) -> Flow | None:
        container = self.evaluate(node.container, frame)
        if isinstance(container, list):
            return self._loop(node, iter(container), frame)
        if not isinstance(container, Value) or not container.rank:
            self.fail(f"a loop runs over a container; got a {type_text(container)}.", node)
        if container.laned:
            raise LanesDifferError
        if container.kind == "matrix" and not container.array_rank:
            elements = np.asarray(container.array).T.reshape(-1)
            return self._loop(node, (container.like(e, "real") for e in elements), frame)
        count = container.shape[0]
        return self._loop(node, (select(container, [integer(i + 1)]) for i in range(count)), frame)

    def _while(self, node: n.While, frame: Frame) -> Flow | None:
        def rounds() -> Iterator[None]:
            while True:
                condition = self.condition(node.condition, frame)
                if not self.common(condition, node.condition, "the condition of a loop"):
                    return
                self._count(node)
                self._rounds += 1
                if self._rounds > MOST_ROUNDS:
                    self.fail(f"the loop has run {MOST_ROUNDS:,} times; is it endless?", node)
                yield

        return self._repeat(node, rounds(), frame)

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
            self.fail(f"{node.what}: {said}", node, DataError)
        self.add(Increment(node, real(-np.inf)))

    def own_functions(self) -> list[str]:
        """Return the names of the functions of the program."""
        return list(self.functions)

    def user_function(self, name: str, args: list[Any], node: n.Node) -> Any:
        """Return what a function of the program returns; None if it has none of that name."""
        for old, new in (("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")):
            if name.endswith(old):
                name = name.removesuffix(old) + new
        if name not in self.functions:
            return None
        function = self._overload(name, args, node)
        frame: Frame = {}
        for argument, value in zip(function.arguments, args, strict=True):
            if isinstance(value, Value) and argument.type.kind == "real":
                value = as_real(value)
            frame[argument.name] = value
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
        if flow is not None and flow.condition is not None:
            self.fail(f"{name} returns nothing in some cases.", node)
        if flow is None or flow.value is None:
            return (
                ()
                if function.returns.kind == "void"
                else self.fail(f"{name} ends without a return.", node)
            )
        if function.returns.kind == "real" and isinstance(flow.value, Value):
            return as_real(flow.value)
        return flow.value

    def _overload(self, name: str, args: list[Any], node: n.Node) -> n.Function:
        """Return the function of a name that takes arguments of these types."""
        found = [f for f in self.functions[name] if len(f.arguments) == len(args)]
        fits = [f for f in found if all(map(_takes, f.arguments, args))]
        if fits:
            exact = [f for f in fits if all(map(_is_exact, f.arguments, args))]
            return (exact or fits)[0]
        given = ", ".join(map(type_text, args))
        self.fail(f"{name} takes other arguments than ({given}).", node)


def _left(flow: Flow, frame: Frame) -> Flow:
    """Return the same reason, in all cases."""
    return flow._replace(condition=None)


def _takes(argument: n.Argument, value: Any) -> bool:
    type_ = argument.type
    if type_.kind == "tuple":
        return isinstance(value, Tuple | list)
    if not isinstance(value, Value) or value.array_rank != len(type_.array):
        return False
    promoted = {"int": ("int", "real", "complex"), "real": ("real", "complex")}
    return type_.kind in promoted.get(value.kind, (value.kind,))


def _is_exact(argument: n.Argument, value: Any) -> bool:
    return not isinstance(value, Value) or argument.type.kind == value.kind


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Value) or value.traced:
        return "..."
    return str(value.array)
