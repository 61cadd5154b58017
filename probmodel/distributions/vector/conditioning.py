"""Elements of a normal vector given the others.

An unconditional draw is corrected by what its known elements miss (Hoffman and Ribak 1991,
"Constrained realizations of Gaussian fields"; Rasmussen and Williams 2006, eq. 2.19):

    x ~ N(m, S),    y_u = x_u + S_uk S_kk^-1 (y_k - x_k)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.numerics.linalg import cholesky, solve_lower
from probmodel.types import Array

_ENTRIES = 1 << 21  # of the covariance matrices that are held at a time


def complete_normal(
    draw: Array, value: Array, known: Array, covariance: Callable[[slice], Array], matrices: int
) -> Array:
    """Give normal vectors their known elements, and the others what follows from these.

    Parameters
    ----------
    draw : unconditional draws, (rows, *batch, n)
    value : the known elements, in the same places
    known : (*batch, n)
    covariance : of some of the rows: (n, n), or what broadcasts to (rows, *batch, n, n); a factor
        common to all elements may be left out
    matrices : how many of them a row has
    """
    n = draw.shape[-1]
    out = np.where(known, value, draw)
    patterns, which = np.unique(known.reshape(-1, n), axis=0, return_inverse=True)
    which = which.reshape(known.shape[:-1])
    step = max(1, _ENTRIES // (n * n * max(1, matrices)))
    for start in range(0, len(draw), step):
        rows = slice(start, start + step)
        missed, matrix = value[rows] - draw[rows], covariance(rows)
        for i, pattern in enumerate(patterns):
            if pattern.any() and not pattern.all():
                chosen = (slice(None), which == i) if len(patterns) > 1 else (slice(None),)
                each = matrix
                if len(patterns) > 1 and matrix.ndim > 2:
                    each = np.broadcast_to(matrix, (*missed.shape, n))[chosen]
                part = out[rows][chosen]
                part[..., ~pattern] += _regress(each, missed[chosen][..., pattern], pattern)
                out[rows][chosen] = part
    return out


def nearest_known(known: Array) -> tuple[Array, Array]:
    """Return the last known time up to each time and the first one from it on: (..., n) each.

    -1 and n where there is none.
    """
    n = known.shape[-1]
    times = np.arange(n)
    before = np.maximum.accumulate(np.where(known, times, -1), axis=-1)
    after = np.minimum.accumulate(np.where(known, times, n)[..., ::-1], axis=-1)[..., ::-1]
    return before, after


def at_times(values: Array, times: Array) -> Array:
    """Return values (..., n) at times (..., n); at the first or last for times beyond."""
    places = np.broadcast_to(np.clip(times, 0, values.shape[-1] - 1), values.shape)
    return np.take_along_axis(values, places, axis=-1)


def _regress(covariance: Array, missed: Array, known: Array) -> Array:
    """Return ``S_uk S_kk^-1 r`` for what the known elements, r, miss: (..., number unknown)."""
    between = covariance[..., ~known, :][..., known]
    root = cholesky(np.ascontiguousarray(covariance[..., known, :][..., known]))
    half = solve_lower(root, missed[..., None])
    dual = solve_lower(root, half, transposed=True)
    return np.matmul(between, dual)[..., 0]
