"""Branches that data choose in a loop whose iterations need each other: both of them are run.

If each iteration ran the branches of its own data alone, no two iterations would be alike, and the
loop could be no scan. Instead, both branches are run in all lanes, and data choose what is kept.
Where a branch does not count, its operations are given other arguments, at which they and their
slopes are finite. Branches with operations of which that is not known are run as elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from probmodel.errors import ProbmodelError
from probmodel.stan.complaints import Sources
from probmodel.stan.conditions import Conditions
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.lane_branches import Flow
from probmodel.stan.operators import CHOOSE_BY_DATA, Frame
from probmodel.stan.rolled_loops import FEWEST
from probmodel.stan.side_by_side import assigned, carries, mentioned, parts
from probmodel.stan.stan_values import Tuple, Value, kind_of, share
from probmodel.stan.syntax import nodes as n

_MOST_FAILURES = 2  # of running both branches, more than it went well
_MOST_CHOSEN = 16  # elements of a variable that are all chosen, and not those alone that differ
_STATEMENTS = (n.Assign, n.Declare, n.Block, n.If, n.Tilde, n.Target)


class DataBranches(Conditions):
    """Both branches of a condition on data."""

    _varying: frozenset[str] | None = None  # in a recurrence: what its iterations change
    _counter = ""  # of the recurrence: its variable

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self._not_both: dict[int, int] = {}  # failures less successes, by node

    @contextmanager
    def recurrence(self, loop: n.For, lower: Any, upper: Any) -> Iterator[None]:
        """Run what is inside as a loop whose iterations need each other, if it is a long one."""
        long = np.max(upper) - np.min(lower) + 1 >= FEWEST and self.rng is None
        if self._varying is not None or not long or not carries(loop):
            yield
            return
        self._varying, self._counter = _varying(loop), loop.name
        try:
            yield
        finally:
            self._varying = None

    def both_branches(self, node: n.If, condition: Value, frame: Frame) -> bool:
        """Run both branches in all lanes, if that can be done; undo what was done if not."""
        if not self._may_be_both(node):
            return False
        names = [name for name in assigned(node) if name in frame]
        for name in names:
            share(frame[name])
        frames = dict(frame), dict(frame)

        def run() -> dict[str, Any]:
            branches = zip((node.then, node.otherwise), frames, _cases(condition), strict=True)
            for branch, inside, holds in branches:
                if branch is not None:
                    with self.counting(holds):
                        flow: Flow | None = self._run[type(branch)](branch, inside)
                        assert flow is None
            first, second = frames
            changed = [name for name in names if first[name] is not second[name]]
            with self.at(node):
                return {
                    name: self._of_both(condition, first[name], second[name], node, name, frame)
                    for name in changed
                }

        found = self._undone_if_it_fails(node, run)
        frame.update(found or {})
        return found is not None

    def both_cases(self, node: n.Ternary, condition: Value, frame: Frame) -> Any:
        """Return the value of a choice, with both cases computed in all lanes; None if not so."""
        if not self._may_be_both(node):
            return None

        def run() -> Any:
            values = []
            for branch, holds in zip((node.then, node.otherwise), _cases(condition), strict=True):
                with self.counting(holds):
                    values.append(self.value(branch, frame))
            if any(v.kind == "real" for v in values):
                values = [self.real(v) for v in values]
            with self.at(node):
                return self._of_both(condition, values[0], values[1], node)

        return self._undone_if_it_fails(node, run)

    def _undone_if_it_fails(self, node: n.Node, run: Any) -> Any:
        """Return what a function returns; None, after undoing what it did, if it fails."""
        mark, terms, order = self.graph.mark(), len(self.terms), self.graph.statement_order
        failures = self._not_both.get(id(node), 0)
        try:
            found = run()
        except (LanesDifferError, ProbmodelError):  # the latter comes again, where it counts
            del self.terms[terms:]
            self.graph.undo(mark)
            self.graph.statement_order = order
            self._not_both[id(node)] = failures + 1
            return None
        self._not_both[id(node)] = failures - 1
        return found

    def _may_be_both(self, node: n.If | n.Ternary) -> bool:
        """Whether the iterations of a recurrence take different branches, which may all be run."""
        if self._varying is None or self._not_both.get(id(node), 0) > _MOST_FAILURES:
            return False
        if not _varies(node.condition, self._varying, self._counter):
            return False
        return _can_be_run(node) and not any(
            f"{name}{end}" in self.functions
            for name in _called(node)
            for end in ("", "_lpdf", "_lpmf", "_log")
        )

    def _of_both(
        self,
        condition: Value,
        first: Any,
        second: Any,
        node: n.Node,
        name: str = "",
        frame: Frame | None = None,
    ) -> Any:
        """Return what data choose of the values of both branches."""
        if isinstance(first, Tuple | list):
            sides = (v.items if isinstance(v, Tuple) else v for v in (first, second))
            pairs = zip(*sides, strict=True)
            items = [self._of_both(condition, a, b, node) for a, b in pairs]
            return Tuple(items) if isinstance(first, Tuple) else items
        self.complete(first), self.complete(second)
        if first.shape != second.shape or first.is_complex or second.is_complex:
            raise LanesDifferError
        holds = condition
        if frame is not None and name:
            holds = self._by_element(condition, name, first, frame)
        if not (first.traced or second.traced):
            return _numbers(holds, first, second)
        kind = first.kind if second.kind == "int" else second.kind
        return self._chosen_of_two(holds, first, second, kind, node)

    def _chosen_of_two(
        self, holds: Value, first: Value, second: Value, kind: str, node: n.Node
    ) -> Value:
        """Return what data choose: of few elements all, of many those that differ."""
        if prod(first.shape) <= _MOST_CHOSEN and not holds.rank:
            return self.graph.apply(CHOOSE_BY_DATA, [holds, first, second], kind, (), node)
        arrays = [self.graph.elements(v) for v in (first, second)]
        laned = holds.laned or first.laned or second.laned
        if laned:
            shape = (self.lanes or 1, *first.shape)
            both = zip(arrays, (first, second), strict=True)
            arrays = [np.broadcast_to(a if v.laned else a[None], shape) for a, v in both]
        found, other = (np.array(a) for a in arrays)
        differ = np.any(found != other, axis=0) if laned else found != other
        where = (slice(None), differ) if laned else differ
        sides = [Value("real", a[where], True, laned) for a in (found, other)]
        if holds.rank:
            holds = holds.like(holds.array[where])
        found[where] = self.graph.apply(CHOOSE_BY_DATA, [holds, *sides], "real", (), node).array
        return Value(kind, found, True, laned)


def _cases(condition: Value) -> tuple[Value, Value]:
    """Return where a condition on data holds, and where it does not."""
    holds = np.asarray(condition.array, dtype=bool)
    return (
        Value("int", holds[()], laned=condition.laned),
        Value("int", (~holds)[()], laned=condition.laned),
    )


def _numbers(holds: Value, first: Value, second: Value) -> Value:
    """Return numbers of one value where a condition holds, and of another where not."""
    truth = np.asarray(holds.array, dtype=bool)
    laned = holds.laned or first.laned or second.laned
    if holds.laned:
        truth = truth.reshape(len(truth), *(1,) * (first.rank - holds.rank))
    arrays = [np.asarray(v.array) for v in (first, second)]
    if laned:
        arrays = [a if v.laned else a[None] for a, v in zip(arrays, (first, second), strict=True)]
    found = np.where(truth, *arrays)[()]
    kind = first.kind if second.kind == "int" else second.kind
    return Value(kind_of(kind, found), found, laned=laned)


@lru_cache(maxsize=4096)
def _varying(loop: n.For) -> frozenset[str]:
    """Return the variables that iterations of a loop change, or have of their own."""
    inside = tuple(parts(loop.body))
    local = {p.name for p in inside if isinstance(p, n.Declare | n.For | n.ForEach)}
    return frozenset(local | assigned(loop.body) | {loop.name})


@lru_cache(maxsize=4096)
def _varies(condition: n.Expression, varying: frozenset[str], counter: str) -> bool:
    """Whether a condition is no rule on the loop's variable alone, such as ``t > 1``."""
    named = mentioned(condition) & varying
    plain = not any(
        isinstance(p, n.Index | n.Call) or (isinstance(p, n.Binary) and p.operator == "%")
        for p in parts(condition)
    )
    return bool(named) and not (plain and named == {counter})


@lru_cache(maxsize=4096)
def _can_be_run(node: n.If | n.Ternary) -> bool:
    """Whether branches have statements alone that can be run where they do not count."""
    inside = list(parts(node))
    if any(isinstance(p, n.Statement) and not isinstance(p, _STATEMENTS) for p in inside):
        return False
    return not any(p.name.endswith(("_rng", "_lp")) for p in inside if isinstance(p, n.Call))


@lru_cache(maxsize=4096)
def _called(node: n.Node) -> frozenset[str]:
    """Return the names of functions and of distributions inside."""
    inside = list(parts(node))
    names = {p.name for p in inside if isinstance(p, n.Call)}
    return frozenset(names | {p.distribution for p in inside if isinstance(p, n.Tilde)})
