"""Machine code of operations on stacks of matrices, each of which takes its operands whole.

    factor     A = L L', lower triangular L                       (stack, n, n) -> (stack, n, n)
    solve      L x = b, or L'x = b                                (stack, n, k) -> (stack, n, k)
    product    A B                                                (stack, n, k)
    equations  A x = b, of any matrix                             (stack, n, k) -> (stack, n, k)
    determinant    of any matrix, or the logarithm of its size    (stack, n, n) -> (stack, 1, 1)

Chains lie in the lanes, as everywhere: LAPACK would take one matrix of one chain after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT, plus, times
from probmodel.compiler.elimination import Elimination
from probmodel.compiler.lanes import DOUBLE
from probmodel.compiler.loops import FUSED
from probmodel.compiler.part_writer import Apart
from probmodel.compiler.symbols import Symbol

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission

Reader = Callable[[Any, Any, Any], Any]


class MatrixWriter:
    """Writes one operation."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        self.e, self.b, self.symbol = emission, emission.b, symbol
        self._stack, self._rows, self._columns = symbol.shape

    def write(self) -> None:
        """Write it for each matrix of the stack."""
        readers = [reader_of(self.e, a) for a in self.symbol.args]
        with self.e.count_to(INT(self._stack)) as s:
            if self.symbol.op == "factor":
                self._factor(s, readers[0])
            elif self.symbol.op == "solve":
                self._solve(s, *readers, transposed=bool(self.symbol.index))
            elif self.symbol.op in ("equations", "determinant"):
                self._eliminate(s, *readers)
            else:
                self._product(s, *readers, inner=self.symbol.args[0].shape[2])

    def _factor(self, s: Any, read: Reader) -> None:
        """Column after column, each less its products with those before."""
        e, b, n = self.e, self.b, INT(self._rows)
        lowest = e.variable(np.inf)  # pivot; none that is not a number is forgotten
        with e.count_to(n) as j:
            with e.count_to(n) as i:
                value = b.select(b.icmp_signed("<", i, j), e.splat(0.0), read(s, i, j))
                self._put(s, i, j, value)
            with b.if_then(b.icmp_signed(">", j, INT(0))), e.count_to(j) as k:
                share = self._get(s, j, k)
                with e.count_to(n, start=j) as i:
                    self._less(s, i, j, share, self._get(s, i, k))
            pivot = self._get(s, j, j)
            lower = b.fcmp_unordered("<", pivot, b.load(lowest))
            b.store(b.select(lower, pivot, b.load(lowest)), lowest)
            root = e.function_of_numbers("sqrt", [pivot])
            self._times(s, j, n, e.function_of_numbers("reciprocal", [root]))
            self._put(s, j, j, root)
        good = b.fcmp_ordered(">", b.load(lowest), e.splat(0.0))
        unknown = b.select(good, e.splat(0.0), e.splat(np.nan))
        with e.count_to(n) as i, e.count_to(n) as j:
            self._put(s, i, j, b.fadd(self._get(s, i, j), unknown))

    def _times(self, s: Any, j: Any, n: Any, factor: Any) -> None:
        """Scale what is below in a column."""
        with self.e.count_to(n, start=j) as i:
            self._put(s, i, j, self.b.fmul(self._get(s, i, j), factor))

    def _solve(self, s: Any, factor: Reader, right: Reader, *, transposed: bool) -> None:
        """Row after row, each less what those that are known make of it."""
        e, b, n, k = self.e, self.b, INT(self._rows), INT(self._columns)
        with e.count_to(n, down=transposed) as i:
            with e.count_to(k) as c:
                self._put(s, i, c, right(s, i, c))
            first, end = (b.add(i, INT(1)), n) if transposed else (INT(0), i)
            with b.if_then(b.icmp_signed("<", first, end)), e.count_to(end, start=first) as j:
                share = factor(s, j, i) if transposed else factor(s, i, j)
                with e.count_to(k) as c:
                    self._less(s, i, c, share, self._get(s, j, c))
            inverse = e.function_of_numbers("reciprocal", [factor(s, i, i)])
            with e.count_to(k) as c:
                self._put(s, i, c, b.fmul(self._get(s, i, c), inverse))

    def _product(self, s: Any, left: Reader, right: Reader, *, inner: int) -> None:
        """Row after row, each the sum of rows of the other matrix."""
        e, n, m = self.e, INT(self._rows), INT(self._columns)
        with e.count_to(n) as i:
            with e.count_to(m) as j:
                self._put(s, i, j, e.splat(0.0))
            with e.count_to(INT(inner)) as k:
                share = self.b.fneg(left(s, i, k))
                with e.count_to(m) as j:
                    self._less(s, i, j, share, right(s, k, j))

    def _eliminate(self, s: Any, matrix: Reader, right: Reader | None = None) -> None:
        """Let a function, which others of the same size share, solve or find a determinant."""
        e, size = self.e, self.symbol.args[0].shape[2]
        copy, n = self._copy(size * size), INT(size)
        with e.count_to(n) as i, e.count_to(n) as j:
            place = plus(self.b, times(self.b, i, size), j)
            e.store_at(copy, place, matrix(s, i, j))
        if right is not None:
            with e.count_to(n) as i, e.count_to(INT(self._columns)) as c:
                self._put(s, i, c, right(s, i, c))
        first = self.b.mul(self._flat(self.symbol, s, INT(0), INT(0)), INT(e.lanes))
        result = self.b.add(first, INT(e.offsets[self.symbol]))
        self.b.call(self._function(size), [e.pointer_at(p, DOUBLE) for p in (copy, result)])

    def _copy(self, size: int) -> int:
        """Return where matrices of some numbers are used up."""
        copies = self.e.copies
        if size not in copies:
            copies[size] = self.e.scratch(size)
        return copies[size]

    def _function(self, n: int) -> Any:
        """Return the function of two places that eliminates in the first, and fills the second."""
        solves, log = self.symbol.op == "equations", bool(self.symbol.index)
        kind = f"{self._columns}" if solves else "log" if log else "plain"
        name = f"{self.symbol.op}.{n}.{kind}.v{self.e.lanes}"
        found = self.e.module.globals.get(name)
        if found is not None:
            return found
        apart = Apart(self.e, name, 2)
        matrix, right = apart.places
        elimination = Elimination(apart, n, matrix)
        if solves:
            elimination.write(right, self._columns)
        else:
            elimination.write_determinant(right, log=log)
        apart.end()
        return apart.function

    # -- elements ----------------------------------------------------------------------------------

    def _less(self, s: Any, i: Any, j: Any, a: Any, x: Any) -> None:
        """Take a product from an element of the result."""
        product = self.b.fmul(a, x, flags=FUSED)
        self._put(s, i, j, self.b.fsub(self._get(s, i, j), product, flags=FUSED))

    def _get(self, s: Any, i: Any, j: Any) -> Any:
        return self.e.get(self.symbol, self._flat(self.symbol, s, i, j))

    def _put(self, s: Any, i: Any, j: Any, value: Any) -> None:
        self.e.put(self.symbol, self._flat(self.symbol, s, i, j), value)

    def _flat(self, x: Any, s: Any, i: Any, j: Any) -> Any:
        return flat(self.b, x.shape, s, i, j)


def flat(b: Any, shape: tuple[int, ...], s: Any, i: Any, j: Any) -> Any:
    """Write the position of an element of a matrix in a stack."""
    row = plus(b, times(b, s, shape[1]), i)
    return plus(b, times(b, row, shape[2]), j)


def reader_of(e: Emission, x: Any) -> Reader:
    """Return the function that reads an element of an operand, (stack, rows, columns)."""
    read = e.reader(x)
    return lambda s, i, j: read(flat(e.b, x.shape, s, i, j))
