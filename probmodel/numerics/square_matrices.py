"""Inverses, solutions, exponentials and determinants of stacks of square matrices.

They have derivatives of every order. Where one element of a stack fails, the others do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from probmodel.numerics.linalg import transpose
from probmodel.numerics.special import differentiable
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


@differentiable
def inv(a: Array) -> Array:
    """Inverses of a stack of square matrices; NaN for singular ones."""
    return _isolated(np.linalg.inv, a)


@differentiable
def solve(a: Array, b: Array) -> Array:
    """Solutions x of ``a x = b``: (..., n, n), (..., n, k) -> (..., n, k); NaN if singular."""
    return _isolated(np.linalg.solve, a, b)


@primitive
def expm(a: Array) -> Array:
    """Exponentials of a stack of matrices: (..., n, n) -> (..., n, n); NaN where not finite."""
    import scipy.linalg

    finite = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    return np.where(finite, scipy.linalg.expm(np.where(finite, a, 0.0)), np.nan)


@differentiable
def det(a: Array) -> Any:
    """Return determinants: (..., n, n) -> (...); their slope is NaN where they are zero."""
    return np.linalg.det(a)


@differentiable
def log_abs_det(a: Array) -> Any:
    """Logarithms of the absolute values of determinants; minus infinity where these are zero."""
    return np.linalg.slogdet(a)[1]


def _wide(x: Any) -> Any:
    return anp.reshape(x, (*np.shape(x), 1, 1))


def _pull(ans: Array, a: Any) -> Any:
    """Return the derivative along ``g``: a corner of the exponential of a matrix twice as large."""
    n = np.shape(a)[-1]
    transposed = transpose(a)

    def pull(g: Any) -> Any:
        top = anp.concatenate([transposed, g], axis=-1)
        bottom = anp.concatenate([0.0 * transposed, transposed], axis=-1)
        return expm(anp.concatenate([top, bottom], axis=-2))[..., :n, n:]

    return pull


defvjp(inv, lambda ans, a: lambda g: -anp.matmul(transpose(ans), anp.matmul(g, transpose(ans))))
defvjp(
    solve,
    lambda ans, a, b: lambda g: -anp.matmul(solve(transpose(a), g), transpose(ans)),
    lambda ans, a, b: lambda g: solve(transpose(a), g),
)
defvjp(expm, _pull)
defvjp(det, lambda ans, a: lambda g: _wide(g * ans) * transpose(inv(a)))
defvjp(log_abs_det, lambda ans, a: lambda g: _wide(g) * transpose(inv(a)))
