"""Both engines on operations on matrices: against LAPACK, by autograd's rules."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import value_and_grad
from both_engines import engines, machine_of

from probmodel.compiler.formulas import LARGE
from probmodel.compiler.matrix_code import MatrixWriter
from probmodel.compiler.symbols import NotTraceableError
from probmodel.numerics.linalg import cholesky, solve_lower, transpose

SIZES = [1, 2, 4, 5, 7, 8, 9, 16, 17, LARGE]


def assert_same(function, x, tolerance=1e-10):
    for engine in engines(function, x.shape[1]):
        assert_rows(function, x, *engine(x), tolerance)


def assert_rows(function, x, found, slope, tolerance):
    for row, value, gradient in zip(x, found, slope, strict=True):
        expected, grad = value_and_grad(function)(row)
        np.testing.assert_allclose(value, expected, rtol=tolerance)
        np.testing.assert_allclose(gradient, grad, rtol=0, atol=tolerance * np.abs(grad).max())


def positive(x, n, rng, stack=()):
    """Positive definite matrices of one element of x, or of a stack of them."""
    points = rng.standard_normal((*stack, n, n))
    fixed = points @ np.swapaxes(points, -1, -2) + n * np.eye(n)
    grown = anp.reshape(x[: max(1, int(np.prod(stack)))], (*stack, 1, 1))
    return fixed * grown + x[-1] * np.eye(n)


@pytest.mark.parametrize("n", SIZES)
def test_factors(n):
    def function(x):
        rng = np.random.default_rng(n)
        return anp.sum(cholesky(positive(x, n, rng)) * rng.standard_normal((n, n)))

    for chains in (1, 4, 9):
        assert_same(function, np.random.default_rng(1).uniform(0.5, 1.5, (chains, 2)))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("columns", "transposed"),
    [(1, False), (3, True)]
    + [pytest.param(*kind, marks=pytest.mark.statistical) for kind in [(1, True), (3, False)]],
)
def test_solutions(n, columns, transposed):
    def function(x):
        rng = np.random.default_rng(n)
        factor = cholesky(positive(x, n, rng))
        right = anp.outer(x[0] * np.arange(1.0, n + 1), np.arange(1.0, columns + 1)) + x[1]
        solved = solve_lower(factor, right, transposed=transposed)
        return anp.sum(solved * rng.standard_normal((n, columns)))

    assert_same(function, np.random.default_rng(2).uniform(0.5, 1.5, (9, 2)))


@pytest.mark.parametrize("n", SIZES[3:])
def test_known_factors(n):
    def function(x):
        rng = np.random.default_rng(n)
        factor = np.linalg.cholesky(positive(np.ones(2), n, rng))
        right = anp.reshape(x[0] * np.arange(1.0, n + 1), (n, 1))
        return anp.sum(anp.square(solve_lower(factor, right))) + anp.sum(x**3)

    assert_same(function, np.random.default_rng(3).uniform(0.5, 1.5, (5, 2)))


@pytest.mark.parametrize("stack", [(3,), (2, 2)])
@pytest.mark.parametrize("n", [3, 5, 9])
def test_stacks(n, stack):
    def function(x):
        rng = np.random.default_rng(n)
        factors = cholesky(positive(x, n, rng, stack))
        solved = solve_lower(factors, transpose(factors) * x[0])  # the right side is a view
        return anp.sum(anp.matmul(solved, factors) * rng.standard_normal((n, n)))

    assert_same(function, np.random.default_rng(4).uniform(0.5, 1.5, (5, 5)))


@pytest.mark.parametrize("shape", [(1, 9, 9), (9, 1, 9), (9, 9, 1), (5, 8, 7), (20, 17, 16)])
def test_products(shape):
    rows, inner, columns = shape

    def function(x):
        rng = np.random.default_rng(0)
        left = anp.exp(x[0] * rng.standard_normal((rows, inner)))
        right = anp.sin(x[1] * rng.standard_normal((columns, inner)))
        weights = rng.standard_normal((rows, columns))
        return anp.sum(anp.matmul(left, anp.transpose(right)) * weights)

    assert_same(function, np.random.default_rng(5).uniform(0.1, 0.5, (9, 2)))


@pytest.mark.parametrize("n", [2, 5, 8])
def test_matrices_without_a_factor_are_not_a_number(n):
    """In the chains that have them, and in no others."""

    def function(x):
        return anp.sum(anp.square(cholesky(np.eye(n) + x[0] * np.ones((n, n)))))

    x = np.array([[0.5], [-1.5], [0.0], [np.nan], [1.0], [-1.0 / n - 0.1], [np.inf], [0.1], [0.2]])
    found, slope = machine_of(function, 1)(x)
    good = [0, 2, 4, 7, 8]
    np.testing.assert_array_equal(np.flatnonzero(np.isfinite(found)), good)
    for i in good:
        expected, grad = value_and_grad(function)(x[i])
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)
        np.testing.assert_allclose(slope[i], grad, rtol=1e-10)


def test_large_matrices_are_left_to_lapack():
    n = LARGE + 1
    with pytest.raises(NotTraceableError, match=f"{n} by {n} matrices"):
        machine_of(lambda x: anp.sum(cholesky(x[0] * np.eye(n))), 1)


def test_a_product_that_is_not_taken_off_is_found(monkeypatch):
    """Negative control."""
    monkeypatch.setattr(MatrixWriter, "_less", lambda self, *args: None)
    with pytest.raises(AssertionError):
        test_factors(5)


KNOWN = {
    "full": lambda a: a,
    "lower": np.tril,
    "upper": np.triu,
    "band": lambda a: np.tril(np.triu(a, -1), 1),
    "zeros": lambda a: 0.0 * a,
    "few": lambda a: a * (np.arange(a.size).reshape(a.shape) % 11 == 3),
}


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (7, 7), (8, 3), (9, 9), (17, 40), (41, 18)])
def test_products_with_known_matrices(kind, rows, columns):
    """Zeros at the ends of rows are left out."""
    rng = np.random.default_rng(rows)
    matrix = KNOWN[kind](rng.standard_normal((rows, columns)))
    weights, x = rng.standard_normal(rows), rng.standard_normal((9, columns))

    def value(x):
        return anp.sum(weights * anp.sin(anp.matmul(matrix, x)))

    for engine in engines(value, columns):
        logp, gradient = engine(x)
        there = x @ matrix.T
        np.testing.assert_allclose(logp, np.sin(there) @ weights, rtol=1e-12, atol=1e-12)
        expected = (np.cos(there) * weights) @ matrix
        np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-11)
