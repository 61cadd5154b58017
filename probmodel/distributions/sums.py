"""Sums of log densities over their elements, and of derivatives over what was broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.types import Array

# Elements of a batch that are worked on at a time: a few arrays of this size fit in cache.
BLOCK = 65536


def batch_shape(args: Sequence[Any], event_ndims: Sequence[int]) -> tuple[int, ...]:
    """Broadcast the batch shapes (shapes without event axes) of aligned arguments."""
    shapes = [np.shape(a) for a in args]
    return np.broadcast_shapes(*(s[: len(s) - e] for s, e in zip(shapes, event_ndims, strict=True)))


def reduce_to(arg: Array, partial: Array) -> Array:
    """Sum a partial derivative over the axes along which its argument was broadcast."""
    shape = (1,) * (np.ndim(partial) - np.ndim(arg)) + np.shape(arg)
    axes = tuple(i for i, (n, m) in enumerate(zip(shape, partial.shape, strict=True)) if n != m)
    return (partial.sum(axis=axes, keepdims=True) if axes else partial).reshape(np.shape(arg))


def summed(distribution: Any, *args: Any) -> Any:
    """Sum a log kernel over all but the leading axis; autograd can follow.

    ``args`` are a value and the parameters, aligned for broadcasting.
    """
    batch = batch_shape(args, distribution.event_ndims)
    kernel = distribution.log_kernel(anp, *args)
    if np.shape(kernel) != batch:
        kernel = kernel + np.zeros(batch)
    return anp.sum(anp.reshape(kernel, (batch[0], -1)), axis=1)
