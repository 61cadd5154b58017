"""What distributions of series share: one pass gives the density and all its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.sums import batch_shape, reduce_to, row_sum
from probmodel.types import Array

# A coefficient vector: its length is the order of the series.
COEFFICIENTS = Parameter(Real(), event_ndim=1)


class Series(Distribution):
    """A distribution of values in time, time being the last axis (the last but one of vectors).

    A subclass defines `evaluate`. Its length does not follow from its parameters.
    """

    event_ndim: ClassVar[int] = 1
    sequential: ClassVar[bool] = True

    def event_shape(self, *params: Array) -> None:
        """Leave the length to the declaration."""

    def evaluate(self, xp: Any, value: Any, *params: Any) -> tuple[Any, Sequence[Thunk]]:
        """Return the log density and thunks of its partial derivatives."""
        raise NotImplementedError

    def support(self) -> Constraint:
        """All real numbers, at each time."""
        return Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return self.evaluate(xp, value, *params)[0]

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to the value and each parameter."""
        return self.evaluate(xp, value, *params)[1]

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one pass."""
        args = (value, *params)
        batch = batch_shape(args, self.event_ndims)
        logp, slopes = self.evaluate(np, *args)
        return sum_of_rows(logp, batch), [
            reduce_to(args[i], slopes[i](), batch, self.event_ndims[i]) for i in wanted
        ]


def sum_of_rows(logp: Any, batch: tuple[int, ...]) -> Array:
    """Sum ``logp``, broadcast to ``batch``, over all but the chain axis."""
    return row_sum(np.broadcast_to(logp, batch), batch)


def over_time(xp: Any, number: Any) -> Any:
    """Give one number per series an axis of time."""
    return xp.expand_dims(number, -1)


def joined(xp: Any, *parts: Any) -> Any:
    """Put stretches of time one after another; their batch axes broadcast."""
    batch = np.broadcast_shapes(*(np.shape(part)[:-1] for part in parts))
    full = [p if np.shape(p)[:-1] == batch else p + np.zeros((*batch, 1)) for p in parts]
    return xp.concatenate(full, axis=-1)
