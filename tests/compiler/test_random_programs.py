"""Both engines on random programs, of random shapes and numbers of chains, against autograd."""

from __future__ import annotations

from math import prod

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import value_and_grad

from probmodel.compiler.differentiation import gradient_of, taken
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.symbols import Symbol, positions
from probmodel.compiler.tracing import OPERATIONS, Program
from probmodel.numerics import special

ONE = (
    anp.exp, anp.tanh, anp.sin, anp.square, anp.negative, special.expit, anp.arctan,
    lambda a: anp.log1p(anp.square(a)), lambda a: anp.sqrt(1.0 + anp.square(a)),
    lambda a: special.gammaln(2.0 + anp.square(a)), lambda a: special.where(a > 0.3, a, 2.0 * a),
    special.erf, special.log_expit, lambda a: 1.7 * a, lambda a: a - 0.4, lambda a: a**3,
)  # fmt: skip
TWO = (
    anp.add, anp.subtract, anp.multiply, anp.logaddexp, anp.maximum,
    lambda a, b: a / (1.5 + anp.square(b)),
)  # fmt: skip


def moved(rng, a):
    """Some view, sum, scan or product of an array."""
    shape = np.shape(a)
    if not shape:
        return a * rng.normal(size=int(rng.integers(1, 6)))
    kind, axis = rng.integers(9), int(rng.integers(len(shape)))
    where = positions(shape)
    if kind == 0:
        return anp.sum(a, axis=axis)
    if kind == 1:
        return taken(a, np.take(where, rng.integers(shape[axis], size=rng.integers(1, 18)), axis))
    if kind == 2:
        return taken(a, np.flip(where, axis))
    if kind == 3:
        return taken(a, where.reshape(-1)[int(rng.integers(where.size)) :])
    if kind == 4:
        return OPERATIONS["cumsum"](anp.reshape(a, (-1,)))
    if kind == 5:
        flat = anp.reshape(a, (-1,))
        return anp.matmul(rng.normal(size=(int(rng.integers(1, 40)), where.size)), flat)
    if kind == 6:
        return anp.concatenate([a, 2.0 * a], axis)
    if kind == 7:
        return anp.expand_dims(a, axis) if len(shape) < 3 else anp.reshape(a, (-1,))
    return anp.max(a, axis=axis)


def fits(a, b):
    """Whether two arrays broadcast to one that is not too large."""
    try:
        return prod(np.broadcast_shapes(np.shape(a), np.shape(b))) <= 600
    except ValueError:
        return False


def program(seed):
    """A function of a vector that does the same on numbers and on symbols, and its length."""
    dim = int(np.random.default_rng(seed).integers(1, 18))

    def function(x):
        rng = np.random.default_rng(seed + 1)
        values = [x, x[0], taken(x, positions((dim,))[dim // 2 :])]
        total = 0.0
        for _ in range(int(rng.integers(2, 14))):
            a = values[int(rng.integers(len(values)))]
            kind = rng.integers(3)
            if kind == 0:
                new = ONE[int(rng.integers(len(ONE)))](anp.tanh(a))
            elif kind == 1:
                others = [b for b in values if fits(a, b)]
                new = TWO[int(rng.integers(len(TWO)))](a, others[int(rng.integers(len(others)))])
            else:
                new = moved(rng, a)
            values.append(new)
            total = total + anp.sum(new * rng.normal(size=np.shape(new)))
        return total

    return function, dim


def check(seed):
    function, dim = program(seed)
    rng = np.random.default_rng(seed + 2)
    symbol = Symbol("input", (), rng.normal(size=dim))
    value, slopes = gradient_of(function, symbol)
    written = Program((symbol,), (value, *slopes))
    x = rng.normal(size=(int(rng.integers(1, 18)), dim))
    truth = [value_and_grad(function)(row) for row in x]
    for engine in (Machine(written), NumpyProgram(written)):
        for (expected, grad), value, gradient in zip(truth, *engine(x), strict=True):
            size = 1.0 + np.max(np.abs(grad))
            assert abs(value - expected) <= 1e-11 * (1.0 + abs(expected)), seed
            error = np.max(np.abs(gradient - grad))
            assert error <= 1e-11 * size, seed


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_programs(first):
    for seed in range(first, first + 10):
        check(1000 * seed)


@pytest.mark.statistical
@pytest.mark.parametrize("first", range(30, 1030, 100))
def test_a_thousand_random_programs(first):
    for seed in range(first, first + 100):
        check(1000 * seed)
