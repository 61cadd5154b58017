"""Roots of covariance matrices, and the memory that keeps those of constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.numerics.linalg import invert_lower, log_det_lower, solve_lower, transpose
from probmodel.types import Array


class Whitening(NamedTuple):
    """A linear map W that turns a covariance matrix into the identity.

    Attributes
    ----------
    whiten : residuals (..., n) to ``W r``
    adjoint : (..., n) to ``W' z``
    color : (..., n) to ``W^-1 z``
    log_det : log absolute determinant of W, (...,)
    """

    whiten: Callable[[Any], Any]
    adjoint: Callable[[Any], Any]
    color: Callable[[Any], Any]
    log_det: Any


def from_lower(root: Any) -> Whitening:
    """Whitening by triangular solves with lower roots of covariances: (..., n, n).

    Vectors come as rows, (..., m, n), which share the root of their stack.
    """
    return Whitening(
        lambda r: transpose(solve_lower(root, transpose(r))),
        lambda z: transpose(solve_lower(root, transpose(z), transposed=True)),
        lambda z: _matmul(z, transpose(root)),
        -log_det_lower(root),
    )


def one_by_one(rows: Whitening) -> Whitening:
    """Give a whitening of rows (..., m, n) vectors (..., n), each with a root of its own."""

    def single(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda v: function(v[..., None, :])[..., 0, :]

    return Whitening(single(rows.whiten), single(rows.adjoint), single(rows.color), rows.log_det)


def from_constant_lower(root: Array) -> Whitening:
    """Whitening of vectors (..., n) by products with one root, (n, n), and its inverse."""
    inverse = invert_lower(root)
    columns = np.asfortranarray(inverse)
    return Whitening(
        lambda r: r @ inverse.T, lambda z: z @ columns, lambda z: z @ root.T, -log_det_lower(root)
    )


def from_precision_root(root: Any) -> Whitening:
    """Whitening of rows (..., m, n) by products with lower roots of precisions: (..., n, n)."""
    return Whitening(
        lambda r: _matmul(r, root),
        lambda z: _matmul(z, transpose(root)),
        lambda z: transpose(solve_lower(root, transpose(z), transposed=True)),
        log_det_lower(root),
    )


def from_constant_precision_root(root: Array) -> Whitening:
    """Whitening of vectors (..., n) by products with one lower root of a precision, (n, n)."""
    inverse = invert_lower(root)
    columns = np.asfortranarray(root)
    return Whitening(
        lambda r: r @ columns, lambda z: z @ root.T, lambda z: z @ inverse, log_det_lower(root)
    )


def _matmul(a: Any, b: Any) -> Any:
    xp = anp if isinstance(a, Box) or isinstance(b, Box) else np
    return xp.matmul(a, b)


class Memory:
    """Last result of a function of arrays and numbers, returned again while they stay the same.

    Arrays are the same if they are one object or equal; they must not be changed in place.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._last: tuple[tuple[Array | int, ...], Any] | None = None

    def __call__(self, *arrays: Array | int) -> Any:
        """Return ``function(*arrays)``, from memory where it can."""
        last = self._last
        if last is not None and all(map(_same, last[0], arrays)):
            return last[1]
        result = self.function(*arrays)
        self._last = (arrays, result)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return Memory, (self.function,)


def _same(a: Array | int, b: Array | int) -> bool:
    return a is b or (np.shape(a) == np.shape(b) and bool(np.array_equal(a, b)))
