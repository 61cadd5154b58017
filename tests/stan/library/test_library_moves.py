"""Functions that cut, join, repeat and reshape, by Stan's names."""

import numpy as np
import pytest

from probmodel.stan.library.moves import MOVES
from probmodel.stan.library.overloads import meaning
from probmodel.stan.stan_values import Value, integer

M = np.arange(12).reshape(3, 4)
ARRAY = np.arange(24).reshape(2, 3, 4)
V = np.arange(5)


def vector(x):
    return Value("vector", np.asarray(x))


def row(x):
    return Value("row_vector", np.asarray(x))


def matrix(x):
    return Value("matrix", np.asarray(x))


def reals(x):
    return Value("real", np.asarray(x))


def ints(x):
    return Value("int", np.asarray(x))


ZERO, ONE = 100, 101  # positions of these

# Name, arguments, elements of the result, its kind.
CASES = [
    ("head", [vector(V), 2], [0, 1], "vector"),
    ("head", [row(V), 0], [], "row_vector"),
    ("head", [Value("vector", M), 2], M[:2], "vector"),
    ("tail", [vector(V), 2], [3, 4], "vector"),
    ("tail", [vector(V), 0], [], "vector"),
    ("segment", [reals(V), 2, 3], [1, 2, 3], "real"),
    ("segment", [reals(V), 6, 0], [], "real"),
    ("sub_col", [matrix(M), 2, 3, 2], [6, 10], "vector"),
    ("sub_row", [matrix(M), 2, 3, 2], [6, 7], "row_vector"),
    ("block", [matrix(M), 2, 2, 2, 3], M[1:3, 1:4], "matrix"),
    ("row", [matrix(M), 2], M[1], "row_vector"),
    ("col", [matrix(M), 4], M[:, 3], "vector"),
    ("append_row", [vector([1, 2]), vector([3])], [1, 2, 3], "vector"),
    ("append_row", [reals(7), vector([1, 2])], [7, 1, 2], "vector"),
    ("append_row", [vector([1, 2]), integer(7)], [1, 2, 7], "vector"),
    ("append_row", [row([1, 2]), row([3, 4])], [[1, 2], [3, 4]], "matrix"),
    ("append_row", [matrix(M), row([1, 2, 3, 4])], np.vstack([M, [1, 2, 3, 4]]), "matrix"),
    ("append_row", [matrix(M), matrix(M[:1])], np.vstack([M, M[:1]]), "matrix"),
    ("append_col", [row([1, 2]), row([3])], [1, 2, 3], "row_vector"),
    ("append_col", [reals(7), row([1, 2])], [7, 1, 2], "row_vector"),
    ("append_col", [vector([1, 2]), vector([3, 4])], [[1, 3], [2, 4]], "matrix"),
    ("append_col", [vector([7, 8, 9]), matrix(M)], np.c_[[7, 8, 9], M], "matrix"),
    ("append_col", [matrix(M), matrix(M[:, :1])], np.c_[M, M[:, :1]], "matrix"),
    ("append_array", [ints([1]), ints([2, 3])], [1, 2, 3], "int"),
    ("append_array", [Value("vector", M), Value("vector", M)], np.vstack([M, M]), "vector"),
    ("append_array", [Value("vector", M[:0, :0]), Value("vector", M)], M, "vector"),
    ("reverse", [vector(V)], V[::-1], "vector"),
    ("reverse", [Value("matrix", ARRAY)], ARRAY[::-1], "matrix"),
    ("transpose", [vector(V)], V, "row_vector"),
    ("transpose", [row(V)], V, "vector"),
    ("transpose", [matrix(M)], M.T, "matrix"),
    ("diagonal", [matrix(M)], [0, 5, 10], "vector"),
    ("diag_matrix", [vector([5, 6])], [[5, ZERO], [ZERO, 6]], "matrix"),
    ("symmetrize_from_lower_tri", [matrix([[0, 1], [2, 3]])], [[0, 2], [2, 3]], "matrix"),
    ("to_vector", [matrix(M)], M.flatten("F"), "vector"),
    ("to_vector", [row(V)], V, "vector"),
    ("to_vector", [reals(V)], V, "vector"),
    ("to_row_vector", [matrix(M)], M.flatten("F"), "row_vector"),
    ("to_row_vector", [vector(V)], V, "row_vector"),
    ("to_array_1d", [matrix(M)], M.flatten("F"), "real"),
    ("to_array_1d", [vector(V)], V, "real"),
    ("to_array_1d", [reals(ARRAY)], ARRAY.flatten(), "real"),
    ("to_array_1d", [ints(M)], M.flatten(), "int"),
    ("to_array_2d", [matrix(M)], M, "real"),
    ("to_matrix", [matrix(M)], M, "matrix"),
    ("to_matrix", [vector([1, 2])], [[1], [2]], "matrix"),
    ("to_matrix", [row([1, 2])], [[1, 2]], "matrix"),
    ("to_matrix", [Value("row_vector", M)], M, "matrix"),
    ("to_matrix", [ints(M)], M, "matrix"),
    ("to_matrix", [vector(range(6)), 2, 3], [[0, 2, 4], [1, 3, 5]], "matrix"),
    ("to_matrix", [reals(range(6)), 2, 3, 0], [[0, 1, 2], [3, 4, 5]], "matrix"),
    ("to_matrix", [reals(range(6)), 2, 3, 1], [[0, 2, 4], [1, 3, 5]], "matrix"),
    ("to_matrix", [matrix(M), 4, 3], M.flatten("F").reshape(4, 3, order="F"), "matrix"),
    ("to_matrix", [matrix(M), 4, 3, 0], M.flatten("F").reshape(4, 3), "matrix"),
    ("rep_vector", [reals(7), 3], [7, 7, 7], "vector"),
    ("rep_vector", [reals(7), 0], [], "vector"),
    ("rep_row_vector", [reals(7), 2], [7, 7], "row_vector"),
    ("rep_matrix", [reals(7), 2, 3], np.full((2, 3), 7), "matrix"),
    ("rep_matrix", [vector([1, 2]), 3], [[1, 1, 1], [2, 2, 2]], "matrix"),
    ("rep_matrix", [row([1, 2]), 3], [[1, 2]] * 3, "matrix"),
    ("rep_array", [integer(7), 2], [7, 7], "int"),
    ("rep_array", [reals(7), 2, 3, 4], np.full((2, 3, 4), 7), "real"),
    ("rep_array", [vector([1, 2]), 3], [[1, 2]] * 3, "vector"),
    ("rep_array", [matrix(M), 2, 2], np.array([[M, M], [M, M]]), "matrix"),
    ("rep_array", [ints([1, 2]), 2], [[1, 2]] * 2, "int"),
]  # fmt: skip


