"""Machine code of systems of linear equations, against LAPACK."""

import ctypes

import llvmlite.ir as ir
import numpy as np
import pytest

from probmodel.compiler.control import FunctionWriter
from probmodel.compiler.elimination import Elimination
from probmodel.compiler.lanes import DOUBLE, Writer
from probmodel.compiler.native import compiled

INT = ir.IntType(64)


class Memory:
    """A function of a memory, which is written as parts of a program write theirs."""

    def __init__(self, lanes):
        self.module, self.lanes = ir.Module("elimination"), lanes
        self._function = FunctionWriter(self.module, "solve", [DOUBLE.as_pointer()])
        self.b, self.count_to = self._function.b, self._function.count_to
        self.place_for, self.end = self._function.variable, self._function.end
        self.arithmetic = Writer(self.module, self.b, lanes, None)

    def _address(self, start, i):
        place = self.b.add(INT(start), self.b.mul(i, INT(self.lanes)))
        address = self.b.gep(self._function.function.args[0], [place])
        return self.b.bitcast(address, self.arithmetic.type.as_pointer())

    def load_at(self, start, i):
        return self.b.load(self._address(start, i), align=8)

    def store_at(self, start, i, value):
        self.b.store(value, self._address(start, i), align=8)


def solved(A, B):
    """Solve one system for each lane by machine code: (lanes, n, n), (lanes, n, columns)."""
    lanes, n, columns = B.shape
    memory = Memory(lanes)
    Elimination(memory, n, 0).write(n * n * lanes, columns)
    memory.end()
    engine = compiled(str(memory.module))
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("solve"))
    flat = np.concatenate([A.reshape(lanes, -1), B.reshape(lanes, -1)], axis=1)
    numbers = np.ascontiguousarray(flat.T)
    run(numbers.ctypes.data)
    return numbers[n * n :].T.reshape(B.shape)


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 17, 40])
@pytest.mark.parametrize("columns", [1, None])
def test_solutions_are_those_of_lapack(n, lanes, columns):
    rng = np.random.default_rng(n)
    A, B = rng.standard_normal((lanes, n, n)), rng.standard_normal((lanes, n, columns or n))
    A[:, range(n), range(n)] *= rng.choice([0.0, 1.0, 1e-9], (lanes, n)) if n > 1 else 1.0
    expected = np.linalg.solve(A, B)
    error = np.abs(solved(A, B) - expected).max(axis=(1, 2))
    size = np.linalg.cond(A) * np.abs(expected).max(axis=(1, 2))
    assert np.all(error <= 1e-14 * n * size)


def test_rows_are_swapped_in_any_order():
    rng, n, lanes = np.random.default_rng(0), 7, 8
    orders = np.array([rng.permutation(n) for _ in range(lanes)])
    A, B = np.eye(n)[orders], rng.standard_normal((lanes, n, 2))
    np.testing.assert_array_equal(solved(A, B), np.linalg.solve(A, B))


def test_small_pivots_are_not_used():
    A = np.array([[[1e-20, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(solved(A, np.array([[[1.0], [2.0]]])), [[[1.0], [1.0]]], rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_lane(bad):
    rng, n = np.random.default_rng(1), 4
    A, B = rng.standard_normal((4, n, n)), rng.standard_normal((4, n, n))
    expected = np.linalg.solve(A, B)
    A[1, 2, 3] = A[3, 0, 0] = bad
    found = solved(A, B)
    np.testing.assert_allclose(found[[0, 2]], expected[[0, 2]], rtol=1e-10)
    assert np.isnan(found[[1, 3]]).all()


def test_singular_systems_have_no_finite_solution():
    A = np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 1.0]]])
    assert not np.isfinite(solved(A, np.ones((2, 2, 1)))).all(axis=(1, 2)).any()
