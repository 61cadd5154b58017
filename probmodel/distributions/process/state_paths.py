"""Paths of hidden Markov chains by passes over time, for many series side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from probmodel.distributions.process.forward_passes import are_many, series_at_once
from probmodel.types import Array


def draw_chains(uniform: Array, initial: Any, transition: Any) -> Array:
    """Return states of chains, from zero, that uniform numbers choose: both (..., T)."""
    batch, length, states = uniform.shape[:-1], uniform.shape[-1], np.shape(initial)[-1]
    firsts = np.cumsum(_last(_series_first(initial, batch, 1)), axis=0)[:-1]
    limits = np.cumsum(_last(_series_first(transition, batch, 2)), axis=1)[:, :-1]
    series = int(np.prod(batch))
    columns = np.arange(series) if limits.shape[-1] > 1 else 0
    each = limits.shape[-1]
    limits = limits.swapaxes(0, 1).reshape(states - 1, states * each)
    numbers = _last(uniform.reshape(series, length))
    path = np.empty((length, series), dtype=np.int64)
    for t in range(length):
        np.add.reduce(numbers[t] >= firsts, axis=0, dtype=np.int64, out=path[t])
        if t + 1 < length:
            firsts = limits.take(path[t] * each + columns, axis=1)
    return np.ascontiguousarray(path.T).reshape(uniform.shape)


def most_likely_paths(batch: tuple[int, ...], logs: Any, initial: Any, transition: Any) -> Array:
    """Return the most likely states, from zero, given log densities (..., T, K): (*batch, T)."""
    length, states = np.shape(logs)[-2:]
    with np.errstate(divide="ignore"):
        log_initial, log_transition = np.log(initial), np.log(transition)
    series = int(np.prod(batch))
    args = [
        _series_first(a, batch, ndim)
        for a, ndim in ((logs, 2), (log_initial, 1), (log_transition, 2))
    ]
    paths = np.empty((length, series), dtype=np.int64)
    for part in _blocks(series, series_at_once(length, states)):
        own = [_last(a if len(a) == 1 else a[part]) for a in args]
        paths[:, part] = _most_likely(part.stop - part.start, *own)
    return np.ascontiguousarray(paths.T).reshape(*batch, length)


def _most_likely(series: int, logs: Array, initial: Array, transition: Array) -> Array:
    """Go forward over time, and back along the best: (T, n)."""
    length, states = logs.shape[:2]
    best = initial + logs[0] + np.zeros((states, series))
    came_from = np.zeros((length, states, series), dtype=np.int8 if states < 128 else np.int64)
    step = _best_of_many if are_many(series, states) else _best
    for t in range(1, length):
        best = step(best, transition, came_from[t])
        best += logs[t]
    found, columns = np.empty((length, series), dtype=np.int64), np.arange(series)
    found[-1] = best.argmax(axis=0)
    for t in reversed(range(1, length)):
        found[t - 1] = came_from[t, found[t], columns]
    return found


def _best(best: Array, transition: Array, came_from: Array) -> Array:
    """Log densities of the best path to each state, (K, n); writes which state it came from."""
    paths = best[:, None] + transition
    came_from[:] = paths.argmax(axis=0)
    return np.asarray(paths.max(axis=0))


def _best_of_many(best: Array, transition: Array, came_from: Array) -> Array:
    """Return the same as `_best`, by comparing one state with the best so far."""
    top = best[0] + transition[0]
    for j in range(1, len(best)):
        path = best[j] + transition[j]
        np.maximum(came_from, (path > top) * came_from.dtype.type(j), out=came_from)
        np.maximum(top, path, out=top)
    return top


def _series_first(a: Any, batch: tuple[int, ...], ndim: int) -> Array:
    """Give what has ``ndim`` axes a series one axis in front, of length 1 if it is shared."""
    a = np.asarray(a, dtype=float)
    event = a.shape[a.ndim - ndim :]
    if a.size == np.prod(event):
        return a.reshape(1, *event)
    return np.broadcast_to(a, (*batch, *event)).reshape(-1, *event)


def _last(a: Array) -> Array:
    """Copy an array to where its first axis comes last."""
    return np.ascontiguousarray(np.moveaxis(a, 0, -1))


def _blocks(size: int, step: int) -> Iterator[slice]:
    """Slices of so many, and the rest."""
    return (slice(k, min(k + step, size)) for k in range(0, size, step))
