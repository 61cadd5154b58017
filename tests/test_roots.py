"""Roots of covariances: their products against explicit matrices."""

import numpy as np
import pytest

from probmodel.numerics.roots import (
    InverseBidiagonal,
    LowRank,
    held,
    inverse_transposed,
    times,
    transposed_times,
)

DIM = 6
RNG = np.random.default_rng(1)
SCALE = np.exp(RNG.standard_normal(DIM))
BASIS = np.linalg.qr(RNG.standard_normal((DIM, 2)))[0]
FACTORS = np.array([0.3, 2.5])
DENSE = RNG.standard_normal((DIM, DIM))
DIAGONAL, ABOVE = np.exp(RNG.standard_normal(DIM)), RNG.standard_normal(DIM - 1)

CASES = {
    "identity": (None, np.eye(DIM)),
    "diagonal": (SCALE, np.diag(SCALE)),
    "dense": (DENSE, DENSE),
    "low rank": (
        LowRank(SCALE, BASIS, FACTORS),
        np.diag(SCALE) @ (np.eye(DIM) + BASIS @ np.diag(FACTORS - 1.0) @ BASIS.T),
    ),
    "rank zero": (LowRank(SCALE, BASIS[:, :0], FACTORS[:0]), np.diag(SCALE)),
    "bidiagonal": (
        InverseBidiagonal(DIAGONAL, ABOVE),
        np.linalg.inv(np.diag(DIAGONAL) + np.diag(ABOVE, 1)),
    ),
}


@pytest.mark.parametrize(("root", "matrix"), CASES.values(), ids=CASES.keys())
def test_products_are_those_of_the_matrix(root, matrix):
    v = np.random.default_rng(2).standard_normal((5, DIM))
    before = v.copy()
    np.testing.assert_allclose(times(root, v), v @ matrix.T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(transposed_times(root, v), v @ matrix, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(v, before)


@pytest.mark.parametrize("name", ["identity", "diagonal", "dense", "low rank", "rank zero"])
def test_inverse_transposed(name):
    root, matrix = CASES[name]
    dual, v = inverse_transposed(root), np.random.default_rng(3).standard_normal((5, DIM))
    expected = np.linalg.solve(matrix, v.T).T
    np.testing.assert_allclose(transposed_times(dual, v), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(times(dual, times(root, v) @ matrix), times(root, v), atol=1e-9)


def test_bidiagonal_roots_have_no_inverse_of_these_kinds():
    with pytest.raises(TypeError, match="bidiagonal"):
        inverse_transposed(CASES["bidiagonal"][0])


@pytest.mark.parametrize("name", ["identity", "diagonal", "dense", "low rank"])
def test_coordinates_that_are_held_do_not_move(name):
    root, matrix = CASES[name]
    v, expected = np.random.default_rng(2).standard_normal((5, DIM)), matrix.copy()
    expected[[1, 4]] = 0.0
    np.testing.assert_allclose(times(held(root, (1, 4), DIM), v), v @ expected.T, atol=1e-14)
    np.testing.assert_allclose(
        transposed_times(held(root, np.array([1, 4]), DIM), v), v @ expected, atol=1e-14
    )
    np.testing.assert_allclose(times(root, v), v @ matrix.T, atol=1e-13)  # as it was


def test_bidiagonal_roots_hold_nothing():
    with pytest.raises(TypeError, match="cannot hold"):
        held(CASES["bidiagonal"][0], (1,), DIM)
