"""Second derivatives of models: slopes, Hessian products, and Hessians made of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.differentiation import gradient_of
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import Scope, Trace, differentiated, dimension
from probmodel.model.binding import Binding
from probmodel.types import Array

_HESSIAN_ROWS = 4096  # rows of one Hessian-vector product while a Hessian is put together


def curvature(binding: Binding, function: Callable[[Trace], Any]) -> NumpyProgram:
    """Return slopes and Hessian products of what a trace of a bound model is asked for, a number.

    They come from points and directions: (n, dim) each.
    """

    def slope(trace: Trace, x: Any, v: Any) -> Any:
        def placed(x: Any) -> Any:
            trace.place(binding, x)
            return function(trace)

        return anp.sum(gradient_of(placed, x)[1][0] * v)

    shapes = [(dimension(binding),)] * 2
    return NumpyProgram(differentiated(Scope.of(binding), slope, shapes))


def second_derivatives(product: Callable[[Array, Array], Array], x: Array) -> Array:
    """Put a Hessian together from its products with unit vectors: (chains, dim, dim).

    Parameters
    ----------
    product : Hessian at some points times a vector each: (rows, dim), (rows, dim) -> (rows, dim)
    x : (chains, dim)
    """
    chains, dim = x.shape
    columns = max(1, _HESSIAN_ROWS // max(chains, 1))
    out = np.empty((dim, chains, dim))
    for start in range(0, dim, columns):
        stop = min(start + columns, dim)
        width = stop - start
        directions = np.repeat(np.eye(dim)[start:stop], chains, axis=0)
        rows = product(np.tile(x, (width, 1)), directions)
        out[start:stop] = rows.reshape(width, chains, dim)
    return out.transpose(1, 2, 0)


def symmetric(G: Array) -> Array:
    """Return the symmetric part of (chains, dim, dim); rows that are not finite become NaN."""
    with np.errstate(all="ignore"):
        mean = 0.5 * (G + G.transpose(0, 2, 1))
    return np.where(np.isfinite(mean).all(axis=(1, 2), keepdims=True), mean, np.nan)
