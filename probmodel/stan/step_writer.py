"""One step of a recurrence, written from the steps that all iterations of a loop have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.stan.element_uses import replaced
from probmodel.stan.held_elements import HELD, NOW, Choice, Held, IrregularError
from probmodel.stan.loop_iterations import Iterations, Lags
from probmodel.stan.operators import AND, CHOOSE, CHOOSE_BY_DATA, COMPARISONS, NOT, OR
from probmodel.stan.syntax.nodes import Node
from probmodel.stan.traced_graph import Graph, Step
from probmodel.types import Array

_CHOICES = (CHOOSE, CHOOSE_BY_DATA)
_Origin = tuple[str, int]  # where an operand comes from: which leaf, and where in it


class StepWriter:
    """Writes one step of a scan.

    Parameters
    ----------
    of : the iterations
    lags : of their operands
    own : (size,), which elements of an iteration the scan computes
    slots : places in the state of elements so many iterations back
    held : what variables hold at the beginning of iterations
    dependent : which steps depend on what the scan computes
    same : for each element, the first one that is computed in the same way

    Attributes
    ----------
    graph : of the step
    """

    def __init__(
        self,
        of: Iterations,
        lags: Lags,
        own: Array,
        slots: dict[tuple[int, int], int],
        held: Held,
        dependent: Array,
        same: Array,
    ) -> None:
        self.graph = Graph()
        self._of, self._lags, self._own = of, lags, own
        self._slots, self._held = slots, held
        self._dependent, self._same = dependent, same
        self._map = np.full(of.size, -1)
        self._sequences: dict[bytes, tuple[int, Array]] = {}
        self._captured: dict[int, int] = {}
        self._positions: dict[int, int] = {}  # in the state, of what is held
        self._choices: list[list[tuple[_Origin, int]]] = []

    def write(self, steps: Array) -> Array:
        """Write some steps of an iteration; returns the next state."""
        of, graph = self._of, self.graph
        plans = [self._plan(j) for j in steps]
        following = self._following()
        count = len(self._slots) + len(self._positions)
        self._leaves = {
            name: np.atleast_1d(graph.leaf(name, (size,))) if size else np.zeros(0, int)
            for name, size in (
                ("state", count),
                ("row", len(self._sequences)),
                ("kept", len(self._captured)),
            )
        }
        for j, plan in zip(steps, plans, strict=True):
            self._write_step(j, of.graph.steps[of.first + j], plan)
        new = np.empty(count, dtype=np.int64)
        state = self._leaves["state"]
        for (offset, lag), slot in self._slots.items():
            new[slot] = self._map[offset] if lag == 1 else state[self._slots[offset, lag - 1]]
        if following:
            new[len(self._slots) :] = self._resolved(following, None)
        return new

    def _write_step(self, j: int, step: Step, plan: list[_Origin]) -> None:
        """Write a step whose operands come from where a plan says."""
        flat = self._resolved(plan, step.place)
        operands, start = [], 0
        for k, operand in enumerate(step.operands):
            size = int(np.size(operand))
            part = flat[start : start + size]
            if step.operation in (NOT, AND, OR) or (step.operation in _CHOICES and k == 0):
                own = [what != NOW for what, _ in plan[start : start + size]]
                part[own] = [self._truth(e, step.place) for e in part[own].tolist()]
            operands.append(part.reshape(np.shape(operand)) if np.ndim(operand) else int(part[0]))
            start += size
        made = self.graph.made(
            step.operation, step.keywords, tuple(operands), step.laned, step.shape, step.place
        )
        self._map[self._of.range_of(j)] = np.reshape(made, -1)

    def _truth(self, elements: Any, place: Node | None) -> Any:
        """Return as truth values what are numbers among others outside."""
        zero = int(self.graph.constants(0.0))
        shape, plain = np.shape(elements), (False, False)
        return self.graph.made(COMPARISONS["!="], (), (elements, zero), plain, shape, place)

    def _plan(self, j: int) -> list[_Origin]:
        """Say of each operand where it comes from, and make room for it."""
        elements = self._of.operands[j]
        back, offset = self._lags[j]
        plan: list[_Origin] = []
        for e in range(elements.shape[1]):
            if back[e] >= 0 and self._own[offset[e]]:
                lag, place = int(back[e]), int(offset[e])
                plan.append((NOW, place) if lag == 0 else ("state", self._slots[place, lag]))
            elif self._depends(elements[:, e]):
                plan.append(self._choice(self._held.choice(elements[:, e])))
            else:
                plan.append(self._given(elements[:, e]))
        return plan

    def _depends(self, column: Array) -> bool:
        """Whether something depends on what the scan computes."""
        return bool(self._dependent[list(self._of.steps_of(column))].any())

    def _given(self, column: Array) -> _Origin:
        """Make room for what comes from outside."""
        column = replaced(column, self._same)
        if np.all(column == column[0]):
            value = int(column[0])
            if value < 0:
                return "number", value
            return "kept", self._captured.setdefault(value, len(self._captured))
        return "row", self._sequences.setdefault(column.tobytes(), (len(self._sequences), column))[
            0
        ]

    def _choice(self, choice: Choice) -> _Origin:
        """Make room for the sources of a choice, and for the data that choose.

        Raises an `IrregularError` if a source depends on what the scan computes, and is not held.
        """
        yes, no = (self._of.graph.constants(x) for x in (1.0, 0.0))
        origins: list[tuple[_Origin, int]] = []
        for k, (kind, place) in enumerate(choice.sources):
            here = choice.which == k
            if kind == HELD:
                found = "state", self._held_slot(place)
            elif kind == NOW and self._own[place]:
                found = NOW, place
            else:
                column = np.where(here, choice.elements, choice.elements[np.argmax(here)])
                if self._depends(column):
                    raise IrregularError
                found = self._given(column)
            chosen = self._given(np.where(here, yes, no))[1] if k else -1
            origins.append((found, chosen))
        if len(origins) == 1:
            return origins[0][0]
        self._choices.append(origins)
        return "chosen", len(self._choices) - 1

    def _held_slot(self, position: int) -> int:
        """Return the place in the state of what is held at a position."""
        return len(self._slots) + self._positions.setdefault(position, len(self._positions))

    def _following(self) -> list[_Origin]:
        """Say where what is held next comes from: this may need more that is held."""
        found: list[_Origin] = []
        while len(found) < len(self._positions):
            position = list(self._positions)[len(found)]
            found.append(self._choice(self._held.next(position)))
        return found

    def _resolved(self, plan: Sequence[_Origin], place: Node | None) -> Array:
        """Return the elements that a plan asks for; those that data choose are chosen at once."""
        flat = np.array([self._element(*p) if p[0] != "chosen" else -1 for p in plan], np.int64)
        where = [e for e, (what, _) in enumerate(plan) if what == "chosen"]
        choices = [self._choices[plan[e][1]] for e in where]
        found = np.array([self._element(*origins[0][0]) for origins in choices], np.int64)
        for k in range(1, max(map(len, choices), default=0)):
            at = [i for i, origins in enumerate(choices) if len(origins) > k]
            own = np.array([self._element(*choices[i][k][0]) for i in at])
            chosen = self._leaves["row"][[choices[i][k][1] for i in at]]
            operands = self._truth(chosen, place), own, found[at]
            found[at] = self.graph.made(CHOOSE, (), operands, (False,) * 3, own.shape, place)
        flat[where] = found
        return flat

    def _element(self, what: str, place: int) -> int:
        if what == NOW:
            return int(self._map[place])
        if what == "number":
            return int(self.graph.constants(self._of.graph.numbers(place)))
        return int(self._leaves[what][place])

    def held_at_first(self) -> list[int]:
        """Return what is held when the first iteration begins."""
        return [self._held.first(position) for position in self._positions]

    def sequences(self) -> Array:
        """Return what changes from iteration to iteration: (length, n)."""
        columns = [column for _, column in self._sequences.values()]
        return np.stack(columns, axis=1) if columns else np.zeros((self._of.length, 0), int)

    def captured(self) -> Array:
        """Return what stays the same."""
        return np.array(list(self._captured), dtype=np.int64)
