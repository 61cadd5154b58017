"""Low-rank covariance estimate: a diagonal, corrected along a few directions.

    x, g      draws and their gradients of the log density          (n, dim)
    S         diagonal of scales                                    (dim,)
    y, z      standardised: (x - mean) / S and (g - mean) S         (n, dim)
    Q         orthonormal basis of what y and z span                (dim, k), k <= 2 n
    A, B      covariance of y, and of z, in that basis              (k, k)
    G         their mean: the positive definite G with G B G = A    (k, k)
    U, F^2    eigenvectors and eigenvalues of G that are kept       (dim, rank), (rank,)

The inverse mass matrix is S (I + U (F^2 - I) U') S. S is the fourth root of the variances of draws
over those of gradients, and G the geometric mean of the covariance of the draws and the inverse
covariance of the gradients. Both minimise the Fisher divergence to a normal density.

    Seyboldt, Carlson and Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing
    Fisher divergence", arXiv:2603.18845.

Why gradients: of a normal density z is linear in y, with the inverse covariance as its matrix, so
that G is the true covariance as soon as there are as many draws as directions, however unevenly
they fall. The covariance of as few draws alone is off by the noise of the draws, and the more so
the more directions there are. At most `MOST` draws, spread evenly, are used, so that the work is
O(dim MOST^2), the memory O(dim MOST), and no square matrix larger than 2 MOST.

Deviation: draws beyond `MOST` are not used. `GAMMA` is what the authors add to A and B.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.numerics.linalg import pivoted_cholesky, solve_lower
from probmodel.numerics.roots import LowRank
from probmodel.types import Array

MOST = 512  # draws that are used
GAMMA = 1e-5  # added to the variances of all standardised directions
CUTOFF = 2.0  # directions whose variance is within a factor of this from one are left alone
ROUNDING = 1e-12  # of the largest eigenvalue: smaller ones are rounding errors
NARROW = 1e-10  # of the largest square of a row: what a row adds to others that is less is left out
TINY = 1e-20  # below this a variance counts as none


def low_rank(x: Array, grad: Array, cutoff: float = CUTOFF) -> LowRank:
    """Estimate the root of a covariance from draws and gradients.

    Parameters
    ----------
    x, grad : (n, dim), draws and the gradients of the log density there
    cutoff : eigenvalues of G between its inverse and itself are left out; above 1
    """
    rows = np.linspace(0, len(x) - 1, min(len(x), MOST)).astype(int)
    scale = scales(x, grad)
    y = (x[rows] - np.mean(x, axis=0)) / scale
    z = (grad[rows] - np.mean(grad, axis=0)) * scale
    if not (y.any() or z.any()):
        return LowRank(scale, np.empty((len(scale), 0)), np.empty(0))
    *parts, lifted = _common(y, z)
    values, vectors = _beyond(geometric_mean(*map(_covariance, parts)), cutoff)
    return LowRank(scale, lifted(vectors), np.sqrt(values))


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


def _beyond(G: Array, cutoff: float) -> tuple[Array, Array]:
    """Return the eigenvalues of G beyond the cutoff, and below its inverse, and their vectors."""
    from scipy.linalg import eigh

    bounds = (cutoff, np.inf), (-np.inf, 1.0 / cutoff)
    (high, of_high), (low, of_low) = (
        eigh(G, subset_by_value=pair, driver="evr", check_finite=False) for pair in bounds
    )
    low = np.maximum(low, ROUNDING * np.max(high, initial=1.0))
    return np.concatenate([low, high]), np.concatenate([of_low, of_high], axis=1)


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
