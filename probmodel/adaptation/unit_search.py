"""Units of coordinates: lengths over which the gradient of a log density changes alike.

    x, g    places, and the gradients of the log density there      (chains, dim)
    S       units                                                   (chains, dim)
    v       random numbers of either sign, from 0.5 to 1.5          (chains, dim)
    h       |S H S v|, H being the Hessian                          (chains, dim)

Parameters of data in raw units differ by many orders of magnitude: a level of incomes by 1e4, the
logarithm of a scale by 0.1, a slope on seconds since 1970 by 1e-5. In units of their own the
entries of each row of the Hessian are about one (equilibration: Ruiz, 2001, A scaling algorithm to
equilibrate both rows and columns norms in matrices, report RAL-TR-2001-034). The iteration
``S <- S / sqrt(h)`` halves the logarithm of the error each time. A difference of two gradients
tells h (Bradley, 2010, Algorithms for the equilibration of matrices and their application to
limited-memory quasi-Newton methods, PhD thesis, Stanford University).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array, LogDensity

MOST = 12  # differences
FEWEST = 2
CLOSE = 3.0  # largest factor of the last change of a unit
LARGEST = 1e6  # factor of a change
APART = 1e-3  # largest distance of the points of a difference, in units
CHANGE = 1e-2  # largest change of the log density between them, about, due to one


class InUnits:
    """A density as a function of coordinates in units S, (dim,)."""

    def __init__(self, density: LogDensity, S: Array) -> None:
        self._density, self._S = density, S

    def __call__(self, z: Array) -> Evaluated:
        """Evaluate (chains, dim) places."""
        logp, grad = self._density(z * self._S)
        return Evaluated(logp, grad * self._S)


class Evaluated(NamedTuple):
    """Log densities, (chains,), and gradients, (chains, dim)."""

    logp: Array
    grad: Array


class UnitSearch:
    """Search for the units at places with finite gradients, evaluation by evaluation.

    Parameters
    ----------
    density : the target
    x : (chains, dim), the places
    rng : of v

    Attributes
    ----------
    S : (chains, dim), 1 where the gradient does not change
    found : whether more evaluations would hardly change S
    """

    def __init__(self, density: LogDensity, x: Array, rng: np.random.Generator) -> None:
        self._x, self._rng = x, rng
        self._grad = np.asarray(density(x)[1])
        self._n = 0
        self.S, self.found = np.ones_like(x), False

    @np.errstate(all="ignore")
    def step(self, density: LogDensity) -> None:
        """Evaluate a point beside each place."""
        rng, shape = self._rng, self._x.shape
        move = self.S * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        slope = np.abs(self._grad * move).max(axis=1, keepdims=True)
        apart = np.minimum(APART, CHANGE / slope)
        ahead = density(self._x + apart * move)[1]
        h = np.abs(self.S * (ahead - self._grad) / apart)
        factor = np.clip(1.0 / np.sqrt(h), 1.0 / LARGEST, LARGEST)
        factor = np.where(np.isfinite(h), factor, 1.0)
        self.S, self._n = self.S * factor, self._n + 1
        typical = np.median(np.abs(np.log(np.where(h > 0.0, factor, 1.0))), axis=0)
        self.found = self._n == MOST or (self._n >= FEWEST and typical.max() < np.log(CLOSE))
        if self.found:
            self.S = np.where(h == 0.0, 1.0, self.S)

    @property
    def promised(self) -> Array:
        """What is gained up to the mode at least, as far as single coordinates tell: (chains,)."""
        with np.errstate(all="ignore"):
            return np.asarray(0.5 * np.sum(np.square(self.S * self._grad), axis=1))
