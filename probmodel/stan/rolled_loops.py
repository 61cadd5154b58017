"""Loops in which each iteration needs what earlier ones computed: one step, repeated by a scan.

Unrolled, such a loop is a long chain of operations on few numbers. Where its iterations are all
alike, the part of an iteration that feeds back into later ones is written once, as a function of a
state. What an iteration computes before that part, or with its results, is left as it is: it can be
computed for all iterations at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from probmodel.functions import scan
from probmodel.stan.element_uses import Uses
from probmodel.stan.held_elements import Held, IrregularError
from probmodel.stan.loop_iterations import Iterations, Lags
from probmodel.stan.step_writer import StepWriter
from probmodel.stan.traced_graph import Graph, Loop, Step
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


def repeated(graph: Graph, loop: Loop, uses: Uses) -> list[Repeated]:
    """Return the parts of a loop that scans compute: none, where no iteration needs another.

    ``uses`` are those of elements, by the steps that are needed.
    """
    found = []
    for first, stop in _runs(graph, loop.starts):
        of = Iterations(graph, loop.starts[first : stop + 1])
        try:
            part = _rolled(of, Held(of, loop.contents[first : stop + 1]), uses)
        except IrregularError:
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


def _rolled(of: Iterations, held: Held, uses: Uses) -> Repeated | None:
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
    writer = StepWriter(of, lags, own, slots, held, dependent, uses.same)
    new = writer.write(np.flatnonzero(inside))
    where = np.full(of.size, -1)
    for (offset, lag), slot in slots.items():
        if lag == 1:
            where[offset] = slot
    return Repeated(
        of.first, of.steps, of.length, of.base, of.size, inside, dependent, writer.graph, new,
        np.array(initial + writer.held_at_first(), dtype=np.int64),
        writer.sequences(), writer.captured(), np.flatnonzero(own), where,
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
                    raise IrregularError
    return slots, initial


def scanned(part: Repeated, expression: Any, lowering: Any) -> Any:
    """Return the states of a part of a loop after each iteration, (length, n).

    ``expression`` makes an expression of elements, ``lowering`` one of a graph's elements, given
    the expressions of its leaves.
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
