"""Factorised covariance matrices of Gaussian processes, as Kronecker products over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.distributions.vector.whitening import from_constant_lower, from_lower
from probmodel.numerics.linalg import cholesky, solve_lower, transpose
from probmodel.types import Array


class Factorised:
    """Covariance matrix of a process, factorised: a Kronecker product of one matrix per axis.

    Parameters
    ----------
    matrices : of each axis, (..., n_1, n_1), (..., n_2, n_2), ...; one matrix for scattered points,
        and on a grid where the kernel is no product over the axes
    shape : event shape of a value

    Where no matrix has batch axes or is to be differentiated, the inverses of the roots are
    computed here, once; otherwise each use solves triangular systems.
    """

    def __init__(self, matrices: Sequence[Any], shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = prod(shape)
        self.sizes = tuple(m.shape[-1] for m in matrices)
        self._constant = all(isinstance(m, np.ndarray) and m.ndim == 2 for m in matrices)
        self._roots = [cholesky(m) for m in matrices]
        make = from_constant_lower if self._constant else from_lower
        self._whitenings = [make(root) for root in self._roots]

    def matrix(self) -> Array:
        """Return the matrix itself, jitter included: batch shape + (size, size)."""
        whole = np.ones((1, 1))
        for root in self._roots:
            factor = np.asarray(root @ transpose(root))
            product = whole[..., :, None, :, None] * factor[..., None, :, None, :]
            size = whole.shape[-1] * factor.shape[-1]
            whole = product.reshape(*product.shape[:-4], size, size)
        return whole

    @property
    def log_det(self) -> Any:
        """Log determinant of the whitening map: batch shape."""
        terms = zip(self._whitenings, self.sizes, strict=True)
        return sum(w.log_det * (self.size // n) for w, n in terms)

    def whiten(self, r: Any) -> Any:
        """Turn residuals into independent standard normal values."""
        return self._on_axes(r, [w.whiten for w in self._whitenings])

    def color(self, z: Any) -> Any:
        """Apply the inverse of `whiten`."""
        return self._on_axes(z, [w.color for w in self._whitenings])

    def squared_change(self, xp: Any, relative: Any, changes: Sequence[Any]) -> Any:
        """Squared norm of a change of the whitened matrix, ``relative`` I plus that of the axes.

        ``relative`` is a number per batch element; ``changes`` are of the matrix of each axis, None
        for one that stays.
        """
        mean, spread = relative, 0.0
        for change, root, n in zip(changes, self._roots, self.sizes, strict=True):
            if change is not None:
                s = solve_lower(root, transpose(solve_lower(root, change)))
                trace = xp.sum(s * np.eye(n), axis=(-2, -1)) / n
                mean = mean + trace
                spread = spread + xp.sum(s * s, axis=(-2, -1)) / n - trace * trace
        return self.size * (mean * mean + spread)

    def _on_axes(self, value: Any, maps: Sequence[Callable[[Any], Any]]) -> Any:
        """Apply one linear map along each axis of the event."""
        xp = anp if isinstance(value, Box) or isinstance(self._roots[0], Box) else np
        event = len(self.shape)
        batch = value.shape[: value.ndim - event]
        shape = tuple(self.sizes)
        value = xp.reshape(value, batch + shape)
        for axis, apply in enumerate(maps):
            k = axis - len(shape)
            moved = xp.moveaxis(value, k, -1)
            if self._constant:
                moved = apply(moved)
            else:
                rows = apply(xp.reshape(moved, (*moved.shape[: len(batch)], -1, shape[axis])))
                moved = xp.reshape(rows, rows.shape[:-2] + moved.shape[len(batch) :])
                batch = rows.shape[:-2]
            value = xp.moveaxis(moved, -1, k)
        return xp.reshape(value, value.shape[: value.ndim - len(shape)] + self.shape)


def grid_points(*axes: Array) -> Array:
    """Coordinates of all points of a grid, the last axis running fastest: (n, number of axes)."""
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([m.ravel() for m in mesh], axis=-1)
