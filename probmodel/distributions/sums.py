"""Sums of log densities over their elements, and of derivatives over what was broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.types import Array

# Numbers as arrays without axes: arithmetic with them takes a third less time than with numbers.
ONE, HALF = np.array(1.0), np.array(0.5)

_FEW = 8192  # elements that a product with ones adds up in half the time of a sum

# Elements of a batch that are worked on at a time: a few arrays of this size fit in cache.
BLOCK = 65536


def in_blocks(
    summed: Callable[..., tuple[Array, list[Array]]],
    wanted: Sequence[int],
    args: Sequence[Array],
    event_ndims: Sequence[int],
) -> tuple[Array, list[Array]]:
    """Call ``summed`` for some chains at a time, if they are many, and put the results together."""
    if sum(map(np.size, args)) <= BLOCK:
        return summed(wanted, *args)
    batch = batch_shape(args, event_ndims)
    event = np.shape(args[0])[np.ndim(args[0]) - event_ndims[0] :]
    chains, step = batch[0], max(1, BLOCK // max(prod(batch[1:] + event), 1))
    batched = [
        np.ndim(a) - e == len(batch) and len(a) == chains
        for a, e in zip(args, event_ndims, strict=True)
    ]
    if step >= chains or not any(batched):
        return summed(wanted, *args)
    logp = np.empty(chains)
    partials = [(np.empty if batched[i] else np.zeros)(np.shape(args[i])) for i in wanted]
    for start in range(0, chains, step):
        rows = slice(start, start + step)
        block = [a[rows] if is_batched else a for a, is_batched in zip(args, batched, strict=True)]
        logp[rows], slopes = summed(wanted, *block)
        for i, partial, slope in zip(wanted, partials, slopes, strict=True):
            if batched[i]:
                partial[rows] = slope
            else:
                partial += slope
    return logp, partials


def row_sum(terms: Any, batch: tuple[int, ...]) -> Any:
    """Sum ``terms``, broadcast to ``batch``, over all but the chain axis: (chains,) or a number."""
    terms = np.asarray(terms)
    if terms.ndim == 0:
        return terms * prod(batch[1:])
    if terms.ndim < len(batch):
        return terms.sum() * (prod(batch[1:]) / max(terms.size, 1))
    if terms.ndim == 1:
        return terms
    total = row_total(terms)
    times = prod(batch[1:]) // max(prod(terms.shape[1:]), 1)
    return total if times == 1 else total * times


def row_total(terms: Array) -> Array:
    """Sum an array over all but the chain axis: (chains,)."""
    per_row = terms.reshape(len(terms), -1)
    few = terms.size <= _FEW
    return per_row.dot(_ones(per_row.shape[1])) if few else np.add.reduce(per_row, axis=1)


@lru_cache(maxsize=64)
def _ones(n: int) -> Array:
    return np.ones(n)


def sum_of_rows(terms: Any, batch: tuple[int, ...]) -> Array:
    """Sum ``terms``, each broadcast to ``batch`` first, over all but the chain axis."""
    total: Array = row_sum(np.broadcast_to(terms, batch), batch)
    return total


def row_dot(a: Array, b: Array) -> Array:
    """Inner products over all but the chain axis of two arrays of one shape: (chains,)."""
    if a.ndim == 1:
        return a * b
    rows = len(a)
    dots: Array = np.vecdot(a.reshape(rows, -1), b.reshape(rows, -1))
    return dots


def batch_shape(args: Sequence[Any], event_ndims: Sequence[int]) -> tuple[int, ...]:
    """Broadcast the batch shapes (shapes without event axes) of aligned arguments."""
    if not any(event_ndims):
        return np.broadcast(*args).shape
    shapes = [np.shape(a) for a in args]
    return np.broadcast_shapes(*(s[: len(s) - e] for s, e in zip(shapes, event_ndims, strict=True)))


def reduce_to(arg: Array, partial: Array, batch: tuple[int, ...], event_ndim: int) -> Array:
    """Sum a partial derivative over the batch axes along which its argument was broadcast."""
    shape = np.shape(arg)
    split = len(shape) - event_ndim
    if shape[:split] == batch and np.shape(partial) == shape:
        return partial
    full = np.broadcast_to(partial, batch + shape[split:])
    shape = (1,) * (full.ndim - len(shape)) + shape
    axes = tuple(i for i, (n, m) in enumerate(zip(shape, full.shape, strict=True)) if n != m)
    return (full.sum(axis=axes, keepdims=True) if axes else full).reshape(np.shape(arg))


def summed(distribution: Any, *args: Any) -> Any:
    """Sum a log kernel over all but the leading axis; autograd can follow.

    Parameters
    ----------
    distribution : of the log kernel
    *args : a value and the parameters, aligned for broadcasting
    """
    batch = batch_shape(args, distribution.event_ndims)
    kernel = distribution.log_kernel(anp, *args)
    if np.shape(kernel) != batch:
        kernel = kernel + np.zeros(batch)
    return anp.sum(anp.reshape(kernel, (batch[0], -1)), axis=1)
