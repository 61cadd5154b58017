r"""Hidden Markov chains: likelihood and posterior, by a tree of matrix products over time.

With the initial probabilities p, the transition matrix A and the emission densities b_t, the
likelihood is ``p diag(b_1) A diag(b_2) ... A diag(b_T) 1``. A product of matrices needs log2(T)
rounds if pairs are multiplied first, then pairs of pairs. On the way back down the same products
give, for each time, the probabilities of the states just before it given the past (``before``) and
the likelihood of the future given each state (``after``).

Times are laid out so that the left factors of a round, and the right ones, lie together; and the
series of a batch come last: every round works on whole arrays. Products are scaled by their
largest element. Where an element that matters might underflow, which takes probabilities that are
(almost) zero, a series is computed on the scale of logarithms instead, by autograd: slower, never
wrong. Of many series `forward_passes` takes one time after another instead.

References
----------
Rabiner (1989), A tutorial on hidden Markov models. Proceedings of the IEEE 77.
Särkkä and García-Fernández (2021), Temporal parallelization of Bayesian smoothers. IEEE
Transactions on Automatic Control 66.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp
from autograd.extend import Box, defvjp, defvjp_argnums
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.distributions.process import forward_passes
from probmodel.distributions.process.forward_passes import FLOOR, Slopes
from probmodel.numerics.special import Recorded, differentiable, where
from probmodel.types import Array

_MOST_BLOCKS = 8  # of times that the tree ends with


@differentiable
def hmm_log_likelihood(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Log likelihood of a hidden Markov model, its states summed out: batch shape.

    ``log_emissions``, (..., T, K), are the log densities of what was seen at each time, given each
    state; ``initial``, (..., K), the probabilities of the first state, and ``transition``, (..., K,
    K), of the next state in each row.
    """
    return forward_backward(log_emissions, initial, transition, slopes=False).value


def forward_backward(
    log_emissions: Any, initial: Any, transition: Any, slopes: bool = True
) -> Slopes:
    """Log likelihood of a hidden Markov model and, if wanted, its derivatives.

    Arguments are those of `hmm_log_likelihood`; their batch axes broadcast, and results have all
    of them. Can be traced by autograd.
    """
    args = (log_emissions, initial, transition)
    batch = batch_of_series(*(np.shape(a) for a in args))
    if any(isinstance(a, Recorded) for a in args):
        return _unpacked(hmm_slopes(*args), *np.shape(log_emissions)[-2:])
    if any(isinstance(a, Box) for a in args):
        return _by_autograd(_spread(anp, args, batch), slopes)
    series = prod(batch)
    flat = [a.reshape((series, *a.shape[len(batch) :])) for a in _spread(np, args, batch)]
    with np.errstate(all="ignore"):
        found = _of_series(flat, slopes)
    return Slopes(*(a if a is None else a.reshape(batch + a.shape[1:]) for a in found))


def _of_series(args: Sequence[Array], slopes: bool) -> Slopes:
    """Log likelihood and derivatives, by a tree for a few series, by passes over time for many."""
    (series, length, states), passes = args[0].shape, forward_passes
    if not passes.are_many(series, states):
        return _with_exact(_scaled, _by_autograd, args, slopes)
    step = passes.series_at_once(length, states)
    parts = [
        _with_exact(
            passes.by_probabilities, passes.by_logarithms, [a[k : k + step] for a in args], slopes
        )
        for k in range(0, series, step)
    ]
    columns = zip(*parts, strict=True)
    return Slopes(*(None if a[0] is None else np.concatenate(a) for a in columns))


def _with_exact(scaled: Any, exact: Any, args: Sequence[Array], slopes: bool) -> Slopes:
    """Scaled numbers where they are safe, and logarithms elsewhere."""
    found, safe = scaled(args, slopes)
    if not safe.all():
        mended = exact([a[~safe] for a in args], slopes)
        for a, b in zip(found, mended, strict=True):
            if a is not None:
                a[~safe] = b
    return found


