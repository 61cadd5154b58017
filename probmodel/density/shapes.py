"""Batching rules that move elements about: shapes, joining, indexing."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.density import primitives as own
from probmodel.density.alignment import Operand, Shape, align, batched, first_ref
from probmodel.density.arithmetic import reduced_axes
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref
from probmodel.types import Array


def to_shape(recorder: Recorder, shape: Shape, x: Ref, /, **_: Any) -> Ref:
    """Put the elements in the shape of the result."""
    return recorder.emit(own.reshape_rows, x, shape, shape=shape)


def transpose(recorder: Recorder, shape: Shape, a: Ref, axes: Any = None) -> Ref:
    """Permute axes."""
    rank = len(a.shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(i % rank for i in axes)
    return recorder.emit(anp.transpose, a, (0, *(i + 1 for i in order)), shape=shape)


def swapaxes(recorder: Recorder, shape: Shape, a: Ref, axis1: int = 0, axis2: int = 1) -> Ref:
    """Swap two axes."""
    order = list(range(len(a.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(recorder, shape, a, tuple(order))


def broadcast_to(recorder: Recorder, shape: Shape, array: Ref, /, **_: Any) -> Ref:
    """Repeat along axes of length one."""
    aligned = align(recorder, array, len(shape))
    return recorder.emit(own.spread_rows, aligned, shape, shape=shape)


def repeat(recorder: Recorder, shape: Shape, a: Ref, repeats: Any = 1, axis: Any = None) -> Ref:
    """Repeat elements."""
    if axis is None:
        a = to_shape(recorder, (int(np.prod(a.shape, dtype=int)),), a)
        axis = 0
    index = np.repeat(np.arange(a.shape[axis]), repeats)
    return take(recorder, shape, a, index, axis)


def take(recorder: Recorder, shape: Shape, a: Ref, index: Array, axis: int) -> Ref:
    """Take elements along one axis by constant integers."""
    before = (slice(None),) * (axis % len(a.shape))
    return getitem(recorder, shape, a, (*before, index))


def flip(recorder: Recorder, shape: Shape, m: Ref, axis: Any = None) -> Ref:
    """Reverse axes."""
    flipped = {a - 1 for a in reduced_axes(axis, len(m.shape))}
    index = tuple(
        slice(None, None, -1) if i in flipped else slice(None) for i in range(len(m.shape))
    )
    return getitem(recorder, shape, m, index)


def roll(recorder: Recorder, shape: Shape, a: Ref, shift: int = 0, axis: Any = None) -> Ref:
    """Shift elements around."""
    if axis is None:
        flat = to_shape(recorder, (int(np.prod(a.shape, dtype=int)),), a)
        return to_shape(recorder, shape, roll(recorder, flat.shape, flat, shift, 0))
    index = np.roll(np.arange(a.shape[axis]), shift)
    return take(recorder, shape, a, index, axis)


def concatenate(recorder: Recorder, shape: Shape, arrays: list[Operand], axis: int = 0) -> Ref:
    """Join arrays along an axis."""
    like = first_ref(list(arrays))
    parts = []
    for part in arrays:
        ref = batched(recorder, np.atleast_1d(part) if not isinstance(part, Ref) else part, like)
        parts.append(ref if ref.shape else to_shape(recorder, (1,), ref))
    return recorder.emit(anp.concatenate_args, axis % len(shape) + 1, *parts, shape=shape)


def stack(recorder: Recorder, shape: Shape, arrays: list[Operand], axis: int = 0) -> Ref:
    """Join arrays along a new axis."""
    like = first_ref(list(arrays))
    axis = axis % len(shape)
    parts = []
    for part in arrays:
        ref = batched(recorder, part, like)
        if axis == 0:
            parts.append(align(recorder, ref, len(shape)))
        else:
            parts.append(to_shape(recorder, (*ref.shape[:axis], 1, *ref.shape[axis:]), ref))
    return recorder.emit(anp.concatenate_args, axis + 1, *parts, shape=shape)


def getitem(recorder: Recorder, shape: Shape, x: Operand, index: Any) -> Ref:
    """Index behind the chain axis. ``index`` is made of constants."""
    entries = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in entries if isinstance(i, (np.ndarray, list))]
    if not arrays:
        return recorder.emit(own.basic_index, x, (slice(None), *entries), shape=shape)
    if any(np.asarray(a).dtype == bool for a in arrays):
        mask_axes = [np.nonzero(a) if np.asarray(a).dtype == bool else (a,) for a in entries]
        return getitem(recorder, shape, x, tuple(i for axes in mask_axes for i in axes))
    if len(entries) == 1 and len(x.shape) == 1:
        size = x.shape[0]
        plan = own.Gather(np.asarray(arrays[0]) % size, size)
        return recorder.emit(own.gather, x, plan, shape=shape)
    source, target = _chain_axis(entries, x.shape)
    return recorder.emit(own.fancy_index, x, (slice(None), *entries), source, target, shape=shape)


def _chain_axis(entries: tuple[Any, ...], shape: Shape) -> tuple[int, int]:
    """Where NumPy puts the chain axis when arrays index a batch, and where it belongs.

    NumPy puts the axes of separated index arrays in front of all others, the chain axis too.
    """
    probe = np.broadcast_to(0, (2, *shape))
    marked = np.broadcast_to(np.arange(2).reshape(2, *(1,) * len(shape)), probe.shape)
    result = marked[(slice(None), *entries)]
    varying = [
        axis
        for axis in range(result.ndim)
        if result.shape[axis] == 2
        and not np.array_equal(np.take(result, 0, axis), np.take(result, 1, axis))
    ]
    return (varying[0] if varying else 0), 0
