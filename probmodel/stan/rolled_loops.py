"""Loops in which each iteration needs what earlier ones computed: one step, repeated by a scan.

Unrolled, such a loop is a long chain of operations on few numbers. Where its iterations are all
alike, the part of an iteration that feeds back into later ones is written once, as a function of a
state. What an iteration computes before that part, or with its results, is left as it is: it can be
computed for all iterations at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.functions import scan
from probmodel.stan.loop_iterations import Iterations, Lags
from probmodel.stan.operators import AND, CHOOSE, COMPARISONS, NOT, OR
from probmodel.stan.traced_graph import Graph, Step
from probmodel.types import Array

FEWEST = 12  # iterations from which on a loop is looked at


class Repeated(NamedTuple):
    """A part of a loop's iterations that a scan computes.

    Attributes
    ----------
    first, steps : index of its first step, and how many steps an iteration has
    length : how many iterations
    base, size : number of its first element, and how many elements an iteration has
    inside : which of the steps of an iteration, counted from 0, the scan computes
    dependent : which depend on it, themselves included
    graph : of one step: of a state, the elements of sequences, and of what stays the same
    new : the next state, as elements of that graph
    initial : elements that are the first state
    sequences : (length, n) elements
    captured : (n,) elements
    own : places, within an iteration, of the elements that the scan computes
    slots : where in the state each element of an iteration is found, -1 for others
    """

    first: int
    steps: int
    length: int
    base: int
    size: int
    inside: Array
    dependent: Array
    graph: Graph
    new: Array
    initial: Array
    sequences: Array
    captured: Array
    own: Array
    slots: Array

    def externals(self) -> Array:
        """Return all elements that it needs."""
        parts = [self.initial, self.sequences.reshape(-1), self.captured]
        return np.concatenate(parts)


class Uses(NamedTuple):
    """Which steps use which elements.

    Attributes
    ----------
    step, element : one entry for each use; step -1 stands for uses outside the graph
    size : number of elements
    same : for each element, the first one that is computed in the same way
    """

    step: Array
    element: Array
    size: int
    same: Array

    @classmethod
    def of(cls, graph: Graph, needed: Array, roots: Sequence[Any]) -> Uses:
        """Collect the uses by the steps that are needed, and outside."""
        steps, elements = [], []
        for i, operands in [(-1, tuple(roots)), *((i, graph.steps[i].operands) for i in needed)]:
            flat = np.concatenate([np.reshape(o, -1) for o in operands] or [np.zeros(0, int)])
            flat = flat[flat >= 0]
            elements.append(flat)
            steps.append(np.full(len(flat), i))
        element = np.concatenate(elements).astype(np.int64)
        return cls(np.concatenate(steps), element, graph.size, _same(graph, needed))

    def but_by(self, steps: Array) -> Array:
        """Return which elements are used by others than some steps: (size,)."""
        used = np.zeros(self.size, dtype=bool)
        elements = self.element[~np.isin(self.step, steps)]
        used[elements] = used[self.same[elements]] = True
        return used


def _same(graph: Graph, needed: Array) -> Array:
    """Return, for each element, the first one that is computed by the same steps."""
    same = np.arange(graph.size)
    known: dict[Any, int] = {}
    for i in needed.tolist():
        step = graph.steps[i]
        if step.operation is None:
            continue
        operands = tuple(_key(o, same) for o in step.operands)
        key = id(step.operation), step.keywords, operands, step.laned, step.shape
        start = known.setdefault(key, step.start)
        if start != step.start:
            size = prod(step.shape)
            same[step.start : step.start + size] = start + np.arange(size)
    return same


def _key(operand: Any, same: Array) -> Any:
    if isinstance(operand, int):
        return operand if operand < 0 else int(same[operand])
    return np.shape(operand), replaced(operand, same).tobytes()


def replaced(elements: Any, same: Array) -> Array:
    """Return elements with the first of each kind in the place of others."""
    return np.where(elements < 0, elements, same[np.maximum(elements, 0)])


class _IrregularError(Exception):
    """Iterations are not alike."""


def repeated(graph: Graph, starts: Sequence[int], uses: Uses) -> list[Repeated]:
    """Return the parts of a loop that scans compute: none, where no iteration needs another.

    Parameters
    ----------
    graph : of a program
    starts : index of the first step of each iteration, and that after the last one
    uses : of elements, by the steps that are needed
    """
    found = []
    for first, stop in _runs(graph, starts):
        try:
            part = _rolled(Iterations(graph, starts[first : stop + 1]), uses)
        except _IrregularError:
            continue
        if part is not None:
            found.append(part)
    return found


def _runs(graph: Graph, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return ranges of iterations that make the same operations, long enough to be looked at."""
    codes: dict[Any, int] = {}
    signs = [
        tuple(codes.setdefault(_sign(s), len(codes)) for s in graph.steps[a:b])
        for a, b in pairwise(starts)
    ]
    runs, begin = [], 0
    for i in range(1, len(signs) + 1):
        if i == len(signs) or signs[i] != signs[begin]:
            if i - begin >= FEWEST and signs[begin]:
                runs.append((begin, i))
            begin = i
    return runs


