"""Stacked linear algebra against NumPy and SciPy, with derivatives and bad elements."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
import scipy.linalg
from autograd import grad

from probmodel.numerics import linalg


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def positive_definite(*shape, seed=0):
    a = normal(*shape, shape[-1], seed=seed)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def lower(*shape, seed=0):
    return np.linalg.cholesky(positive_definite(*shape, seed=seed))


def along(f, x, v, h=1e-4):
    return (8 * (f(x + h * v) - f(x - h * v)) - (f(x + 2 * h * v) - f(x - 2 * h * v))) / (12 * h)


def check_derivatives(f, x, project=lambda v: v):
    """First and second derivative of a scalar function along random directions."""
    v, w = project(normal(*x.shape, seed=8)), project(normal(*x.shape, seed=9))
    slope = grad(f)
    assert np.sum(slope(x) * v) == pytest.approx(along(f, x, v), rel=1e-7, abs=1e-9)

    def slope_along(x):
        return anp.sum(slope(x) * w)

    second = np.sum(grad(slope_along)(x) * v)
    assert second == pytest.approx(along(slope_along, x, v), rel=1e-6, abs=1e-8)


def symmetric(v):
    return v + np.swapaxes(v, -1, -2)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 1, 4), (5, 1)])
def test_cholesky_and_its_derivatives(shape):
    a = positive_definite(*shape)
    np.testing.assert_array_equal(linalg.cholesky(a), np.linalg.cholesky(a))
    weights = normal(*a.shape, seed=3)
    check_derivatives(lambda a: anp.sum(anp.sin(linalg.cholesky(a) * weights)), a, symmetric)


def test_a_matrix_without_a_factor_is_nan_and_the_others_are_not():
    a = positive_definite(5, 3)
    a[1] = -np.eye(3)
    a[3, 2, 1] = np.nan
    factors = linalg.cholesky(a)
    assert np.all(np.isnan(factors[1]))
    assert np.any(np.isnan(factors[3]))
    for i in (0, 2, 4):
        np.testing.assert_array_equal(factors[i], np.linalg.cholesky(a[i]))
    assert np.all(np.isnan(linalg.cholesky(-np.eye(2))))


def test_slopes_of_bad_matrices_stay_with_them():
    a = positive_definite(3, 2)
    good = grad(lambda a: anp.sum(linalg.log_det_lower(linalg.cholesky(a))))(a)
    a[1] = -np.eye(2)
    slopes = grad(lambda a: anp.sum(linalg.log_det_lower(linalg.cholesky(a))))(a)
    assert np.all(np.isnan(slopes[1]))
    np.testing.assert_allclose(slopes[[0, 2]], good[[0, 2]], rtol=1e-12)


STACKS = [
    ((), ()),
    ((2,), (2,)),
    ((), (2, 3)),
    ((3,), (2, 3)),
    ((2, 1), (3,)),
    ((9,), (9,)),
    ((4, 1), (3,)),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("left", "right"), STACKS)
def test_triangular_solves_and_their_derivatives(left, right, transposed):
    n, k = 4, 2
    factor, b = lower(*left, n), normal(*right, n, k)
    # What stands above the diagonal is not read.
    x = linalg.solve_lower(factor + np.triu(np.ones((n, n)), 1), b, transposed)
    stack = np.broadcast_shapes(left, right)
    assert x.shape == (*stack, n, k)
    factors, rights = np.broadcast_to(factor, (*stack, n, n)), np.broadcast_to(b, (*stack, n, k))
    for i in np.ndindex(stack):
        expected = scipy.linalg.solve_triangular(
            factors[i], rights[i], lower=True, trans=transposed
        )
        np.testing.assert_allclose(x[i], expected, rtol=1e-10)
    check_derivatives(lambda b: anp.sum(anp.sin(linalg.solve_lower(factor, b, transposed))), b)
    check_derivatives(
        lambda f: anp.sum(anp.sin(linalg.solve_lower(f, b, transposed))), factor, np.tril
    )


@pytest.mark.parametrize(("count", "transposed"), [(2, False), (2, True), (9, False), (9, True)])
def test_a_singular_factor_gives_nan_for_itself_alone(count, transposed):
    factor, b = lower(count, 3), normal(count, 3, 2)
    good = linalg.solve_lower(factor, b, transposed)
    factor[1, 1, 1] = 0.0
    x = linalg.solve_lower(factor, b, transposed)
    assert np.any(np.isnan(x[1]), axis=0).all()
    others = [i for i in range(count) if i != 1]
    np.testing.assert_array_equal(x[others], good[others])


def test_a_bad_right_side_of_one_factor_stays_in_its_column():
    factor, b = lower(3), normal(4, 3, 1)
    good = linalg.solve_lower(factor, b)
    b[2, 0] = np.nan
    x = linalg.solve_lower(factor, b)
    assert np.all(np.isnan(x[2]))
    np.testing.assert_array_equal(x[[0, 1, 3]], good[[0, 1, 3]])


def test_log_det_is_half_that_of_the_matrix():
    a = positive_definite(2, 3, 4)
    half = linalg.log_det_lower(linalg.cholesky(a))
    np.testing.assert_allclose(2 * half, np.linalg.slogdet(a)[1], rtol=1e-12)
    check_derivatives(lambda f: anp.sum(linalg.log_det_lower(f) ** 2), lower(2, 3), np.tril)


def test_diagonals_and_their_embedding():
    a, d = normal(2, 3, 3), normal(2, 3)
    np.testing.assert_array_equal(
        linalg.diagonal(a), [[a[i, j, j] for j in range(3)] for i in (0, 1)]
    )
    np.testing.assert_array_equal(linalg.diagonal(linalg.embed_diagonal(d)), d)
    check_derivatives(lambda a: anp.sum(anp.sin(linalg.diagonal(a))), a)
    check_derivatives(lambda d: anp.sum(anp.sin(linalg.embed_diagonal(d))), d)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 13])
def test_geometric_filter_is_the_recursion(n):
    ratio, x = np.array([0.9, -0.6])[:, None], normal(3, n)
    y = linalg.geometric_filter(ratio, x)
    expected = np.zeros((2, 3, n))
    for t in range(n):
        expected[..., t] = x[:, t] + (ratio * expected[..., t - 1] if t else 0.0)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    check_derivatives(lambda x: anp.sum(anp.sin(linalg.geometric_filter(ratio, x))), x)
    if n > 1:
        check_derivatives(lambda r: anp.sum(anp.sin(linalg.geometric_filter(r, x))), ratio)


def test_geometric_filter_of_a_scalar_ratio():
    x = normal(2, 6)
    np.testing.assert_allclose(linalg.geometric_filter(0.0, x), x)
    assert grad(lambda r: anp.sum(linalg.geometric_filter(r, x)))(0.5).shape == ()


def test_inverse_of_a_lower_factor():
    factor = lower(5)
    np.testing.assert_allclose(linalg.invert_lower(factor), np.linalg.inv(factor), atol=1e-12)
    above = factor + np.triu(np.ones((5, 5)), 1)
    np.testing.assert_array_equal(linalg.invert_lower(above), linalg.invert_lower(factor))
    assert np.all(np.isnan(linalg.invert_lower(np.zeros((2, 2)))))


def test_cholesky_of_a_symbol_is_numpys():
    class Symbol:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    assert linalg.cholesky(Symbol()) == "cholesky"


def test_inverse_factors_of_a_stack():
    rng = np.random.default_rng(4)
    factors = np.tril(rng.normal(size=(2, 3, 4, 4))) + 3.0 * np.eye(4)
    np.testing.assert_allclose(
        linalg.invert_factors(factors), np.linalg.inv(factors), rtol=1e-12, atol=1e-14
    )
    factors[1, 2, 0, 0] = 0.0
    bad = np.isnan(linalg.invert_factors(factors)).all(axis=(2, 3))
    np.testing.assert_array_equal(bad, np.arange(6).reshape(2, 3) == 5)


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 5), (9, 4), (40, 17)])
def test_pivoted_cholesky(n, rank):
    rng = np.random.default_rng(n)
    rows = rng.standard_normal((n, rank)) * np.geomspace(1.0, 1e-2, rank)
    factor, order = linalg.pivoted_cholesky(rows @ rows.T, 1e-12)
    assert factor.shape == (n, rank)
    assert sorted(order) == list(range(n))
    np.testing.assert_array_equal(factor, np.tril(factor))
    np.testing.assert_allclose(factor @ factor.T, (rows @ rows.T)[order][:, order], atol=1e-12)
    assert (np.diff(np.diagonal(factor)) <= 0.0).all()
