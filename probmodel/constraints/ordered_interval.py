"""Increasing vectors between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint, between_text
from probmodel.constraints.simplex import Simplex
from probmodel.types import Array


class OrderedInterval(Constraint):
    """Strictly increasing vectors of numbers between ``lower`` and ``upper``.

    The steps from ``lower`` over the elements to ``upper``, as shares of the whole, are a
    `Simplex`, which has one element more. It is what `Ordered` becomes under a prior whose support
    is an interval.

    Parameters
    ----------
    lower, upper : one number each for all elements
    """

    event_ndim = 1

    def __init__(self, lower: Any, upper: Any) -> None:
        super().__init__(lower, upper)
        self._shares = Simplex()

    @property
    def name(self) -> str:
        """The constraint in words."""
        return f"ordered {between_text(self.bounds)}"

    @property
    def element_limits(self) -> tuple[Any, Any]:
        """The two bounds."""
        return self.bounds[0], self.bounds[1]

    def forward(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return the running sums of the steps."""
        lower, upper = bounds
        steps = self._shares.forward(xp, u)
        return lower + (upper - lower) * xp.cumsum(steps[..., :-1], axis=-1)

    def log_det(self, xp: Any, u: Any, *bounds: Any) -> Any:
        """Return that of the shares, and the log of the width for each element."""
        lower, upper = bounds
        return self._shares.log_det(xp, u) + xp.sum(xp.log(upper - lower) + 0.0 * u, axis=-1)

    def inverse(self, y: Array, *bounds: Any) -> Array:
        """Return the coordinates of the shares."""
        lower, upper = (np.broadcast_to(b, (*y.shape[:-1], 1)) for b in bounds)
        steps = np.diff(y, axis=-1, prepend=lower, append=upper)
        return self._shares.inverse(steps / (upper - lower))

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector increases strictly, and lies between the bounds."""
        lower, upper = (np.broadcast_to(b, (*y.shape[:-1], 1)) for b in bounds)
        return np.asarray((np.diff(y, axis=-1, prepend=lower, append=upper) > 0).all(axis=-1))