def _sign(step: Step) -> Any:
    shapes = tuple(np.shape(o) for o in step.operands)
    return step.operation, step.keywords, shapes, step.laned, step.shape, id(step.place)


def _rolled(of: Iterations, uses: Uses) -> Repeated | None:
    """Return the part of iterations that a scan computes, if there is one."""
    lags = [of.lags(e) for e in of.operands]
    inside, dependent = of.feedback(lags)
    if not inside.any():
        return None
    steps = np.arange(of.length * of.steps)
    wanted = uses.but_by(of.first + steps[inside[steps % of.steps]])
    region = slice(of.base, of.base + of.size * of.length)
    asked = wanted[region].reshape(of.length, of.size).any(axis=0)
    own = np.zeros(of.size, dtype=bool)
    for j in np.flatnonzero(inside).tolist():
        own[of.range_of(j)] = True
    slots, initial = _states(of, lags, inside, own)
    for place in np.flatnonzero(asked & own).tolist():
        if (place, 1) not in slots:
            slots[place, 1] = len(slots)
            initial.append(int(of.graph.constants(0.0)))
    graph = Graph()
    state = graph.leaf("state", (len(slots),))
    writer = _Writer(of, lags, own, slots, state, graph, dependent, uses.same)
    new = writer.write(np.flatnonzero(inside))
    where = np.full(of.size, -1)
    for (offset, lag), slot in slots.items():
        if lag == 1:
            where[offset] = slot
    return Repeated(
        of.first, of.steps, of.length, of.base, of.size, inside, dependent,
        graph, new, np.array(initial, dtype=np.int64), writer.sequences(), writer.captured(),
        np.flatnonzero(own),
        where,
    )  # fmt: skip


def _states(
    of: Iterations, lags: Lags, inside: Array, own: Array
) -> tuple[dict[tuple[int, int], int], list[int]]:
    """Return the places of a state, by element and lag, and what is in them at first."""
    slots: dict[tuple[int, int], int] = {}
    initial: list[int] = []
    for j in np.flatnonzero(inside).tolist():
        back, offset = lags[j]
        for e in np.flatnonzero(back > 0):
            if not own[offset[e]]:
                continue
            lag, place = int(back[e]), int(offset[e])
            for m in range(1, lag + 1):
                value = int(of.operands[j][lag - m, e])
                slot = slots.get((place, m))
                if slot is None:
                    slots[place, m] = len(slots)
                    initial.append(value)
                elif initial[slot] != value:
                    raise _IrregularError
    return slots, initial


