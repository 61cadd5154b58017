"""Factorised correlation matrices of Gaussian processes, as Kronecker products over axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.distributions.domain import where_valid
from probmodel.distributions.kernels import Kernel
from probmodel.distributions.vector.whitening import from_constant_lower, from_lower
from probmodel.numerics.linalg import cholesky, solve_lower, transpose
from probmodel.types import Array


class Correlation:
    """Correlation matrix of a process, factorised: a product of one factor per axis.

    Parameters
    ----------
    kernel : the covariance function
    length_scale : one number per batch element
    find_distances : returns those of the coordinates of each axis, (n_1, n_1), (n_2, n_2), ...; for
        scattered points, and on a grid where the kernel is not separable, one matrix
    shape : event shape of a value
    jitter : added to the diagonal of each factor

    Without batch axes in ``length_scale`` the inverses of the roots are computed here, once, and
    all else is let go, for it may be large; otherwise each use solves triangular systems.
    """

    def __init__(
        self,
        kernel: Kernel,
        length_scale: Any,
        find_distances: Callable[[], Sequence[Array]],
        shape: tuple[int, ...],
        jitter: float,
    ) -> None:
        self.kernel = kernel
        self.length_scale = length_scale
        self.shape = shape
        self.size = prod(shape)
        self._find_distances = find_distances
        self._constant = isinstance(length_scale, np.ndarray) and length_scale.ndim == 0
        scaled, correlations = self._correlate()
        self.sizes = tuple(rho.shape[-1] for rho in correlations)
        self._roots = [
            cholesky(rho + jitter * np.eye(n))
            for rho, n in zip(correlations, self.sizes, strict=True)
        ]
        make = from_constant_lower if self._constant else from_lower
        self._whitenings = [make(root) for root in self._roots]
        self._kept = None if self._constant else (scaled, correlations)

    def _correlate(self) -> tuple[list[Any], list[Any]]:
        """Distances in units of the length scale, and correlations, of each axis."""
        xp = anp if isinstance(self.length_scale, Box) else np
        scale = where_valid(xp, self.length_scale > 0, self.length_scale)[..., None, None]
        scaled = [d / scale for d in self._find_distances()]
        return scaled, [self.kernel.correlation(xp, s) for s in scaled]

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
        """Turn residuals of unit amplitude into independent standard normal values."""
        return self._on_axes(r, [w.whiten for w in self._whitenings])

    def adjoint(self, z: Any) -> Any:
        """Apply the transpose of `whiten`."""
        return self._on_axes(z, [w.adjoint for w in self._whitenings])

    def color(self, z: Any) -> Any:
        """Apply the inverse of `whiten`."""
        return self._on_axes(z, [w.color for w in self._whitenings])

    def stretch_moments(self) -> tuple[Array, Array]:
        """Traces of S and of its square, for the change S of the matrix in the log length scale.

        S is whitened by the matrix: it is a sum of one term for each axis.
        """
        stretches = [np.asarray(m) for m in self._stretches()]
        means = [np.trace(m, axis1=-2, axis2=-1) / m.shape[-1] for m in stretches]
        squares = [np.sum(m * m, axis=(-2, -1)) / m.shape[-1] for m in stretches]
        mean = np.sum(means, axis=0)
        spread = sum(q - t * t for q, t in zip(squares, means, strict=True))
        return self.size * mean, self.size * (mean * mean + spread)

    def _stretches(self) -> Iterator[Any]:
        """Yield the whitened change of each axis's matrix in the log length scale."""
        scaled, correlations = self._kept or self._correlate()
        for s, rho, root in zip(scaled, correlations, self._roots, strict=True):
            stretched = self.kernel.stretch(s, rho)
            yield solve_lower(root, transpose(solve_lower(root, stretched)))

    def _on_axes(self, value: Any, maps: Sequence[Callable[[Any], Any]]) -> Any:
        """Apply one linear map along each axis of the event."""
        xp = anp if isinstance(value, Box) or isinstance(self.length_scale, Box) else np
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

    def _rows(self, z: Any, axis: int) -> Any:
        """Bring one axis last and flatten the others: batch + (size / n, n)."""
        xp = anp if isinstance(z, Box) else np
        batch = z.shape[: z.ndim - len(self.shape)]
        value = xp.moveaxis(xp.reshape(z, batch + self.sizes), axis - len(self.sizes), -1)
        return xp.reshape(value, (*batch, -1, self.sizes[axis]))


def find_distances(*coordinates: Array) -> tuple[Array, ...]:
    """Euclidean distances between points, of each set of coordinates: (n,) or (n, k) -> (n, n)."""
    return tuple(_pairwise(np.asarray(x, dtype=np.float64)) for x in coordinates)


def grid_points(*axes: Array) -> Array:
    """Coordinates of all points of a grid, the last axis running fastest: (n, number of axes)."""
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([m.ravel() for m in mesh], axis=-1)


def _pairwise(x: Array) -> Array:
    columns = x[:, None] if x.ndim == 1 else x
    squares = np.zeros((len(columns), len(columns)))
    for column in columns.T:
        difference = column[:, None] - column
        squares += difference * difference
    return np.sqrt(squares)