def called(name, args):
    """Move the elements of values, as the program does: sizes are plain numbers."""
    values = [a if isinstance(a, Value) else integer(a) for a in args]
    key = meaning(name, values)
    entry = MOVES[key]
    given = [
        int(v.array) if i in entry.sizes else np.asarray(v.array) for i, v in enumerate(values)
    ]
    fills = {"zero": ZERO, "one": ONE} if entry.fills else {}
    kind = entry.kind if isinstance(entry.kind, str) else entry.kind(values)
    return key, entry.function(*given, **fills), kind


@pytest.mark.parametrize(("name", "args", "expected", "kind"), CASES)
def test_moves(name, args, expected, kind):
    _, found, found_kind = called(name, args)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == np.shape(expected)
    assert found_kind == kind


def test_every_entry_has_a_case():
    assert {called(name, args)[0] for name, args, *_ in CASES} == MOVES.keys()


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("head", [vector(V), 6], "head needs elements 1 to 6 of 5"),
        ("tail", [vector(V), 7], "tail needs elements -1 to 5 of 5"),
        ("segment", [vector(V), 4, 3], "segment needs elements 4 to 6 of 5"),
        ("segment", [vector(V), 0, 3], "segment needs elements 0 to 2 of 5"),
        ("segment", [vector(V), 1, -1], "a size of 0 or more, not -1"),
        ("block", [matrix(M), 2, 2, 3, 1], "rows 2 to 4 of 3"),
        ("block", [matrix(M), 2, 2, 1, 4], "columns 2 to 5 of 4"),
        ("row", [matrix(M), 4], "row needs row 4 of 3"),
        ("col", [matrix(M), 0], "col needs column 0 of 4"),
        ("append_row", [matrix(M), row([1, 2])], "as many columns, not 4 and 2"),
        ("append_col", [matrix(M), vector([1, 2])], "as many rows, not 3 and 2"),
        ("append_array", [Value("vector", M), Value("vector", M.T)], "of one size"),
        ("to_matrix", [vector(V), 2, 3], "2 times 3 elements, not 5"),
        ("rep_vector", [reals(1), -2], "sizes of 0 or more, not -2"),
        ("symmetrize_from_lower_tri", [matrix(M)], "square matrix, not 3 by 4"),
    ],
)
def test_sizes_must_fit(name, args, message):
    with pytest.raises((IndexError, ValueError), match=message):
        called(name, args)
