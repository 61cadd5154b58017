"""Data against their declarations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from probmodel import DataError, read_data
from probmodel.stan.data import checked, declared_shape, declared_text, read_declared, stored_kind
from probmodel.stan.stan_values import Tuple, Value
from probmodel.stan.syntax.nodes import Name, Place, Type

AT = Place("m.stan", 2, 3)
SOURCES = {"m.stan": "data {\n  array[N] int x;\n}"}


def declared(kind, own=0, array=0, items=()):
    """Return a type; its sizes are evaluated elsewhere."""
    n = Name(AT, "N")
    return Type(AT, kind, (n,) * own, (n,) * array, {}, tuple(items))


def refused(call, *texts):
    with pytest.raises(DataError) as caught:
        call()
    for text in texts:
        assert text in str(caught.value)


INT, REAL = declared("int"), declared("real")
INTS, REALS = declared("int", array=1), declared("real", array=1)
VECTOR, ROW, MATRIX = declared("vector", 1), declared("row_vector", 1), declared("matrix", 2)
VECTORS = declared("vector", 1, 1)


@pytest.mark.parametrize(
    ("type", "sizes", "given", "kind", "value"),
    [
        (INT, [], 3, "int", 3),
        (INT, [], 3.0, "int", 3),
        (INT, [], np.float64(3), "int", 3),
        (INT, [], True, "int", 1),
        (REAL, [], 3, "real", 3.0),
        (REAL, [], np.nan, "real", np.nan),
        (INTS, [2], [1, 2.0], "int", [1, 2]),
        (INTS, [2], np.array([1, 2], dtype=np.uint8), "int", [1, 2]),
        (INTS, [2], pd.Series([4, 5]), "int", [4, 5]),
        (INTS, [2], (1, 2), "int", [1, 2]),
        (INTS, [1], 5, "int", [5]),
        (INTS, [2], {"a": 1, "b": 2}, "int", [1, 2]),
        (REALS, [2], [1, 2], "real", [1.0, 2.0]),
        (REALS, [2], pd.Series([4, None]), "real", [4.0, np.nan]),
        (REALS, [0], [], "real", np.zeros(0)),
        (VECTOR, [2], [1, 2], "vector", [1.0, 2.0]),
        (VECTOR, [1], 3, "vector", [3.0]),
        (ROW, [2], [1, 2], "row_vector", [1.0, 2.0]),
        (MATRIX, [2, 1], [[1], [2]], "matrix", [[1.0], [2.0]]),
        (MATRIX, [2, 2], pd.DataFrame({"a": [1, 2], "b": [3, 4]}), "matrix", [[1, 3.0], [2, 4]]),
        (MATRIX, [1, 1], 2, "matrix", [[2.0]]),
        (MATRIX, [0, 3], [], "matrix", np.zeros((0, 3))),
        (MATRIX, [2, 0], [[], []], "matrix", np.zeros((2, 0))),
        (MATRIX, [3, 0], np.zeros(0), "matrix", np.zeros((3, 0))),
        (VECTORS, [2, 3], np.arange(6).reshape(2, 3), "vector", [[0.0, 1, 2], [3, 4, 5]]),
        (declared("simplex", 1), [2], [0.5, 0.5], "vector", [0.5, 0.5]),
        (declared("cov_matrix", 1), [2], np.eye(2), "matrix", np.eye(2)),
        (declared("cholesky_factor_cov", 2), [3, 2], np.eye(3, 2), "matrix", np.eye(3, 2)),
        (declared("corr_matrix", 1, 1), [2, 1], [[[1]], [[1]]], "matrix", np.ones((2, 1, 1))),
        (declared("complex"), [], [1, 2], "complex", 1 + 2j),
        (declared("complex"), [], 1 + 2j, "complex", 1 + 2j),
        (declared("complex"), [], 3, "complex", 3 + 0j),
        (declared("complex", array=1), [2], [[1, 2], [3, 4]], "complex", [1 + 2j, 3 + 4j]),
        (declared("complex", array=1), [2], [1 + 2j, 3], "complex", [1 + 2j, 3]),
        (declared("complex_matrix", 2), [1, 1], [[[1, -1]]], "matrix", [[1 - 1j]]),
    ],
)  # fmt: skip
def test_what_is_read(type, sizes, given, kind, value):
    found = read_declared(type, sizes, given, "x")
    assert found.kind == kind
    assert found.known
    assert np.shape(found.array) == np.shape(value)
    np.testing.assert_array_equal(found.array, value)
    kinds = {"int": "i", "complex": "c"}.get(kind, "f")
    assert np.asarray(found.array).dtype.kind == ("c" if "complex" in type.kind else kinds)
    assert np.ndim(found.array) or isinstance(found.array, int | float | complex)
    assert found.source[0] == "x"
    np.testing.assert_array_equal(np.ravel(found.source[1]), np.arange(np.size(value)))


@pytest.mark.parametrize(
    ("type", "sizes", "given", "said"),
    [
        (INT, [], 2.5, "x is 2.5; x is declared as int, which takes whole numbers"),
        (INT, [], np.nan, "x is nan"),
        (INT, [], np.inf, "x is inf"),
        (INT, [], 1e30, "x is 1e+30"),
        (INTS, [3], [1, 2, 2.5], "x[3] is 2.5; x is declared as array[3] int"),
        (declared("int", array=2), [2, 2], [[1, 2], [0.5, 3]], "x[2, 1] is 0.5"),
        (INTS, [2], [2**64 - 1, 0], "x[1] is 1.8446"),
        (INTS, [3], [1, 2], "array[3] int, which is 3 numbers in a list; it is given as 2"),
        (INT, [], [1], "as int, which is a single number; it is given as 1 number in a list"),
        (VECTOR, [2], 1.0, "it is given as a single number"),
        (VECTOR, [2], [], "it is given as 0 numbers in a list"),
        (VECTOR, [0], [1.0], "which is 0 numbers in a list; it is given as 1 number in a list"),
        (MATRIX, [2, 3], np.zeros((3, 2)), "it is given as 3 by 2 numbers. Is it transposed?"),
        (MATRIX, [1, 3], [1, 2, 3], "declared as matrix[1, 3], which is 1 by 3 numbers"),
        (VECTORS, [2, 3], np.zeros(3), "declared as array[2] vector[3], which is 2 by 3 numbers"),
        (MATRIX, [2, 2], [[1, 2], [3]], "lists that differ in length"),
        (REALS, [2], [1, "a"], "must be a number; it is given as"),
        (REALS, [2], ["b", "a"], "x[1] must be a number; it is given as"),
        (REALS, [2], [1, object()], "x[2] must be a number"),
        (REAL, [], 1j, "it is given as complex numbers"),
        (declared("complex"), [], [1, 2, 3], "declared as complex"),
    ],
)  # fmt: skip
def test_what_is_refused(type, sizes, given, said):
    refused(lambda: read_declared(type, sizes, given, "x", AT, SOURCES), "m.stan:2: ", said)
    refused(lambda: read_declared(type, sizes, given, "x"), said)


def test_errors_point_at_the_declaration():
    call = lambda: read_declared(INTS, [2], [1], "x", AT, SOURCES)  # noqa: E731
    refused(call, "m.stan:2: column 3", "\n      array[N] int x;\n      ^")


def test_numbers_of_objects():
    found = read_declared(REALS, [2], np.array([1, 2.5], dtype=object), "x")
    assert found.array.tolist() == [1.0, 2.5]


PAIR = declared("tuple", items=[INT, VECTOR])


@pytest.mark.parametrize("given", [(3, [1, 2]), [3, [1, 2]], {"1": 3, "2": [1, 2]}])
def test_tuples(given):
    found = read_declared(PAIR, [[], [2]], given, "t")
    assert isinstance(found, Tuple)
    assert [v.kind for v in found.items] == ["int", "vector"]
    assert found.items[0].array == 3
    assert found.items[1].array.tolist() == [1.0, 2.0]


def test_arrays_of_tuples_become_tuples_of_arrays(tmp_path):
    type = declared("tuple", array=2, items=[INT, declared("tuple", items=[REAL, VECTOR])])
    given = [[{"1": i, "2": {"1": 0.5 * i, "2": [i, 2, 3]}}] for i in range(2)]
    (tmp_path / "d.json").write_text(json.dumps({"t": given}))
    found = read_declared(type, [2, 1, [], [[], [3]]], read_data(tmp_path / "d.json")["t"], "t")
    first, (second, third) = found.items[0], found.items[1].items
    assert first.array.tolist() == [[0], [1]]
    assert second.array.tolist() == [[0.0], [0.5]]
    assert third.kind == "vector"
    assert third.array.shape == (2, 1, 3)
    empty = declared("tuple", array=1, items=[INT, VECTOR])
    found = read_declared(empty, [0, [], [3]], [], "t")
    assert [v.array.shape for v in found.items] == [(0,), (0, 3)]


@pytest.mark.parametrize(
    ("type", "sizes", "given", "said"),
    [
        (PAIR, [[], [2]], (3, [1]), "t.2 is declared as vector[2]"),
        (PAIR, [[], [2]], (0.5, [1, 2]), "t.1 is 0.5"),
        (PAIR, [[], [2]], (3,), "t must be a tuple of 2 elements"),
        (PAIR, [[], [2]], {"a": 3, "b": 2}, "an object with the names 1 to 2"),
        (declared("tuple", array=1, items=[INT]), [2, []], [(1,)], "a list of 2 tuples; 1"),
        (declared("tuple", array=1, items=[INT]), [2, []], 3, "t must be a list of 2 tuples; none"),
        (declared("tuple", array=1, items=[INT]), [2, []], [(1,), 3], "t[2] must be a tuple of 1"),
    ],
)  # fmt: skip
def test_what_is_no_tuple(type, sizes, given, said):
    refused(lambda: read_declared(type, sizes, given, "t", AT, SOURCES), said)


def test_types_in_words():
    assert declared_text(VECTORS, [2, 3]) == "array[2] vector[3]"
    assert declared_text(REAL, []) == "real"
    assert declared_shape(declared("cov_matrix", 1, 1), [4, 2]) == (4, 2, 2)
    assert declared_shape(declared("cholesky_factor_cov", 2), [3, 2]) == (3, 2)
    assert stored_kind("corr_matrix") == "matrix"
    assert stored_kind("ordered") == "vector"


# -- bounds ----------------------------------------------------------------------------------------


def value(kind, numbers, **how):
    dtype = np.int64 if kind == "int" else float
    return Value(kind, np.asarray(numbers, dtype=dtype), **how)


@pytest.mark.parametrize(
    ("given", "bounds", "said"),
    [
        (value("int", 3), {"lower": 4}, "x is 3; its lower bound is 4."),
        (value("real", 3), {"upper": 2.5}, "x is 3; its upper bound is 2.5."),
        (value("real", [1, 3, 0]), {"lower": 0.5}, "x[3] is 0; its lower bound is 0.5."),
        (value("real", [1, 3]), {"lower": np.array([0, 4])}, "x[2] is 3; its lower bound is 4."),
        (value("matrix", [[1, 2], [3, 4]]), {"upper": 3}, "x[2, 2] is 4; its upper bound is 3."),
        (value("vector", [[1, 2], [3, 4]]), {"upper": value("vector", [5, 3])}, "x[2, 2] is 4"),
        (value("real", np.nan), {"lower": 0}, "x is nan; its lower bound is 0."),
        (value("real", 1.0), {"lower": value("real", np.nan)}, "its lower bound is nan."),
        (value("vector", [[1, 2], [3, 4]], laned=True), {"upper": 3}, "x[2] is 4"),
        (
            value("vector", [[1, 2], [3, 4]], laned=True),
            {"lower": value("real", [0, 4], laned=True)},
            "x[1] is 3; its lower bound is 4.",
        ),
        (value("real", [0.5, 7]), {"lower": 0, "upper": 1}, "x[2] is 7; its upper bound is 1."),
    ],
)
def test_bounds(given, bounds, said):
    refused(lambda: checked(given, REAL, bounds, "x", AT, SOURCES), "m.stan:2", said)
    refused(lambda: checked(given, REAL, bounds, "x"), said)


def test_values_within_bounds():
    checked(value("real", [0, 1]), REALS, {"lower": 0, "upper": value("int", 1)}, "x")
    checked(value("real", []), REALS, {"lower": 5}, "x")
    checked(value("real", [0, 1]), REALS, {"multiplier": 5}, "x")
    checked(value("real", [0, 1]), REALS, None, "x")
    checked(Value("real", np.array([0, 1]), traced=True), REALS, {"lower": 5}, "x")
    checked(value("real", [0, 1]), REALS, {"lower": Value("real", 7, traced=True)}, "x")


def test_bounds_of_tuples():
    found = read_declared(PAIR, [[], [2]], (3, [1, 2]), "t")
    checked(found, PAIR, [{"lower": 3}, {}], "t")
    checked(found, PAIR, (), "t")
    refused(lambda: checked(found, PAIR, [{}, {"upper": 1}], "t"), "t.2[2] is 2; its upper bound")


HALF = np.array([[1.0, 0.0], [0.6, 0.8]])


@pytest.mark.parametrize(
    ("kind", "good", "bad", "said"),
    [
        ("simplex", [0.3, 0.7 + 5e-9], [0.3, 0.71], "with the sum 1; its elements sum to 1.01"),
        ("simplex", [0.0, 1.0], [-0.5, 1.5], "element [1] is -0.5"),
        ("simplex", [0.0, 1.0], [np.nan, 1.5], "element [1] is nan"),
        ("unit_vector", [0.6, 0.8], [0.6, 0.7], "its squares sum to 0.85"),
        ("sum_to_zero_vector", [1, -1], [1, -0.5], "its elements sum to 0.5"),
        ("ordered", [1, 2], [2, 2], "elements 1 and 2 are 2 and 2"),
        ("ordered", [-1, 2], [0, np.inf], "not finite"),
        ("positive_ordered", [0, 2], [-1, 2], "from 0 up; element [1] is -1"),
        ("sum_to_zero_matrix", [[1, -1], [-1, 1]], [[1, -1], [-1, 2]], "row 2 sums to 1"),
        ("sum_to_zero_matrix", [[1, -1], [-1, 1]], [[1, -1], [1, -1]], "column 1 sums to 2"),
        ("row_stochastic_matrix", [[0.5, 0.5], [0, 1]], [[0.5, 0.5], [0, 2]], "row 2 sums to 2"),
        ("row_stochastic_matrix", [[1, 0], [0, 1]], [[1, 0], [-1, 2]], "element [2, 1] is -1"),
        ("column_stochastic_matrix", [[0.5, 0], [0.5, 1]], [[1, 0], [0, 2]], "column 2 sums to 2"),
        ("cov_matrix", [[2, 1], [1, 2]], [[2, 1], [0, 2]], "[1, 2] and [2, 1] are 1 and 0"),
        ("cov_matrix", [[2, 1 + 5e-9], [1, 2]], [[1, 2], [2, 1]], "its smallest eigenvalue is -1"),
        ("cov_matrix", [[2, 1], [1, 2]], [[1, 2], [np.inf, 1]], "element [2, 1] is not finite"),
        ("corr_matrix", [[1, 0.5], [0.5, 1]], [[1, 0.5], [0.5, 2]], "element [2, 2] is 2"),
        ("corr_matrix", [[1, 0.5], [0.5, 1]], [[1, 2], [2, 1]], "its smallest eigenvalue is -1"),
        ("cholesky_factor_cov", HALF, HALF.T, "element [1, 2], above the diagonal, is 0.6"),
        ("cholesky_factor_cov", HALF, -HALF, "element [1, 1], on the diagonal, is -1"),
        ("cholesky_factor_cov", HALF, HALF * [[1, 0], [np.inf, 1]], "not finite"),
        ("cholesky_factor_corr", HALF, 2 * HALF, "the squares of row 1 sum to 4"),
        ("cholesky_factor_corr", HALF, HALF.T, "above the diagonal"),
    ],
)  # fmt: skip
def test_constraints(kind, good, bad, said):
    stored = stored_kind(kind)
    checked(value(stored, good), declared(kind, 1), {}, "x")
    checked(value(stored, [good, good]), declared(kind, 1, 1), {}, "x")
    checked(value(stored, np.zeros((0, *np.shape(good)))), declared(kind, 1, 1), {}, "x")
    with np.errstate(invalid="ignore"):
        one = lambda: checked(value(stored, bad), declared(kind, 1), {}, "x", AT, SOURCES)  # noqa: E731
        refused(one, f"x is declared as {kind}, and must be ", said)
        many = lambda: checked(value(stored, [good, bad]), declared(kind, 1, 1), {}, "x")  # noqa: E731
        refused(many, f"x[2] is declared as {kind}", said)


def test_factors_with_more_rows_than_columns():
    tall = declared("cholesky_factor_cov", 2)
    checked(value("matrix", np.eye(3, 2)), tall, {}, "L")
    refused(lambda: checked(value("matrix", np.eye(2, 3)), tall, {}, "L"), "2 rows and 3 columns")
