"""Recurrences in time against loops over time, with derivatives of first and second order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from autograd.test_util import check_grads

from probmodel.numerics import recurrences


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def looped_numbers(a, x, initial):
    """One series after another, one time after another: time is the last axis."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(x), np.shape(initial))
    a, x = np.broadcast_to(a, shape), np.broadcast_to(x, shape)
    last = np.broadcast_to(initial, (*shape[:-1], 1))[..., 0]
    y = np.empty(shape)
    for t in range(shape[-1]):
        last = y[..., t] = a[..., t] * last + x[..., t]
    return y


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 33])
@pytest.mark.parametrize("constant", [False, True])
def test_linear_recurrence_is_the_loop(n, constant):
    a, x, initial = normal(3, 1 if constant else n), normal(3, n, seed=1), normal(3, 1, seed=2)
    y = recurrences.linear_recurrence(a, x, initial)
    np.testing.assert_allclose(y, looped_numbers(a, x, initial), rtol=1e-10, atol=1e-10)


SHAPES = [(), (5,), (1,), (2, 5), (2, 1), (3, 1, 5), (3, 2, 1)]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(SHAPES, SHAPES)))
def test_operands_of_a_linear_recurrence_broadcast(left, right):
    if 5 not in (*left, *right):
        pytest.skip("no time")
    a, x = normal(*left), normal(*right, seed=1)
    for initial in (0.7, normal(2, 1, seed=2)):
        y = recurrences.linear_recurrence(a, x, initial)
        np.testing.assert_allclose(y, looped_numbers(a, x, initial), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_time_may_be_any_axis(axis):
    a, x, initial = normal(2, 1, 5), normal(3, 2, 5, 5, seed=1), normal(1, 1, 1, seed=2)
    found = recurrences.linear_recurrence(a, x, initial, axis)
    full = np.broadcast_to(a, (3, 2, 5, 5))
    expected = looped_numbers(np.moveaxis(full, axis, -1), np.moveaxis(x, axis, -1), initial)
    np.testing.assert_allclose(np.moveaxis(found, axis, -1), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("left", [(), (6,), (2, 6), (2, 1), (1, 6)])
@pytest.mark.parametrize("first", [(), (2, 1), (1,)])
def test_derivatives_of_a_linear_recurrence(left, first):
    arguments = normal(*left), normal(2, 6, seed=1), normal(*first, seed=2)
    check_grads(recurrences.linear_recurrence, modes=["rev"], order=2)(*arguments)


def test_derivatives_along_the_first_axis():
    arguments = normal(5, 1), normal(5, 3, seed=1), normal(1, 3, seed=2)
    solve = lambda a, x, i: recurrences.linear_recurrence(a, x, i, -2)  # noqa: E731
    check_grads(solve, modes=["rev"], order=2)(*arguments)
    constant = normal(3), normal(5, 3, seed=1), normal(3, seed=2)
    check_grads(solve, modes=["rev"], order=2)(*constant)


def test_a_zero_forgets_and_a_nan_stays_in_its_row():
    a, x = normal(2, 9), normal(2, 9, seed=1)
    a[0, 4] = 0.0
    a[1, 3] = np.nan
    y = recurrences.linear_recurrence(a, x, 0.0)
    assert y[0, 4] == x[0, 4]
    assert np.all(np.isfinite(y[0]))
    assert np.all(np.isnan(y[1, 3:]))
    np.testing.assert_allclose(y[1, :3], looped_numbers(a, x, 0.0)[1, :3], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 21])
@pytest.mark.parametrize("constant", [False, True])
def test_matrix_recurrence_is_the_loop(n, constant):
    matrix = 0.5 * normal(*() if constant else (n,), 3, 3)
    x, last = normal(n, 3, seed=1), normal(3, seed=2)
    found = recurrences.matrix_recurrence(matrix, x, last)
    for t in range(n):
        last = (matrix if constant else matrix[t]) @ last + x[t]
        np.testing.assert_allclose(found[t], last, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("shape", [(2, 2), (5, 2, 2)])
def test_derivatives_of_a_matrix_recurrence(shape):
    arguments = normal(*shape), normal(5, 2, seed=1), normal(2, seed=2)
    check_grads(recurrences.matrix_recurrence, modes=["rev"], order=2)(*arguments)


def test_a_step_is_repeated():
    def step(state, elements, same):
        (level,), (push, pull), (rate,) = state, elements, same
        return [rate * level + push], level * pull

    pushes, pulls = normal(4, 2, seed=1), normal(4, seed=2)
    (levels,), total = recurrences.repeat(step, [np.ones(2)], [pushes, pulls], [0.5])
    level, expected = np.ones(2), 0.0
    for t in range(4):
        expected = expected + level * pulls[t]
        level = 0.5 * level + pushes[t]
        np.testing.assert_allclose(levels[t], level, rtol=1e-14)
    np.testing.assert_allclose(total, expected, rtol=1e-14)


def looped_autoregression(c, x):
    y = np.zeros(np.broadcast_shapes(c.shape[:-1], x.shape[:-1]) + x.shape[-1:])
    for t in range(x.shape[-1]):
        past = sum(c[..., k] * y[..., t - 1 - k] for k in range(min(t, c.shape[-1])))
        y[..., t] = x[..., t] + past
    return y


STACKS = [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((), (3,))]


@pytest.mark.parametrize("q", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 6, 40])
@pytest.mark.parametrize(("left", "right"), STACKS)
def test_filters_are_loops(q, n, left, right):
    c, x = 0.4 * normal(*left, q), normal(*right, n, seed=1)
    found = recurrences.recursive_filter(c, x)
    np.testing.assert_allclose(found, looped_autoregression(c, x), rtol=1e-9, atol=1e-10)
    expected = np.array(np.broadcast_to(x, found.shape))
    for k, t in itertools.product(range(q), range(n)):
        if t > k:
            expected[..., t] += c[..., k] * x[..., t - 1 - k]
    np.testing.assert_allclose(recurrences.finite_filter(c, x), expected, rtol=1e-12, atol=1e-13)
    back = recurrences.finite_filter(-c, found)
    np.testing.assert_allclose(back, np.broadcast_to(x, found.shape), rtol=1e-9, atol=1e-9)


def coefficients(*roots):
    """Coefficients of the autoregression with these characteristic roots."""
    return -np.poly(roots)[1:].real


@pytest.mark.parametrize(
    "roots",
    [
        (0.0, 0.0),
        (1e-7,),
        (1.0, 1.0),
        (0.999, -0.999),
        (0.98, 0.98, 0.98),
        (0.99 * np.exp(0.4j), 0.99 * np.exp(-0.4j)),
        (0.95 * np.exp(1j), 0.95 * np.exp(-1j), 0.95 * np.exp(1j), 0.95 * np.exp(-1j)),
        (1.02, -0.5),
    ],
)
def test_the_filter_is_accurate_near_the_unit_circle(roots):
    c, x = coefficients(*roots), normal(2, 400, seed=3)
    expected = looped_autoregression(c, x)
    found = recurrences.recursive_filter(c, x)
    # The loop carries rounding errors of its own, which grow like its solution.
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.max(np.abs(expected)))


