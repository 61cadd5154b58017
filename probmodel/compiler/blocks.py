"""Functions on blocks of chains: their arguments, and their numbers in memory and in arrays.

A block is as many chains as a vector has lanes. Numbers of a block are rows of vectors in a
memory of its own; those of all chains lie in arrays of NumPy's, (chains, dim).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.control import INT, FunctionWriter
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask, Writer
from probmodel.compiler.vector_math import VectorMath

POINTER = DOUBLE.as_pointer()
_INT32 = ir.IntType(32)

# Bytes from the beginning of an array's object to the address of its elements: it follows what all
# objects have. NumPy's headers compile this into every extension module.
DATA = object.__basicsize__

# What functions are told by an array of eight bytes each: whole numbers, addresses, doubles. Where
# things are in the memory is counted in doubles.
LAYOUT = (
    "block",  # address of the function of a program
    "dim",
    "x", "logp", "gradient",  # in the memory, for that function
    "momentum", "slope", "product", "weights",  # in the memory, beside
    "found", "tree",  # in the memory: what a trajectory leaves there, or a leaf of a tree
    "stages", "kicks", "drifts",  # of a step: how many, and the shares
    "scale", "matrix", "transposed", "basis", "factors", "rank",  # of the root
    "finest", "recorded",  # halvings of the step, and steps that are written down
)  # fmt: skip
REALS = ("most", "tolerated", "hopeless", "least")
FIELDS = {name: number for number, name in enumerate((*LAYOUT, *REALS))}


class BlockModule:
    """Functions on blocks of as many chains as there are ``lanes``."""

    def __init__(self, name: str, lanes: int) -> None:
        self.module = ir.Module(name)
        self.lanes, self.vector = lanes, ir.VectorType(DOUBLE, lanes)
        self.math = VectorMath(self.module, lanes)


class Variable:
    """Lanes, or a mask, that change as the code runs.

    Parameters
    ----------
    function : where: it has a builder ``b``, arithmetic ``w``, and a method ``variable``
    value : at first
    """

    def __init__(self, function: Any, value: Lanes | Mask) -> None:
        self._f, self._kind = function, type(value)
        self._place = function.variable(value.value)

    def get(self) -> Any:
        """Return what it is now."""
        return self._kind(self._f.w, self._f.b.load(self._place))

    def set(self, value: Lanes | Mask) -> None:
        """Change it."""
        self._f.b.store(value.value, self._place)


class BlockFunction(FunctionWriter):
    """Writes a function of the fields, the memory of a block, and further arguments.

    One that Python calls is not given the fields: their address lies before the memory.

    Parameters
    ----------
    routines : where it belongs
    name, kinds, internal : as of `FunctionWriter`; ``kinds`` are the further arguments'

    Attributes
    ----------
    w : writes arithmetic
    args : further arguments
    """

    def __init__(
        self, routines: BlockModule, name: str, kinds: Sequence[Any] = (), *, internal: bool = False
    ) -> None:
        table = INT.as_pointer()
        kinds = [table, POINTER, *kinds] if internal else [POINTER, *kinds]
        super().__init__(routines.module, name, kinds, internal=internal)
        self._memory, *self.args = self.function.args[internal:]
        if internal:
            self._table = self.function.args[0]
        else:
            before = self.entry.bitcast(self.entry.gep(self._memory, [INT(-1)]), table)
            self._table = self.entry.inttoptr(self.entry.load(before), table)
        self._call_function = routines.math.call
        self.w = Writer(routines.module, self.b, routines.lanes, self._call_function)
        self._known: dict[str, Any] = {}

    def field(self, name: str) -> Any:
        """Return a field of the table: a whole number, or a double."""
        if name not in self._known:
            # All are read where the function begins.
            entry = self.entry
            place = entry.gep(self._table, [INT(FIELDS[name])])
            kind = DOUBLE if name in REALS else INT
            self._known[name] = entry.load(entry.bitcast(place, kind.as_pointer()))
        return self._known[name]

    def memory(self, name: str) -> Any:
        """Return where something is in the memory."""
        return self.b.gep(self._memory, [self.field(name)])

    def elements(self, array: Any) -> Any:
        """Return where the elements of an array are, given NumPy's object."""
        place = self.b.gep(self.b.bitcast(array, INT.as_pointer()), [INT(DATA // 8)])
        return self.b.inttoptr(self.b.load(place), POINTER)

    def array(self, name: str) -> Any:
        """Return an array whose address is a field."""
        return self.b.inttoptr(self.field(name), POINTER)

    def call(self, function: BlockFunction, *args: Any) -> None:
        """Call another function with the same fields and memory."""
        self.b.call(function.function, [self._table, self._memory, *args])

    def call_block(self) -> None:
        """Compute the program."""
        kind = ir.FunctionType(ir.VoidType(), [POINTER]).as_pointer()
        self.b.call(self.b.inttoptr(self.field("block"), kind), [self._memory])

    def each(self, n: Any = None) -> AbstractContextManager[Any]:
        """Write a loop over the coordinates, or so many elements."""
        return self.count_to(self.field("dim") if n is None else n)

    # -- numbers of a block ------------------------------------------------------------------------

    def get(self, row: Any, i: Any) -> Lanes:
        """Read a vector of a row in the memory."""
        return Lanes(self.w, self.b.load(self._place(row, i), align=8 * self.w.lanes))

    def put(self, row: Any, i: Any, value: Lanes) -> None:
        """Write a vector of a row in the memory."""
        self.b.store(value.value, self._place(row, i), align=8 * self.w.lanes)

    def change(self, row: Any, function: Callable[[Any, Lanes], Lanes]) -> None:
        """Replace each vector of a row by a function of its position and itself."""
        with self.each() as i:
            self.put(row, i, function(i, self.get(row, i)))

    def copy(self, source: Any, target: Any) -> None:
        """Copy a row."""
        with self.each() as i:
            self.put(target, i, self.get(source, i))

    def _place(self, row: Any, i: Any) -> Any:
        place = self.b.gep(row, [self.b.mul(i, INT(self.w.lanes))])
        return self.b.bitcast(place, self.w.type.as_pointer())

    def one(self, array: Any, i: Any) -> Lanes:
        """Return a number of an array, the same in all lanes."""
        return self.w.same(self.b.load(self.b.gep(array, [i])))

    def is_finite(self, x: Lanes) -> Mask:
        """Where numbers are finite."""
        return abs(x) < np.inf

    # -- numbers of all chains ---------------------------------------------------------------------

    def chains(self, first: Any, end: Any) -> list[Any]:
        """Return the number of the chain in each lane; the last one stands in for those beyond."""
        last = self.b.sub(end, INT(1))
        rows = [self.b.add(first, INT(lane)) for lane in range(self.w.lanes)]
        return [self.b.select(self.b.icmp_signed("<", row, last), row, last) for row in rows]

    def starts(self, chains: Sequence[Any], width: Any) -> list[Any]:
        """Return where the rows of an array of a width begin."""
        return [self.b.mul(chain, width) for chain in chains]

    def gather(self, array: Any, starts: Sequence[Any], i: Any) -> Lanes:
        """Read a column of an array."""
        value: Any = ir.Constant(self.w.type, ir.Undefined)
        for lane, start in enumerate(starts):
            number = self.b.load(self.b.gep(array, [self.b.add(start, i)]))
            value = self.b.insert_element(value, number, _INT32(lane))
        return Lanes(self.w, value)

    def of_width(self, width: int) -> Writer:
        """Return what writes arithmetic on vectors of another width."""
        return Writer(self.w.module, self.b, width, self._call_function)

    def vector_at(self, array: Any, i: Any, w: Writer | None = None) -> Lanes:
        """Read elements of an array that follow each other, as many as a vector has."""
        w = w or self.w
        return Lanes(w, self.b.load(self._elements_at(array, i, w.type), align=8))

    def put_vector_at(self, array: Any, i: Any, value: Lanes) -> None:
        """Write elements of an array that follow each other."""
        self.b.store(value.value, self._elements_at(array, i, value.value.type), align=8)

    def _elements_at(self, array: Any, i: Any, kind: Any) -> Any:
        return self.b.bitcast(self.b.gep(array, [i]), kind.as_pointer())

    def shuffled(self, a: Any, b: Any, which: Sequence[int]) -> Any:
        """Return a vector of some elements of two."""
        mask = ir.Constant(ir.VectorType(_INT32, len(which)), list(which))
        return self.b.shuffle_vector(a, b, mask)

    def scatter(self, array: Any, starts: Sequence[Any], i: Any, value: Lanes) -> None:
        """Write a column of an array."""
        for lane, start in enumerate(starts):
            number = self.b.extract_element(value.value, _INT32(lane))
            self.b.store(number, self.b.gep(array, [self.b.add(start, i)]))
