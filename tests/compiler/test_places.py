"""Arrays put together from many parts: what each part covers is found once for the array."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from both_engines import engines, written

from probmodel.compiler import emission
from probmodel.compiler.symbols import Symbol


def in_parts(count):
    """Return a function of a vector that joins pieces of different lengths, some of them twice."""

    def function(x):
        pieces = [anp.exp(x[k : k + 1 + k % 3]) * (k + 1.0) for k in range(count)]
        joined = anp.concatenate([*pieces, *pieces[::2]])
        return anp.sum(anp.sin(joined) * np.arange(1.0, len(joined) + 1))

    return function


@pytest.mark.parametrize("count", [4, 40])
def test_parts_of_an_array_are_compared_once(count, monkeypatch):
    seen, plain = [], emission.covered_once

    def counted(place):
        seen.append(place)
        return plain(place)

    monkeypatch.setattr(emission, "covered_once", counted)
    dim = count + 3
    x = np.random.default_rng(count).uniform(0.5, 1.5, (1, dim))
    (machine, plainly) = (engine(x) for engine in engines(in_parts(count), dim))
    for found, expected in zip(machine, plainly, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    assert max(len(place.args) for place in seen) >= count  # one array of many parts at least
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_derivatives_go_back_to_each_part(axis):
    sizes = (1, 3, 2)
    shapes = [(n, 4) if axis in (0, -2) else (4, n) for n in sizes]
    known = np.random.default_rng(0).normal(size=shapes[1])
    weights = np.random.default_rng(1).normal(size=(6, 4) if axis in (0, -2) else (4, 6))
    dim = 4 * (sizes[0] + sizes[2])

    def function(x):
        first, last = anp.reshape(x[:4], shapes[0]), anp.reshape(x[4:], shapes[2])
        return anp.sum(weights * anp.concatenate([first, known, last], axis) ** 2)

    x = np.random.default_rng(2).normal(size=(3, dim))
    taken = [np.take(weights, k, axis % 2).ravel() for k in (range(1), range(4, 6))]
    expected = 2.0 * np.concatenate(taken) * x
    for engine in engines(function, dim):
        np.testing.assert_allclose(engine(x)[1], expected, rtol=1e-13)
    np.testing.assert_allclose([grad(function)(row) for row in x], expected, rtol=1e-13)


def test_sizes_of_parts_are_read_once(monkeypatch):
    reads, shape = [0], Symbol.shape

    def counted(self):
        reads[0] += 1
        return shape.fget(self)

    monkeypatch.setattr(Symbol, "shape", property(counted))
    found = []
    for count in (100, 200):
        reads[0] = 0
        written(in_parts(count), count + 3)
        found.append(reads[0])
    assert found[1] < 2.2 * found[0]
