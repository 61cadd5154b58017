"""Functions of sizes and of data, constants, and which entry a call means."""

import math

import numpy as np
import pytest

from probmodel.stan.library.data_functions import CONSTANTS, OF_DATA, SIZES
from probmodel.stan.library.elementwise import ELEMENTWISE
from probmodel.stan.library.moves import MOVES
from probmodel.stan.library.overloads import OPERATORS, TUPLES, meaning
from probmodel.stan.library.whole import WHOLE
from probmodel.stan.stan_values import Value, integer, real

X = np.array([3.0, 1.0, 2.0, 1.0])
SPARSE = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.5, -1.0, 4.0]])
A = np.random.default_rng(3).normal(size=(4, 3))
SQUARE = np.array([[0.0, -2.0], [1.0, 0.5]])

CASES = {
    "sort_asc": ([X], [1, 1, 2, 3]),
    "sort_desc": ([X], [3, 2, 1, 1]),
    "sort_indices_asc": ([X], [2, 4, 3, 1]),
    "sort_indices_desc": ([X], [1, 3, 2, 4]),
    "rank": ([X, 3], 2),
    "quantile": ([X, 0.25], 1.0),
    "zeros_vector": ([2], [0.0, 0.0]),
    "zeros_row_vector": ([2], [0.0, 0.0]),
    "zeros_array": ([2], [0.0, 0.0]),
    "zeros_int_array": ([2], [0, 0]),
    "ones_vector": ([2], [1.0, 1.0]),
    "ones_row_vector": ([2], [1.0, 1.0]),
    "ones_array": ([2], [1.0, 1.0]),
    "ones_int_array": ([2], [1, 1]),
    "one_hot_vector": ([3, 2], [0.0, 1.0, 0.0]),
    "one_hot_row_vector": ([3, 1], [1.0, 0.0, 0.0]),
    "one_hot_array": ([3, 3], [0.0, 0.0, 1.0]),
    "one_hot_int_array": ([3, 2], [0, 1, 0]),
    "linspaced_vector": ([3, 1, 4], [1.0, 2.5, 4.0]),
    "linspaced_row_vector": ([1, 1, 4], [4.0]),
    "linspaced_array": ([3, 0, 1], [0.0, 0.5, 1.0]),
    "linspaced_int_array": ([3, 1, 5], [1, 3, 5]),
    "uniform_simplex": ([4], [0.25] * 4),
    "identity_matrix": ([2], [[1.0, 0.0], [0.0, 1.0]]),
    "qr_Q": ([A], None),
    "qr_R": ([A], None),
    "qr_thin_Q": ([A], None),
    "qr_thin_R": ([A], None),
    "svd_U": ([A], None),
    "svd_V": ([A], None),
    "eigenvalues": ([SQUARE], None),
    "eigenvectors": ([SQUARE], None),
    "complex_schur_decompose_t": ([SQUARE], None),
    "complex_schur_decompose_u": ([SQUARE], None),
    "fft": ([np.array([1.0, 2.0])], [3.0, -1.0]),
    "inv_fft": ([np.array([3.0, -1.0])], [1.0, 2.0]),
    "fft2": ([np.eye(2)], [[2.0, 0.0], [0.0, 2.0]]),
    "inv_fft2": ([np.eye(2)], [[0.5, 0.0], [0.0, 0.5]]),
    "csr_extract_w": ([SPARSE], [2.0, 1.5, -1.0, 4.0]),
    "csr_extract_v": ([SPARSE], [2, 1, 2, 3]),
    "csr_extract_u": ([SPARSE], [1, 2, 2, 5]),
}  # fmt: skip


def test_every_entry_has_a_case():
    assert CASES.keys() == OF_DATA.keys()


@pytest.mark.parametrize("name", [name for name, (_, expected) in CASES.items() if expected])
def test_functions_of_data(name):
    args, expected = CASES[name]
    function, kind = OF_DATA[name]
    found = np.asarray(function(*args))
    np.testing.assert_array_equal(found, expected)
    assert (found.dtype.kind == "i") == (kind == "int")


@pytest.mark.parametrize("thin", ["", "_thin"])
def test_qr(thin):
    q, r = (OF_DATA[f"qr{thin}_{part}"][0](A) for part in "QR")
    np.testing.assert_allclose(q @ r, A, atol=1e-14)
    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-14)
    np.testing.assert_allclose(np.tril(r, -1), 0.0, atol=1e-14)
    assert q.shape == ((4, 3) if thin else (4, 4))
    assert np.all(np.diagonal(r) > 0.0)


def test_eigenvectors_and_schur_factors():
    values, vectors = (OF_DATA[name][0](SQUARE) for name in ("eigenvalues", "eigenvectors"))
    np.testing.assert_allclose(SQUARE @ vectors, vectors * values, atol=1e-14)
    assert values.dtype == vectors.dtype == complex
    triangle, unitary = (OF_DATA[f"complex_schur_decompose_{part}"][0](SQUARE) for part in "tu")
    np.testing.assert_allclose(unitary @ triangle @ unitary.conj().T, SQUARE, atol=1e-14)
    np.testing.assert_allclose(unitary @ unitary.conj().T, np.eye(2), atol=1e-14)
    assert abs(triangle[1, 0]) < 1e-14


