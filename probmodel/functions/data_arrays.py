"""Arrays whose sizes or elements data choose: NumPy's functions take no symbols for that."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.expressions import Apply, Expression, as_expression, leaves
from probmodel.expressions.operations import Operation


def arange(start: Any, stop: Any = None, step: Any = 1) -> Any:
    """Whole numbers from 0 to ``start - 1``, or from ``start`` to ``stop`` in steps; from data."""
    if isinstance(step, int) and step == 1:
        return _made(np.arange, *((start,) if stop is None else (start, stop)))
    return _made(np.arange, *((0, start) if stop is None else (start, stop)), step)


def zeros(shape: Any) -> Any:
    """Zeros; ``shape`` is an integer, integer data, or a tuple of these."""
    return _made(np.zeros, shape)


def ones(shape: Any) -> Any:
    """Ones; ``shape`` as for `zeros`."""
    return _made(np.ones, shape)


def full(shape: Any, value: Any) -> Any:
    """Elements that are all ``value``, a number or a symbol; ``shape`` as for `zeros`."""
    return ones(shape) * value


def eye(n: Any) -> Any:
    """Identity matrix of ``n`` rows, from data."""
    return _made(np.eye, n)


def linspace(start: Any, stop: Any, num: Any) -> Any:
    """``num`` numbers from ``start`` to ``stop``, at equal distances."""
    return start + (stop - start) * _made(_unit_steps, num)


def take(values: Any, index: Any) -> Any:
    """Elements of ``values``, numbers or a symbol, along the first axis; ``index`` is from data."""
    if any(isinstance(leaf, Expression) for leaf in leaves((values, index))):
        return as_expression(values)[index]
    return np.asarray(values)[index]


def _unit_steps(num: Any) -> Any:
    return np.linspace(0.0, 1.0, num)


def _made(function: Any, *args: Any) -> Any:
    """Call a function of NumPy when data are bound, or at once if there is no symbol."""
    if not any(isinstance(leaf, Expression) for leaf in leaves(args)):
        return function(*args)
    return Apply(Operation(function.__name__.strip("_"), function, static=True), args)
