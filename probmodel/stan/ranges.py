"""Limits between which numbers lie, whatever the parameters are: by interval arithmetic.

A program may declare bounds of transformed parameters. Where these follow from how the numbers are
computed, nothing need be checked at each draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.stan.traced_graph import Graph, Step

Range = tuple[float, float]

ALL: Range = (-math.inf, math.inf)
_NOT_NEGATIVE: Range = (0.0, math.inf)
_UNIT: Range = (0.0, 1.0)

# Ranges of functions, whatever their arguments are.
_ALWAYS: dict[str, Range] = {
    **dict.fromkeys(
        ("exp", "square", "sqrt", "abs", "fabs", "dot_self", "exp2", "squared_distance", "distance",
         "log1p_exp", "inv_sqrt", "inv_square", "variance", "sd"),
        _NOT_NEGATIVE,
    ),
    **dict.fromkeys(("inv_logit", "Phi", "Phi_approx", "softmax", "inv_cloglog"), _UNIT),
    **dict.fromkeys(("tanh", "sin", "cos", "erf"), (-1.0, 1.0)),
}  # fmt: skip

# Ranges of what declarations of parameters allow.
KINDS: dict[str, Range] = {
    "simplex": _UNIT, "positive_ordered": _NOT_NEGATIVE, "unit_vector": (-1.0, 1.0),
    "corr_matrix": (-1.0, 1.0), "cholesky_factor_corr": (-1.0, 1.0),
    "row_stochastic_matrix": _UNIT, "column_stochastic_matrix": _UNIT,
}  # fmt: skip


def _sum(a: Range, b: Range) -> Range:
    return a[0] + b[0], a[1] + b[1]


def _product(a: Range, b: Range) -> Range:
    ends = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return min(ends), max(ends)


def _quotient(a: Range, b: Range) -> Range:
    if b[0] < 0.0 < b[1] or b == (0.0, 0.0):
        return ALL
    ends = [math.copysign(math.inf, b[1] + b[0]) if x == 0.0 else 1.0 / x for x in b]
    return _product(a, (min(ends), max(ends)))


def _total(a: Range) -> Range:
    """Range of a sum of any number of such numbers."""
    return (0.0 if a[0] >= 0.0 else -math.inf), (0.0 if a[1] <= 0.0 else math.inf)


_FROM_OPERANDS: dict[str, Callable[..., Range]] = {
    "add": _sum,
    "subtract": lambda a, b: _sum(a, (-b[1], -b[0])),
    "multiply": _product,
    "divide": _quotient,
    "negative": lambda a: (-a[1], -a[0]),
    "where": lambda c, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "fmax": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "fmin": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a: a,
    "min": lambda a: a,
    "mean": lambda a: a,
    "sum": _total,
    "cumulative_sum": _total,
    "prod": lambda a: _NOT_NEGATIVE if a[0] >= 0.0 else ALL,
    "power": lambda a, b: _NOT_NEGATIVE if a[0] >= 0.0 else ALL,
    "dot_product": lambda a, b: _total(_product(a, b)),
    **{
        f"{a}*{b}": lambda a, b: _total(_product(a, b))
        for a, b in (("matrix", "vector"), ("matrix", "matrix"), ("row_vector", "matrix"),
                     ("row_vector", "vector"))
    },
}  # fmt: skip


class Ranges:
    """Ranges of the elements of a graph.

    Parameters
    ----------
    graph : of a program
    leaves : ranges of its leaves, by name
    """

    def __init__(self, graph: Graph, leaves: Mapping[str, Range]) -> None:
        self._graph, self._leaves = graph, leaves
        self._starts = np.array([s.start for s in graph.steps], dtype=np.int64)
        self._known: dict[int, Range] = {}

    def of(self, elements: Any) -> Range:
        """Return limits between which some elements lie."""
        flat = np.asarray(elements).reshape(-1)
        computed = flat[flat >= 0]
        steps = np.unique(np.searchsorted(self._starts, computed, side="right") - 1)
        found = [self._of_step(i) for i in steps.tolist()]
        if computed.size < flat.size:
            numbers = self._graph.numbers(flat[flat < 0])
            found.append((float(np.min(numbers)), float(np.max(numbers))))
        return _hull(found)

    def _of_step(self, i: int) -> Range:
        """Return the range of a step, once those of its operands are known."""
        todo = [i]
        while todo:
            step = self._graph.steps[todo[-1]]
            needed = [] if self._is_plain(step) else self._operands(step)
            missing = [j for j in needed if j not in self._known]
            if missing:
                todo += missing
            else:
                self._known[todo.pop()] = self._computed(step)
        return self._known[i]

    def _is_plain(self, step: Step) -> bool:
        return step.operation is None or step.operation.name not in _FROM_OPERANDS

    def _operands(self, step: Step) -> list[int]:
        flat = np.concatenate([np.reshape(o, -1) for o in step.operands])
        found = np.searchsorted(self._starts, flat[flat >= 0], side="right") - 1
        return np.unique(found).tolist()

    def _computed(self, step: Step) -> Range:
        if step.operation is None:
            return self._leaves.get(dict(step.keywords)["name"], ALL)
        name = step.operation.name
        if name not in _FROM_OPERANDS:
            return _ALWAYS.get(name, ALL)
        found = _FROM_OPERANDS[name](*map(self.of, step.operands))
        return ALL if math.isnan(found[0]) or math.isnan(found[1]) else found


def _hull(ranges: Sequence[Range]) -> Range:
    if not ranges or any(math.isnan(end) for r in ranges for end in r):
        return ALL
    return min(r[0] for r in ranges), max(r[1] for r in ranges)
