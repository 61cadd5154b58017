"""Machine code of calls of functions in NumPy, and what answers them.

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

    def vectors(place: Place) -> Array:
        size = 1 + int(place.where.max())
        return memory[place.start : place.start + size * lanes].reshape(size, lanes)

    operands = [(vectors(o), o.where) for o in call.operands]
    result = vectors(call.result)
    while True:
        try:
            while True:
                yield
                result[:] = np.nan
                if raised:
                    continue
                with alone(), np.errstate(all="ignore"):
                    args = [np.moveaxis(v[where], -1, 0).copy() for v, where in operands]
                    rows = _rows(args)
                    values = call.function(*(a[:rows] for a in args)).reshape(rows, -1)
                    result[:, :rows], result[:, rows:] = values.T, values[-1:].T
        except GeneratorExit:
            return
        except BaseException as error:
            result[:] = np.nan
            raised.append(error)


def _rows(args: Sequence[Array]) -> int:
    """Count the rows without those at the end that repeat the last: lanes beyond the last chain."""
    same = np.ones(len(args[0]), dtype=bool)
    for a in args:
        bits = a.reshape(len(a), -1).view(np.int64)
        same &= (bits == bits[-1]).all(axis=1)
    different = np.flatnonzero(~same)
    return int(different[-1]) + 2 if different.size else 1
