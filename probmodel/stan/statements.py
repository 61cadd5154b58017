"""The order in which statements run: blocks, conditions, loops, functions of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import DataError, ProbmodelError
from probmodel.stan.complaints import Sources
from probmodel.stan.density_terms import DensityTerms, Increment, Term
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.operators import NOT, OR, Frame, as_real, restricted
from probmodel.stan.side_by_side import assigned, can_run_side_by_side, private
from probmodel.stan.stan_values import Tuple, Value, real, type_text
from probmodel.stan.syntax import nodes as n

MOST_ITERATIONS = 20_000_000  # of all loops of a program together: beyond, it is taken for endless
_MOST_CALLS = 400  # of functions inside each other
_FEWEST_LANES = 16  # iterations from which on a loop is tried side by side


class Flow(NamedTuple):
    """Why what follows a statement is not run.

    Attributes
    ----------
    kind : ``break``, ``continue`` or ``return``
    value : what is returned
    condition : on parameters, or by lane, where it is so in a part of the cases
    """

    kind: str
    value: Any = None
    condition: Value | None = None


class Interpreter(DensityTerms):
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
        self._iterations = 0
        self._calls = 0
        self._side_by_side = False
        self._run: dict[type, Callable[[Any, Frame], Flow | None]] = {
            n.Declare: self._declare, n.Assign: self._assign, n.Tilde: self._tilde,
            n.Target: self._target, n.If: self._if, n.For: self._for, n.ForEach: self._for_each,
            n.While: self._while, n.Return: self._return, n.Block: self._block, n.Say: self._say,
            n.Do: self._do, n.Break: lambda *_: Flow("break"),
            n.Continue: lambda *_: Flow("continue"),
        }  # fmt: skip

    def run(self, statements: Sequence[n.Statement], frame: Frame) -> Flow | None:
        """Run statements, in order."""
        for i, statement in enumerate(statements):
            flow = self._run[type(statement)](statement, frame)
            if flow is None:
                continue
            if flow.condition is None:
                return flow
            return self._rest(flow, statements[i + 1 :], frame, statement)
        return None

    def _rest(
        self, flow: Flow, rest: Sequence[n.Statement], frame: Frame, node: n.Node
    ) -> Flow | None:
        """Run what follows a return that some of the cases took, for the others."""
        condition = flow.condition
        assert condition is not None
        if not condition.traced:
            truth = np.asarray(condition.array, dtype=bool)
            with self.in_lanes(~truth):
                later = self.run(rest, restricted(frame, ~truth))
            if later is None or later.kind != "return" or later.condition is not None:
                raise LanesDifferError
            return Flow("return", self._by_lane(truth, flow.value, later.value))
        with self.guarded(self.apply(NOT, [condition], "int", node)):
            later = self.run(rest, frame)
        if later is None:
            return flow
        with self.at(node):
            value = self.choose(condition, flow.value, later.value, node)
            if later.condition is None:
                return Flow("return", value)
            either = self.operate_logical(condition, later.condition, node)
        return Flow("return", value, either)

    def operate_logical(self, first: Value, second: Value, node: n.Node) -> Value:
        """Return whether one of two conditions holds."""
        return self.apply(OR, [first, second], "int", node)

    # -- control -----------------------------------------------------------------------------------

    def _block(self, node: n.Block, frame: Frame) -> Flow | None:
        flow = self.run(node.body, frame)
        for statement in node.body:
            if isinstance(statement, n.Declare):
                frame.pop(statement.name, None)
        return flow

    def _if(self, node: n.If, frame: Frame) -> Flow | None:
        condition = self.value(node.condition, frame)
        if condition.laned and not condition.traced:
            return self._if_by_lane(node, np.asarray(condition.array, dtype=bool), frame)
        if condition.traced:
            return self._if_on_parameters(node, condition, frame)
        taken = node.then if condition.array else node.otherwise
        return None if taken is None else self._run[type(taken)](taken, frame)

    def _if_on_parameters(self, node: n.If, condition: Value, frame: Frame) -> Flow | None:
        names = [name for name in assigned(node) if name in frame]
        for name in names:
            if isinstance(frame[name], Value):
                frame[name].shared = True
        frames, flows = [dict(frame), dict(frame)], []
        conditions = condition, self.apply(NOT, [condition], "int", node)
        for branch, inside, holds in zip(
            (node.then, node.otherwise), frames, conditions, strict=True
        ):
            with self.guarded(holds):
                flows.append(None if branch is None else self._run[type(branch)](branch, inside))
        for name in names:
            first, second = (inside[name] for inside in frames)
            if first is not second:
                with self.at(node):
                    frame[name] = self.choose(condition, first, second, node)
        return self._flow_of_both(flows, conditions, node)

    def _flow_of_both(self, flows: Sequence[Any], conditions: Any, node: n.If) -> Flow | None:
        if flows == [None, None]:
            return None
        if any(f is not None and f.kind != "return" for f in flows):
            self.fail("break and continue cannot depend on parameters.", node)
        then, otherwise = flows
        if any(f is not None and f.condition is not None for f in flows):
            self.fail("a return inside two conditions on parameters is not supported.", node)
        if then is not None and otherwise is not None:
            if then.value is None:
                return Flow("return")
            with self.at(node):
                return Flow("return", self.choose(conditions[0], then.value, otherwise.value, node))
        if then is not None:
            return Flow("return", then.value, conditions[0])
        return Flow("return", otherwise.value, conditions[1])

    @contextmanager
    def in_lanes(self, chosen: Any) -> Iterator[None]:
        """Run what is inside in some of the lanes alone."""
        before, self.lanes = self.lanes, int(np.sum(chosen))
        try:
            yield
        finally:
            self.lanes = before

    def _if_by_lane(self, node: n.If, truth: Any, frame: Frame) -> Flow | None:
        if truth.all() or not truth.any():
            taken = node.then if truth.all() else node.otherwise
            return None if taken is None else self._run[type(taken)](taken, frame)
        names = [name for name in assigned(node) if name in frame]
        for name in names:
            if isinstance(frame[name], Value):
                frame[name].shared = True
        before, flows = dict(frame), []
        for chosen, branch in ((truth, node.then), (~truth, node.otherwise)):
            inside = restricted(before, chosen)
            with self.in_lanes(chosen):
                flows.append(None if branch is None else self._run[type(branch)](branch, inside))
            for name in names:
                if isinstance(before[name], Value) and before[name].laned:
                    frame[name] = self._filled(frame[name], chosen, inside[name])
                else:  # elements, of which each lane changes its own
                    frame[name] = before[name] = inside[name]
        then, otherwise = flows
        if then is None and otherwise is None:
            return None
        if any(f is not None and (f.kind != "return" or f.condition is not None) for f in flows):
            raise LanesDifferError
        if then is not None and otherwise is not None:
            return Flow("return", self._by_lane(truth, then.value, otherwise.value))
        returned, where = (then, truth) if then is not None else (otherwise, ~truth)
        assert returned is not None
        return Flow("return", returned.value, Value("int", where, laned=True))

    def _filled(self, value: Any, chosen: Any, new: Any) -> Value:
        """Return a value that is another one in some lanes."""
        if not (isinstance(value, Value) and isinstance(new, Value)):
            raise LanesDifferError
        rest = value.like(value.array[~chosen])
        return self.by_lane(chosen, new, rest)

    def _by_lane(self, truth: Any, then: Any, otherwise: Any) -> Any:
        if not (isinstance(then, Value) and isinstance(otherwise, Value)):
            raise LanesDifferError
        return self.by_lane(truth, then, otherwise)

    def _count(self, node: n.Node) -> None:
        self._iterations += 1
        if self._iterations > MOST_ITERATIONS:
            self.fail(
                f"the program's loops have run {MOST_ITERATIONS:,} times; an endless loop?", node
            )

    def _for(self, node: n.For, frame: Frame) -> Flow | None:
        lower = self.whole(node.lower, frame, "the start of a loop")
        upper = self.whole(node.upper, frame, "the end of a loop")
        many = upper - lower + 1 >= _FEWEST_LANES and self.lanes is None
        if many and can_run_side_by_side(node) and self._side(node, lower, upper, frame):
            return None
        return self._loop(node, (Value("int", i) for i in range(lower, upper + 1)), frame)

    def _loop(self, node: n.For | n.ForEach, values: Iterator[Any], frame: Frame) -> Flow | None:
        body = node.body
        run = self._run[type(body)]
        if node.name in frame:
            self.fail(f"{node.name!r} is declared twice.", node)
        starts, steps = [], self.graph.steps
        try:
            for value in values:
                self._count(node)
                starts.append(len(steps))
                frame[node.name] = value
                flow = run(body, frame)
                if flow is None or flow.kind == "continue":
                    continue
                self._check_left(flow, node)
                if flow.kind == "break":
                    break
                return flow
        finally:
            frame.pop(node.name, None)
        if starts and len(steps) > starts[0]:
            self.graph.loops.append((node, (*starts, len(steps))))
        return None

    def _side(self, node: n.For, lower: int, upper: int, frame: Frame) -> bool:
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
        self.lanes, self._side_by_side = len(numbers), True
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
        elements = container.array
        kind = container.kind
        if not container.array_rank:
            kind = "real" if kind != "int" else "int"
            if container.kind == "matrix":
                elements = np.asarray(elements).T.reshape(-1)
        return self._loop(node, (container.like(e, kind) for e in elements), frame)

    def _while(self, node: n.While, frame: Frame) -> Flow | None:
        while True:
            condition = self.value(node.condition, frame)
            if not self.common(condition, node.condition, "the condition of a loop"):
                return None
            self._count(node)
            flow = self._run[type(node.body)](node.body, frame)
            if flow is None or flow.kind == "continue":
                continue
            self._check_left(flow, node)
            return None if flow.kind == "break" else flow

    def _check_left(self, flow: Flow, node: n.Node) -> None:
        """Refuse that a loop is left in a part of the cases."""
        if flow.condition is None:
            return
        if not flow.condition.traced:
            raise LanesDifferError
        self.fail("a return inside a loop cannot depend on parameters.", node)

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
