"""Arithmetic of data, as of numbers.

NumPy computes in the type of its operands: integers wrap around where they overflow, truth values
add up to "or", and functions of narrow types have the precision of narrow floats. Here integers
stay integers, since they may be indices and sizes, until they would not fit; then they become
floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.expressions import Operation
from probmodel.types import Array

_LIMIT = 2.0**62  # below it, with room for rounding, a result that is computed in floats fits

OVERFLOWING = frozenset({
    "add", "subtract", "multiply", "power", "negative", "absolute", "square",
    "sum", "cumsum", "prod", "cumprod", "diff", "matmul", "dot", "outer", "trace",
    "einsum", "tensordot", "inner", "vdot", "kron", "matrix_power",
})  # fmt: skip
_REAL = frozenset({"reciprocal", "linear_recurrence", "matrix_recurrence"})
# What truth values are chosen, compared or masked with; a product of them is right as it is.
_OF_TRUTH = frozenset({
    "where", "clip", "maximum", "minimum", "multiply", "outer", "less", "less_equal", "greater",
    "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
})  # fmt: skip


def compute(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Array:
    """Evaluate an operation of data without overflow."""
    name, evaluate = operation.name, operation.evaluate
    if name not in OVERFLOWING and name not in _REAL and not operation.elementwise:
        return np.asarray(evaluate(*args, **kwargs))
    args = [arg if arg is None else _operand(arg) for arg in args]
    if name not in _OF_TRUTH:
        args = [arg.astype(np.int64) if arg.dtype == bool else arg for arg in args]
    if name in _REAL or (name == "power" and np.any(args[1] < 0)):
        args = [_real(arg) for arg in args]
    result = np.asarray(evaluate(*args, **kwargs))
    if name in OVERFLOWING and result.dtype.kind == "i":
        real = np.asarray(evaluate(*map(_real, args), **kwargs))
        if np.any(np.abs(real) >= _LIMIT):
            return real
    return result


def _operand(value: Any) -> Array:
    array = number(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(not_real(value, array))
    return array


def not_real(value: Any, array: Array) -> str:
    """Say why a value, and the array that NumPy makes of it, cannot stand in a model."""
    if array.dtype.kind == "c":
        return (
            f"{value!r} is complex, and models compute with real numbers: write the real and the "
            "imaginary part as symbols of their own"
        )
    return f"{value!r} is not a number or a numeric array"


def number(value: Any) -> Array:
    """Return numbers in 64 bits: integers that fit, else floats; what is no number stays."""
    array = np.asarray(value)
    if array.dtype.kind == "f" or _exceeds(array):
        return array.astype(np.float64, copy=False)
    return array.astype(np.int64, copy=False) if array.dtype.kind in "iu" else array


def _exceeds(array: Array) -> bool:
    """Whether these are integers that 64 bits with a sign cannot hold."""
    if array.dtype == np.uint64:
        return bool(np.any(array >= np.uint64(2**63)))
    return array.dtype == object and all(isinstance(item, int) for item in array.flat)


def _real(array: Array) -> Array:
    return array.astype(np.float64, copy=False)
