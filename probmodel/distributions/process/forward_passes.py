"""Hidden Markov chains by passes over time, for many series side by side.

    b      densities of what was seen, given each state, beside the largest one    (T, K, n)
    p, A   probabilities of the first state, and of the next in each row           (K, n), (K, K, n)
    c      sums by which a is scaled                                               (T, n)
    a      probabilities of the states, given all that was seen so far             (T, K, n)
    d      density of what comes after a time, given the state then, beside the mean under a
    g      b d / c

Forward, a_t[k] is sum_j a_t-1[j] A[j, k] times b_t[k], over c_t. Back, d_t-1[j] = sum_k A[j, k]
g_t[k]. Each time is a step of its own, with n series in it: less work than `forward_algorithm` has
with its products of matrices, for which series must be many.

What underflows in a is lost. That does not matter as long as no d is much larger than another at
the same time; they never are if each state can follow each other. Where they are, the passes are on
the scale of logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.types import Array

FLOOR = 1e-100  # two factors this small still multiply to a normal number
_ENOUGH = 96  # numbers in a step from which on that is worth what NumPy takes to begin it
_AT_ONCE = 1 << 20  # numbers in an array, about


class Slopes(NamedTuple):
    """Log likelihood of each series, and its derivatives.

    Attributes
    ----------
    value : (...,)
    log_emissions : (..., T, K), the posterior probabilities of the states
    initial : (..., K)
    transition : (..., K, K)
    """

    value: Any
    log_emissions: Any
    initial: Any
    transition: Any


def are_many(series: int, states: int) -> bool:
    """Whether so many series are worth passes over time."""
    return series * states >= _ENOUGH


def series_at_once(length: int, states: int) -> int:
    """Return how many series are to be worked off together."""
    return max(-(-_ENOUGH // states), _AT_ONCE // max(1, length * states))


def by_probabilities(args: Sequence[Array], slopes: bool) -> tuple[Slopes, Array]:
    """Log likelihood and derivatives with scaled numbers, and which series these are safe for.

    ``args`` are log densities, initial and transition: (n, T, K), (n, K), (n, K, K).
    """
    b, p, A = _series_last(args)
    largest = b.max(axis=1)
    b = np.exp(np.subtract(b, largest[:, None], out=b), out=b)
    a, c = _forward(b, p, A)
    value = largest.sum(axis=0) + np.log(c).sum(axis=0)
    safe = np.isfinite(value)
    if not slopes and A.min(initial=1.0) >= FLOOR:
        return Slopes(value, None, None, None), safe & (c[0] >= FLOOR)
    g, d = b, _back(b, c, A)  # in the same place
    low = d.min(axis=1) >= FLOOR * d.max(axis=1)  # False for what is no number
    safe &= (low & (c >= FLOOR)).all(axis=0)
    if not slopes:
        return Slopes(value, None, None, None), safe
    in_transition = np.einsum("tjn,tkn->njk", a[:-1], g[1:])
    states = np.multiply(a, d, out=a)
    states /= states.sum(axis=1, keepdims=True)
    return Slopes(value, states.transpose(2, 0, 1), g[0].T, in_transition), safe


def _series_last(args: Sequence[Array]) -> list[Array]:
    """Copy arguments to where the series of a batch come last."""
    return [np.array(np.moveaxis(a, 0, -1), dtype=float, order="C") for a in args]


def _forward(b: Array, p: Array, A: Array) -> tuple[Array, Array]:
    """Return a and c."""
    a, c, products = np.empty(b.shape), np.empty((len(b), b.shape[-1])), np.empty(A.shape)
    ahead = p
    for t in range(len(b)):
        now = np.multiply(ahead, b[t], out=a[t])
        now /= np.add.reduce(now, axis=0, out=c[t])
        if t + 1 < len(b):
            np.multiply(now[:, None], A, out=products)
            ahead = np.add.reduce(products, axis=0)
    return a, c


def _back(b: Array, c: Array, A: Array) -> Array:
    """Return d, and turn b into g."""
    d, products, by_next = np.empty(b.shape), np.empty(A.shape), A.swapaxes(0, 1).copy()
    d[-1] = 1.0
    for t in reversed(range(len(b))):
        b[t] *= d[t]
        b[t] /= c[t]
        if t:
            np.multiply(b[t][:, None], by_next, out=products)
            np.add.reduce(products, axis=0, out=d[t - 1])
    return d


def by_logarithms(args: Sequence[Array], slopes: bool) -> Slopes:
    """Return the same from sums of logarithms, which are safe for all series.

    Derivatives in probabilities that are exactly zero come out as zero.
    """
    logs, p, A = _series_last(args)
    value, last, before = _forward_logarithms(logs, p, A)
    if not slopes:
        return Slopes(value, None, None, None)
    states, pairs = np.empty(logs.shape), np.zeros(A.shape)
    states[-1] = last
    for t in reversed(range(len(before))):
        both = np.multiply(before[t], states[t + 1], out=before[t])
        np.add.reduce(both, axis=1, out=states[t])
        pairs += both
    in_initial, in_transition = _over(states[0], p), _over(pairs, A)
    return Slopes(value, states.transpose(2, 0, 1), in_initial.T, np.moveaxis(in_transition, -1, 0))


def draw_states(rng: np.random.Generator, args: Sequence[Array]) -> Array:
    """Draw the states of each series, given what was seen: (n, T), from zero.

    Raises
    ------
    ValueError
        If no states explain a series, or its numbers make no sense.
    """
    (series, length, states), drawn = args[0].shape, []
    step = series_at_once(length, states**2)
    for k in range(0, series, step):
        with np.errstate(all="ignore"):
            _, weights, before = _forward_logarithms(*_series_last([a[k : k + step] for a in args]))
        if not np.all(weights.sum(axis=0) > 0.0):
            raise ValueError("no states explain what was seen")
        path = [_chosen(rng, weights)]
        for shares in before[::-1]:
            path.append(_chosen(rng, np.take_along_axis(shares, path[-1][None, None], 1)[:, 0]))
        drawn.append(np.stack(path[::-1], axis=-1))
    return np.concatenate(drawn) if drawn else np.empty((0, length), dtype=np.int64)


def _chosen(rng: np.random.Generator, shares: Array) -> Array:
    """Choose a row for each column."""
    limits = np.cumsum(shares, axis=0)
    return np.asarray(np.sum(rng.random(shares.shape[1]) * limits[-1] >= limits[:-1], axis=0))


def _forward_logarithms(logs: Array, p: Array, A: Array) -> tuple[Array, Array, Array]:
    """Go forward on the scale of logarithms.

    Returns
    -------
    The log likelihood; probabilities of the states at the last time; and those of the state before
    a time, given the state then and what was seen before, (T - 1, K, K, n).
    """
    value, log_a, log_A = np.zeros(logs.shape[-1]), np.log(p) + logs[0], np.log(A)
    before = np.empty((len(logs) - 1, *A.shape))
    for t in range(1, len(logs)):
        joint = np.add(log_a[:, None], log_A, out=before[t - 1])
        log_a = _shares(joint) + logs[t]
        top = _finite(log_a.max(axis=0))
        log_a -= top
        value += top
    value += _shares(log_a)
    return value, log_a, before


def _shares(logs: Array) -> Array:
    """Turn logarithms into what each is of the sum over the first axis; returns the log of it."""
    top = _finite(logs.max(axis=0))
    total = np.exp(np.subtract(logs, top, out=logs), out=logs).sum(axis=0)
    logs /= np.where(total == 0.0, 1.0, total)
    return np.asarray(np.log(total) + top)


def _finite(logs: Array) -> Array:
    """Return logarithms, with zero for what is not finite."""
    return np.where(np.isfinite(logs), logs, 0.0)


def _over(shares: Array, probabilities: Array) -> Array:
    """Divide, with zero for shares of what is impossible."""
    return shares / np.where(probabilities == 0.0, np.inf, probabilities)
