"""Conditions: which statements run where data, lanes or parameters decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from probmodel.stan.complaints import Sources
from probmodel.stan.density_terms import DensityTerms
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.operators import AND, NOT, OR, Frame, restricted
from probmodel.stan.side_by_side import assigned
from probmodel.stan.stan_values import Value
from probmodel.stan.syntax import nodes as n


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


class Conditions(DensityTerms):
    """Statements in a row, and those that run in some cases alone.

    Parameters
    ----------
    sources : the text of the program, by file
    """

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self._run: dict[type, Callable[[Any, Frame], Flow | None]] = {}
        self._side_by_side = False
        self._own: tuple[str, dict[str, int]] = "", {}  # of a loop: its variable, its `own_axes`

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
        """Run what follows a statement that some of the cases left, for the others."""
        condition = flow.condition
        assert condition is not None
        if not condition.traced:
            truth = np.asarray(condition.array, dtype=bool)
            with self.in_lanes(~truth):
                later = self.run(rest, restricted(frame, ~truth))
            if later is None or later.kind != "return" or later.condition is not None:
                raise LanesDifferError
            return Flow("return", self._by_lane(truth, flow.value, later.value))
        names = frozenset().union(*map(assigned, rest))
        branches = lambda _: flow._replace(condition=None), partial(self.run, rest)
        return self.either(condition, branches, names, frame, node)

    def _joined(self, flow: Flow, later: Flow, node: n.Node) -> Flow:
        """Return why what follows is not run, in the cases of either of two reasons."""
        condition = flow.condition
        assert condition is not None
        if flow.kind != later.kind:
            self.fail(
                f"a {flow.kind} and a {later.kind} cannot depend on one condition on parameters.",
                node,
            )
        value = None
        if flow.value is not None and later.value is not None:
            with self.at(node):
                value = self.choose(condition, flow.value, later.value, node)
        if later.condition is None:
            return Flow(flow.kind, value)
        return Flow(flow.kind, value, self.apply(OR, [condition, later.condition], "int", node))

    def _if(self, node: n.If, frame: Frame) -> Flow | None:
        condition = self.condition(node.condition, frame)
        if condition.laned and not condition.traced:
            return self._if_by_lane(node, np.asarray(condition.array, dtype=bool), frame)
        if condition.traced:
            return self._if_on_parameters(node, condition, frame)
        taken = node.then if condition.array else node.otherwise
        return None if taken is None else self._run[type(taken)](taken, frame)

    def _if_on_parameters(self, node: n.If, condition: Value, frame: Frame) -> Flow | None:
        branches = [
            None if b is None else partial(self._run[type(b)], b)
            for b in (node.then, node.otherwise)
        ]
        return self.either(condition, branches, assigned(node), frame, node)

    def either(
        self,
        condition: Value,
        branches: Sequence[Callable[[Frame], Flow | None] | None],
        changed: Iterable[str],
        frame: Frame,
        node: n.Node,
    ) -> Flow | None:
        """Run one thing where a condition on parameters holds, and another where not.

        Parameters
        ----------
        condition : in which case
        branches : of a frame each; None for nothing
        changed : the variables that they assign to
        frame, node : where it is run
        """
        names = [name for name in changed if name in frame]
        for name in names:
            if isinstance(frame[name], Value):
                frame[name].shared = True
        frames, flows = [dict(frame), dict(frame)], []
        conditions = condition, self.apply(NOT, [condition], "int", node)
        for branch, inside, holds in zip(branches, frames, conditions, strict=True):
            with self.guarded(holds):
                flows.append(None if branch is None else branch(inside))
        for name in names:
            first, second = (inside[name] for inside in frames)
            if first is not second:
                with self.at(node):
                    holds = self._by_element(condition, name, first, frame)
                    frame[name] = self.choose(holds, first, second, node)
        parts: list[Flow] = []
        for flow, holds in zip(flows, conditions, strict=True):
            if flow is not None:
                both = [holds] if flow.condition is None else [holds, flow.condition]
                parts.append(flow._replace(condition=self._all(both, node)))
        if len(parts) < 2:
            return parts[0] if parts else None
        if all(f is not None and f.condition is None for f in flows):
            parts[1] = parts[1]._replace(condition=None)
        return self._joined(parts[0], parts[1], node)

    def _all(self, conditions: Sequence[Value], node: n.Node) -> Value:
        return conditions[0] if len(conditions) == 1 else self.apply(AND, conditions, "int", node)

    def _by_element(self, condition: Value, name: str, value: Any, frame: Frame) -> Value:
        """Return a condition by lane as one by element, for what has elements of each lane."""
        if not condition.laned or not isinstance(value, Value) or value.laned:
            return condition
        variable, axes = self._own
        axis, numbers = axes[name], frame[variable].array
        lane = np.searchsorted(numbers, np.arange(1, value.shape[axis] + 1))
        rows = condition.array[np.minimum(lane, len(numbers) - 1)]
        rows = rows.reshape(-1, *(1,) * (value.rank - axis - 1))
        return Value("int", np.broadcast_to(rows, value.shape), True)

    @contextmanager
    def in_lanes(self, chosen: Any) -> Iterator[None]:
        """Run what is inside in some of the lanes alone."""
        before = self.lanes, self.guards
        self.lanes = int(np.sum(chosen))
        self.guards = [g.like(g.array[chosen]) if g.laned else g for g in self.guards]
        try:
            yield
        finally:
            self.lanes, self.guards = before

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