def test_singular_vectors():
    left, right = OF_DATA["svd_U"][0](A), OF_DATA["svd_V"][0](A)
    values = WHOLE["singular_values"].function(A)
    np.testing.assert_allclose(left * values @ right.T, A, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("rank", [X, 5]),
        ("one_hot_vector", [3, 0]),
        ("quantile", [X, 1.5]),
        ("quantile", [np.array([np.nan]), 0.5]),
        ("zeros_vector", [-1]),
        ("linspaced_vector", [-1, 0, 1]),
        ("linspaced_row_vector", [-1, 0, 1]),
        ("linspaced_array", [-1, 0, 1]),
        ("linspaced_int_array", [-1, 0, 1]),
        ("linspaced_int_array", [3, 2, 1]),
        ("uniform_simplex", [0]),
    ],
)
def test_arguments_must_make_sense(name, args):
    with pytest.raises(ValueError, match=f"{name} needs"):
        OF_DATA[name][0](*args)


@pytest.mark.parametrize(
    ("value", "rows", "cols", "size", "elements", "dims"),
    [
        (Value("vector", np.zeros(3), traced=True), 3, 1, 3, 3, [3]),
        (Value("row_vector", np.zeros(3)), 1, 3, 3, 3, [3]),
        (Value("matrix", np.zeros((2, 3))), 2, 3, 6, 6, [2, 3]),
        (Value("vector", np.zeros((7, 2, 3)), laned=True), None, None, 2, 6, [2, 3]),
        (Value("int", np.zeros((2, 3, 4), dtype=int)), None, None, 2, 24, [2, 3, 4]),
        (real(1.0), None, None, 1, 1, []),
    ],
)
def test_sizes(value, rows, cols, size, elements, dims):
    expected = {"rows": rows, "cols": cols, "size": size, "num_elements": elements, "dims": dims}
    assert expected.keys() == SIZES.keys()
    for name, number in expected.items():
        if number is not None:
            found = SIZES[name](value)
            assert found.kind == "int"
            assert found.known
            np.testing.assert_array_equal(found.array, number)


def test_whole_numbers_are_spaced_as_far_as_they_can_be():
    spaced = OF_DATA["linspaced_int_array"][0]
    np.testing.assert_array_equal(spaced(4, 0, 10), [0, 3, 6, 9])
    np.testing.assert_array_equal(spaced(5, 0, 1), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(spaced(7, 0, 2), [0, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(spaced(1, 0, 7), [7])


def test_constants():
    assert CONSTANTS["log10"] == math.log(10)
    assert CONSTANTS["machine_precision"] == 2.0**-52
    assert math.isnan(CONSTANTS["not_a_number"])


def test_no_name_has_two_meanings():
    tables = (ELEMENTWISE, WHOLE, MOVES, SIZES, OF_DATA, OPERATORS, TUPLES)
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))


def test_elements_of_tuples_are_functions():
    assert {part for parts in TUPLES.values() for part in parts} <= WHOLE.keys() | OF_DATA.keys()


VECTOR, ROW, MATRIX = (
    Value("vector", np.zeros(3)), Value("row_vector", np.zeros(3)), Value("matrix", np.eye(3))
)  # fmt: skip
REALS, VECTORS = Value("real", np.zeros(3)), Value("vector", np.zeros((2, 3)))
ONE = real(1.0)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("pi", [], "pi"),
        ("log2", [], "log2"),
        ("max", [integer(1), integer(2)], "max:numbers"),
        ("max", [VECTOR], "max"),
        ("log_sum_exp", [ONE, VECTOR], "log_sum_exp:numbers"),
        ("log_sum_exp", [MATRIX], "log_sum_exp"),
        ("log_mix", [ONE, ONE, ONE], "log_mix"),
        ("log_mix", [VECTOR, REALS], "log_mix:vector"),
        ("log_mix", [VECTOR, VECTORS], "log_mix:array"),
        ("squared_distance", [ONE, ONE], "squared_distance:numbers"),
        ("squared_distance", [VECTOR, ROW], "squared_distance"),
        ("columns_dot_self", [ROW], "columns_dot_self:row_vector"),
        ("quad_form", [MATRIX, VECTOR], "quad_form:vector"),
        ("quad_form_diag", [MATRIX, VECTOR], "quad_form_diag"),
        ("mdivide_right_tri_low", [ROW, MATRIX], "mdivide_right_tri_low:row_vector"),
        ("mdivide_left", [MATRIX, MATRIX], "mdivide_left"),
        ("add_diag", [MATRIX, ONE], "add_diag:number"),
        ("gp_exp_quad_cov", [REALS, ONE, ONE], "gp_exp_quad_cov:numbers"),
        ("gp_exp_quad_cov", [VECTORS, VECTORS, ONE, REALS], "gp_exp_quad_cov:two vectors,scales"),
        ("gp_periodic_cov", [VECTORS, ONE, ONE, ONE], "gp_periodic_cov:vectors"),
        ("gp_dot_prod_cov", [REALS, REALS, ONE], "gp_dot_prod_cov:two numbers"),
        ("exp", [VECTOR], "exp"),
    ],
)
def test_meanings(name, values, expected):
    assert meaning(name, values) == expected
    assert any(expected in t for t in (ELEMENTWISE, WHOLE, MOVES, OF_DATA, CONSTANTS))