@differentiable
def hmm_slopes(log_emissions: Any, initial: Any, transition: Any) -> Any:
    """Return what `forward_backward` does, side by side: (..., 1 + T K + K + K K)."""
    found = forward_backward(log_emissions, initial, transition)
    batch = np.shape(found.value)
    return np.concatenate([np.reshape(a, (*batch, -1)) for a in found], axis=-1)


def _unpacked(packed: Any, length: int, states: int) -> Slopes:
    batch, ends = np.shape(packed)[:-1], np.cumsum([1, length * states, states])
    return Slopes(
        packed[..., 0],
        np.reshape(packed[..., 1 : ends[1]], (*batch, length, states)),
        packed[..., ends[1] : ends[2]],
        np.reshape(packed[..., ends[2] :], (*batch, states, states)),
    )


def batch_of_series(
    emissions: tuple[int, ...], initial: tuple[int, ...], transition: tuple[int, ...]
) -> tuple[int, ...]:
    """Check that shapes fit together, and return that of the batch."""
    states = emissions[-1] if emissions else 0
    if len(emissions) < 2 or initial[-1:] != (states,) or transition[-2:] != (states, states):
        raise ValueError(
            f"{states} states need initial probabilities (..., {states}) and a square transition "
            f"matrix (..., {states}, {states}); with densities of shape {emissions} came initial "
            f"{initial} and transition {transition}"
        )
    return np.broadcast_shapes(emissions[:-2], initial[:-1], transition[:-2])


def _spread(xp: Any, args: Sequence[Any], batch: tuple[int, ...]) -> list[Any]:
    """Give all arguments the whole batch shape."""
    events = [np.shape(a)[np.ndim(a) - n :] for a, n in zip(args, (2, 1, 2), strict=True)]
    if xp is np:
        return [np.broadcast_to(a, batch + e) for a, e in zip(args, events, strict=True)]
    return [a + np.zeros(batch + e) for a, e in zip(args, events, strict=True)]


