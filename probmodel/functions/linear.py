"""Linear recurrences in time, of symbols, numbers and arrays alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.errors import ShapeError
from probmodel.expressions import OPERATIONS, Expression, caller_location
from probmodel.expressions.expression import apply


def linear_recurrence(coefficient: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve ``y[t] = coefficient[t] * y[t-1] + input[t]`` along the first axis.

    Parameters
    ----------
    coefficient : a number, or whatever broadcasts against ``input`` as NumPy does it: of shape
        (n,) beside an input (n,) it changes with time, of shape (k,) beside an input (n, k) it is
        constant in time
    input : (n, ...)
    initial : ``y[-1]``, what went before the first time; zero unless given

    Returns
    -------
    array or symbol of the shape that ``coefficient`` and ``input`` broadcast to: ``y``, without
    ``initial``

    Raises
    ------
    ShapeError
        If the shapes do not fit. Those of symbols are looked at when the model is bound.

    Notes
    -----
    There is no loop over time: the work grows like n, in about log2(n) array operations for all
    chains at once. Products of successive coefficients are formed, so that coefficients above 1
    may overflow, to NaN, before the solution does.
    """
    return _evaluate("linear_recurrence", coefficient, input, initial)


def matrix_recurrence(matrix: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve ``y[t] = matrix[t] @ y[t-1] + input[t]`` along the first axis.

    Parameters
    ----------
    matrix : (d, d), the same at all times, or (n, d, d)
    input : (n, d)
    initial : ``y[-1]``, (d,) or a number; zero unless given

    Returns
    -------
    array or symbol, (n, d)

    Raises
    ------
    ShapeError
        If the shapes do not fit. Those of symbols are looked at when the model is bound.
    """
    return _evaluate("matrix_recurrence", matrix, input, initial)


def _evaluate(name: str, *args: Any) -> Any:
    """Record a call with a symbol, compute any other."""
    operation = OPERATIONS[name]
    if any(isinstance(arg, Expression) for arg in args):
        return apply(operation, *args)
    try:
        return operation.evaluate(*args)
    except ValueError as error:
        shapes = ", ".join(str(np.shape(arg)) for arg in args)
        raise ShapeError(
            f"{name} takes {', '.join(operation.operands)} that fit together; got shapes {shapes}. "
            f"The reason: {error}.",
            location=caller_location(),
            shapes=[np.shape(arg) for arg in args],
        ) from error
