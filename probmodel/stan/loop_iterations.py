"""Iterations of a loop: what each step takes from which iteration, and what feeds back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from probmodel.stan.traced_graph import Graph
from probmodel.types import Array

Lags = Sequence[tuple[Array, Array]]  # by step, see `Iterations.lags`


class Iterations:
    """Iterations of a loop that are alike.

    Parameters
    ----------
    graph : whose steps these are
    starts : index of the first step of each iteration, and that after the last one

    Attributes
    ----------
    first, steps : index of the first step, and how many an iteration has
    length : how many iterations
    base, size : number of the first element, and how many an iteration has
    operands : by step, the elements that it takes, in each iteration: (length, n)
    """

    def __init__(self, graph: Graph, starts: Sequence[int]) -> None:
        self.graph = graph
        self.first, self.steps = starts[0], starts[1] - starts[0]
        self.length = len(starts) - 1
        steps = graph.steps[self.first : self.first + self.steps]
        self.base = steps[0].start
        after = self.first + self.steps
        end = graph.steps[after].start if after < len(graph.steps) else graph.size
        self.size = end - self.base
        self._place = np.array([s.start - self.base for s in steps])
        self.operands = [self._elements(j) for j in range(self.steps)]

    def _elements(self, j: int) -> Array:
        """Return the elements that step ``j`` takes, in each iteration: (length, n)."""
        rows = []
        for i in range(self.length):
            step = self.graph.steps[self.first + i * self.steps + j]
            rows.append(
                np.concatenate([np.reshape(o, -1) for o in step.operands] or [np.zeros(0, int)])
            )
        return np.stack(rows)

    def lags(self, elements: Array) -> tuple[Array, Array]:
        """Return how many iterations back each operand is, and where in these; -1 for others."""
        length = len(elements)
        relative = elements[-1] - self.base
        within = (relative >= 0) & (relative < self.size * length)
        back = np.where(within, length - 1 - relative // self.size, -1)
        offset = np.where(within, relative % self.size, -1)
        for e in np.flatnonzero(within):
            lag = int(back[e])
            expected = self.base + (np.arange(lag, length) - lag) * self.size + offset[e]
            if lag > length // 2 or not np.array_equal(elements[lag:, e], expected):
                back[e], offset[e] = -1, -1
        return back, offset

    def step_of(self, offset: Any) -> Any:
        """Return the step, within an iteration, that an element belongs to."""
        return np.searchsorted(self._place, offset, side="right") - 1

    def steps_of(self, elements: Array) -> set[int]:
        """Return the steps, within an iteration, that compute some of these elements."""
        inside = elements[
            (elements >= self.base) & (elements < self.base + self.size * self.length)
        ]
        return set(np.unique(self.step_of((inside - self.base) % self.size)).tolist())

    def feedback(self, lags: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
        """Return the steps that feed back into later iterations, and those that depend on them."""
        needs = [
            set(self.step_of(offset[back >= 0]).tolist()) | self.steps_of(elements[:, back < 0])
            for elements, (back, offset) in zip(self.operands, lags, strict=True)
        ]
        needed: list[set[int]] = [set() for _ in needs]
        for j, found in enumerate(needs):
            for k in found:
                needed[k].add(j)
        inside = np.zeros(self.steps, dtype=bool)
        for component in _cycles(needs):
            inside[component] = True
        # Whatever lies between steps that feed back belongs to them.
        below, above = _reached(needed, inside), _reached(needs, inside)
        return below & above, below

    def range_of(self, j: int) -> slice:
        """Return where in an iteration the elements of a step are."""
        end = self._place[j + 1] if j + 1 < self.steps else self.size
        return slice(int(self._place[j]), int(end))


def _cycles(needs: Sequence[set[int]]) -> list[list[int]]:
    """Return the strongly connected parts of a graph that hold a cycle (Tarjan)."""
    count = len(needs)
    rows = [j for j in range(count) for _ in needs[j]]
    columns = [k for j in range(count) for k in needs[j]]
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count))
    _, labels = connected_components(matrix, directed=True, connection="strong")
    members: dict[int, list[int]] = {}
    for j, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(j)
    return [m for m in members.values() if len(m) > 1 or m[0] in needs[m[0]]]


def _reached(links: Sequence[set[int]], start: Array) -> Array:
    """Return which steps the links from some steps lead to, these included."""
    found = start.copy()
    todo = np.flatnonzero(start).tolist()
    while todo:
        for k in links[todo.pop()]:
            if not found[k]:
                found[k] = True
                todo.append(k)
    return found
