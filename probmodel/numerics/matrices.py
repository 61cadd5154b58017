"""Inverse and solution of general square systems, one stack element at a time where one fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from probmodel.types import Array


def _isolated(function: Callable[..., Array], *stacks: Array) -> Array:
    """Apply a function of NumPy to stacks; elements for which it raises become NaN."""
    try:
        return function(*stacks)
    except np.linalg.LinAlgError:
        out = np.full(stacks[-1].shape, np.nan)
        for i in np.ndindex(stacks[-1].shape[:-2]):
            try:
                out[i] = function(*(s[i] for s in stacks))
            except np.linalg.LinAlgError:
                continue
        return out


@primitive
def inv(a: Array) -> Array:
    """Inverses of a stack of square matrices; NaN for singular ones."""
    return _isolated(np.linalg.inv, a)


@primitive
def solve(a: Array, b: Array) -> Array:
    """Solutions x of ``a x = b``: (..., n, n), (..., n, k) -> (..., n, k); NaN if singular."""
    return _isolated(np.linalg.solve, a, b)


@primitive
def log_abs_det(a: Array) -> Any:
    """Return logarithms of the absolute values of determinants: (..., n, n) -> (...)."""
    return np.linalg.slogdet(a)[1]


@primitive
def det(a: Array) -> Any:
    """Return determinants of square matrices: (..., n, n) -> (...); no slopes where singular."""
    return np.linalg.det(a)


def _transpose(a: Any) -> Any:
    return anp.swapaxes(a, -1, -2)


defvjp(inv, lambda ans, a: lambda g: -anp.matmul(_transpose(ans), anp.matmul(g, _transpose(ans))))
defvjp(
    solve,
    lambda ans, a, b: lambda g: -anp.matmul(solve(_transpose(a), g), _transpose(ans)),
    lambda ans, a, b: lambda g: solve(_transpose(a), g),
)
defvjp(log_abs_det, lambda ans, a: lambda g: g[..., None, None] * _transpose(inv(a)))
defvjp(det, lambda ans, a: lambda g: (g * ans)[..., None, None] * _transpose(inv(a)))
