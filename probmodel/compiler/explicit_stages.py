"""Machine code of the stages of explicit Runge-Kutta steps; notation as in `ode_writer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT
from probmodel.compiler.lane_memory import LaneMemory
from probmodel.compiler.lanes import Lanes, Mask
from probmodel.compiler.part_writer import Part
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class ExplicitStages(LaneMemory):
    """Writes the stages of one step, and of the same step once more on the way back.

    Parameters
    ----------
    emission : writes the caller
    problem : with the right-hand side and the method
    captured : read what the right-hand side takes besides time and state

    Attributes
    ----------
    number : of stages
    k, at : places of the stages, and of the states at which they are, (s, n) each
    """

    def __init__(
        self, emission: Emission, problem: Any, captured: Sequence[Callable[[Any], Any]]
    ) -> None:
        super().__init__(emission)
        self.tableau, self.captured = problem.tableau, captured
        self.number = len(self.tableau.b)
        self._weights = np.ascontiguousarray(self.tableau.A).reshape(-1)
        self._over_rows = problem.function.over_rows
        (self.n,) = self._over_rows.shapes[1]
        self.k, self.at = (emission.scratch(self.number * self.n) for _ in range(2))
        self._flow = self.part(self._over_rows)

    def part(self, over_rows: Any) -> Part:
        """Make a function of time, state and what was captured, which is known from here on."""
        part = Part(self.e, over_rows)
        for i, read in enumerate(self.captured, start=2):
            part.give_all(i, read)
        return part

    # -- forwards ----------------------------------------------------------------------------------

    def write(self, t: Lanes, h: Lanes, y: int) -> Mask:
        """Compute all stages but the first; return which chains' equations hold."""
        for j in range(1, self.number):
            state = self.moved(y, h, self.tableau.A[j])
            self.slope(t + h * self.tableau.c[j], state, self.row(self.k, j))
        return self.w.mask(True)

    def keep(self, i: Any, accepted: Mask, y: int) -> None:
        """Keep of a step what is not to be computed again: nothing."""

    def slope(self, t: Lanes, at: Callable[[Any], Lanes], to: int) -> None:
        """Compute the right-hand side."""
        self._flow.give(0, INT(0), t.value)
        with self.each() as c:
            self._flow.give(1, c, at(c).value)
        self._flow.run()
        with self.each() as c:
            self.set(to, c, Lanes(self.w, self._flow.result(c)))

    # -- backwards ---------------------------------------------------------------------------------

    def again(self, i: Any, t: Lanes, h: Lanes) -> None:
        """Find the states of all stages of a step, given that of the first."""
        for j in range(self.number):
            state = self.moved(self.at, h, self.tableau.A[j])
            with self.each() as c:
                self.set(self.row(self.at, j), c, state(c))
            if j < self.number - 1:
                time, there = t + h * self.tableau.c[j], self.row(self.at, j)
                self.slope(time, self.reader(there), self.row(self.k, j))

    def take_back(self, j: Any, t: Lanes, h: Lanes) -> None:
        """Take a derivative in a stage back to one in its slope, which here is the same."""

    # -- states and stages -------------------------------------------------------------------------

    def moved(self, y: int, h: Lanes, weights: Sequence[Any] | Array) -> Callable[[Any], Lanes]:
        """Return the function that reads a state to which stages are added."""
        return lambda c: self.get(y, c) + h * self.combined(weights, c)

    def combined(self, weights: Sequence[Any] | Array, c: Any) -> Lanes:
        """Add up stages."""
        total = self.w.number(0.0)
        for j, weight in enumerate(weights):
            if isinstance(weight, Lanes) or weight:
                total = self.w.fma(self.get(self.row(self.k, j), c), weight, total)
        return total

    def row(self, place: int, j: int) -> int:
        """Return where the row of a stage begins."""
        return place + j * self.n * self.w.lanes

    def index(self, j: Any, c: Any) -> Any:
        """Return the position of an element in rows as long as the state."""
        return self.b.add(self.b.mul(j, INT(self.n)), c)

    def node(self, j: Any) -> Lanes:
        """Return the node of a stage."""
        return self.known(self.tableau.c, j)

    def weight(self, j: Any, earlier: Any) -> Lanes:
        """Return the weight of a stage in a later one."""
        return self.known(self._weights, self.b.add(self.b.mul(j, INT(self.number)), earlier))

    def each(self) -> Any:
        """Write a loop over the elements of the state."""
        return self.count(self.n)
