"""Derivatives of log densities to second order, by finite differences."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from derivatives import evaluated
from examples.case import moving

# Autograd says so of derivatives that are constant, which some are.
pytestmark = pytest.mark.filterwarnings("ignore:Output seems independent of input")


def arguments(case):
    value = np.asarray(case.values[-2], dtype=float)
    return [value, *(np.asarray(p, dtype=float) for p in case.params[0])]


def direction(case, args, position, rng):
    v = rng.standard_normal(np.shape(args[position]))
    return case.tangent.get(position, lambda a: a)(v)


def along(function, args, position, v, h=1e-4):
    """Fourth-order central difference of ``function(*args)`` in one argument along ``v``."""

    def at(t):
        moved = list(args)
        moved[position] = args[position] + t * v
        return function(*moved)

    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


def test_programs_have_the_derivatives_of_the_kernel(case):
    rng, args, positions = np.random.default_rng(1), arguments(case), moving(case)
    if not positions:
        pytest.skip("nothing to differentiate in")
    logp, slopes = evaluated(case.dist, positions, *args)
    assert logp == pytest.approx(case.dist.log_density(np, *args), rel=1e-12)
    for i, slope in zip(positions, slopes, strict=True):
        assert slope.shape == args[i].shape
        for _ in range(2):
            v = direction(case, args, i, rng)
            close(np.sum(slope * v), along(lambda *a: case.dist.log_kernel(np, *a), args, i, v))


def test_a_wrong_derivative_is_noticed(cases):
    case = cases["Normal"]
    args = arguments(case)
    _, (slope,) = evaluated(case.dist, [2], *args)
    expected = along(lambda *a: case.dist.log_kernel(np, *a), args, 2, 1.0)
    assert abs(1.001 * slope - expected) > 1e-6 * abs(expected) + 1e-7


def test_the_kernel_can_be_differentiated_twice(case):
    rng, args = np.random.default_rng(2), arguments(case)
    for i in moving(case):
        w = direction(case, args, i, rng)

        def slope(*a, i=i, w=w):
            return anp.sum(grad(lambda *b: case.dist.log_kernel(anp, *b), i)(*a) * w)

        _, (found,) = evaluated(case.dist, [i], *args)
        close(slope(*args), np.sum(found * w))
        for j in moving(case):
            v = direction(case, args, j, rng)
            close(np.sum(grad(slope, j)(*args) * v), along(slope, args, j, v))
