"""Linear recurrences of arrays, of symbols, and in a model."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Model, check_model, deterministic, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.errors import ModelError, ShapeError
from probmodel.expressions import Expression
from probmodel.functions import linear_recurrence, matrix_recurrence


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def looped(a, b, initial):
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    a, b = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    last, y = np.broadcast_to(initial, shape[1:]), np.empty(shape)
    for t in range(shape[0]):
        last = y[t] = a[t] * last + b[t]
    return y


def chosen(moving, known, symbols):
    return [moving[i] if i in symbols else known[i] for i in range(3)]


SHAPES = [
    ((), (6,), ()),
    ((6,), (6,), ()),
    ((6,), (), ()),
    ((3,), (6, 3), ()),
    ((6, 1), (3,), (3,)),
    ((6, 3), (6, 1), (1,)),
    ((), (6, 2, 3), (3,)),
    ((2, 1), (6, 1, 3), (2, 3)),
    ((6, 1, 1), (6, 2, 3), (2, 1)),
]


@pytest.mark.parametrize(("left", "right", "first"), SHAPES)
def test_arrays_are_computed_along_the_first_axis(left, right, first):
    a, b, initial = normal(*left), normal(*right, seed=1), normal(*first, seed=2)
    found = linear_recurrence(a, b, initial)
    np.testing.assert_allclose(found, looped(a, b, initial), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("left", "right", "first"), SHAPES)
@pytest.mark.parametrize("symbols", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_symbols_give_the_same_for_every_chain(left, right, first, symbols):
    shapes = (left, right, first)
    known = [normal(*s, seed=i) for i, s in enumerate(shapes)]

    class Recurrent(Model):
        a = param(Normal(0, 1), shape=left)
        b = param(Normal(0, 1), shape=right)
        initial = param(Normal(0, 1), shape=first)
        y = deterministic(linear_recurrence(*chosen((a, b, initial), known, symbols)))
        seen = potential(-0.5 * (y - 0.3) ** 2)

    density = as_posterior(Recurrent())
    x = np.random.default_rng(5).uniform(-0.9, 0.9, (2, density.dim))
    values = density.constrain(x)
    for row in range(2):
        drawn = [values[name][row] for name in ("a", "b", "initial")]
        used = chosen(drawn, known, symbols)
        np.testing.assert_allclose(values["y"][row], looped(*used), rtol=1e-12, atol=1e-13)
    assert check_model(Recurrent()).ok


@pytest.mark.parametrize("symbols", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("first", [(), (1,), (2,)])
@pytest.mark.parametrize("square", [(2, 2), (5, 2, 2)])
def test_vectors_of_symbols(symbols, first, square):
    known = [0.5 * normal(*square), normal(5, 2, seed=1), normal(*first, seed=2)]

    class Recurrent(Model):
        matrix = param(Normal(0, 1), shape=square)
        b = param(Normal(0, 1), shape=(5, 2))
        initial = param(Normal(0, 1), shape=first)
        y = deterministic(matrix_recurrence(*chosen((matrix, b, initial), known, symbols)))
        seen = potential(-0.5 * (y - 0.3) ** 2)

    density = as_posterior(Recurrent())
    x = np.random.default_rng(5).uniform(-0.9, 0.9, (2, density.dim))
    values = density.constrain(x)
    for row in range(2):
        drawn = [values[name][row] for name in ("matrix", "b", "initial")]
        matrix, b, last = chosen(drawn, known, symbols)
        last = np.broadcast_to(last, (2,))
        for t in range(5):
            last = (matrix if matrix.ndim == 2 else matrix[t]) @ last + b[t]
            np.testing.assert_allclose(values["y"][row, t], last, rtol=1e-12, atol=1e-13)
    assert check_model(Recurrent()).ok


def test_second_derivatives_reach_through():
    class Recurrent(Model):
        a = param(Normal(0, 1), shape=4)
        b = param(Normal(0, 1), shape=4)
        initial = param(Normal(0, 1))
        seen = potential(-0.5 * linear_recurrence(a, b, initial) ** 2)

    density = as_posterior(Recurrent())
    x, v, h = normal(2, 9), normal(2, 9, seed=1), 1e-5
    expected = (density(x + h * v).grad - density(x - h * v).grad) / (2 * h)
    np.testing.assert_allclose(density.hvp(x, v), expected, rtol=1e-6, atol=1e-7)


def test_a_recurrence_prints_as_it_is_written():
    class Printed(Model):
        a = param(Normal(0, 1))
        y = deterministic(linear_recurrence(a, np.arange(3.0), initial=1.5))

    assert "y = linear_recurrence(a, [0, 1, 2], 1.5)" in str(Printed())
    assert isinstance(Printed.y, Expression)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear_recurrence(0.5, 1.0), "linear_recurrence takes.*has an axis of time"),
        (lambda: linear_recurrence(np.ones(3), np.ones(4)), r"got shapes \(3,\), \(4,\), \(\)"),
        (lambda: linear_recurrence(0.5, np.ones(4), np.ones(2)), "linear_recurrence takes"),
        (lambda: matrix_recurrence(np.eye(2), np.ones((5, 3))), r"\(d, d\) or \(n, d, d\)"),
        (lambda: matrix_recurrence(0.5, np.ones((5, 3))), "matrix_recurrence takes"),
        (lambda: matrix_recurrence(np.eye(2), np.ones((5, 2)), np.ones(3)), "matrix_recurrence"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ShapeError, match=message) as caught:
        call()
    assert caught.value.location.file == __file__


def test_shapes_of_symbols_are_refused_when_the_model_is_bound():
    class Bad(Model):
        a = param(Normal(0, 1), shape=3)
        y = deterministic(linear_recurrence(a, np.ones(4)))

    with pytest.raises(ShapeError, match="linear_recurrence"):
        Bad()


def test_a_wrong_recurrence_is_noticed():
    a, b = normal(6), normal(6, seed=1)
    assert np.max(np.abs(linear_recurrence(a, b) - looped(a[::-1], b, 0.0))) > 1e-3
    with pytest.raises(ModelError):
        linear_recurrence(Expression(), b)[0] = 1.0
