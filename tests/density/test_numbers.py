"""Numbers of generated source, as arrays."""

import numpy as np
import pytest

from probmodel import Model, param, potential
from probmodel.density import as_posterior
from probmodel.density.numbers import compiled


def run(source, **names):
    """Run ``f`` of some source both ways; return the results and the names that were added."""
    code, numbers = compiled(source, "f")
    results = []
    for way, scope in ((compile(source, "f", "exec"), dict(names)), (code, {**names, **numbers})):
        exec(way, scope)
        results.append(scope["f"](np.array([0.5, -2.0, 3.0])))
    return results, numbers


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        ("2.0 * x", [2.0]),
        ("x - 0.1", [0.1]),
        ("-1.0 + x / 3.0", [-1.0, 3.0]),
        ("-(2.0 * x) + 2.0 * x * x", [2.0]),
        ("x[1:] * 1e-300 + x[:-1]", [1e-300]),
        ("x + k", []),
        ("-x", []),
        ("x.reshape((3, 1))[:, 0] * 4", []),  # whole numbers count, and stay
    ],
)
def test_operands_that_are_numbers_become_arrays(expression, numbers):
    (plain, named), added = run(f"def f(x):\n    return {expression}\n", k=np.ones(3))
    np.testing.assert_array_equal(plain, named)
    assert plain.dtype == named.dtype
    assert sorted(float(value) for value in added.values()) == sorted(numbers)
    assert all(value.shape == () and value.dtype == float for value in added.values())


def test_arguments_of_calls_stay_numbers():
    (plain, named), added = run("def f(x):\n    return g(0.5, x) * 2.0\n", g=max_of)
    np.testing.assert_array_equal(plain, named)
    assert len(added) == 1


def max_of(number, x):
    """Return the larger of a number and each element."""
    assert isinstance(number, float)
    return np.maximum(number, x)


def test_models_of_one_source_share_its_code_but_not_their_constants():
    densities = []
    for scale in (np.full(3, 2.0), np.full(3, 5.0)):

        class Weighed(Model):
            a = param(shape=3)
            term = potential(-0.5 * np.sum((a * scale) ** 2))

        densities.append(as_posterior(Weighed()))
    first, second = (density._program.sum_and_gradient for density in densities)
    assert first.__code__ is second.__code__
    for density, size in zip(densities, (4.0, 25.0), strict=True):
        np.testing.assert_allclose(density(np.ones((2, 3))).grad, -size)
