"""Calls from machine code to functions in NumPy: how they are written, and what answers them.

Each memory that the code works in has functions of its own to call, by addresses that lie in it, so
that several threads may be at it at once. A function takes the operands of a block from the memory,
(lanes, *shape), and puts the result there. What is raised in it is kept, and results are NaN from
then on: it is raised again once the machine code has returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.control import INT
from probmodel.compiler.differentiation import alone
from probmodel.compiler.schedule import operand
from probmodel.compiler.symbols import Symbol
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class Place(NamedTuple):
    """Where an array lies in the memory: the first vector's position, and the vectors in order."""

    start: int
    where: Array

    def vectors(self, memory: Array, lanes: int) -> Array:
        """Return the part of a memory where it lies: (vectors, lanes)."""
        size = 1 + int(self.where.max())
        return memory[self.start : self.start + size * lanes].reshape(size, lanes)


class Call(NamedTuple):
    """A call of a program.

    Attributes
    ----------
    function : see `python_calls.Function`
    slot : position of the address to call
    operands, result : where they lie
    """

    function: Any
    slot: int
    operands: tuple[Place, ...]
    result: Place

    def moved(self, start: int) -> Call:
        """Return the call of a part whose memory begins there."""
        operands = tuple(o._replace(start=o.start + start) for o in self.operands)
        result = self.result._replace(start=self.result.start + start)
        return Call(self.function, self.slot + start, operands, result)


class CallWriter:
    """Writes one call."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        self.e, self.symbol = emission, symbol

    def write(self) -> None:
        """Put numbers in the memory, as arrays are, and call."""
        e, symbol = self.e, self.symbol
        operands = tuple(self._place(a) for a in symbol.args)
        result = Place(e.offsets[symbol], np.arange(symbol.size))
        call = Call(symbol.index, e.scratch(1), operands, result)
        e.calls.append(call)
        kind = ir.FunctionType(ir.VoidType(), []).as_pointer()
        slot = e.pointer_at(call.slot, INT)
        e.b.call(e.b.inttoptr(e.b.load(slot), kind), [])

    def _place(self, x: Any) -> Place:
        o = operand(x, np.shape(x))
        if o.source in self.e.numbers:
            start = self.e.scratch(1)
            self.e.store_at(start, INT(0), self.e.numbers[o.source])
        else:
            start = self.e.offsets[o.source]
        return Place(start, o.where)


def answering(
    calls: Sequence[Call], memory: Array, lanes: int, raised: list[BaseException]
) -> list[Any]:
    """Make what answers the calls of code that works in a memory, and put its addresses there.

    What is returned has to be kept as long as the code may run. Exceptions are put in a list.
    """
    made = []
    for call in calls:
        answers = _answers(call, memory, lanes, raised)
        next(answers)
        made.append(ctypes.CFUNCTYPE(None)(answers.__next__))
        place = memory[call.slot : call.slot + 1]
        place.view(np.int64)[0] = ctypes.cast(made[-1], ctypes.c_void_p).value or 0
    return made


def _answers(call: Call, memory: Array, lanes: int, raised: list[BaseException]) -> Iterator[None]:
    """Answer a call, and wait for the next.

    As a generator it is within ``try`` when it goes on: a signal's exception, which may come before
    the first statement of a function, does not get lost either.
    """
    operands = [_Reader(place, memory, lanes) for place in call.operands]
    result = call.result.vectors(memory, lanes)
    while True:
        try:
            while True:
                yield
                result[:] = np.nan
                if raised:
                    continue
                with alone(), np.errstate(all="ignore"):
                    args = [operand.read() for operand in operands]
                    rows = _rows(args)
                    values = call.function(*(a[:rows] for a in args)).reshape(rows, -1)
                    result[:, :rows], result[:, rows:] = values.T, values[-1:].T
        except GeneratorExit:
            return
        except BaseException as error:
            result[:] = np.nan
            raised.append(error)


class _Reader:
    """Reads an operand from a memory."""

    def __init__(self, place: Place, memory: Array, lanes: int) -> None:
        where = place.where.reshape(-1)
        self._vectors = place.vectors(memory, lanes)
        self._where = None if np.array_equal(where, np.arange(len(where))) else where
        self._shape = (lanes, *place.where.shape)

    def read(self) -> Array:
        """Return a copy, (lanes, *shape)."""
        vectors = self._vectors if self._where is None else self._vectors[self._where]
        return np.array(vectors.T, order="C").reshape(self._shape)


def _rows(args: Sequence[Array]) -> int:
    """Count the rows without those at the end that repeat the last: lanes beyond the last chain."""
    rows = len(args[0])
    while rows > 1 and all(a[rows - 1].tobytes() == a[rows - 2].tobytes() for a in args):
        rows -= 1
    return rows
