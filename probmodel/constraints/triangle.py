"""Lower triangular matrices and the vectors that fill them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from probmodel.types import Array

# Of elements that a pattern forbids, relative to the largest, for matrices that are computed from
# parameters: inverses and products are symmetric up to rounding alone.
ROUNDING = 1e-4


def below(y: Array) -> Array:
    """Elements below the diagonal, row by row: (..., n, n) -> (..., n (n - 1) / 2)."""
    return y[..., *np.tril_indices(y.shape[-1], -1)]


def lower(y: Array) -> Array:
    """Elements on and below the diagonal, row by row: (..., n, n) -> (..., n (n + 1) / 2)."""
    return y[..., *np.tril_indices(y.shape[-1])]


def is_lower(y: Array) -> Array:
    """Whether each matrix is square, finite, lower triangular and positive on its diagonal."""
    if y.shape[-1] != y.shape[-2]:
        return np.zeros(y.shape[:-2], dtype=bool)
    finite = np.isfinite(y).all(axis=(-1, -2))
    triangular = (np.triu(y, 1) == 0).all(axis=(-1, -2))
    positive = (np.diagonal(y, axis1=-2, axis2=-1) > 0).all(axis=-1)
    return np.asarray(finite & triangular & positive)


def common_fault(y: Array) -> str:
    """Say what keeps a matrix from being square and finite; empty if it is both."""
    if y.shape[0] != y.shape[1]:
        return f"it is {y.shape[0]} by {y.shape[1]}"
    if not np.isfinite(y).all():
        return f"element {_first(~np.isfinite(y))} is not finite"
    return ""


def above_fault(y: Array, tolerance: float = 0.0) -> str:
    """Say which element above the diagonal of a matrix is not zero; empty if none.

    ``tolerance`` is relative to the largest element, as that of `asymmetry_fault`.
    """
    above = np.abs(np.triu(y, 1)) > tolerance * np.abs(y).max(initial=0.0)
    if not above.any():
        return ""
    return f"element {_first(above)}, above the diagonal, is {y[above][0]:g}"


def asymmetry_fault(y: Array, tolerance: float) -> str:
    """Say which elements of a square matrix differ most that should be equal; empty if none do."""
    gap = np.abs(y - y.T)
    if not gap.max(initial=0.0) > tolerance * np.abs(y).max(initial=0.0):
        return ""
    i, j = sorted(int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
    return f"elements [{i}, {j}] and [{j}, {i}] are {y[i, j]:g} and {y[j, i]:g}"


def fault_in_stack(stack: Array, fault: Callable[[Array], str]) -> str:
    """Return the first fault of the square matrices of a stack, (..., n, n); empty if none has any.

    Matrices that are not finite are left out.
    """
    if stack.ndim < 2 or stack.shape[-1] != stack.shape[-2] or not stack.size:
        return ""
    matrices = stack.reshape(-1, *stack.shape[-2:])
    return next(filter(None, (fault(m) for m in matrices if np.isfinite(m).all())), "")


def lower_fault(y: Array) -> str:
    """Say what keeps a matrix from being lower triangular and positive on its diagonal."""
    if common_fault(y):
        return common_fault(y)
    if above_fault(y):
        return above_fault(y)
    bad = np.diag(np.diag(y) <= 0)
    return f"element {_first(bad)}, on the diagonal, is {y[bad][0]:g}" if bad.any() else ""


def _first(mask: Array) -> list[int]:
    return [int(i) for i in np.argwhere(mask)[0]]


def size_below(elements: int) -> int:
    """Size of the matrix with as many elements below its diagonal."""
    return (1 + isqrt(1 + 8 * elements)) // 2


def filled(xp: Any, vector: Any, index: Array, batch: tuple[int, ...]) -> Any:
    """Put the elements of a vector in places, and zeros elsewhere: (..., *index.shape).

    ``index`` says where each place takes its element from, counting from 1; 0 leaves it zero. The
    vector, (..., m), is an array or a symbol; ``batch`` is the shape of its leading axes, which a
    symbol does not know.
    """
    padded = xp.concatenate([np.zeros((*batch, 1)), vector], axis=-1)
    # One vector's elements are gathered faster than those of a stack of vectors.
    return padded[..., index] if batch else padded[index]


@cache
def places_below(size: int) -> Array:
    """Index for `filled`: elements go below the diagonal, row by row. (size, size)."""
    index = np.zeros((size, size), dtype=int)
    index[np.tril_indices(size, -1)] = 1 + np.arange(size * (size - 1) // 2)
    return index


@cache
def places_lower(size: int) -> Array:
    """Index for `filled`: the first elements go on the diagonal, the others below. (size, size)."""
    index = places_below(size)
    return np.where(index > 0, index + size, np.diag(1 + np.arange(size)))
