"""Machine code of systems of linear equations, one for each lane, by Gaussian elimination.

The lanes pivot each for itself: a row is swapped with the one under work in the lanes that want it,
and is left alone where none does. Where a matrix is not finite, all is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from probmodel.compiler.blocks import Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lane_memory import LaneMemory
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask


class Elimination(LaneMemory):
    """Writes the solution of ``A X = B``, which takes the place of B; A is used up.

    Parameters
    ----------
    emission : writes the function: an `Emission`, or `Apart`
    n : rows of both
    matrix : where A is in the memory, (n, n)
    """

    def __init__(self, emission: Any, n: int, matrix: Any) -> None:
        super().__init__(emission)
        self.n, self.matrix = n, matrix

    def write(self, right: Any, columns: int) -> None:
        """Solve for B, (n, columns); NaN where A is singular."""
        unknown = self._eliminate(right, columns)[0]
        with self.e.count_to(INT(self.n), down=True) as i:
            with self._after(i) as k:
                self._add_row(right, columns, i, -self._entry(i, k), k)
            inverse = 1.0 / self._entry(i, i)
            with self.count(columns) as c:
                place = self._flat(i, columns, c)
                self.set(right, place, self.get(right, place) * inverse + unknown)

    def write_determinant(self, to: Any, *, log: bool) -> None:
        """Write down the determinant of A, or the logarithm of its absolute value."""
        _, unknown, sign = self._eliminate(to, 0)
        found = Variable(self, unknown if log else unknown + sign)
        with self.count(self.n) as j:
            pivot = self._entry(j, j)
            found.set(found.get() + self.f("log", abs(pivot)) if log else found.get() * pivot)
        self.set(to, INT(0), found.get())

    def _eliminate(self, right: Any, columns: int) -> tuple[Lanes, Lanes, Lanes]:
        """Leave zeros below the diagonal of A.

        Returns what is NaN where A is singular, and what is NaN where it is not finite, both zero
        elsewhere; and the sign of the order of rows.
        """
        unknown, w = self._unknown(), self.w
        singular, sign = Variable(self, unknown), Variable(self, w.number(1.0))
        with self.count(self.n) as j:
            swapped = self._pivot(j, right, columns)
            sign.set(w.select(swapped, -sign.get(), sign.get()))
            pivot = self._entry(j, j)
            zero = pivot.equals(0.0)  # and so is what is below
            singular.set(w.select(zero, np.nan, singular.get()))
            inverse = w.select(zero, 0.0, 1.0 / pivot)
            with self._after(j) as i:
                share = -(self._entry(i, j) * inverse)
                self._add_row(self.matrix, self.n, i, share, j)
                self._add_row(right, columns, i, share, j)
        return singular.get(), unknown, sign.get()

    def _unknown(self) -> Lanes:
        """Return zero, or NaN where the matrix is not finite."""
        total = Variable(self, self.w.number(0.0))
        with self.count(self.n * self.n) as k:
            total.set(total.get() + 0.0 * self.get(self.matrix, k))
        return total.get()

    def _pivot(self, j: Any, right: Any, columns: int) -> Mask:
        """Bring the largest entry of a column, from the diagonal on, to the diagonal.

        Returns where rows were swapped for that.
        """
        largest = Variable(self, abs(self._entry(j, j)))
        which = Variable(self, self.w.number(0.0))  # no row that comes after another
        with self._after(j) as i:
            size = abs(self._entry(i, j))
            larger = size > largest.get()
            largest.set(self.w.select(larger, size, largest.get()))
            which.set(self.w.select(larger, self._number(i), which.get()))
        with self._after(j) as i:
            wanted = which.get().equals(self._number(i))
            with self.b.if_then(self.w.any(wanted)):
                self._swap(self.matrix, self.n, i, j, wanted)
                self._swap(right, columns, i, j, wanted)
        found: Mask = which.get() > 0.0
        return found

    def _swap(self, place: Any, columns: int, i: Any, j: Any, where: Mask) -> None:
        """Swap two rows of a matrix in some lanes."""
        with self.count(columns) as c:
            one, other = self._flat(i, columns, c), self._flat(j, columns, c)
            a, b = self.get(place, one), self.get(place, other)
            self.set(place, one, self.w.select(where, b, a))
            self.set(place, other, self.w.select(where, a, b))

    def _add_row(self, place: Any, columns: int, i: Any, share: Lanes, j: Any) -> None:
        """Add a share of row j of a matrix to row i."""
        with self.count(columns) as c:
            to = self._flat(i, columns, c)
            row = self.get(place, self._flat(j, columns, c))
            self.set(place, to, self.w.fma(share, row, self.get(place, to)))

    @contextmanager
    def _after(self, i: Any) -> Iterator[Any]:
        """Write a loop over the rows after one."""
        following, n = self.b.add(i, INT(1)), INT(self.n)
        more = self.b.icmp_signed("<", following, n)
        with self.b.if_then(more), self.e.count_to(n, start=following) as k:
            yield k

    def _entry(self, i: Any, j: Any) -> Lanes:
        return self.get(self.matrix, self._flat(i, self.n, j))

    def _flat(self, i: Any, columns: int, c: Any) -> Any:
        return self.b.add(self.b.mul(i, INT(columns)), c)

    def _number(self, i: Any) -> Lanes:
        """Return a whole number in all lanes."""
        return self.w.same(self.b.sitofp(i, DOUBLE))
