"""Which steps of a graph use which elements, and which elements are computed in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.stan.traced_graph import Graph
from probmodel.types import Array


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
