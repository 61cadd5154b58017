"""Vectors of length one."""

from __future__ import annotations

from math import lgamma, log
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class UnitVector(Constraint):
    """Vectors of length one: ``y = u / |u|``.

    All K coordinates are free, one more than the sphere has dimensions, as no map without gaps
    covers it. The term in place of the Jacobian, ``-u'u / 2`` and a constant, makes u standard
    normal where the density on the sphere is flat, and of a length that is independent of y in any
    case. With its constant, densities are taken with respect to area on the sphere.

    u = 0 belongs to no vector: the density is not finite there. `inverse` returns the vector
    itself. A vector of two elements is the cosine and sine of an angle.

    References
    ----------
    Stan Reference Manual 2.37, "Unit vector"; Marsaglia (1972), Choosing a point from the surface
    of a sphere. Annals of Mathematical Statistics 43.
    """

    event_ndim = 1
    element_limits = (-1.0, 1.0)
    one_to_one: ClassVar[bool] = False
    name = "a vector of length one"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the vector over its length."""
        return u / xp.sqrt(xp.sum(u * u, axis=-1, keepdims=True))

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the log density of standard normal numbers times the area of the sphere."""
        half = 0.5 * u.shape[-1]
        return (1.0 - half) * log(2.0) - lgamma(half) - 0.5 * xp.sum(u * u, axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the vector itself, one of those that `forward` takes to it."""
        return y

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether the square of each vector's length is one within 1e-8."""
        return np.asarray(np.abs(np.square(y).sum(axis=-1) - 1.0) < 1e-8)
