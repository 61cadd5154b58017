"""Conditions: which statements run where data, lanes or parameters decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from probmodel.stan.complaints import Sources
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.lane_branches import Flow, Lanes
from probmodel.stan.operators import AND, NOT, OR, Frame
from probmodel.stan.side_by_side import assigned
from probmodel.stan.stan_values import Value, share
from probmodel.stan.syntax import nodes as n


class Conditions(Lanes):
    """Statements in a row, and those that run in some cases alone.

    Parameters
    ----------
    sources : the text of the program, by file
    """

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self._run: dict[type, Callable[[Any, Frame], Flow | None]] = {}

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
            others = ~np.asarray(condition.array, dtype=bool)
            later = self.in_some(others, partial(self.run, rest), tuple(rest), frame)
            return self.either_left(flow, later)
        branches = lambda _: flow._replace(condition=None), partial(self.run, rest)
        return self.either(condition, branches, assigned(tuple(rest)), frame, node)

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
        if not condition.traced and self.both_branches(node, condition, frame):
            return None
        if condition.laned and not condition.traced:
            holds, flow = np.asarray(condition.array, dtype=bool), None
            for branch, chosen in ((node.then, holds), (node.otherwise, ~holds)):
                if branch is not None and chosen.any():
                    run = partial(self._run[type(branch)], branch)
                    left = self.in_some(chosen, run, branch, frame)
                    flow = self.either_left(flow, left)
            return flow
        if condition.traced:
            return self._if_on_parameters(node, condition, frame)
        taken = node.then if condition.array else node.otherwise
        return None if taken is None else self._run[type(taken)](taken, frame)

    def both_branches(self, node: n.If, condition: Value, frame: Frame) -> bool:
        """Run both branches, if a condition on data is such; returns whether it was."""
        return False

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

        The branches are functions of a frame, or None for nothing; ``changed`` are the variables
        that they assign to.
        """
        names = [name for name in changed if name in frame]
        for name in names:
            share(frame[name])
        frames, flows = [dict(frame), dict(frame)], []
        conditions = condition, self.apply(NOT, [condition], "int", node)
        for branch, inside, holds in zip(branches, frames, conditions, strict=True):
            with self.guarded(holds):
                flows.append(None if branch is None else branch(inside))
        for name in names:
            first, second = (inside[name] for inside in frames)
            if first is not second:
                with self.at(node):
                    self.complete(first), self.complete(second)
                    holds = self._by_element(condition, name, first, frame)
                    frame[name] = self.choose(holds, first, second, node)
        parts: list[Flow] = []
        for flow, holds in zip(flows, conditions, strict=True):
            if flow is not None:
                if flow.condition is not None and not flow.by_parameters:
                    raise LanesDifferError
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
        return Value("int", np.broadcast_to(rows, value.shape), condition.traced)
