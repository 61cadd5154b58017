"""Low-rank covariance estimate: a diagonal, corrected along a few directions.

    x, g      draws and their gradients of the log density          (n, dim)
    S         diagonal of scales                                    (dim,)
    y, z      standardised: (x - mean) / S and (g - mean) S         (n, dim)
    Q         orthonormal basis of what y and z span                (dim, k), k <= 2 n
    A, B      covariance of y, and of z, in that basis              (k, k)
    G         their mean: the positive definite G with G B G = A    (k, k)
    m         level: from m / cutoff to m cutoff lie more eigenvalues of G than in any such range
    U, F^2    eigenvectors of G that are kept, variances along them over m  (dim, rank), (rank,)

The inverse mass matrix is m S (I + U (F^2 - I) U') S. S is the fourth root of the variances of
draws over those of gradients, and G the geometric mean of the covariance of the draws and the
inverse covariance of the gradients. Both minimise the Fisher divergence to a normal density.

    Seyboldt, Carlson and Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing
    Fisher divergence", arXiv:2603.18845.

Why gradients: of a normal density z is linear in y, with the inverse covariance as its matrix, so
that G is the true covariance as soon as there are as many draws as directions, however unevenly
they fall. The covariance of as few draws alone is off by the noise of the draws, and the more so
the more directions there are.

Of densities that are not normal G is noisy too, and its outer eigenvectors are mostly noise where
there are hundreds. So G is made of one half of the draws, and the other half tells the variances
along its eigenvectors: those within the cutoff there are left out. The halves are different chains
where there are several, because successive draws of a chain are alike.

At most `MOST` draws, spread evenly, make G, so that the work is O(dim MOST^2), the memory
O(dim MOST), and no square matrix larger than 2 MOST.

Deviations: the authors have no second half and no level, and use all draws. `GAMMA` is what they
add to A and B.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.numerics.linalg import pivoted_cholesky, solve_lower
from probmodel.numerics.roots import LowRank
from probmodel.types import Array

MOST = 512  # draws that make G
GAMMA = 1e-5  # added to the variances of all standardised directions
CUTOFF = 2.0  # directions whose variance is within a factor of this from the level are left alone
ROUNDING = 1e-12  # of the largest eigenvalue: smaller ones are rounding errors
NARROW = 1e-10  # of the largest square of a row: what a row adds to others that is less is left out
TINY = 1e-20  # below this a variance counts as none


def low_rank(x: Array, grad: Array, first: Array, cutoff: float = CUTOFF) -> LowRank:
    """Estimate the root of a covariance from draws and gradients of the log density there.

    ``first`` tells which half of the draws makes G, see `halves`. Variances within the factor
    ``cutoff``, above 1, of the level are left alone.
    """
    scale = scales(x, grad)
    y, z = (x - np.mean(x, axis=0)) / scale, (grad - np.mean(grad, axis=0)) * scale
    rows = np.flatnonzero(first)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int)]
    if not (y[rows].any() or z[rows].any()):
        return LowRank(scale, np.empty((len(scale), 0)), np.empty(0))
    *parts, lifted = _common(y[rows], z[rows])
    values, vectors = np.linalg.eigh(geometric_mean(*map(_covariance, parts)))
    level = _level(values, cutoff) if len(values) == len(scale) else 1.0
    U = lifted(vectors[:, _beyond(values / level, cutoff)])
    variances = np.sqrt(_variances(y[~first] @ U) / _variances(z[~first] @ U)) / level
    kept = _beyond(variances, cutoff)
    return LowRank(scale * np.sqrt(level), U[:, kept], np.sqrt(variances[kept]))


def halves(kept: Array) -> Array:
    """Divide draws in two, by chains or, of one chain, in time.

    ``kept``, (times, chains), tells which draws there are. Returns of these, row by row, which are
    those of every second chain, or the later ones: (n,), bool.
    """
    times, chains = np.nonzero(kept)
    if (chains % 2).any() and not (chains % 2).all():
        return chains % 2 == 0
    return np.asarray(np.arange(len(times)) >= len(times) // 2)


def scales(x: Array, grad: Array) -> Array:
    """Return S: (n, dim) each -> (dim,).

    Of a normal density with independent coordinates these are the standard deviations, whatever the
    draws are draws of: they may as well be on their way. Where the draws or the gradients do not
    vary, S is that of the other ones alone, or 1.
    """
    of_x, of_grad = np.var(x, axis=0), np.var(grad, axis=0)
    of_x = np.where(of_x > TINY, of_x, np.nan)
    of_grad = np.where(of_grad > TINY, of_grad, np.nan)
    variance = np.sqrt(of_x / of_grad)
    for other in (of_x, 1.0 / of_grad):
        variance = np.where(np.isfinite(variance), variance, other)
    return np.sqrt(np.where(np.isfinite(variance), variance, 1.0))


def _common(y: Array, z: Array) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Return y Q and z Q, and the function that multiplies columns by Q.

    Q is the identity where both may span everything. Else their rows are L Q' with a triangular L,
    in an order in which each row is the one that lies farthest from those before; those that hardly
    add to them beside what `GAMMA` adds are left out. Q itself is not needed.
    """
    if 2 * len(y) >= y.shape[1]:
        return y, z, lambda columns: columns
    rows = np.concatenate([y, z])
    L, order = pivoted_cholesky(rows @ rows.T, NARROW)
    rank = L.shape[1]
    of_rows = np.empty_like(L)
    of_rows[order] = L

    def lifted(columns: Array) -> Array:
        return rows[order[:rank]].T @ solve_lower(L[:rank], columns, True)

    return of_rows[: len(y)], of_rows[len(y) :], lifted


def _level(values: Array, cutoff: float) -> float:
    """Return the middle of the range of width cutoff^2 that holds most of some ordered values.

    Directions in it need no scale of their own. It need not hold 1: where a few are far narrower
    than the others, S, which is of coordinates, is narrower than most directions.
    """
    values = np.maximum(values, ROUNDING * values[-1])
    ends = np.searchsorted(values, values * cutoff**2, side="right")
    first = int(np.argmax(ends - np.arange(len(values))))
    return float(np.sqrt(values[first] * values[ends[first] - 1]))


def _beyond(variances: Array, cutoff: float) -> Array:
    """Tell which variances are beyond the cutoff, or below its inverse."""
    return (variances > cutoff) | (variances < 1.0 / cutoff)


def _variances(rows: Array) -> Array:
    """Variances of the columns of centred rows, made positive."""
    return np.asarray(np.mean(np.square(rows), axis=0) + GAMMA)


def _covariance(y: Array) -> Array:
    """Covariance of centred rows, made positive definite."""
    return np.asarray(y.T @ y / len(y) + GAMMA * np.eye(y.shape[1]))


def geometric_mean(A: Array, B: Array) -> Array:
    """Return the positive definite G with G B G = A, for positive definite A and B.

    With B = L L' it is L'^-1 (L' A L)^(1/2) L^-1.
    """
    L = np.linalg.cholesky(B)
    values, vectors = np.linalg.eigh(L.T @ A @ L)
    half = solve_lower(L, vectors * np.maximum(values, 0.0) ** 0.25, True)
    return np.asarray(half @ half.T)
