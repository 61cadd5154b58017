"""Numbers of generated source, as arrays."""

import ast

import numpy as np
import pytest

from probmodel.density.numbers import with_named_numbers


def run(source, **names):
    """Run ``f`` of some source both ways; return the results and the names that were added."""
    added = dict(names)
    results = []
    for code in (compile(source, "f", "exec"), with_named_numbers(source, added)):
        scope = dict(added)
        exec(code if not isinstance(code, ast.AST) else compile(code, "f", "exec"), scope)
        results.append(scope["f"](np.array([0.5, -2.0, 3.0])))
    return results, {name: value for name, value in added.items() if name not in names}


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
