"""Recurrences that are the forward algorithm of a hidden Markov model, for its log likelihood.

    state_k = log_sum_exp_j(state_j + A_jk) + b_tk

with A that is the same at all times, of which the program needs the log_sum_exp of the last state
alone. That is the log likelihood of a hidden Markov model with transitions exp(A) and log emission
densities b, for which there is faster code than for recurrences of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.functions.component_functions import CHAIN, LOG_LIKELIHOOD
from probmodel.functions.recorded_calls import call
from probmodel.stan.element_uses import Uses
from probmodel.stan.rolled_loops import Repeated
from probmodel.stan.traced_graph import Graph
from probmodel.types import Array

_SUM = "log_sum_exp"


class Forward(NamedTuple):
    """A recurrence that is a forward algorithm.

    Attributes
    ----------
    step : the step of the program that adds up the last state
    initial : elements of the state before the first time, (K,)
    transition : elements that add up to log transitions, (terms, K, K)
    emissions : elements that add up to log densities, (terms, times, K)
    """

    step: int
    initial: Array
    transition: Array
    emissions: Array

    def log_likelihood(self, expression: Callable[[Any], Any]) -> Any:
        """Return the log likelihood; ``expression`` makes one of elements."""
        emissions = np.sum(expression(self.emissions), axis=0)
        before = np.reshape(expression(self.initial), (1, -1))
        transition = np.exp(np.sum(expression(self.transition), axis=0))
        densities = np.concatenate([before, emissions])
        return call(LOG_LIKELIHOOD, (densities, np.ones(len(self.initial)), transition), CHAIN)


class _OtherError(Exception):
    """It is another recurrence."""


def forward_of(part: Repeated, graph: Graph, uses: Uses) -> Forward | None:
    """Return the forward algorithm that a part of a loop is, if it is one."""
    try:
        step = _last_sum(part, graph, uses)
        terms = [_state(part, graph, int(new)) for new in part.new]
    except _OtherError:
        return None
    width, zero = len(part.new), graph.constants(0.0)
    kept, rows = [], []
    for own in terms:
        rows.append(sorted(own[0][1]))
        if sorted(own) != list(range(width)) or any(sorted(r) != rows[-1] for _, r in own.values()):
            return None
        kept.append([own[j][0] for j in range(width)])
    transition = np.full((max(len(t) for k in kept for t in k) or 1, width, width), zero)
    emissions = np.full((max(map(len, rows)) or 1, part.length, width), zero)
    for k in range(width):
        for j, found in enumerate(kept[k]):
            transition[: len(found), j, k] = found
        for i, column in enumerate(rows[k]):
            emissions[i, :, k] = part.sequences[:, column]
    return Forward(step, part.initial, transition, emissions)


def _last_sum(part: Repeated, graph: Graph, uses: Uses) -> int:
    """Return the step that adds up the last state, and is the only one that looks at states."""
    where = np.flatnonzero(part.slots >= 0)
    if len(where) != len(part.new):
        raise _OtherError
    last = part.base + (part.length - 1) * part.size + where
    place = uses.element - part.base
    inside = (place >= 0) & (place < part.size * part.length)
    looked = inside & np.isin(place % part.size, part.own)
    steps = np.arange(part.steps * part.length)
    own = part.first + steps[part.inside[steps % part.steps]]
    found = np.unique(uses.step[looked & ~np.isin(uses.step, own)])
    if len(found) != 1 or found[0] < 0:
        raise _OtherError
    step = graph.steps[int(found[0])]
    alike = step.operation is not None and step.operation.name == _SUM and not any(step.laned)
    if not alike or not np.array_equal(np.sort(np.reshape(step.operands[0], -1)), np.sort(last)):
        raise _OtherError
    return int(found[0])


def _state(part: Repeated, graph: Graph, new: int) -> dict[int, tuple[list[int], list[int]]]:
    """Return what is added to each element of the state in the sum that makes a new one.

    By element: what stays the same, as elements of the program, and columns of the sequences.
    """
    outer, inner = _summands(part.graph, new), None
    common: list[int] = []
    for element in outer:
        step = part.graph.step_of(element)
        if step is not None and step.operation is not None:
            if inner is not None or step.operation.name != _SUM or any(step.laned):
                raise _OtherError
            inner = step
        else:
            common.append(element)
    if inner is None:
        raise _OtherError
    found: dict[int, tuple[list[int], list[int]]] = {}
    for element in np.reshape(inner.operands[0], -1).tolist():
        states: list[int] = []
        kept: list[int] = []
        rows: list[int] = []
        for summand in [*_summands(part.graph, element), *common]:
            _sort(part, graph, summand, states, kept, rows)
        if len(states) != 1 or states[0] in found:
            raise _OtherError
        found[states[0]] = kept, rows
    return found


def _sort(
    part: Repeated, graph: Graph, element: int, states: list[int], kept: list[int], rows: list[int]
) -> None:
    """Put a leaf, or a number, where it belongs."""
    if element < 0:
        kept.append(int(graph.constants(part.graph.numbers(element))))
        return
    step = part.graph.step_of(element)
    name = dict(step.keywords)["name"] if step is not None and step.operation is None else ""
    place = element - (step.start if step is not None else 0)
    if name == "state":
        states.append(place)
    elif name == "kept":
        kept.append(int(part.captured[place]))
    elif name == "row":
        rows.append(place)
    else:
        raise _OtherError


def _summands(graph: Graph, element: int) -> Sequence[int]:
    """Return the elements that add up to one."""
    step = graph.step_of(element)
    if step is None or step.operation is None or step.operation.name != "add":
        return [element]
    place = element - step.start
    parts: list[int] = []
    for operand in step.operands:
        one = np.broadcast_to(operand, step.shape).reshape(-1)[place]
        parts += _summands(graph, int(one))
    return parts
