"""Exponentials and determinants of stacks of matrices, with derivatives of every order."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from probmodel.numerics.matrices import inv
from probmodel.types import Array


@primitive
def expm(a: Array) -> Array:
    """Exponentials of a stack of matrices: (..., n, n) -> (..., n, n); NaN where not finite."""
    import scipy.linalg

    finite = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    return np.where(finite, scipy.linalg.expm(np.where(finite, a, 0.0)), np.nan)


@primitive
def det(a: Array) -> Array:
    """Return determinants of a stack of matrices; their slope is NaN where they are zero."""
    return np.linalg.det(a)


@primitive
def log_abs_det(a: Array) -> Array:
    """Logarithms of the absolute values of determinants; minus infinity where these are zero."""
    return np.linalg.slogdet(a)[1]


def _wide(x: Any) -> Any:
    return anp.reshape(x, (*np.shape(x), 1, 1))


def _pull(ans: Array, a: Any) -> Any:
    """Return the derivative along ``g``: a corner of the exponential of a matrix twice as large."""
    n = np.shape(a)[-1]
    transposed = anp.swapaxes(a, -1, -2)

    def pull(g: Any) -> Any:
        top = anp.concatenate([transposed, g], axis=-1)
        bottom = anp.concatenate([0.0 * transposed, transposed], axis=-1)
        return expm(anp.concatenate([top, bottom], axis=-2))[..., :n, n:]

    return pull


def _inverse_transposed(a: Any) -> Any:
    return anp.swapaxes(inv(a), -1, -2)


defvjp(expm, _pull)
defvjp(det, lambda ans, a: lambda g: _wide(g * ans) * _inverse_transposed(a))
defvjp(log_abs_det, lambda ans, a: lambda g: _wide(g) * _inverse_transposed(a))
