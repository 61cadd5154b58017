"""Machine code of a program: a function of a block of chains, which lie in the vector lanes.

    void block(double *memory)

Every number of the program is a vector, one element a chain, and an array is a row of vectors in
``memory``: the input, which is read, the outputs, which are written, and what is kept in between.
So all operations, recurrences too, take place for all chains of a block at once. What is known,
data for instance, is read where it lies, by a table of addresses to which the memory refers: the
code is the same for programs that differ in nothing else. `trajectories` has what calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.call_writer import Call, CallWriter
from probmodel.compiler.control import INT, FunctionWriter, plus
from probmodel.compiler.hidden_markov_code import HiddenMarkovWriter
from probmodel.compiler.lanes import DOUBLE, Writer
from probmodel.compiler.loops import FUSED, LoopWriter
from probmodel.compiler.matrix_code import MatrixWriter
from probmodel.compiler.ode_writer import OdeWriter
from probmodel.compiler.scan_writer import ScanWriter
from probmodel.compiler.schedule import (
    Clear,
    Item,
    Schedule,
    covered_once,
    operand,
    passed_on,
    pieces,
)
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.vector_math import VectorMath
from probmodel.types import Array

_BINARY = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_COMPARED = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
}  # fmt: skip

# Of operations that take their operands whole.
WRITERS: dict[str, Any] = {
    "factor": MatrixWriter,
    "solve": MatrixWriter,
    "product": MatrixWriter,
    "equations": MatrixWriter,
    "determinant": MatrixWriter,
    "hidden Markov": HiddenMarkovWriter,
    "call": lambda e, symbol: (OdeWriter if symbol.index.problem else CallWriter)(e, symbol),
    "scan": ScanWriter,
}


class Emission:
    """Writes the function of a program.

    Parameters
    ----------
    x : the input of the program
    logp : an output, (), or None
    gradient : an output, a place
    lanes : chains in a vector
    within : the function that calls this one, if it is that of a part

    Attributes
    ----------
    module : has the function ``block``
    function : what is written
    memory : numbers that the function needs
    places : where the input, the log density and the gradient begin in the memory
    slots : where the address of the table is in the memory, for this and for parts
    calls : of functions in NumPy
    arrays : what is known, in the order of the table
    math : functions on vectors
    """

    module: Any
    arrays: list[Array]
    memory: int
    calls: list[Call]
    b: Any
    function: Any
    numbers: dict[Symbol, Any]
    math: VectorMath

    def __init__(
        self,
        x: Symbol,
        logp: Symbol | None,
        gradient: Symbol,
        lanes: int,
        within: Emission | None = None,
    ) -> None:
        self.module = within.module if within else ir.Module("probmodel")
        self.arrays = within.arrays if within else []
        self.lanes, self.calls = lanes, []
        self._at: dict[int, int] = within._at if within else {}  # places in the table
        self._vector = ir.VectorType(DOUBLE, lanes)
        self._schedule = Schedule([gradient] if logp is None else [logp, gradient])
        self._pieces = pieces(self._schedule)
        self.math = within.math if within else VectorMath(self.module, lanes)
        self._covered: dict[Symbol, tuple[list[bool], Array]] = {}  # by place
        self.offsets: dict[Symbol, int] = {}
        self.memory = lanes  # the log density comes first
        for symbol in {x: None, **dict.fromkeys(self._schedule.kept)}:
            self.offsets[symbol] = self.scratch(symbol.size)
        self.places = self.offsets[x], 0, self.offsets[gradient]
        self.slots = [self.scratch(1)]
        self.copies: dict[int, int] = {}  # places of matrices that are used up, by their size
        self.solutions: dict[Any, Any] = {}  # of differential equations, by their functions
        self._name = self.module.get_unique_name("step") if within else "block"
        self._internal = bool(within)
        self._compute(logp)
        if not within:
            self.math.write_out()

    def _begin(self, name: str, internal: bool) -> None:
        """Begin a function, in which no numbers are known: those of others are in memory."""
        writer = FunctionWriter(self.module, name, [DOUBLE.as_pointer()], internal=internal)
        self._writer, self.function = writer, writer.function
        self.b, self.count_to, self.repeat = writer.b, writer.count_to, writer.repeat
        self.place_for, self.numbers = writer.variable, {}
        self.arithmetic = Writer(self.module, self.b, self.lanes, self.math.call)
        (self._memory,) = self.function.args
        self._vectors = writer.entry.bitcast(self._memory, self._vector.as_pointer())
        place = writer.entry.gep(self._memory, [INT(self.slots[0])])
        table = writer.entry.load(writer.entry.bitcast(place, INT.as_pointer()))
        self._addresses = writer.entry.inttoptr(table, INT.as_pointer())

    def inner(self, x: Symbol, out: Symbol) -> Emission:
        """Write the function of a part that this one will call, with a memory of its own."""
        return Emission(x, None, out, self.lanes, within=self)

    # -- the function ------------------------------------------------------------------------------

    def _compute(self, logp: Symbol | None) -> None:
        """Write all pieces, and the function that calls them if there are several."""
        found = self._pieces
        for number in passed_on(found, logp):
            self.offsets[number] = self.scratch(1)
        parts, name = [], self._name
        for k, items in enumerate(found):
            if len(found) > 1:
                name = self.module.get_unique_name("piece")
            self._begin(name, self._internal or len(found) > 1)
            for item in items:
                self._write(item)
            if logp is not None and k == len(found) - 1:
                self.store_at(0, INT(0), self._number(logp))
            self._writer.end()
            parts.append(self.function)
        if len(found) > 1:
            self._begin(self._name, self._internal)
            for part in parts:
                self.b.call(part, [self._memory])
            self._writer.end()

    def _write(self, item: Item) -> None:
        """Write a loop or a number, and keep numbers that are passed on."""
        made: list[Any] = []
        if isinstance(item, Clear):
            self._clear(item.symbol)
        elif isinstance(item, Symbol):
            args = [self._number(a) for a in item.args]
            self.numbers[item] = self.function_of_numbers(item.op, args, len(self._pieces) > 1)
            made = [item]
        elif item.alone:
            step = cast("Symbol", item.steps[0])
            WRITERS[step.op](self, step).write()
        else:
            LoopWriter(self, item).write()
            made = item.steps
        for symbol in made:
            if symbol in self.numbers and symbol in self.offsets:
                self.store_at(self.offsets[symbol], INT(0), self.numbers[symbol])

    def covered(self, place: Symbol) -> tuple[list[bool], Array]:
        """Return `covered_once` of a place, which is found once for all of its parts."""
        if place not in self._covered:
            self._covered[place] = covered_once(place)
        return self._covered[place]

    def _clear(self, symbol: Symbol) -> None:
        """Write zeros where a place has no parts, and where sums and the like begin."""
        place = symbol.op == "place"
        where = self.covered(symbol)[1] if place else np.arange(symbol.size)
        if not len(where):
            return
        start = {"max": -np.inf, "min": np.inf}.get(symbol.op, 0.0)
        value = self.splat(start)
        first, size = int(where[0]), len(where)
        if np.array_equal(where, np.arange(first, first + size)):
            with self.count_to(INT(size)) as i:
                self.put(symbol, self.b.add(i, INT(first)), value)
            return
        table = self.table(where)
        with self.count_to(INT(size)) as i:
            self.put(symbol, self.b.load(self.b.gep(table, [i])), value)

    # -- numbers and arrays ------------------------------------------------------------------------

    def splat(self, number: Any) -> Any:
        """Return a vector of one number, which may be known."""
        known = isinstance(number, float | int | np.number)
        return (self.arithmetic.number if known else self.arithmetic.same)(number).value

    def _number(self, x: Any) -> Any:
        """Return the one element of an operand."""
        o = operand(x, np.shape(x))
        where = int(o.where.reshape(-1)[0])
        if not isinstance(o.source, Symbol):
            return self.splat(float(o.source.reshape(-1)[where]))
        if o.source in self.numbers:
            return self.numbers[o.source]
        return self.get(o.source, INT(where))

    def scratch(self, size: int) -> int:
        """Make room for so many more numbers of a chain; returns where they begin."""
        start = self.memory
        self.memory += size * self.lanes
        return start

    def pointer_at(self, place: Any, kind: Any) -> Any:
        """Return the address of something in the memory."""
        place = INT(place) if isinstance(place, int) else place
        return self.b.bitcast(self.b.gep(self._memory, [place]), kind.as_pointer())

    def _address(self, start: int, i: Any) -> Any:
        return self.b.gep(self._vectors, [plus(self.b, i, INT(start // self.lanes))])

    def load_at(self, start: int, i: Any) -> Any:
        """Read a vector of the memory."""
        return self.b.load(self._address(start, i), align=8 * self.lanes)

    def store_at(self, start: int, i: Any, value: Any) -> None:
        """Write a vector of the memory."""
        self.b.store(value, self._address(start, i), align=8 * self.lanes)

    def get(self, symbol: Symbol, i: Any) -> Any:
        """Read an element of an array; the gradient may be a view of one."""
        return self.load_at(self.offsets[symbol], i)

    def put(self, symbol: Symbol, i: Any, value: Any) -> None:
        """Write an element of an array."""
        self.store_at(self.offsets[symbol], i, value)

    def pointer(self, array: Array, kind: Any) -> Any:
        """Return the address of an array that is known."""
        at = self._at.setdefault(array.ctypes.data, len(self.arrays))
        if at == len(self.arrays):
            self.arrays.append(array)
        entry = self._writer.entry
        address = entry.load(entry.gep(self._addresses, [INT(at)]))
        return entry.inttoptr(address, kind.as_pointer())

    def reader(self, x: Any) -> Callable[[Any], Any]:
        """Return the function that reads an element of an operand, by its flat position."""
        o = operand(x, np.shape(x))
        if not isinstance(o.source, Symbol):
            pointer = self.pointer(np.ascontiguousarray(x, dtype=float), DOUBLE)
            return lambda i: self.splat(self.b.load(self.b.gep(pointer, [i])))
        if o.source in self.numbers:
            return lambda i: self.numbers[o.source]
        if o.in_order:
            return lambda i: self.get(o.source, i)
        table = self.table(o.where.reshape(-1))
        return lambda i: self.get(o.source, self.b.load(self.b.gep(table, [i])))

    def table(self, index: Array) -> Any:
        """Return the address of known whole numbers."""
        return self.pointer(np.ascontiguousarray(index, dtype=np.int64), INT)

    def variable(self, start: float) -> Any:
        """Make a vector that changes as the code runs; registers hold it in the end."""
        return self._writer.variable(self.splat(start))

    # -- functions of numbers ----------------------------------------------------------------------

    def function_of_numbers(self, name: str, args: Sequence[Any], apart: bool = False) -> Any:
        """Write an elementwise function; truth values are 0.0 and 1.0.

        What takes long to compile stays ``apart``, as in pieces of a long program, where it does
        not pay to write it out again and again.
        """
        b = self.b
        if name in _BINARY:
            return getattr(b, _BINARY[name])(*args, flags=FUSED)
        if name == "negative":
            return b.fneg(args[0])
        if name in _COMPARED:
            return self._truth(b.fcmp_ordered(_COMPARED[name], *args))
        if name == "not_equal":
            return self._truth(b.fcmp_unordered("!=", *args))
        if name == "where":
            return b.select(self._is_true(args[0]), *args[1:])
        if name in ("logical_and", "logical_or"):
            join = b.and_ if name == "logical_and" else b.or_
            return self._truth(join(*map(self._is_true, args)))
        if name == "logical_not":
            return self._truth(b.not_(self._is_true(args[0])))
        if name == "isnan":
            return self._truth(b.fcmp_unordered("uno", args[0], args[0]))
        if name in ("isfinite", "isinf"):
            size = self.math.call(b, "absolute", args[0])
            compare = b.fcmp_ordered("<" if name == "isfinite" else "==", size, self.splat(np.inf))
            return self._truth(compare)
        if name == "square":
            return b.fmul(args[0], args[0])
        if name == "reciprocal":
            return b.fdiv(self.splat(1.0), args[0])
        return self.math.call(b, name, *args, apart=apart)

    def _truth(self, bits: Any) -> Any:
        return self.b.uitofp(bits, self._vector)

    def _is_true(self, value: Any) -> Any:
        return self.b.fcmp_unordered("!=", value, self.splat(0.0))
