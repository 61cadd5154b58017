"""Linear algebra on stacks of matrices, as autograd primitives that leave bad elements alone.

A matrix that has no Cholesky factor gives NaN for that element of the stack; nothing raises on
values. The derivative rules are written with the same functions, so they can be differentiated
again. Leading axes broadcast. `scipy.linalg` is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box, defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import differentiable
from probmodel.types import Array


@cache
def _lapack() -> Any:
    import scipy.linalg.lapack

    return scipy.linalg.lapack


def transpose(a: Any) -> Any:
    """Swap the last two axes."""
    return (anp if isinstance(a, Box) else np).swapaxes(a, -1, -2)


def outer(a: Array, b: Array) -> Array:
    """Return all products of two vectors: (..., n) and (..., m) to (..., n * m)."""
    products = a[..., :, None] * b[..., None, :]
    return products.reshape(*products.shape[:-2], -1)


@differentiable
def cholesky(a: Any) -> Any:
    """Lower Cholesky factors of a stack of symmetric matrices: (..., n, n) -> (..., n, n).

    Only the lower triangle is read; the derivative is with respect to a symmetric matrix. Elements
    that are not positive definite, or not finite, become NaN.
    """
    if not isinstance(a, np.ndarray):
        return np.linalg.cholesky(a)
    try:
        factor = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        factor = _cholesky_one_by_one(a)
    return factor


def _cholesky_one_by_one(a: Array) -> Array:
    """Cholesky factors of a stack of which some fail."""
    factors = np.empty_like(a)
    for i in np.ndindex(a.shape[:-2]):
        try:
            factors[i] = np.linalg.cholesky(a[i])
        except np.linalg.LinAlgError:
            factors[i] = np.nan
    return factors


@differentiable
def solve_lower(factor: Array, b: Array, transposed: bool = False) -> Array:
    """Solve ``L x = b`` (or ``L' x = b``) for lower triangular ``L``.

    Parameters
    ----------
    factor : (..., n, n); only the lower triangle is read
    b : (..., n, k); leading axes broadcast against those of ``factor``
    transposed : whether to solve with the transpose of ``factor``

    Returns
    -------
    (..., n, k); NaN where ``factor`` is singular
    """
    stack = np.broadcast_shapes(factor.shape[:-2], b.shape[:-2])
    n, k = factor.shape[-1], b.shape[-1]
    if b.shape[-2] != n:  # one row would be broadcast
        raise ValueError(f"factors of shape {factor.shape} and rows of {b.shape} do not fit")
    if factor.ndim == 2:
        columns = np.moveaxis(np.broadcast_to(b, (*stack, n, k)), -2, 0).reshape(n, -1)
        solved = _solve_one(factor, columns, transposed).reshape(n, *stack, k)
        return np.moveaxis(solved, 0, -2)
    factors = np.broadcast_to(factor, (*stack, n, n)).reshape(-1, n, n)
    right = np.broadcast_to(b, (*stack, n, k)).reshape(-1, n, k)
    if len(factors) > n:
        x = _substitute(factors, right, transposed)
    else:
        x = np.empty(right.shape)
        for i, (one, rhs) in enumerate(zip(factors, right, strict=True)):
            x[i] = _solve_one(one, rhs, transposed)
    return x.reshape(*stack, n, k)


def pivoted_cholesky(a: Array, tolerance: float) -> tuple[Array, Array]:
    """Cholesky factor of a semidefinite matrix with its rows in the order of what they add.

    Parameters
    ----------
    a : (n, n)
    tolerance : share of the largest diagonal element; the factor ends where less is left

    Returns
    -------
    factor : (n, rank), lower triangular, with ``factor @ factor.T`` = ``a[order][:, order]``
    order : (n,)
    """
    # The upper triangle, factored as U'U: rows in C order are columns in that of LAPACK.
    least = tolerance * float(np.max(np.diagonal(a)))
    upper, pivots, rank, _ = _lapack().dpstrf(a.T, lower=0, tol=least)
    return np.tril(np.asarray(upper)[:rank].T), np.asarray(pivots) - 1


def _solve_one(factor: Array, b: Array, transposed: bool) -> Array:
    """Triangular solve by LAPACK: (n, n), (n, k) -> (n, k)."""
    # A C-ordered lower factor is a Fortran-ordered upper one, transposed: no copy is made.
    x, info = _lapack().dtrtrs(factor.T, b, lower=0, trans=0 if transposed else 1)
    return np.asarray(x) if info == 0 else np.full(b.shape, np.nan)


def solve_rows(factor: Array, rows: Array) -> Array:
    """Solve ``L w_n = e_n`` for the rows of each element of a stack, in place.

    ``factor``, (stack, n, n), is lower triangular. The rows, (stack, k, n) and C-ordered, are
    overwritten with the solutions and returned; NaN where it is singular.
    """
    solve = _lapack().dtrtrs
    for one, right in zip(factor, rows, strict=True):
        # Transposed, both are in the order that LAPACK works in, so that nothing is copied.
        if solve(one.T, right.T, lower=0, trans=1, overwrite_b=1)[1] != 0:
            right[:] = np.nan
    return rows


def solve_bidiagonal(diagonal: Array, above: Array, rows: Array, transposed: bool = False) -> Array:
    """Solve ``B x = v`` (or ``B' x = v``) for an upper bidiagonal ``B`` and each row ``v``: (k, n).

    ``above``, (n - 1,), are the entries above the diagonal. The result is NaN if ``B`` is singular.
    """
    band = np.zeros((2, len(diagonal)), order="F")
    band[0, 1:], band[1] = above, diagonal
    # Row after row in C order is column after column in the order of LAPACK.
    x, info = _lapack().dtbtrs(band, rows.T, uplo="U", trans="T" if transposed else "N")
    return np.asarray(x.T) if info == 0 else np.full(rows.shape, np.nan)


def _substitute(factors: Array, b: Array, transposed: bool) -> Array:
    """Forward (or backward) substitution, one row of all matrices at a time."""
    n = factors.shape[-1]
    diagonal = np.einsum("bii->bi", factors)
    diagonal = np.where(diagonal == 0.0, np.nan, diagonal)[:, :, None]
    x = np.empty(b.shape)
    for i in reversed(range(n)) if transposed else range(n):
        done = slice(i + 1, n) if transposed else slice(0, i)
        known = factors[:, done, i] if transposed else factors[:, i, done]
        x[:, i] = (b[:, i] - (known[:, None, :] @ x[:, done])[:, 0]) / diagonal[:, i]
    return x


def invert_lower(factor: Array) -> Array:
    """Inverse of one lower triangular matrix, (n, n); NaN if it is singular."""
    inverse, info = _lapack().dtrtri(np.ascontiguousarray(factor).T, lower=0)
    return np.ascontiguousarray(np.tril(inverse.T)) if info == 0 else np.full(factor.shape, np.nan)


def invert_factors(factors: Array) -> Array:
    """Inverses of lower triangular matrices, (..., n, n); NaN for those that are singular.

    They must be zero above the diagonal, as `cholesky` makes them.
    """
    n = factors.shape[-1]
    inverses = np.empty(factors.shape)
    invert = _lapack().dtrtri
    for one, out in zip(factors.reshape(-1, n, n), inverses.reshape(-1, n, n), strict=True):
        # A C-ordered lower factor is a Fortran-ordered upper one, transposed.
        inverse, info = invert(one.T, lower=0)  # leaves the zeros as they are
        out[:] = inverse.T if info == 0 else np.nan
    return inverses


@differentiable
def diagonal(a: Array) -> Array:
    """Diagonals of a stack of square matrices: (..., n, n) -> (..., n)."""
    return np.diagonal(a, axis1=-2, axis2=-1)


@differentiable
def embed_diagonal(d: Array) -> Array:
    """Diagonal matrices with given diagonals: (..., n) -> (..., n, n)."""
    return d[..., :, None] * np.eye(d.shape[-1])


def log_det_lower(factor: Any) -> Any:
    """Sum of the logarithms of the diagonal: (..., n, n) -> (...,).

    Half the log determinant of the matrix whose Cholesky factor this is; NaN for a diagonal
    element that is negative.
    """
    if isinstance(factor, Box):
        return anp.sum(anp.log(diagonal(factor)), axis=-1)
    return np.add.reduce(np.log(np.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def inverse_of_affine(function: Callable[[Array], Any], value: Array, elementwise: bool) -> Array:
    """Return what an affine function maps to ``value``, from its images of zero and of the axes.

    The value is one, or many if the function is applied to each element by itself, ``elementwise``.
    """
    if elementwise:
        offset, end = (np.asarray(function(0.0 * value + z)) for z in (0.0, 1.0))
        return np.asarray((value - offset) / (end - offset))
    size = value.size
    basis = np.concatenate([np.zeros((1, size)), np.eye(size)]).reshape(-1, *value.shape)
    images = np.stack([np.asarray(function(z)) for z in basis])
    offset, columns = images[0].reshape(-1), (images[1:] - images[0]).reshape(size, size).T
    return np.linalg.solve(columns, value.reshape(-1) - offset).reshape(value.shape)


def _reach(ratio: Array) -> float:
    """Return the lag from which on all powers are far below rounding."""
    largest = float(np.max(np.abs(ratio), initial=0.0))
    return np.log(1e-20) / np.log(largest) if 0.0 < largest < 1.0 else np.inf


@differentiable
def geometric_filter(ratio: Array, x: Array) -> Array:
    """First-order recursion ``y[t] = ratio y[t-1] + x[t]`` along the last axis, from ``y[-1] = 0``.

    Parameters
    ----------
    ratio : (...,)
    x : (..., n); leading axes broadcast against those of ``ratio``

    Notes
    -----
    By recursive doubling: log2(n) passes over all chains at once instead of n steps, and fewer
    where the ratio has died out before.
    """
    ratio = np.asarray(ratio)
    n = x.shape[-1]
    y = np.array(np.broadcast_to(x, (*np.broadcast_shapes(ratio.shape, x.shape[:-1]), n)))
    power, lag, reach = ratio[..., None], 1, min(n, _reach(ratio))
    while lag < reach:
        y[..., lag:] += power * y[..., :-lag]
        power, lag = power * power, 2 * lag
    return y


def _cholesky_vjp(factor: Any, a: Any) -> Any:
    """Reverse rule of the Cholesky factor (Murray 2016, arXiv:1602.07527, eq. 9), symmetrised."""

    def vjp(g: Any) -> Any:
        inner = _half_lower(anp.matmul(transpose(factor), g))
        left = solve_lower(factor, inner, transposed=True)
        full = transpose(solve_lower(factor, transpose(left), transposed=True))
        return 0.5 * (full + transpose(full))

    return vjp


def _half_lower(a: Any) -> Any:
    """Lower triangle with half the diagonal."""
    n = a.shape[-1]
    return a * (np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n))


def _solve_vjp_factor(ans: Any, factor: Any, b: Any, transposed: bool = False) -> Any:
    mask = np.tril(np.ones(np.shape(factor)[-2:]))

    def vjp(g: Any) -> Any:
        dual = solve_lower(factor, g, transposed=not transposed)
        left, right = (ans, dual) if transposed else (dual, ans)
        return -anp.matmul(left, transpose(right)) * mask

    return unbroadcast_f(factor, vjp)


def _solve_vjp_b(ans: Any, factor: Any, b: Any, transposed: bool = False) -> Any:
    return unbroadcast_f(b, lambda g: solve_lower(factor, g, transposed=not transposed))


def _filter_backwards(ratio: Any, g: Any) -> Any:
    return geometric_filter(ratio, g[..., ::-1])[..., ::-1]


def _filter_vjp_ratio(ans: Any, ratio: Any, x: Any) -> Any:
    def vjp(g: Any) -> Any:
        return anp.sum(_filter_backwards(ratio, g)[..., 1:] * ans[..., :-1], axis=-1)

    return unbroadcast_f(ratio, vjp)


defvjp(cholesky, _cholesky_vjp)
defvjp(solve_lower, _solve_vjp_factor, _solve_vjp_b)
defvjp(diagonal, lambda ans, a: embed_diagonal)
defvjp(embed_diagonal, lambda ans, d: diagonal)
defvjp(
    geometric_filter,
    _filter_vjp_ratio,
    lambda ans, ratio, x: unbroadcast_f(x, lambda g: _filter_backwards(ratio, g)),
)
