"""Numbers of the chains in the memory of a function, with the arithmetic of lanes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class LaneMemory:
    """Writes code that reads numbers from places in the memory, and writes them there.

    Attributes
    ----------
    e, b, w : the emission, its builder, and what writes arithmetic
    variable : makes a place for what changes as the code runs
    """

    def __init__(self, emission: Emission) -> None:
        self.e, self.b, self.w = emission, emission.b, emission.arithmetic
        self.variable = emission.place_for

    def get(self, place: int, i: Any) -> Lanes:
        """Read an element of what begins at a place."""
        return Lanes(self.w, self.e.load_at(place, i))

    def reader(self, place: int) -> Callable[[Any], Lanes]:
        """Return the function that reads an element of what begins at a place."""
        return lambda i: self.get(place, i)

    def set(self, place: int, i: Any, value: Lanes) -> None:
        """Write an element."""
        self.e.store_at(place, i, value.value)

    def add(self, place: int, i: Any, value: Lanes) -> None:
        """Add to an element."""
        self.set(place, i, self.get(place, i) + value)

    def known(self, numbers: Array, i: Any) -> Lanes:
        """Read an element of what is known, the same for all chains."""
        place = self.b.gep(self.e.pointer(numbers, DOUBLE), [i])
        return self.w.same(self.b.load(place))

    def count(self, n: int) -> AbstractContextManager[Any]:
        """Write a loop over so many elements."""
        return self.e.count_to(INT(n))

    def f(self, name: str, *args: Lanes) -> Lanes:
        """Write an elementwise function."""
        return Lanes(self.w, self.e.function_of_numbers(name, [a.value for a in args]))
