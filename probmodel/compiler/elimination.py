"""Machine code of systems of linear equations, one for each lane, by Gaussian elimination.

The lanes pivot each for itself: a row is swapped with the one under work in the lanes that want it,
and is left alone where none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from probmodel.compiler.blocks import Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lane_memory import LaneMemory
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class Elimination(LaneMemory):
    """Writes the solution of ``A X = B``, which takes the place of B; A is used up.

    Parameters
    ----------
    emission : writes the caller
    n : rows of both
    matrix : where A is in the memory, (n, n)
    """

    def __init__(self, emission: Emission, n: int, matrix: int) -> None:
        super().__init__(emission)
        self.n, self.matrix = n, matrix

    def write(self, right: int, columns: int) -> None:
        """Solve for B, (n, columns); NaN where A is not finite."""
        n = INT(self.n)
        unknown = self._unknown()
        with self.count(self.n) as j:
            self._pivot(j, right, columns)
            inverse = 1.0 / self._entry(j, j)
            with self._after(j) as i:
                share = -(self._entry(i, j) * inverse)
                self._add_row(self.matrix, self.n, i, share, j)
                self._add_row(right, columns, i, share, j)
        with self.e.count_to(n, down=True) as i:
            with self._after(i) as k:
                self._add_row(right, columns, i, -self._entry(i, k), k)
            inverse = 1.0 / self._entry(i, i)
            with self.count(columns) as c:
                place = self._flat(i, columns, c)
                self.set(right, place, self.get(right, place) * inverse + unknown)

    def _unknown(self) -> Lanes:
        """Return zero, or NaN where the matrix is not finite."""
        total = Variable(self, self.w.number(0.0))
        with self.count(self.n * self.n) as k:
            total.set(total.get() + 0.0 * self.get(self.matrix, k))
        return total.get()

    def _pivot(self, j: Any, right: int, columns: int) -> None:
        """Bring the largest entry of a column, from the diagonal on, to the diagonal."""
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

    def _swap(self, place: int, columns: int, i: Any, j: Any, where: Mask) -> None:
        """Swap two rows of a matrix in some lanes."""
        with self.count(columns) as c:
            one, other = self._flat(i, columns, c), self._flat(j, columns, c)
            a, b = self.get(place, one), self.get(place, other)
            self.set(place, one, self.w.select(where, b, a))
            self.set(place, other, self.w.select(where, a, b))

    def _add_row(self, place: int, columns: int, i: Any, share: Lanes, j: Any) -> None:
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