def test_a_series_that_explodes_is_not_finite_and_stays_alone():
    c = np.array([[30.0, 5.0], [0.5, 0.2]])
    x = normal(2, 600)
    with np.errstate(all="ignore"):
        found = recurrences.recursive_filter(c, x)
    assert not np.isfinite(found[0, -1])
    np.testing.assert_allclose(found[1], looped_autoregression(c[1], x[1]), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("left", "right"), STACKS)
@pytest.mark.parametrize("name", ["finite_filter", "recursive_filter"])
def test_derivatives_of_filters(name, left, right):
    c, x = 0.3 * normal(*left, 2), normal(*right, 5, seed=1)
    check_grads(getattr(recurrences, name), modes=["rev"], order=2)(c, x)


def test_lagged_products_and_their_derivatives():
    g, x = normal(2, 6), normal(6, seed=1)
    expected = [[g[i, k + 1 :] @ x[: 5 - k] for k in range(3)] for i in range(2)]
    np.testing.assert_allclose(recurrences.lagged_products(g, x, 3), expected, rtol=1e-12)
    check_grads(lambda g, x: recurrences.lagged_products(g, x, 3), modes=["rev"], order=2)(g, x)
    assert recurrences.lagged_products(g[:, :2], x[:2], 4).shape == (2, 4)
