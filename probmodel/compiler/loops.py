"""Machine code of one loop of a program: its steps, at each element or at tiles of some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT, plus, times
from probmodel.compiler.lanes import DOUBLE
from probmodel.compiler.log_sums import LogSum
from probmodel.compiler.patterns import Affine, affine
from probmodel.compiler.schedule import (
    REDUCED,
    Loop,
    Operand,
    Scatter,
    in_columns,
    is_number,
    operand,
)
from probmodel.compiler.symbols import ELEMENTWISE, Symbol, positions
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission

FUSED = ("contract",)  # products and sums may be fused; nothing else about them may change
TILE = 8  # rows of a matrix that a product works off side by side


class LoopWriter:
    """Writes one loop.

    Axes next to each other are run through as one where all steps read and write in order.
    """

    def __init__(self, emission: Emission, loop: Loop) -> None:
        self.e, self.loop = emission, loop
        self.b = emission.b
        self._values: dict[Symbol, Any] = {}
        self._sums: dict[Symbol, Any] = {}
        self._copies: dict[Any, Array] = {}
        self._patterns: dict[int, Affine | None] = {}  # of indices, by their id
        self._alive: list[Array] = []
        self._shape = self._merged()

    # -- before, at each element, after ------------------------------------------------------------

    def write(self) -> None:
        """Write the loop, and what comes before and after it."""
        for step in self.loop.steps:
            if isinstance(step, Symbol):
                self._begin(step)
        if self.loop.tiled:
            self._tiles()
        else:
            with self._nest() as where:
                for step in self.loop.steps:
                    self._step(step, where)
        for symbol, place in self._sums.items():
            if isinstance(place, LogSum):
                self.e.numbers[symbol] = place.total()
            elif is_number(symbol):
                self.e.numbers[symbol] = self.b.load(place)

    def _tiles(self) -> None:
        """Write a loop over tiles of elements, and one over those that are left."""
        n = prod(self.loop.shape)
        whole = n // TILE * TILE
        if whole:
            with self.e.count_to(INT(whole), step=TILE) as first:
                self._tile([self.b.add(first, INT(k)) for k in range(TILE)])
        with self.e.count_to(INT(n - whole)) as i:
            self._tile([self.b.add(i, INT(whole))])

    def _tile(self, tile: Sequence[Any]) -> None:
        """Write the steps at some elements, products for all of them at once."""
        steps = (s for s in self.loop.steps if isinstance(s, Symbol))
        products = [s for s in steps if s.op == "matmul"]
        rows = {s: self._rows(s, tile) for s in products if not in_columns(s)}
        seen: dict[Symbol, list[Any]] = {s: [] for s in products if in_columns(s)}
        for k, i in enumerate(tile):
            where = [i] if self.loop.shape else []
            self._values = {s: values[k] for s, values in rows.items()}
            for step in self.loop.steps:
                if isinstance(step, Symbol) and step in seen:
                    (_, vector) = step.args
                    seen[step].append(self._read(operand(vector, vector.shape), where))
                elif step not in rows:
                    self._step(step, where)
                self._keep(step, where)
        for step, values in seen.items():
            self._add_columns(step, tile, values)

    def _begin(self, step: Symbol) -> None:
        if step.op == "log sum":
            self._sums[step] = LogSum(self.e)
        elif step.op in REDUCED and is_number(step):
            start = {"max": -np.inf, "min": np.inf}.get(step.op, 0.0)
            self._sums[step] = self.e.variable(start)
        elif step.op == "recurrence":
            self._sums[step] = [self.e.variable(0.0) for _ in step.args[1:]]

    def _step(self, step: Symbol | Scatter, where: Sequence[Any]) -> None:
        if isinstance(step, Scatter):
            self._scatter(step, where)
            return
        if step.op in ELEMENTWISE:
            args = [self._read(operand(a, step.shape), where) for a in step.args]
            self._values[step] = self.e.function_of_numbers(step.op, args)
        elif step.op in REDUCED:
            self._reduce(step, where)
        else:
            self._scan(step, where)
        self._keep(step, where)

    def _keep(self, step: Symbol | Scatter, where: Sequence[Any]) -> None:
        """Write a value to memory if it is needed later."""
        if isinstance(step, Symbol) and step in self._values and step in self.e.offsets:
            self.e.put(step, self._flat(positions(step.shape), where), self._values[step])

    def _scatter(self, step: Scatter, where: Sequence[Any]) -> None:
        part, index = step.target.args[step.number], step.target.index[step.number]
        value = self._read(operand(part, index.shape), where)
        i = self._flat(index, where)
        if not self.e.covered(step.target)[0][step.number]:
            value = self.b.fadd(self.e.get(step.target, i), value)
        self.e.put(step.target, i, value)

    def _reduce(self, step: Symbol, where: Sequence[Any]) -> None:
        (x,) = step.args
        value = self._read(operand(x, x.shape), where)
        if step.op == "log sum":
            self._sums[step].add(value)
            return
        if is_number(step):
            place = self._sums[step]
            self.b.store(self._joined(step.op, self.b.load(place), value), place)
            return
        kept = tuple(1 if i in step.index else n for i, n in enumerate(x.shape))
        i = self._flat(np.broadcast_to(positions(kept), x.shape), where)
        self.e.put(step, i, self._joined(step.op, self.e.get(step, i), value))

    def _joined(self, op: str, a: Any, b: Any) -> Any:
        names = {"sum": "add", "max": "maximum", "min": "minimum"}
        return self.e.function_of_numbers(names[op], [a, b])

    def _scan(self, step: Symbol, where: Sequence[Any]) -> None:
        value, *ratios = (self._read(operand(a, step.shape), where) for a in step.args)
        before = [self.b.load(place) for place in self._sums[step]]
        if len(where) > 1:  # each series begins anew
            first = 0 if self.loop.direction > 0 else self.loop.shape[-1] - 1
            begins = self.b.icmp_signed("==", where[-1], INT(first))
            before = [self.b.select(begins, self.e.splat(0.0), held) for held in before]
        for ratio, held in zip(ratios, before, strict=True):
            product = self.b.fmul(ratio, held, flags=FUSED)
            value = self.b.fadd(product, value, flags=FUSED)
        for place, held in zip(self._sums[step], [value, *before], strict=False):
            self.b.store(held, place)
        self._values[step] = value

    # -- products with a known matrix --------------------------------------------------------------

    def _rows(self, step: Symbol, tile: Sequence[Any]) -> list[Any]:
        """Multiply some rows of the matrix by a vector."""
        matrix, vector = step.args
        entries = [self._entries(matrix, i) for i in tile]
        o, sums = operand(vector, vector.shape), [self.e.variable(0.0) for _ in tile]
        with self._nonzero(matrix, tile) as j:
            value = self._element_at(o, j)
            for entry, place in zip(entries, sums, strict=True):
                product = self.b.fmul(entry(j), value, flags=FUSED)
                self.b.store(self.b.fadd(self.b.load(place), product, flags=FUSED), place)
        return [self.b.load(place) for place in sums]

    def _add_columns(self, step: Symbol, tile: Sequence[Any], values: Sequence[Any]) -> None:
        """Add some elements of the vector times their columns to a result."""
        columns = step.args[0].T
        entries = [self._entries(columns, i) for i in tile]
        with self._nonzero(columns, tile) as i:
            total = self.e.get(step, i)
            for entry, value in zip(entries, values, strict=True):
                product = self.b.fmul(entry(i), value, flags=FUSED)
                total = self.b.fadd(total, product, flags=FUSED)
            self.e.put(step, i, total)

    @contextmanager
    def _nonzero(self, matrix: Array, tile: Sequence[Any]) -> Iterator[Any]:
        """Write a loop over the entries of rows, without zeros at either end, as of triangles."""
        first, end = _ends(matrix, len(tile))
        if np.mean(end - first) > 0.9 * matrix.shape[1]:
            with self.e.count_to(INT(matrix.shape[1])) as j:
                yield j
            return
        bounds = [self.b.load(self.b.gep(self.e.table(a), [tile[0]])) for a in (first, end)]
        with self.e.count_to(bounds[1], start=bounds[0]) as j:
            yield j

    def _entries(self, matrix: Array, row: Any) -> Callable[[Any], Any]:
        """Return the function that reads an entry of a row of a known matrix."""
        pointer = self.e.pointer(self._contiguous(matrix), DOUBLE)
        start = self.b.mul(row, INT(matrix.shape[1]))
        return lambda j: self.e.splat(self.b.load(self.b.gep(pointer, [self.b.add(start, j)])))

    def _contiguous(self, matrix: Array) -> Array:
        """Return a matrix row by row; one that is asked for again is not copied again."""
        key = matrix.ctypes.data, matrix.shape, matrix.strides
        if key not in self._copies:
            self._copies[key] = np.ascontiguousarray(matrix, dtype=float)
        return self._copies[key]

    # -- where elements lie ------------------------------------------------------------------------

    def _read(self, o: Operand, where: Sequence[Any]) -> Any:
        """Return the element of an operand that belongs to this one of the loop."""
        source = o.source
        if isinstance(source, Symbol):
            if source in self.e.numbers:
                return self.e.numbers[source]
            if source in self._values and o.in_order:
                return self._values[source]
            return self.e.get(source, self._flat(o.where, where))
        first = float(source.reshape(-1)[0])
        if bool(np.all(source == first)):
            return self.e.splat(first)
        pointer = self.e.pointer(np.ascontiguousarray(source), DOUBLE)
        return self.e.splat(self.b.load(self.b.gep(pointer, [self._flat(o.where, where)])))

    def _element(self, o: Operand, i: Any) -> Any:
        """Return the element of an operand at a position of its source."""
        if o.source in self.e.numbers:
            return self.e.numbers[o.source]
        return self.e.get(o.source, i)

    def _element_at(self, o: Operand, j: Any) -> Any:
        """Return the element with a number of an operand that is a vector."""
        index = o.where.reshape(-1)
        first = int(index[0])
        step = int(index[1]) - first if len(index) > 1 else 0
        if np.array_equal(index, first + step * np.arange(len(index))):
            return self._element(o, self.b.add(self.b.mul(j, INT(step)), INT(first)))
        return self._element(o, self.b.load(self.b.gep(self.e.table(index), [j])))

    def _flat(self, index: Array, where: Sequence[Any]) -> Any:
        """Return the position that an index has at this element of the loop."""
        pattern = self._pattern(index)
        if pattern is None:
            row = self._flat(positions(self.loop.shape), where)
            return self.b.load(self.b.gep(self.e.table(index.reshape(-1)), [row]))
        steps: Sequence[int] = pattern.steps
        if len(where) != len(steps):
            steps = [steps[group[-1]] for group in self._groups]
        place: Any = INT(0)
        for i, step in zip(where, steps, strict=True):
            if step:
                place = plus(self.b, place, times(self.b, i, step))
        return plus(self.b, place, INT(pattern.first))

    def _pattern(self, index: Array) -> Affine | None:
        """Return the pattern of an index, or None where it has none."""
        if id(index) not in self._patterns:
            self._alive.append(index)
            self._patterns[id(index)] = affine(index.reshape(self.loop.shape))
        return self._patterns[id(index)]

    def _indices(self) -> Iterator[Array]:
        """Yield the indices of all that the steps read and write."""
        for step in self.loop.steps:
            if isinstance(step, Scatter):
                index = step.target.index[step.number]
                yield index
                yield operand(step.target.args[step.number], index.shape).where
                continue
            if step.op in REDUCED:
                (x,) = step.args
                kept = tuple(1 if i in step.index else n for i, n in enumerate(x.shape))
                yield np.broadcast_to(positions(kept), x.shape)
                yield operand(x, x.shape).where
            elif step.op != "matmul":
                yield from (operand(a, step.shape).where for a in step.args)

    def _merged(self) -> tuple[int, ...]:
        """Return the shape of the loop with axes joined where every index allows it."""
        shape = self.loop.shape
        if len(shape) < 2 or self.loop.direction:
            return shape
        found = [affine(index.reshape(shape)) for index in self._indices()]
        steps = [pattern.steps for pattern in found if pattern is not None]
        groups = [[0]]
        for axis in range(1, len(shape)):
            fits = all(s[axis - 1] == s[axis] * shape[axis] for s in steps)
            if fits:
                groups[-1].append(axis)
            else:
                groups.append([axis])
        self._groups = groups
        return tuple(prod(shape[a] for a in group) for group in groups)

    @contextmanager
    def _nest(self) -> Iterator[list[Any]]:
        """Write one loop inside the other, one for each axis."""
        down = self.loop.direction < 0

        @contextmanager
        def inside(shape: tuple[int, ...], outer: list[Any]) -> Iterator[list[Any]]:
            if not shape:
                yield outer
                return
            with (
                self.e.count_to(INT(shape[0]), down=down) as i,
                inside(shape[1:], [*outer, i]) as where,
            ):
                yield where

        with inside(self._shape, []) as where:
            yield where


def _ends(matrix: Array, width: int) -> tuple[Array, Array]:
    """Return where entries that are not zero begin and end, in each row and some that follow."""
    present = matrix != 0.0
    columns = matrix.shape[1]
    first = np.where(present.any(axis=1), np.argmax(present, axis=1), columns - 1)
    end = np.where(present.any(axis=1), columns - np.argmax(present[:, ::-1], axis=1), 1)
    rows = [np.minimum(np.arange(len(matrix)) + k, len(matrix) - 1) for k in range(width)]
    first = np.min([first[i] for i in rows], axis=0)
    return first, np.maximum(np.max([end[i] for i in rows], axis=0), first + 1)
