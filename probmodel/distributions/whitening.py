"""Roots of covariance matrices, and the memory that keeps those of constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.linalg import invert_lower, log_det_lower, solve_lower, transpose
from probmodel.special import LOG_2PI
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
        lambda r: r @ inverse.T,
        lambda z: z @ columns,
        lambda z: z @ root.T,
        -log_det_lower(root),
    )


def from_inverse_lower(inverse: Array, log_det: Array) -> Whitening:
    """Whitening of vectors (..., n), each with an inverse root of its own: (..., n, n), NumPy.

    ``log_det`` is that of the inverse roots.
    """
    return Whitening(
        lambda r: np.vecdot(inverse, r[..., None, :]),
        lambda z: np.vecdot(transpose(inverse), z[..., None, :]),
        lambda z: solve_lower(inverse, z[..., None])[..., 0],
        log_det,
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
        lambda r: r @ columns,
        lambda z: z @ root.T,
        lambda z: z @ inverse,
        log_det_lower(root),
    )


def _matmul(a: Any, b: Any) -> Any:
    xp = anp if isinstance(a, Box) or isinstance(b, Box) else np
    return xp.matmul(a, b)


class FixedGaussian:
    """Sum of normal log densities with one known covariance: one matrix product a call.

    Parameters
    ----------
    whitening : of the covariance; must be a constant one
    center : the mean if the value varies, or the value if the mean does: flattened, (n,)
    position : of the argument that varies
    """

    def __init__(self, whitening: Whitening, center: Array, position: int) -> None:
        root = whitening.whiten(np.eye(center.size))
        # Few rows times a matrix take half the time if it is stored by columns.
        self.precision = np.asfortranarray(root @ root.T)
        self.center = center
        self.position = position
        self.constant = float(whitening.log_det) - 0.5 * LOG_2PI * center.size

    def __call__(self, wanted: Sequence[int], *args: Array) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the argument that varies."""
        x = args[self.position]
        rows = x.reshape(-1, self.center.size) - self.center
        dual = rows @ self.precision
        logp = self.constant - 0.5 * np.vecdot(rows, dual)
        if len(logp) != len(x):
            logp = logp.reshape(len(x), -1).sum(axis=1)
        return logp, [np.multiply(dual, -1.0, out=dual).reshape(x.shape)] * len(wanted)


def well_conditioned(root: Array) -> bool:
    """Whether a precision matrix is accurate enough to stand in for its root, (n, n)."""
    diagonal = np.abs(np.diagonal(root))
    return bool(diagonal.max(initial=1.0) < 1e4 * diagonal.min(initial=1.0))


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