class _Writer:
    """Writes one step of a scan."""

    def __init__(
        self,
        of: Iterations,
        lags: Lags,
        own: Array,
        slots: dict[tuple[int, int], int],
        state: Any,
        graph: Graph,
        dependent: Array,
        same: Array,
    ) -> None:
        self._of, self._lags, self._own = of, lags, own
        self._slots, self._state, self._graph = slots, np.atleast_1d(state), graph
        self._dependent, self._same = dependent, same
        self._map = np.full(of.size, -1)
        self._sequences: dict[bytes, tuple[int, Array]] = {}
        self._captured: dict[int, int] = {}

    def write(self, steps: Array) -> Array:
        """Write some steps of an iteration; returns the next state."""
        of, graph = self._of, self._graph
        plans = [self._plan(j) for j in steps]
        row = graph.leaf("row", (len(self._sequences),)) if self._sequences else np.zeros(0, int)
        kept = graph.leaf("kept", (len(self._captured),)) if self._captured else np.zeros(0, int)
        for j, plan in zip(steps, plans, strict=True):
            step = of.graph.steps[of.first + j]
            flat = np.array([self._resolved(p, row, kept) for p in plan], dtype=np.int64)
            operands, start = [], 0
            for k, operand in enumerate(step.operands):
                size = int(np.size(operand))
                part = flat[start : start + size]
                if step.operation in (NOT, AND, OR) or (step.operation is CHOOSE and k == 0):
                    own = [what != "now" for what, _ in plan[start : start + size]]
                    part[own] = [self._truth(e, step) for e in part[own].tolist()]
                operands.append(
                    part.reshape(np.shape(operand)) if np.ndim(operand) else int(part[0])
                )
                start += size
            made = graph.made(
                step.operation, step.keywords, tuple(operands), step.laned, step.shape, step.place
            )
            self._map[of.range_of(j)] = np.reshape(made, -1)
        new = np.empty(len(self._slots), dtype=np.int64)
        for (offset, lag), slot in self._slots.items():
            new[slot] = self._map[offset] if lag == 1 else self._state[self._slots[offset, lag - 1]]
        return new

    def _truth(self, element: int, step: Step) -> int:
        """Return as a truth value what is a number among others outside."""
        operands = element, int(self._graph.constants(0.0))
        return int(
            self._graph.made(COMPARISONS["!="], (), operands, (False, False), (), step.place)
        )

    def _plan(self, j: int) -> list[tuple[str, int]]:
        """Say of each operand where it comes from, and make room for it."""
        elements = self._of.operands[j]
        back, offset = self._lags[j]
        plan: list[tuple[str, int]] = []
        for e in range(elements.shape[1]):
            column = elements[:, e]
            if back[e] >= 0 and self._own[offset[e]]:
                lag, place = int(back[e]), int(offset[e])
                plan.append(("now", place) if lag == 0 else ("state", self._slots[place, lag]))
                continue
            self._check(column)
            column = replaced(column, self._same)
            if np.all(column == column[0]):
                value = int(column[0])
                if value < 0:
                    plan.append(("number", value))
                else:
                    plan.append(("kept", self._captured.setdefault(value, len(self._captured))))
                continue
            key = column.tobytes()
            if key not in self._sequences:
                self._sequences[key] = len(self._sequences), column
            plan.append(("row", self._sequences[key][0]))
        return plan

    def _check(self, column: Array) -> None:
        """Raise `_IrregularError` if something from outside depends on what the scan computes."""
        of = self._of
        inside = column[(column >= of.base) & (column < of.base + of.size * of.length)]
        if inside.size:
            steps = of.step_of((inside - of.base) % of.size)
            if self._dependent[steps].any():
                raise _IrregularError

    def _resolved(self, plan: tuple[str, int], row: Any, kept: Any) -> int:
        what, place = plan
        if what == "now":
            return int(self._map[place])
        if what == "number":
            return int(self._graph.constants(self._of.graph.numbers(place)))
        return int({"state": self._state, "row": row, "kept": kept}[what][place])

    def sequences(self) -> Array:
        """Return what changes from iteration to iteration: (length, n)."""
        columns = [column for _, column in self._sequences.values()]
        return np.stack(columns, axis=1) if columns else np.zeros((self._of.length, 0), int)

    def captured(self) -> Array:
        """Return what stays the same."""
        return np.array(list(self._captured), dtype=np.int64)


def scanned(part: Repeated, expression: Any, lowering: Any) -> Any:
    """Return the states after each iteration, (length, n).

    Parameters
    ----------
    part : of a loop
    expression : makes an expression of elements
    lowering : makes one of a graph's elements, given the expressions of its leaves
    """
    names = ["state"]
    sequences = [expression(part.sequences)] if part.sequences.size else []
    args = (expression(part.captured),) if part.captured.size else ()
    names += ["row"] * len(sequences) + ["kept"] * len(args)

    def step(*given: Any) -> Any:
        leaves = dict(zip(names, given, strict=True))
        return lowering(part.graph, [part.new], leaves.__getitem__).expression(part.new)

    initial = expression(part.initial)
    return scan(step, initial, *sequences, length=part.length, args=args)
