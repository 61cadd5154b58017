"""Closed-form partial derivatives, and autograd's derivatives of them, by finite differences."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad

# Autograd says so of derivatives that are constant, which some are.
pytestmark = pytest.mark.filterwarnings("ignore:Output seems independent of input")


def arguments(case):
    value = np.asarray(case.values[-2], dtype=float)
    return [value, *(np.asarray(p, dtype=float) for p in case.params[0])]


def moving(case):
    """Positions of the arguments that derivatives are taken in."""
    positions = range(len(case.params[0]) + 1)
    discrete = case.dist.discrete
    return [i for i in positions if i not in case.fixed and not (i == 0 and discrete)]


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


def test_partials_are_derivatives_of_the_kernel(case):
    rng, args = np.random.default_rng(1), arguments(case)
    thunks = case.dist.partials(np, *args)
    assert len(thunks) == len(args)
    for i in moving(case):
        assert np.shape(thunks[i]()) == np.shape(args[i])
        for _ in range(2):
            v = direction(case, args, i, rng)
            expected = along(lambda *a: case.dist.log_kernel(np, *a), args, i, v)
            close(np.sum(thunks[i]() * v), expected)


def test_a_wrong_partial_is_noticed(cases):
    case = cases["Normal"]
    args = arguments(case)
    slope = case.dist.partials(np, *args)[2]()
    expected = along(lambda *a: case.dist.log_kernel(np, *a), args, 2, 1.0)
    assert abs(1.001 * slope - expected) > 1e-6 * abs(expected) + 1e-7


def test_partials_can_be_differentiated_again(case):
    rng, args = np.random.default_rng(2), arguments(case)
    for i in moving(case):
        w = direction(case, args, i, rng)

        def slope(*a, i=i, w=w):
            return anp.sum(case.dist.partials(anp, *a)[i]() * w)

        for j in moving(case):
            v = direction(case, args, j, rng)
            expected = along(slope, args, j, v)
            close(np.sum(np.asarray(grad(slope, j)(*args)) * v), expected)


def test_kernel_is_differentiable_by_autograd(case):
    rng, args = np.random.default_rng(3), arguments(case)
    for i in moving(case):
        v = direction(case, args, i, rng)
        slope = grad(lambda *a: anp.sum(case.dist.log_kernel(anp, *a)), i)(*args)
        close(np.sum(np.asarray(slope) * v), np.sum(case.dist.partials(np, *args)[i]() * v))
