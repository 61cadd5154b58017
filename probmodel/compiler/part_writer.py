"""Functions that a program's function calls many times, such as the step of a recurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT, FunctionWriter
from probmodel.compiler.lanes import DOUBLE, Writer
from probmodel.compiler.over_rows import OverRows

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class Part:
    """A function of some arguments, with a memory of its own within that of its caller.

    Parameters
    ----------
    emission : writes the caller
    function : of the arguments, to a vector

    Attributes
    ----------
    sizes : how many numbers each argument has
    """

    def __init__(self, emission: Emission, function: OverRows) -> None:
        self._e = emission
        self.sizes = [prod(shape) for shape in function.shapes]
        self._starts = [INT(int(start)) for start in np.cumsum([0, *self.sizes])]
        self._own = emission.inner(*function.flat)
        self._memory = emission.scratch(self._own.memory // emission.lanes)
        emission.calls += [call.moved(self._memory) for call in self._own.calls]
        emission.slots += [self._memory + slot for slot in self._own.slots]

    def give(self, argument: int, k: Any, value: Any) -> None:
        """Set an element of an argument."""
        at = self._e.b.add(self._starts[argument], k)
        self._e.store_at(self._memory + self._own.places[0], at, value)

    def give_all(self, argument: int, read: Callable[[Any], Any], first: Any = 0) -> None:
        """Set an argument to what is read at positions from one on."""
        first = INT(first) if isinstance(first, int) else first
        with self._e.count_to(INT(self.sizes[argument])) as k:
            self.give(argument, k, read(self._e.b.add(first, k)))

    def run(self) -> None:
        """Compute the result."""
        self._e.b.call(self._own.function, [self._e.pointer_at(self._memory, DOUBLE)])

    def result(self, k: Any) -> Any:
        """Return an element of the last result."""
        return self._e.load_at(self._memory + self._own.places[2], k)


class Apart:
    """A function of its own, of places in the memory that it is given the addresses of.

    Parameters
    ----------
    emission : writes what calls it
    name : of the function
    places : how many

    Attributes
    ----------
    function : what is written; `end` ends it
    places : their addresses
    """

    def __init__(self, emission: Emission, name: str, places: int) -> None:
        kinds = [DOUBLE.as_pointer()] * places
        self._writer = FunctionWriter(emission.module, name, kinds, internal=True)
        self.b, self.count_to = self._writer.b, self._writer.count_to
        self.place_for, self.end = self._writer.variable, self._writer.end
        self.function = self._writer.function
        self.places, self.lanes = self.function.args, emission.lanes
        self._math = emission.math
        self.arithmetic = Writer(emission.module, self.b, self.lanes, self._math.call)

    def _address(self, start: Any, i: Any) -> Any:
        return self.b.gep(self.b.bitcast(start, self.arithmetic.type.as_pointer()), [i])

    def load_at(self, start: Any, i: Any) -> Any:
        """Read a vector."""
        return self.b.load(self._address(start, i), align=8 * self.lanes)

    def store_at(self, start: Any, i: Any, value: Any) -> None:
        """Write a vector."""
        self.b.store(value, self._address(start, i), align=8 * self.lanes)

    def function_of_numbers(self, name: str, args: Sequence[Any]) -> Any:
        """Write an elementwise function."""
        return self._math.call(self.b, name, *args)
