"""Fixed points of many chains at once, each iterated until it stays where it is.

z       a chain's value                                   (chains, dim)
f(z)    the right-hand side of z = f(z)
r       residual, f(z) - z                                (chains, dim)

Anderson (1965), "Iterative procedures for nonlinear integral equations", Journal of the ACM 12.
Walker and Ni (2011), "Anderson acceleration for fixed-point iterations", SIAM Journal on
Numerical Analysis 49, whose type II with the normal equations of unit vectors this is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.types import Array

ITERATIONS = 100  # of a fixed point, at most
TOLERANCE = 1e-10  # of its last change, relative to 1 + |value|
DEPTH, RIDGE = 4, 1e-12  # iterations that are combined, and what keeps their matrix regular
TRIAL, GAIN = 10, 0.1  # the changes have to shrink by this factor in so many iterations


def fixed_point(
    equation: Callable[[Array, Array], tuple[Array, Array]], start: Array, wanted: Array
) -> tuple[Array, Array, Array]:
    """Solve ``value = equation(value)`` for each chain, by Anderson's accelerated iteration.

    Parameters
    ----------
    equation : called with the chains that still move, (n,), and their values, (n, dim); it returns
        the right-hand sides, and gradients taken, (n,)
    start : (chains, dim)
    wanted : (chains,) bool, the chains to do this for

    Returns
    -------
    value : (chains, dim)
    converged : (chains,) bool; False also where a value is not finite, or not wanted
    n_grad : (chains,) int

    Notes
    -----
    Each new value is the combination of the last few right-hand sides for which, if the equation
    were linear, the residual would be least. That takes about half the iterations of
    ``value = equation(value)``, and converges where this goes round in circles. A chain whose
    residual does not shrink tenfold in ten iterations is given up.
    """
    chains, dim = start.shape
    result, converged = start.copy(), np.zeros(chains, dtype=bool)
    n_grad, allowed = np.zeros(chains, dtype=int), np.full(chains, np.inf)
    rows = np.flatnonzero(wanted)
    value, past = start[rows], _Past(len(rows), dim)
    for i in range(ITERATIONS):
        if not rows.size:
            break
        image, cost = equation(rows, value)
        residual = image - value
        n_grad[rows] += cost
        result[rows] = image
        change = np.max(np.abs(residual) / (1.0 + np.abs(image)), axis=1)
        converged[rows] = change < TOLERANCE
        going = (change >= TOLERANCE) & (change < np.inf)
        if i % TRIAL == 0:
            going &= change < allowed[rows]
            allowed[rows] = GAIN * change
        value = past.next_value(i, image, residual)
        if not going.all():
            rows, value = rows[going], value[going]
            past.keep(going)
    return result, converged, n_grad


class _Past:
    """The last few iterations of a fixed point: how residuals and images changed."""

    def __init__(self, chains: int, dim: int) -> None:
        self._residuals = np.zeros((chains, DEPTH, dim))
        self._images = np.zeros((chains, DEPTH, dim))
        self._last: tuple[Array, Array] | None = None

    def next_value(self, i: int, image: Array, residual: Array) -> Array:
        """Value for which the residual would vanish, as far as the past tells."""
        last, self._last = self._last, (image, residual)
        if last is None:
            return image
        change = residual - last[1]
        scale = np.sqrt(np.sum(change * change, axis=1, keepdims=True))
        scale = np.where(scale > 0.0, scale, 1.0)  # all of unit length, to be compared fairly
        self._residuals[:, i % DEPTH] = change / scale
        self._images[:, i % DEPTH] = (image - last[0]) / scale
        R = self._residuals
        gram = R @ np.swapaxes(R, 1, 2) + RIDGE * np.eye(DEPTH)
        gram = np.where(np.isfinite(gram), gram, np.eye(DEPTH))
        shares = np.linalg.solve(gram, R @ residual[:, :, None])
        return image - (np.swapaxes(shares, 1, 2) @ self._images)[:, 0]

    def keep(self, rows: Array) -> None:
        """Forget the other chains."""
        self._residuals, self._images = self._residuals[rows], self._images[rows]
        if self._last is not None:
            self._last = self._last[0][rows], self._last[1][rows]
