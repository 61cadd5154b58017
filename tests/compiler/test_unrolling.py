"""Short axes that are written out, and sums of logarithms: machine code against NumPy."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from both_engines import CHAINS, chains_in_turn, machine_of, written

from probmodel.compiler import log_sums, machine, unrolling
from probmodel.compiler.log_sums import with_log_sums
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.schedule import ordered
from probmodel.compiler.simplify import shared
from probmodel.compiler.unrolling import unrolled

LONG = 17


def operations(function, dim, rewrite):
    """The operations of what machine code is made of, with the shapes of their operands."""
    outputs = rewrite(shared(written(function, dim).outputs))
    return [(s.op, np.shape(s.args[0])) for s in ordered(outputs) if s.args]


def assert_same(function, x, tolerance=1e-12):
    found, slope = machine_of(function, x.shape[1])(x)
    expected, grad = NumpyProgram(written(function, x.shape[1]))(x)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(slope, grad, rtol=0, atol=tolerance * (1.0 + np.abs(grad).max()))


def points(chains, dim=6):
    return np.random.default_rng(chains).uniform(0.5, 1.5, (chains, dim))


def components(x, shape, axis):
    """An array with a short axis: known numbers and elements of x on all of its axes."""
    rng = np.random.default_rng(sum(shape))
    own = [1] * len(shape)
    own[axis] = shape[axis]
    return rng.standard_normal(shape) * anp.reshape(x[: shape[axis]], own) + anp.exp(
        x[4] * rng.standard_normal(shape)
    )


REDUCTIONS = {
    "sum": anp.sum,
    "max": anp.max,
    "min": anp.min,
    "log of a sum": lambda a, axis: anp.log(anp.sum(anp.exp(a), axis=axis)),
}


SHORT = (2, 3, 4)
PLACES = (((LONG,), 0), ((LONG,), 1), ((3, LONG), 1))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("k", SHORT)
@pytest.mark.parametrize(("shape", "axis"), PLACES)
def test_reductions_over_short_axes(name, k, shape, axis):
    place = PLACES.index((shape, axis))
    chains = chains_in_turn(list(REDUCTIONS).index(name), SHORT.index(k), place)
    assert_reduction(name, k, shape, axis, chains)


@pytest.mark.statistical
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("k", SHORT)
@pytest.mark.parametrize(("shape", "axis"), PLACES)
@pytest.mark.parametrize("chains", CHAINS)
def test_reductions_in_vectors_of_every_kind(name, k, shape, axis, chains):
    assert_reduction(name, k, shape, axis, chains)


def assert_reduction(name, k, shape, axis, chains):
    whole = (*shape[:axis], k, *shape[axis:])

    def function(x):
        reduced = REDUCTIONS[name](components(x, whole, axis), axis=axis)
        return anp.sum(reduced * np.random.default_rng(k).standard_normal(shape))

    assert_same(function, points(chains))
    left = operations(function, 6, unrolled)
    assert not any(op in ("sum", "max", "min") and shape == whole for op, shape in left)


def test_several_axes_at_once_and_the_short_one_left():
    def function(x):
        a = components(x, (LONG, 3), 1)
        ends = anp.sum(a * a, axis=0)  # of each component
        return anp.sum(anp.max(a, axis=1)) + anp.sum(a) * anp.sum(ends * anp.arange(3.0))

    for chains in (1, 4, 9):
        assert_same(function, points(chains))


def test_views_of_parts_and_of_several():
    def function(x):
        a = components(x, (3, LONG), 0)
        seen = anp.sum(a, axis=0)  # the axis is written out
        turned = a[::-1, ::2] * anp.reshape(a[1:, :9], (2, 9))[:1]
        return anp.sum(seen * a[1]) + anp.sum(anp.transpose(a)[:, 2]) + anp.sum(turned * x[0])

    for chains in (1, 4, 9):
        assert_same(function, points(chains))


def test_axes_that_are_not_short_or_too_many_operations_stay(monkeypatch):
    def function(x, n=LONG, k=3):
        return anp.sum(anp.log(anp.sum(components(x, (n, k), 1) ** 2, axis=1)))

    def stays(function):
        return ("sum", (LONG, 3)) in operations(function, 6, unrolled)

    assert not stays(function)
    assert ("sum", (5, 3)) in operations(lambda x: function(x, 5), 6, unrolled)
    monkeypatch.setattr(unrolling, "_MOST", 3)
    assert stays(function)


def test_a_part_that_is_taken_for_another_is_found(monkeypatch):
    """Negative control."""
    part = unrolling._Unrolled._part
    monkeypatch.setattr(
        unrolling._Unrolled,
        "_part",
        lambda self, x, symbol, axis, k: part(self, x, symbol, axis, 0),
    )
    with pytest.raises(AssertionError):
        test_reductions_over_short_axes("sum", 3, (LONG,), 1)


# -- sums of logarithms ----------------------------------------------------------------------------


def logs(x, size=LONG):
    rng = np.random.default_rng(size)
    scale = anp.exp(x[0] * rng.standard_normal(size))
    return anp.log(scale + x[1] ** 2) - (x[2] * rng.standard_normal(size) - anp.log(x[3] * scale))


@pytest.mark.parametrize("size", [16, 17, 400, 5000])
def test_sums_of_logarithms(size):
    for chains in (1, 4, 9):
        assert_same(lambda x: anp.sum(logs(x, size)), points(chains))
    found = operations(lambda x: anp.sum(logs(x, size)), 6, with_log_sums)
    assert [op for op, _ in found].count("log sum") == 2


def test_logarithms_that_something_else_needs_are_kept():
    def function(x):
        log = anp.log(x[0] + anp.arange(1.0, 20.0))
        return anp.sum(log) + anp.sum(anp.exp(-log * log))

    assert "log sum" not in [op for op, _ in operations(function, 6, with_log_sums)]
    assert_same(function, points(9))


VALUES = [0.0, -0.0, 5e-324, 1e-310, 2.2e-308, 1e-280, 1e280, 1.7e308, np.inf, -1.0, np.nan]


def test_sums_of_logarithms_of_any_number():
    """One such number among others, in each place, and many that are large or small."""

    def function(x):
        return anp.sum(anp.log(x))

    x = np.random.default_rng(5).uniform(0.5, 2.0, (len(VALUES) * 16, 16))
    for row in range(len(x)):
        x[row, row % 16] = VALUES[row // 16]
    x = np.vstack([x, np.full((1, 16), 1e-300), np.full((1, 16), 1e300), np.full((1, 16), 5e-324)])
    with np.errstate(all="ignore"):
        expected = np.log(x).sum(axis=1)
        np.testing.assert_allclose(machine_of(function, 16)(x)[0], expected, rtol=1e-13)


def test_powers_of_two_that_are_lost_are_found(monkeypatch):
    """Negative control."""
    monkeypatch.setattr(log_sums, "LN2_HIGH", 0.0)
    with pytest.raises(AssertionError):
        test_sums_of_logarithms(400)


def test_all_of_it_is_part_of_the_machine(monkeypatch):
    seen = []
    for name in ("unrolled", "with_log_sums"):
        own = getattr(machine, name)
        monkeypatch.setattr(
            machine, name, lambda o, own=own, name=name: seen.append(name) or own(o)
        )
    machine_of(lambda x: anp.sum(x), 3)
    assert seen == ["unrolled", "with_log_sums"]
