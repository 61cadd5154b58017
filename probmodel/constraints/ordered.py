"""Increasing vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.types import Array


class Ordered(Constraint):
    """Strictly increasing vectors: the first element is ``u[0]``, steps are ``exp(u[1:])``."""

    event_ndim = 1

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the running sums of the first element and the steps."""
        return xp.cumsum(xp.concatenate([u[..., :1], xp.exp(u[..., 1:])], axis=-1), axis=-1)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the sum of ``u[1:]``."""
        return xp.sum(u[..., 1:], axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the first element and the log steps."""
        return np.concatenate([y[..., :1], np.log(np.diff(y, axis=-1))], axis=-1)

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector is finite and increases strictly."""
        return np.asarray(np.isfinite(y).all(axis=-1) & (np.diff(y, axis=-1) > 0).all(axis=-1))


class PositiveOrdered(Constraint):
    """Strictly increasing vectors of positive numbers: steps from zero are ``exp(u)``."""

    event_ndim = 1
    element_limits = (0.0, None)
    name = "positive ordered"

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the running sums of ``exp(u)``."""
        return xp.cumsum(xp.exp(u), axis=-1)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the sum of ``u``."""
        return xp.sum(u, axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the log steps from zero."""
        return np.log(np.diff(y, axis=-1, prepend=0.0))

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector is positive, finite and increases strictly."""
        steps = np.diff(y, axis=-1, prepend=0.0)
        return np.asarray(np.isfinite(y).all(axis=-1) & (steps > 0).all(axis=-1))
