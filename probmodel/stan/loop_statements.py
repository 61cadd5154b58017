"""Loops: one iteration after another, or all side by side.

Side by side, each iteration is a lane. In a loop inside, lanes may run other numbers of times: a
round of it is run in those lanes alone that have it. Where lanes differ in what must be the same in
all, such as sizes, they are split into sets that agree, and each set is run by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import ProbmodelError
from probmodel.stan.complaints import Sources
from probmodel.stan.data_branches import DataBranches
from probmodel.stan.density_terms import Increment, Term
from probmodel.stan.indexing import LanesDifferError, known_parts, select
from probmodel.stan.lane_branches import Flow
from probmodel.stan.operators import Frame
from probmodel.stan.side_by_side import assigned, has_recurrence, own_axes
from probmodel.stan.stan_values import Value, integer, kind_of, share, type_text
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Loop
from probmodel.types import Array

MOST_ITERATIONS = 20_000_000  # of all loops of a program together: beyond, it is taken for endless
MOST_ROUNDS = 100_000  # the same of those that have a condition
_FEWEST_LANES = 16  # iterations from which on a loop is tried side by side; an eighth, see `_for`
_MOST_COPIED = 20_000  # elements of a variable of which each lane has one of its own
_MOST_IN_ALL = 10_000_000  # of these, in all lanes
_MOST_HELD = 64  # elements, in a lane, of variables that are remembered at each iteration
_FEWEST_ALIKE = 2  # lanes in a set, in the mean
_MOST_FAILURES = 2  # of running a loop side by side, more than it went well


class Round(NamedTuple):
    """A round of a loop.

    Attributes
    ----------
    value : of the loop's variable
    chosen : the lanes that have it; None for all
    """

    value: Any
    chosen: Array | None = None


class Loops(DataBranches):
    """Loops over numbers, containers, and while a condition holds."""

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self.terms: list[Term | Increment] = []
        self._iterations = self._rounds = 0
        self._failures: dict[int, int] = {}  # less successes, by loop

    def _count(self, node: n.Node) -> None:
        self._iterations += 1
        if self._iterations > MOST_ITERATIONS:
            self.fail(
                f"the program's loops have run {MOST_ITERATIONS:,} times, which is too often.", node
            )

    def _for(self, node: n.For, frame: Frame) -> Flow | None:
        lower = self._end(node.lower, frame, "the start of a loop")
        upper = self._end(node.upper, frame, "the end of a loop")
        if np.ndim(lower) or np.ndim(upper):
            with self.recurrence(node, lower, upper):
                return self._loop(node, _ragged(*np.broadcast_arrays(lower, upper)), frame)
        fewest = max(2, _FEWEST_LANES // 8) if has_recurrence(node) else _FEWEST_LANES
        many = upper - lower + 1 >= fewest and self.lanes is None
        if many and node.name not in frame and self._side(node, np.arange(lower, upper + 1), frame):
            return None
        with self.recurrence(node, lower, upper):
            return self._loop(node, (Round(integer(i)) for i in range(lower, upper + 1)), frame)

    def _end(self, node: n.Expression, frame: Frame, what: str) -> Any:
        """Return where a loop starts or ends: one number, or an array where lanes differ."""
        value = self.whole_value(node, frame, what)
        if value.laned and not value.traced and np.any(value.array != value.array[0]):
            return value.array
        return int(self.common(value, node, what))

    def _loop(self, node: n.For | n.ForEach, rounds: Iterator[Round], frame: Frame) -> Flow | None:
        if node.name in frame:
            self.fail(f"{node.name!r} is declared twice.", node)
        starts, steps = [], self.graph.steps
        contents: list[dict[str, Array]] = []

        def counted() -> Iterator[Array | None]:
            for value, chosen in rounds:
                self._count(node)
                starts.append(len(steps))
                contents.append(_contents(node, frame, not contents))
                frame[node.name] = value
                yield chosen

        try:
            flow = self._repeat(node, partial(self._body, node.body), counted(), frame)
        finally:
            frame.pop(node.name, None)
        if starts and len(steps) > starts[0] and flow is None:
            contents.append(_contents(node, frame))
            self.graph.loops.append(Loop(node, (*starts, len(steps)), tuple(contents)))
        return flow

    def _body(self, body: n.Statement, frame: Frame) -> Flow | None:
        flow = self._run[type(body)](body, frame)
        return None if flow is not None and flow.kind == "continue" else flow

    def _repeat(
        self,
        node: n.For | n.ForEach | n.While,
        run: Callable[[Frame], Flow | None],
        rounds: Iterable[Array | None],
        frame: Frame,
    ) -> Flow | None:
        """Run the body of a loop, in some cases up to a break or return that parameters decide."""
        left: Flow | None = None
        for chosen in rounds:
            if left is None or not left.by_parameters:
                flow = self._round(left, chosen, run, node, frame)
            elif chosen is None and left.condition is not None:
                branches = partial(_left, left), run
                flow = self.either(left.condition, branches, assigned(node.body), frame, node)
            else:
                raise LanesDifferError
            if flow is None:
                continue
            if flow.condition is None:
                return None if flow.kind == "break" else flow
            left = flow
        return None if left is None or left.kind == "break" else left

    def _round(
        self,
        left: Flow | None,
        chosen: Array | None,
        run: Callable[[Frame], Flow | None],
        node: n.For | n.ForEach | n.While,
        frame: Frame,
    ) -> Flow | None:
        """Run a round in the lanes that have it, but for those that left; returns which have."""
        if left is not None and left.condition is not None:
            stay = ~np.asarray(left.condition.array, dtype=bool)
            chosen = stay if chosen is None else stay & chosen
            if not chosen.any():
                return left
        flow = run(frame) if chosen is None else self.in_some(chosen, run, node, frame)
        return self.either_left(left, flow)

    def _for_each(self, node: n.ForEach, frame: Frame) -> Flow | None:
        container = self.evaluate(node.container, frame)
        if isinstance(container, list):
            return self._loop(node, map(Round, container), frame)
        if not isinstance(container, Value) or not container.rank:
            self.misfit(f"a loop runs over a container; got a {type_text(container)}.", node)
        if container.kind == "matrix" and not container.array_rank:
            columns = np.swapaxes(container.array, -1, -2)
            flat = columns.reshape(*columns.shape[:-2], -1)
            kind = kind_of("real", flat)
            elements = (flat[..., i] for i in range(flat.shape[-1]))
            return self._loop(node, (Round(container.like(e, kind)) for e in elements), frame)
        places = range(1, container.shape[0] + 1)
        return self._loop(node, (Round(select(container, [integer(i)])) for i in places), frame)

    def _while(self, node: n.While, frame: Frame) -> Flow | None:
        def run(inside: Frame) -> Flow | None:
            condition = self.condition(node.condition, inside)
            if condition.laned and not condition.traced:
                holds = np.asarray(condition.array, dtype=bool)
            else:
                holds = np.array(
                    [self.common(condition, node.condition, "the condition of a loop")]
                )
            if not holds.any():
                return Flow("break")
            self._count(node)
            self._rounds += 1
            if self._rounds > MOST_ROUNDS:
                self.fail(f"the loop has run {MOST_ROUNDS:,} times; is it endless?", node)
            flow = self.in_some(holds, partial(self._body, node.body), node.body, inside)
            if holds.all():
                return flow
            return self.either_left(Flow("break", None, Value("int", ~holds, laned=True)), flow)

        return self._repeat(node, run, repeat(None), frame)

    # -- side by side ------------------------------------------------------------------------------

    def _side(self, node: n.For, numbers: Array, frame: Frame) -> bool:
        """Run all iterations at once, if that can be done; undo what was done if not."""
        axes, failures = own_axes(node), self._failures.get(id(node), 0)
        if axes is None or failures > _MOST_FAILURES:
            return False
        alone = [name for name in assigned(node.body) if name in frame and name not in axes]
        lanes, inside = len(numbers), dict(frame)
        for name in alone:
            value = inside[name]
            if not _is_copied(value, lanes):
                return False
            unset = np.full((lanes, *value.shape), self.graph.missing)
            inside[name] = Value(value.kind, unset, True, True)
        inside[node.name] = Value("int", numbers, laned=True)
        terms, mark = len(self.terms), self.graph.mark()
        self.lanes, self._side_by_side, self._own = lanes, True, (node.name, axes)
        before = self.graph.statement_order
        self.graph.statement_order = before + 1 + np.arange(lanes)
        try:
            self._in_sets(node.body, lanes, inside)
        except (LanesDifferError, ProbmodelError):  # the latter comes again, at its iteration
            del self.terms[terms:]
            self.graph.undo(mark)
            self._failures[id(node)] = failures + 1
            return False
        finally:
            self.lanes, self._side_by_side = None, False
            self.graph.statement_order = before + lanes
        self._failures[id(node)] = failures - 1
        for name in frame:
            new = inside[name]
            frame[name] = self._last(frame[name], new) if name in alone else new
        return True

    def _in_sets(self, body: n.Statement, lanes: int, frame: Frame) -> None:
        """Run iterations, all at once or in sets of those that agree."""
        run = partial(self._body, body)
        todo, count = [np.ones(lanes, dtype=bool)], 1
        while todo:
            chosen = todo.pop()
            terms, mark, before = len(self.terms), self.graph.mark(), dict(frame)
            for name in assigned(body):
                share(frame.get(name))
            try:
                if self.in_some(chosen, run, body, frame) is not None:
                    raise LanesDifferError
            except LanesDifferError as error:
                if error.lanes is None:
                    raise
                sets = [chosen & (error.lanes == kind) for kind in np.unique(error.lanes[chosen])]
                count += len(sets) - 1
                if len(sets) < 2 or count * _FEWEST_ALIKE > lanes:
                    raise
                del self.terms[terms:]
                self.graph.undo(mark)
                frame.clear()
                frame.update(before)
                todo += sets

    def _last(self, before: Value, lanes: Value) -> Value:
        """Return what iterations leave in a variable: of each element what the last one set."""
        if not lanes.traced:
            return Value(lanes.kind, lanes.array[-1])
        done = lanes.array != self.graph.missing
        last = len(done) - 1 - np.argmax(done[::-1], axis=0)
        array = np.take_along_axis(lanes.array, last[None], 0)[0]
        if not done.any(axis=0).all():
            array = np.where(done.any(axis=0), array, self.graph.elements(before))
        return known_parts(Value(lanes.kind, array, True), self.graph)


def _contents(node: n.For | n.ForEach, frame: Frame, first: bool = False) -> dict[str, Array]:
    """Return the elements of the short variables that a loop changes, as they are now.

    At first, those that hold numbers have these, as floats: iterations may make symbols of them.
    """
    found = {}
    for name in sorted(assigned(node.body)):
        value = frame.get(name)
        if not isinstance(value, Value) or prod(value.shape) > _MOST_HELD:
            continue
        if value.traced:
            found[name] = np.array(value.array).reshape(-1)
        elif first and value.kind != "int" and not value.is_complex:
            found[name] = np.array(value.array, dtype=float).reshape(-1)
    return found


def _ragged(lower: Array, upper: Array) -> Iterator[Round]:
    """Yield the rounds of a loop whose ends differ between lanes.

    In a round, the loop's variable is the same in all lanes that have it, where that does not take
    many more rounds than the longest range has.
    """
    counts = upper - lower + 1
    some = counts > 0
    if not some.any():
        return
    first, last, most = int(lower[some].min()), int(upper[some].max()), int(counts.max())
    if last - first < 2 * most:
        for i in range(first, last + 1):
            chosen = (lower <= i) & (i <= upper)
            if chosen.any():
                yield Round(integer(i), chosen)
        return
    for i in range(most):
        yield Round(Value("int", lower + i, laned=True), i < counts)


def _is_copied(value: Any, lanes: int) -> bool:
    """Whether there can be one of a variable for each lane."""
    fits = isinstance(value, Value) and not value.is_complex
    if not fits:
        return False
    size = np.size(value.array)
    return size <= _MOST_COPIED and size * lanes <= _MOST_IN_ALL


def _left(flow: Flow, frame: Frame) -> Flow:
    """Return the same reason, in all cases."""
    return flow._replace(condition=None)