# -- the tree ----------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """How times are laid out.

    Attributes
    ----------
    times : the time at each place of the layout, (S,); T and above is padding
    places : the place of each time, (T,)
    rounds : of the tree; after them ``len(times) / 2**rounds`` blocks are left
    """

    times: Array
    places: Array
    rounds: int


@lru_cache(maxsize=64)
def _plan(length: int) -> _Plan:
    """Lay out times so that even ones come first, those whose half is even first of all, etc."""
    blocks, rounds = length, 0
    while blocks > _MOST_BLOCKS:
        blocks, rounds = -(-blocks // 2), rounds + 1
    order = np.zeros(1, dtype=int)
    for _ in range(rounds):
        order = np.concatenate([2 * order, 2 * order + 1])
    times = (order[:, None] + 2**rounds * np.arange(blocks)).reshape(-1)
    return _Plan(times, np.argsort(times)[:length], rounds)


def _scaled(args: Sequence[Array], slopes: bool) -> tuple[Slopes, Array]:
    """Log likelihood and derivatives with scaled numbers, and which series these are safe for.

    ``args`` are log densities, initial and transition: (n, T, K), (n, K), (n, K, K).
    """
    log_emissions, initial, transition = args
    length = log_emissions.shape[1]
    plan = _plan(length)
    padding = plan.times >= length
    p, A = np.array(initial.T), np.array(np.moveaxis(transition, 0, -1))
    logs = log_emissions.transpose(2, 1, 0)[:, np.minimum(plan.times, length - 1)]
    largest = _over(np.maximum, logs)
    b = np.exp(logs - largest)
    b[:, padding] = 1.0
    value = largest[~padding].sum(axis=0)
    leaves = A[:, :, None] * b[None]
    eye = np.eye(len(p))[:, :, None]
    leaves[:, :, 0] = eye
    leaves[:, :, padding] = eye[:, :, None]
    products, scale, safe = _multiply_up(leaves, plan.rounds)
    start = p * b[:, 0]
    ends, total = _run(products[-1], start)
    value = value + scale + total
    safe &= np.isfinite(value) & (_over(np.add, start) >= FLOOR)
    if not slopes:
        return Slopes(value, None, None, None), safe
    before = _go_down(products, ends, forwards=True)
    after = _go_down(products, _run_back(products[-1]), forwards=False)
    safe &= (_over(np.minimum, after) >= FLOOR).all(axis=0)
    expected = _mix(before, A[:, :, None])
    expected[:, 0] = p
    ahead = b * after
    states = expected * ahead
    likelihood = _over(np.add, states)
    states /= likelihood
    ahead /= likelihood
    in_initial = ahead[:, 0].T.copy()
    ahead[:, 0] = 0.0
    ahead[:, padding] = 0.0
    in_transition = np.matmul(
        np.ascontiguousarray(before.transpose(2, 0, 1)),
        np.ascontiguousarray(ahead.transpose(2, 1, 0)),
    )
    states = states[:, plan.places].transpose(2, 1, 0)
    return Slopes(value, states, in_initial, in_transition), safe


def _multiply_up(leaves: Array, rounds: int) -> tuple[list[Array], Array, Array]:
    """Multiply neighbours, round by round: (K, K, S, n) -> (K, K, S / 2, n) -> ...

    Returns the products of every round, scaled; the sum of the logarithms of the scales, (n,); and
    whether nothing that matters underflowed, (n,).
    """
    products, scales = [leaves], []
    ratios = [_over(np.minimum, _over(np.maximum, leaves.swapaxes(0, 1)))]
    for _ in range(rounds):
        half = products[-1].shape[2] // 2
        left, right = products[-1][:, :, :half], products[-1][:, :, half:]
        product = left[:, 0, None] * right[None, 0]
        for k in range(1, len(leaves)):
            product += left[:, k, None] * right[None, k]
        rows = _over(np.maximum, product.swapaxes(0, 1))
        largest = _over(np.maximum, rows)
        product /= largest
        products.append(product)
        scales.append(largest)
        ratios.append(_over(np.minimum, rows) / largest)
    safe = (np.concatenate(ratios) >= FLOOR).all(axis=0)
    scale = np.log(np.concatenate(scales)).sum(axis=0) if scales else np.zeros(leaves.shape[-1])
    return products, scale, np.asarray(safe)


def _run(blocks: Array, start: Array) -> tuple[Array, Array]:
    """Run from ``start`` through the blocks that are left, (K, K, m, n).

    Returns the vector before each block, adding up to one, (K, m, n); and the log of the total,
    (n,).
    """
    found = np.empty(blocks.shape[1:])
    total = _over(np.add, start)
    vector, value = start / total, np.log(total)
    for q in range(blocks.shape[2]):
        found[:, q] = vector
        vector = _mix(vector, blocks[:, :, q])
        total = _over(np.add, vector)
        vector = vector / total
        value = value + np.log(total)
    return found, value


def _run_back(blocks: Array) -> Array:
    """Run back from the end: the vector after each block, its largest element one, (K, m, n)."""
    found = np.empty(blocks.shape[1:])
    vector = np.ones(found[:, 0].shape)
    for q in reversed(range(blocks.shape[2])):
        found[:, q] = vector
        vector = _mix(vector, blocks[:, :, q].swapaxes(0, 1))
        vector = vector / _over(np.maximum, vector)
    return found


def _go_down(products: list[Array], ends: Array, forwards: bool) -> Array:
    """Refine the vectors at blocks to those at single times: (K, m, n) -> (K, S, n).

    Forwards, the vector before a block is that before its left half, and goes through that half to
    be the one before the right half; backwards, the other way round.
    """
    states, places, series = products[0].shape[1:]
    found = np.empty((states, places, series))
    found[:, : ends.shape[1]] = ends
    for matrices in reversed(products[:-1]):
        half = matrices.shape[2] // 2
        whole, new = found[:, :half], found[:, half : 2 * half]
        if forwards:
            through = _mix(whole, matrices[:, :, :half])
            np.divide(through, _over(np.add, through), out=new)
        else:
            through = _mix(whole, matrices[:, :, half:].swapaxes(0, 1))
            new[:] = whole
            np.divide(through, _over(np.maximum, through), out=whole)
    return found


def _over(ufunc: np.ufunc, a: Array) -> Array:
    """Reduce the first axis, which is short: whole arrays at a time."""
    result = a[0].copy() if len(a) == 1 else ufunc(a[0], a[1])
    for row in a[2:]:
        ufunc(result, row, out=result)
    return np.asarray(result)


def _mix(vectors: Array, matrices: Array) -> Array:
    """Multiply row vectors by matrices, first axes together: (K, ...), (K, K, ...) -> (K, ...)."""
    product = vectors[0] * matrices[0]
    for vector, rows in zip(vectors[1:], matrices[1:], strict=True):
        product += vector * rows
    return product


# -- logarithms, and autograd ------------------------------------------------------------------


def _by_autograd(args: Sequence[Any], slopes: bool) -> Slopes:
    """`forward_backward` of arguments with all batch axes, by autograd on the log scale."""
    if not slopes:
        return Slopes(_log_scale(args), None, None, None)
    vjp, value = make_vjp(_log_scale, tuple(args))
    return Slopes(value, *vjp(np.ones(np.shape(value))))


def _log_scale(args: Sequence[Any]) -> Any:
    """Log likelihood from sums of logarithms; traceable.

    Here, derivatives in probabilities that are exactly zero come out as zero.
    """
    log_emissions, initial, transition = args
    start = _safe_log(initial) + log_emissions[..., 0, :]
    length = np.shape(log_emissions)[-2]
    if length == 1:
        return _log_sum(start)
    logs = _safe_log(transition)[..., None, :, :] + log_emissions[..., 1:, None, :]
    while np.shape(logs)[-3] > 1:
        left, right, rest = logs[..., 0:-1:2, :, :], logs[..., 1::2, :, :], None
        if np.shape(logs)[-3] % 2:
            rest = logs[..., -1:, :, :]
        pairs = anp.swapaxes(left[..., :, :, None] + right[..., None, :, :], -1, -2)
        joined = _log_sum(pairs)
        logs = joined if rest is None else anp.concatenate([joined, rest], axis=-3)
    last = anp.swapaxes(start[..., :, None] + logs[..., 0, :, :], -1, -2)
    return _log_sum(_log_sum(last))


def _safe_log(p: Any) -> Any:
    zero = p == 0.0
    return where(zero, -np.inf, anp.log(where(zero, 1.0, p)))


@differentiable
def _log_sum(x: Any) -> Any:
    """``log(sum(exp(x)))`` over the last axis; minus infinity adds nothing, in derivatives too."""
    largest = x.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.log(np.sum(np.exp(x - largest), axis=-1)) + largest[..., 0]


def _log_sum_vjp(ans: Any, x: Any) -> Any:
    finite = where(anp.isfinite(ans), ans, 0.0)
    return lambda g: g[..., None] * anp.exp(x - finite[..., None])


defvjp(_log_sum, _log_sum_vjp)


def unbroadcast(arg: Any, derivative: Any) -> Any:
    """Sum a derivative over the axes along which its argument was broadcast."""
    if np.shape(derivative) == np.shape(arg):
        return derivative
    return unbroadcast_f(arg, lambda full: full)(derivative)


def value_and_vjp(argnums: Sequence[int], *args: Any) -> tuple[Any, Any]:
    """Return the log likelihood, and how to take a derivative back to some arguments."""
    value, *slopes = forward_backward(*args)
    return value, _vjp(argnums, slopes, args)


def _vjp(argnums: Sequence[int], slopes: Sequence[Any], args: Sequence[Any]) -> Any:
    def back(g: Any, i: int) -> Any:
        xp = anp if any(isinstance(a, Box) for a in (g, *args)) else np
        return unbroadcast(args[i], xp.reshape(g, np.shape(g) + (1,) * (2, 1, 2)[i]) * slopes[i])

    return lambda g: tuple(back(g, i) for i in argnums)


defvjp_argnums(
    hmm_log_likelihood, lambda argnums, ans, args, kwargs: value_and_vjp(argnums, *args)[1]
)
hmm_log_likelihood.with_vjp = value_and_vjp  # type: ignore[attr-defined]
