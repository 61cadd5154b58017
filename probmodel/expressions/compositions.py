"""Functions of NumPy that are written with others once the shapes of their operands are known.

Each takes a function that tells the shape of an expression, the operands and the options of a
call, and returns the same value, written with functions of NumPy that symbols take. Operands are
symbols or arrays. None is returned where that is not possible, and NotImplemented where the call
has a form of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

Shape = Callable[[Any], tuple[int, ...]]
_PADS = ("edge", "reflect", "symmetric", "wrap")  # whose elements are those of the array


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """Return the index that takes elements along one axis, counted from the first."""
    return (*(slice(None),) * axis, index)


def _listed(shape: Shape, arrays: Any) -> list[Any]:
    """Return arrays as a list: those of an array are along its first axis."""
    if isinstance(arrays, list | tuple):
        return list(arrays)
    return [arrays[i] for i in range(shape(arrays)[0])]


def _with_axes(shape: Shape, x: Any, ndim: int) -> Any:
    """Put axes of length one in front, up to ``ndim`` axes."""
    missing = ndim - len(shape(x))
    return np.reshape(x, (1,) * missing + shape(x)) if missing > 0 else x


# -- order and shape -------------------------------------------------------------------------------


def moveaxis(shape: Shape, a: Any, source: Any, destination: Any) -> Any:
    """Move axes to other places."""
    axes = np.empty((2,) * len(shape(a)))
    moved = np.moveaxis(axes, source, destination)
    return np.transpose(a, [axes.strides.index(step) for step in moved.strides])


def diagonal(shape: Shape, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Take diagonals, which are along the last axis."""
    rank = len(shape(a))
    pair = [axis1 % rank, axis2 % rank]
    if rank == 2 and offset == 0:
        return np.diag(a)
    order = [i for i in range(rank) if i not in pair] + pair
    a = a if order == sorted(order) else np.transpose(a, order)
    rows, columns = shape(a)[-2:]
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset)
    return a[(*(slice(None),) * (rank - 2), places // columns, places % columns)]


def diag(shape: Shape, v: Any, k: int = 0) -> Any:
    """Take a diagonal of a matrix, or make a matrix with one."""
    if k == 0:
        return NotImplemented
    if len(shape(v)) == 2:
        return diagonal(shape, v, k)
    parts = [np.zeros(k), v] if k > 0 else [v, np.zeros(-k)]
    return np.roll(np.diag(np.concatenate(parts)), -k, axis=0)


def tile(shape: Shape, a: Any, reps: Any) -> Any:
    """Repeat an array along its axes."""
    times = [int(n) for n in np.atleast_1d(reps)]
    a = _with_axes(shape, a, len(times))
    rank = len(shape(a))
    for axis, n in enumerate([1] * (rank - len(times)) + times):
        if n != 1:
            a = a[along(axis, np.tile(np.arange(shape(a)[axis]), n))]
    return a


def split(shape: Shape, ary: Any, sections: Any, part: int, axis: int = 0) -> Any:
    """Take one of the parts into which an array is cut along an axis."""
    axis %= len(shape(ary))
    places = np.array_split(np.arange(shape(ary)[axis]), sections)[part]
    return ary[along(axis, slice(int(places[0]), int(places[-1]) + 1) if places.size else places)]


def pad(
    shape: Shape, array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0
) -> Any:
    """Put elements around an array, one axis after another."""
    if mode not in ("constant", *_PADS):
        return None
    rank = len(shape(array))
    widths = np.broadcast_to(pad_width, (rank, 2))
    values = np.broadcast_to(constant_values, (rank, 2))
    for axis in range(rank):
        before, after = (int(n) for n in widths[axis])
        if not (before or after):
            continue
        size = shape(array)
        if mode != "constant":
            moving: Any = np.pad
            array = array[along(axis, moving(np.arange(size[axis]), (before, after), mode))]
            continue
        ends = [
            np.full((*size[:axis], n, *size[axis + 1 :]), float(value))
            for n, value in zip((before, after), values[axis], strict=True)
        ]
        parts = [ends[0], array, ends[1]]
        array = np.concatenate([p for p in parts if p is array or p.size], axis=axis)
    return array


# -- joined arrays ---------------------------------------------------------------------------------


def vstack(shape: Shape, arrays: Any) -> Any:
    """Join arrays row by row."""
    return np.concatenate([_with_axes(shape, x, 2) for x in _listed(shape, arrays)], axis=0)


def hstack(shape: Shape, arrays: Any) -> Any:
    """Join arrays column by column, vectors one after another."""
    parts = [_with_axes(shape, x, 1) for x in _listed(shape, arrays)]
    return np.concatenate(parts, axis=0 if len(shape(parts[0])) == 1 else 1)


def column_stack(shape: Shape, arrays: Any) -> Any:
    """Join vectors, as columns, and matrices column by column."""
    parts = _listed(shape, arrays)
    if all(len(shape(x)) == 1 for x in parts):
        return np.stack(parts, axis=-1)
    columns = [np.reshape(x, (-1, 1)) if len(shape(x)) < 2 else x for x in parts]
    return np.concatenate(columns, axis=1)


def dstack(shape: Shape, arrays: Any) -> Any:
    """Join arrays along a third axis."""
    parts = []
    for x in _listed(shape, arrays):
        wide = _with_axes(shape, x, 2)
        parts.append(wide if len(shape(wide)) > 2 else np.expand_dims(wide, -1))
    return np.concatenate(parts, axis=2)


def block(shape: Shape, arrays: Any) -> Any:
    """Put an array together from nested lists of blocks."""
    blocks, depth = [arrays], 0
    while isinstance(blocks[0], list):
        blocks, depth = [x for part in blocks for x in part], depth + 1
    ndim = max(depth, *(len(shape(x)) for x in blocks))

    def joined(part: Any, axis: int) -> Any:
        if not isinstance(part, list):
            return _with_axes(shape, part, ndim)
        return np.concatenate([joined(x, axis + 1) for x in part], axis=axis)

    return joined(arrays, ndim - depth)


# -- sums and products -----------------------------------------------------------------------------


def average(
    shape: Shape, a: Any, weights: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """Average with weights: one for each element, or for each place along the axes."""
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    if shape(weights) != shape(a):
        rank = len(shape(a))
        axes = [i % rank for i in ([axis] if isinstance(axis, int) else axis)]
        order = [int(i) for i in np.argsort(axes)]
        weights = weights if order == sorted(order) else np.transpose(weights, order)
        sizes = [n if i in axes else 1 for i, n in enumerate(shape(a))]
        weights = np.reshape(weights, tuple(sizes))
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    return np.sum(a * weights, axis=axis, keepdims=keepdims) / total


def inner(shape: Shape, a: Any, b: Any) -> Any:
    """Sum products over the last axes."""
    if not (shape(a) and shape(b)):
        return a * b
    return tensordot(shape, a, b, (-1, -1))


def vdot(shape: Shape, a: Any, b: Any) -> Any:
    """Sum the products of all elements."""
    return np.sum(np.ravel(a) * np.ravel(b))


def tensordot(shape: Shape, a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum products over some axes of each array."""
    ranks = len(shape(a)), len(shape(b))
    if isinstance(axes, int):
        axes = [*range(ranks[0] - axes, ranks[0])], [*range(axes)]
    summed = [
        [int(i) % rank for i in np.atleast_1d(given)]
        for given, rank in zip(axes, ranks, strict=True)
    ]
    free = [[i for i in range(n) if i not in own] for n, own in zip(ranks, summed, strict=True)]
    left = _ordered(a, [*free[0], *summed[0]])
    right = _ordered(b, [*summed[1], *free[1]])
    if len(summed[0]) == 1 and max(ranks) < 3:
        return left @ right
    if not summed[0]:
        return a[(..., *(None,) * ranks[1])] * b
    if not (free[0] or free[1]):
        return np.sum(left * right)
    sizes = [[shape(x)[i] for i in own] for x, own in ((a, free[0]), (b, free[1]))]
    inside = prod(shape(a)[i] for i in summed[0])
    left = np.reshape(left, (prod(sizes[0]), inside))
    right = np.reshape(right, (inside, prod(sizes[1])))
    return np.reshape(left @ right, (*sizes[0], *sizes[1]))


def _ordered(x: Any, order: Sequence[int]) -> Any:
    if list(order) == sorted(order):
        return x
    return x.T if len(order) == 2 else np.transpose(x, order)


def kron(shape: Shape, a: Any, b: Any) -> Any:
    """Multiply each element of an array by another array."""
    rank = max(len(shape(a)), len(shape(b)))
    if rank == 0:
        return a * b
    if len(shape(a)) == len(shape(b)) == 1:
        return np.reshape(np.outer(a, b), (-1,))
    a, b = _with_axes(shape, a, rank), _with_axes(shape, b, rank)
    sizes = tuple(n * m for n, m in zip(shape(a), shape(b), strict=True))
    products = a[(slice(None), None) * rank] * b[(None, slice(None)) * rank]
    return np.reshape(products, sizes)


# -- matrices --------------------------------------------------------------------------------------


def norm(shape: Shape, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return norms of vectors, and those of matrices that need no singular values."""
    if axis is None and ord is not None:
        axis = 0 if len(shape(x)) == 1 else (0, 1)
    if isinstance(axis, list | tuple):
        axis = axis[0] if len(axis) == 1 else tuple(axis)
    if isinstance(axis, tuple) and ord not in (None, "fro"):
        row, column = (i % len(shape(x)) for i in axis)
        return _matrix_norm(x, ord, row, column, keepdims)
    if ord in (None, "fro", 2):
        return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))
    size = np.absolute(x)
    if np.isinf(ord):
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.where(np.not_equal(x, 0.0), 1.0, 0.0), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    return np.sum(size**ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x: Any, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    """Return the largest or smallest sum of absolute values of a column, or of a row."""
    if ord not in (1, -1, np.inf, -np.inf):
        return None
    inside, outside = (row, column) if abs(ord) == 1 else (column, row)
    sums = np.sum(np.absolute(x), axis=inside, keepdims=True)
    extreme = (np.max if ord > 0 else np.min)(sums, axis=outside, keepdims=True)
    return extreme if keepdims else np.squeeze(extreme, axis=(row, column))


def matrix_power(shape: Shape, a: Any, n: int) -> Any:
    """Multiply a matrix by itself."""
    if n == 0:
        return np.broadcast_to(np.eye(shape(a)[-1]), shape(a))
    base, result = (np.linalg.inv(a) if n < 0 else a), None
    n = abs(n)
    while n:
        if n % 2:
            result = base if result is None else result @ base
        n //= 2
        base = base @ base if n else base
    return result


def sign_of_determinant(shape: Shape, a: Any, log: Any) -> Any:
    """Return the signs of determinants that may be too large or too small for numbers.

    ``log`` is the logarithm of their absolute values.
    """
    scale = np.exp(np.where(np.isfinite(log), log, 0.0) / -shape(a)[-1])
    return np.sign(np.linalg.det(a * scale[..., None, None]))


# -- arrays of one number --------------------------------------------------------------------------


def full_like(shape: Shape, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Fill the shape of an array; all numbers of a formula are floating-point numbers."""
    return np.broadcast_to(fill_value, shape(a))
