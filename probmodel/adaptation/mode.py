"""Newton's method for the mode of a log density, for several starts at once.

    x       positions, one climb a chain                       (chains, dim)
    g, H    gradient and Hessian of the log density            (chains, dim), (chains, dim, dim)
    D       1 / sqrt |h| of the diagonal h of H                (chains, dim)
    V, w    D times eigenvectors, and eigenvalues, of -D H D   (chains, dim, dim), (chains, dim)
    p       direction, V |w|^-1 V' g                           (chains, dim)
    s       length of the step along p, at most 1              (chains,)

Where the log density is concave p is Newton's direction; D takes the parameters' scales out, for
the sake of rounding. Elsewhere the absolute values of the eigenvalues make it one of ascent all the
same (Dauphin et al., 2014, "Identifying and attacking the saddle point problem in high-dimensional
non-convex optimization"). Steps are halved until they gain enough (Armijo's rule).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from probmodel.types import Array, CurvedLogDensity

Curvature = Callable[[Any, Array, Array], tuple[Array, Array]]

TOLERANCE = 1e-8  # gain of log density, up to a factor 2, that is not worth another step
ENOUGH = 1e-4  # share of the gain expected to first order that a step has to make
HALVINGS = 50
LEAST_CURVATURE = 1e-12  # over the largest
ROUNDING = 100 * np.finfo(float).eps  # of the log density, relative


class Mode(NamedTuple):
    """Where the climbs ended.

    Attributes
    ----------
    x : (chains, dim)
    root : (chains, dim, dim)
        A root of the inverse of -H at ``x``: the covariance of the normal approximation.
    found : (chains,) bool
        Whether ``x`` is a mode: next to nothing is to be gained, and -H is positive definite.
    """

    x: Array
    root: Array
    found: Array


def find_mode(density: Any, x: Array, most: int = 200, curvature: Curvature | None = None) -> Mode:
    """Climb to a mode from each row of ``x``, (chains, dim), by ``most`` iterations at most.

    The density has a gradient, and is finite there. It has a Hessian, or ``curvature`` returns V
    and w, given density, positions and gradients. A climb that ends at no mode says so in
    ``found``; nothing raises on values.
    """
    logp, grad = density(x)
    curvature = curvature or _curvature
    vectors, values = curvature(density, x, grad)
    active = np.isfinite(logp)
    for _ in range(most):
        direction = _solve(vectors, values, grad)
        gain = np.sum(direction * grad, axis=1)
        active = active & (gain > TOLERANCE)
        if not active.any():
            break
        x, logp, moved = _climb(density, x, logp, direction, np.where(active, gain, 0.0))
        active = active & moved
        grad = density(x)[1]
        vectors, values = curvature(density, x, grad)
    gain = np.sum(_solve(vectors, values, grad) * grad, axis=1)
    near = gain <= np.maximum(TOLERANCE, ROUNDING * np.abs(logp))
    found = np.isfinite(logp) & near & (values > 0.0).all(axis=1)
    return Mode(x, vectors / np.sqrt(positive(values))[:, None, :], found)


def _curvature(density: CurvedLogDensity, x: Array, grad: Array) -> tuple[Array, Array]:
    """Return V and w; for steps along the gradient where H is not finite."""
    hessian = np.asarray(density.hessian(x))
    bad = ~np.isfinite(hessian).all(axis=(1, 2))
    length = np.linalg.norm(grad, axis=1)
    plain = -np.maximum(length, 1.0)[:, None, None] * np.eye(x.shape[1])
    negative = -np.where(bad[:, None, None], plain, hessian)
    size = np.sqrt(np.abs(np.diagonal(negative, axis1=1, axis2=2)))
    scale = 1.0 / np.where(size > 0.0, size, 1.0)
    scaled = scale[:, :, None] * negative * scale[:, None, :]
    values, vectors = np.linalg.eigh(0.5 * (scaled + np.swapaxes(scaled, 1, 2)))
    return scale[:, :, None] * vectors, values


def positive(values: Array) -> Array:
    """Absolute eigenvalues, none of them zero."""
    size = np.abs(values)
    largest = size.max(axis=1, keepdims=True)
    return np.maximum(size, np.where(largest > 0.0, LEAST_CURVATURE * largest, 1.0))


def _solve(vectors: Array, values: Array, grad: Array) -> Array:
    """Return V |w|^-1 V' g: (chains, dim)."""
    along = np.einsum("cij,ci->cj", vectors, grad) / positive(values)
    return np.einsum("cij,cj->ci", vectors, along)


def _climb(
    density: CurvedLogDensity, x: Array, logp: Array, direction: Array, gain: Array
) -> tuple[Array, Array, Array]:
    """Step along ``direction``; chains with no ``gain`` to make, and those that find none, stay.

    Returns the new positions, their log densities, and which chains moved.
    """
    length = np.ones(len(x))
    wanted = gain > 0.0
    moved = np.zeros(len(x), dtype=bool)
    slack = ROUNDING * np.abs(logp)
    for _ in range(HALVINGS):
        y = x + length[:, None] * direction
        value = density(y)[0]
        enough = value >= logp + ENOUGH * length * gain - slack
        good = wanted & ~moved & np.isfinite(value) & enough
        x, logp = np.where(good[:, None], y, x), np.where(good, value, logp)
        moved = moved | good
        if (moved | ~wanted).all():
            break
        length = np.where(moved, length, 0.5 * length)
    return x, logp, moved
