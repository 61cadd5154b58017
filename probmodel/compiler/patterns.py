"""Patterns of flat positions: a slice, a transpose or a repetition needs no list of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array

_MOST_AXES = 4  # of a pattern of flat positions


class Affine(NamedTuple):
    """Positions ``first + sum_j steps[j] i[j]`` of the element ``i`` of an array of a shape."""

    first: int
    steps: tuple[int, ...]
    shape: tuple[int, ...]


def affine(index: Array) -> Affine | None:
    """Return the pattern of some positions; None if they have none."""
    first = int(index.flat[0])
    steps, expected = [], np.full((1,) * index.ndim, first)
    for axis, n in enumerate(index.shape):
        at = (0,) * axis + (min(1, n - 1),) + (0,) * (index.ndim - axis - 1)
        steps.append(int(index[at]) - first)
        expected = expected + (steps[-1] * np.arange(n)).reshape(n, *(1,) * (index.ndim - axis - 1))
    same = np.array_equal(expected, index)
    return Affine(first, tuple(steps), index.shape) if same else None


def regular(index: Array) -> Affine | None:
    """Return the pattern of some positions, or of the same positions in another shape."""
    found = affine(index)
    if found is not None:
        return found
    shape = _nested(index.reshape(-1))
    return None if shape is None else affine(index.reshape(shape))


def _nested(flat: Array) -> tuple[int, ...] | None:
    """Return the shape in which positions have a pattern, if there is one."""
    shape: tuple[int, ...] = ()
    while len(flat) > 1:
        steps = np.diff(flat)
        run = int(np.argmax(steps != steps[0])) + 1 if np.any(steps != steps[0]) else len(flat)
        if run == 1 or len(flat) % run or len(shape) == _MOST_AXES:
            return None
        rows = flat.reshape(-1, run)
        if np.any(rows - rows[:, :1] != rows[0] - rows[0, 0]):
            return None
        shape, flat = (run, *shape), rows[:, 0]
    return shape


def repeated_axes(index: Array) -> tuple[int, ...]:
    """Return the axes along which positions stay the same."""
    return tuple(
        axis
        for axis, n in enumerate(index.shape)
        if n > 1 and np.array_equal(index, np.broadcast_to(index.take([0], axis), index.shape))
    )


def first_along(array: Array, axes: tuple[int, ...]) -> Array:
    """Leave the first element along some axes, in axes of length one."""
    return array[tuple(slice(0, 1) if i in axes else slice(None) for i in range(array.ndim))]


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out the leading axes of length one."""
    start = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return shape[start:]


def padded(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Put axes of length one in front."""
    return (1,) * (rank - len(shape)) + shape
