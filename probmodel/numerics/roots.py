"""A root C of a covariance or an inverse mass matrix, applied to one vector for each chain.

C is None for the identity, a vector (dim,) for a diagonal, a matrix (dim, dim), or one of the
structured roots below, whose products cost O(dim). For momenta of inverse mass C C' all that a
trajectory needs are C v and C'v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.numerics.linalg import solve_bidiagonal
from probmodel.types import Array


class LowRank(NamedTuple):
    """C = S (I + U (F - I) U'): a few directions with scales of their own, a diagonal beside them.

    Attributes
    ----------
    scale : (dim,), the diagonal of S
    basis : (dim, rank), U, with orthonormal columns
    factors : (rank,), the diagonal of F, above 0
    """

    scale: Array
    basis: Array
    factors: Array

    def times(self, v: Array) -> Array:
        """Return C v for each row of ``v``."""
        return np.asarray(self.scale * (v + (v @ self.basis) * (self.factors - 1.0) @ self.basis.T))

    def transposed_times(self, v: Array) -> Array:
        """Return C'v for each row of ``v``."""
        v = v * self.scale
        return np.asarray(v + (v @ self.basis) * (self.factors - 1.0) @ self.basis.T)


class InverseBidiagonal(NamedTuple):
    """C = B^-1 for an upper bidiagonal B: a tridiagonal mass matrix B'B, by banded solves.

    Attributes
    ----------
    diagonal : (dim,), b, without zeros
    above : (dim - 1,), e, the entries above the diagonal
    """

    diagonal: Array
    above: Array

    def times(self, v: Array) -> Array:
        """Return C v for each row of ``v``."""
        return solve_bidiagonal(self.diagonal, self.above, v)

    def transposed_times(self, v: Array) -> Array:
        """Return C'v for each row of ``v``."""
        return solve_bidiagonal(self.diagonal, self.above, v, transposed=True)


Root = Array | LowRank | InverseBidiagonal | None


def times(root: Root, v: Array) -> Array:
    """Return C v for each row of ``v``."""
    if root is None:
        return v
    if isinstance(root, np.ndarray):
        return np.asarray(v * root if root.ndim == 1 else v @ root.T)
    return root.times(v)


def transposed_times(root: Root, v: Array) -> Array:
    """Return C'v for each row of ``v``."""
    if root is None:
        return v
    if isinstance(root, np.ndarray):
        return np.asarray(v * root if root.ndim == 1 else v @ root)
    return root.transposed_times(v)


def inverse_transposed(root: Root) -> Root:
    """Return D = C'^-1, so that `transposed_times` of D gives C^-1 v; not for bidiagonal roots."""
    if root is None:
        return None
    if isinstance(root, LowRank):
        return LowRank(1.0 / root.scale, root.basis, 1.0 / root.factors)
    if isinstance(root, InverseBidiagonal):
        raise TypeError("an inverse bidiagonal root has no inverse of one of these kinds")
    return 1.0 / root if root.ndim == 1 else np.ascontiguousarray(np.linalg.inv(root).T)


def held(root: Root, coordinates: Array | tuple[int, ...], dim: int) -> Root:
    """Return a root with which some coordinates stay where they are; not for bidiagonal ones."""
    if isinstance(root, LowRank):
        return root._replace(scale=np.asarray(held(root.scale, coordinates, dim)))
    if isinstance(root, InverseBidiagonal):
        raise TypeError("an inverse bidiagonal root cannot hold single coordinates")
    rows = np.ones(dim) if root is None else np.array(root)
    rows[np.asarray(coordinates, dtype=int)] = 0.0
    return rows
