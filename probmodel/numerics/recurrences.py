"""Linear recurrences in time, without a loop over time, as autograd primitives.

Time is an axis of its own, series are stacked in the axes before it, and operands broadcast. The
derivative of a linear recurrence is the same recurrence run backwards, so each rule is written
with the functions here and can be differentiated again.

Two methods. `linear_recurrence` joins the equations of two successive times into one that leaves
out the first, solves for half as many times, and fills in the rest: work that grows like n, in
log2(n) levels (Stone 1973; Blelloch 1990). `recursive_filter` doubles the lag of the recurrence
until it reaches beyond the series (Graeffe's root squaring).

`repeat` is for any other recurrence: a loop over arrays, which symbols write down as one of machine
code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

from probmodel.numerics.special import Recorded, differentiable
from probmodel.types import Array

# What lies below is lost in rounding beside the numbers that it would be added to.
_NEGLIGIBLE = 1e-20


def reverse(x: Any) -> Any:
    """Turn the last axis round."""
    return x[..., ::-1]


@differentiable
def linear_recurrence(coefficient: Any, x: Any, initial: Any, axis: int = -1) -> Array:
    """Solve ``y[t] = coefficient[t] y[t-1] + x[t]`` from ``y[-1] = initial``, element by element.

    Parameters
    ----------
    coefficient : broadcasts against ``x``; of length 1 along time, or without it, it is constant
    x : (..., n, ...)
    initial : of length 1 along time, or without it
    axis : the axis of time, negative

    Returns
    -------
    array of the shape that ``coefficient`` and ``x`` broadcast to

    Notes
    -----
    Products of successive coefficients are formed: where they overflow the result is NaN.
    """
    shape = np.broadcast_shapes(np.shape(coefficient), np.shape(x), np.shape(initial))
    rank = len(shape)
    a, start = (np.moveaxis(_with_rank(v, rank), axis, 0) for v in (coefficient, initial))
    driven = np.moveaxis(np.array(np.broadcast_to(x, shape), dtype=float), axis, 0)
    driven[:1] += a[:1] * start
    return np.moveaxis(_solve_numbers(a, driven), 0, axis)


def _with_rank(x: Any, rank: int) -> Array:
    """Give an array axes of length 1 in front."""
    x = np.asarray(x, dtype=float)
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _solve_numbers(a: Array, x: Array) -> Array:
    """Solve the recurrence along the first axis, from zero; ``a`` is (n, ...) or (1, ...)."""
    n = len(x)
    if n < 2:
        return x
    even, odd, later = (a, a, a) if len(a) == 1 else (a[: n - 1 : 2], a[1::2], a[2::2])
    y = np.empty(x.shape)
    y[1::2] = _solve_numbers(odd * even, odd * x[: n - 1 : 2] + x[1::2])
    y[0] = x[0]
    np.multiply(later, y[1 : n - 1 : 2], out=y[2::2])
    y[2::2] += x[2::2]
    return y


def _shifted(coefficient: Any, axis: int) -> Any:
    """Bring the coefficient of the next time to each time; the last has none."""
    if np.ndim(coefficient) < -axis or np.shape(coefficient)[axis] == 1:
        return coefficient
    first, rest = _split(coefficient, axis)
    return anp.concatenate([rest, anp.zeros_like(first)], axis=axis)


def _split(x: Any, axis: int) -> tuple[Any, Any]:
    """Part an array into the first time and all later ones."""
    after = (slice(None),) * (-axis - 1)
    return x[(..., slice(0, 1), *after)], x[(..., slice(1, None), *after)]


def _flip(x: Any, axis: int) -> Any:
    """Turn time round, where there is such an axis."""
    if np.ndim(x) < -axis:
        return x
    return x[(..., slice(None, None, -1), *(slice(None),) * (-axis - 1))]


def _backwards(coefficient: Any, g: Any, axis: int) -> Any:
    """Run the recurrence from the last time to the first: its transpose."""
    turned = _flip(_shifted(coefficient, axis), axis)
    return _flip(linear_recurrence(turned, _flip(g, axis), 0.0, axis), axis)


def _before(y: Any, initial: Any, axis: int) -> Any:
    """Bring the solution of the time before to each time."""
    first, _ = _split(y, axis)
    known = _flip(_split(_flip(y, axis), axis)[1], axis)
    return anp.concatenate([initial + anp.zeros(anp.shape(first)), known], axis=axis)


defvjp(
    linear_recurrence,
    lambda ans, a, x, initial, axis=-1: unbroadcast_f(
        a, lambda g: _backwards(a, g, axis) * _before(ans, initial, axis)
    ),
    lambda ans, a, x, initial, axis=-1: unbroadcast_f(x, lambda g: _backwards(a, g, axis)),
    lambda ans, a, x, initial, axis=-1: unbroadcast_f(
        initial, lambda g: _split(a * _backwards(a, g, axis), axis)[0]
    ),
    argnums=(0, 1, 2),
)


def repeat(
    step: Callable[..., tuple[Sequence[Any], Any]],
    state: Sequence[Any],
    sequences: Sequence[Any],
    same: Sequence[Any] = (),
) -> tuple[list[Any], Any]:
    """Repeat a step over time: any recurrence.

    Parameters
    ----------
    step : of the state, the elements of the sequences at a time, and what is the same at all times,
        each a list of arrays; it returns the new state, and an array to be added up, or None
    state : before the first time
    sequences : (n, ...) each; one at least
    same : what is the same at all times

    Returns
    -------
    states : after each time, (n, ...) each
    total : sum of what was to be added up
    """
    for given in (*state, *sequences, *same):
        if isinstance(getval(given), Recorded):
            found: tuple[list[Any], Any] = getval(given).record(
                repeat, (step, state, sequences, same)
            )
            return found
    states, total = [], None
    for t in range(len(sequences[0])):
        state, added = step(state, [sequence[t] for sequence in sequences], same)
        states.append(state)
        total = added if total is None else total + added
    return [anp.stack(history) for history in zip(*states, strict=True)], total


def matrix_recurrence(matrix: Any, x: Any, initial: Any) -> Any:
    """Solve ``y[t] = matrix[t] y[t-1] + x[t]``, (n, d), from ``y[-1] = initial``, (d,).

    The matrix is (n, d, d), or (d, d) for one at all times.
    """

    def step(state: Sequence[Any], elements: Sequence[Any], same: Sequence[Any]) -> Any:
        driven, matrix = (*elements, *same)
        return [anp.sum(matrix * state[0], axis=-1) + driven], None

    sequences, same = ([x], [matrix]) if np.ndim(matrix) == 2 else ([x, matrix], [])
    ((states,), _) = repeat(step, [initial], sequences, same)
    return states


@differentiable
def finite_filter(coefficients: Array, x: Array) -> Array:
    """Average what went before: ``y[t] = x[t] + sum_k coefficients[k] x[t-1-k]``, from zeros.

    The coefficients are (..., q), and x (..., n).
    """
    y = _spread(coefficients, x)
    for k in range(min(np.shape(coefficients)[-1], y.shape[-1] - 1)):
        y[..., k + 1 :] += coefficients[..., k, None] * x[..., : -1 - k]
    return y


@differentiable
def recursive_filter(coefficients: Array, x: Array) -> Array:
    """Solve the autoregression ``y[t] = x[t] + sum_k coefficients[k] y[t-1-k]``, from zeros.

    Parameters
    ----------
    coefficients : (..., q)
    x : (..., n)

    Notes
    -----
    With the lag operator L this is ``D(L) y = x``. Both sides times ``D(-L)`` give a recurrence
    in ``L**2``, since ``D(L) D(-L)`` is even, for an x that has been through a moving average. It
    ends after log2(n) turns, or when the coefficients have died out.
    """
    q = np.shape(coefficients)[-1]
    y, c, lag = _spread(coefficients, x), np.asarray(coefficients, dtype=float), 1
    n, even = y.shape[-1], _even_products(q)
    signs = (-1.0) ** np.arange(q + 1)
    while lag < n and not np.all(np.abs(c) < _NEGLIGIBLE):
        driven = y.copy()
        for k in range(q):
            if (shift := lag * (k + 1)) < n:
                driven[..., shift:] += (signs[k] * c[..., k, None]) * y[..., :-shift]
        full = np.concatenate([np.ones((*c.shape[:-1], 1)), -c], axis=-1)
        products = full[..., :, None] * (signs * full)[..., None, :]
        c = -(products.reshape(*c.shape[:-1], -1) @ even)
        y, lag = driven, 2 * lag
    return y


def _spread(coefficients: Array, x: Array) -> Array:
    """Return a copy of ``x`` with the batch axes of both."""
    batch = np.broadcast_shapes(np.shape(coefficients)[:-1], x.shape[:-1])
    return np.array(np.broadcast_to(x, (*batch, x.shape[-1])), dtype=float)


def _even_products(q: int) -> Array:
    """Sum the products i, j of two polynomials into the powers 2, 4, ..., 2q: ((q+1)^2, q)."""
    power = np.add.outer(np.arange(q + 1), np.arange(q + 1)).reshape(-1, 1)
    return (power == 2 * np.arange(1, q + 1)).astype(float)


@differentiable
def lagged_products(g: Array, x: Array, count: int) -> Array:
    """Add up ``g[t] x[t-1-k]`` over t, for each lag k below ``count``.

    (..., n), (..., n) -> (..., count). The derivative of the two filters in their coefficients.
    """
    n, batch = g.shape[-1], np.broadcast_shapes(g.shape[:-1], x.shape[:-1])
    sums = np.zeros((*batch, count))
    for k in range(min(count, n - 1)):
        sums[..., k] = np.vecdot(g[..., k + 1 :], x[..., : n - 1 - k])
    return sums


def _lagged(h: Any, x: Any) -> Any:
    """Average what went before, without the present: ``sum_k h[k] x[t-1-k]``."""
    return finite_filter(h, x) - x


defvjp(
    finite_filter,
    lambda ans, c, x: unbroadcast_f(c, lambda g: lagged_products(g, x, np.shape(c)[-1])),
    lambda ans, c, x: unbroadcast_f(x, lambda g: reverse(finite_filter(c, reverse(g)))),
)
defvjp(
    recursive_filter,
    lambda ans, c, x: unbroadcast_f(
        c, lambda g: lagged_products(reverse(recursive_filter(c, reverse(g))), ans, np.shape(c)[-1])
    ),
    lambda ans, c, x: unbroadcast_f(x, lambda g: reverse(recursive_filter(c, reverse(g)))),
)
defvjp(
    lagged_products,
    lambda ans, g, x, count: unbroadcast_f(g, lambda h: _lagged(h, x)),
    lambda ans, g, x, count: unbroadcast_f(x, lambda h: reverse(_lagged(h, reverse(g)))),
    argnums=(0, 1),
)
