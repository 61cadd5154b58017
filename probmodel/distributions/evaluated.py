"""Distributions whose log density and derivatives come from one evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution, Thunk
from probmodel.distributions.sums import batch_shape, reduce_to, sum_of_rows
from probmodel.types import Array


class Evaluated(Distribution):
    """A distribution that defines `evaluate` in the place of `log_kernel` and `partials`."""

    def evaluate(self, xp: Any, value: Any, *params: Any) -> tuple[Any, Sequence[Thunk]]:
        """Return the log density, and thunks of its derivatives in the value and each parameter.

        Batch shape, as `log_kernel` and `partials` have it; written with ``xp``.
        """
        raise NotImplementedError

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return self.evaluate(xp, value, *params)[0]

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to the value and each parameter."""
        return self.evaluate(xp, value, *params)[1]

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one evaluation."""
        args = (value, *params)
        batch = batch_shape(args, self.event_ndims)
        logp, slopes = self.evaluate(np, *args)
        return sum_of_rows(logp, batch), [
            reduce_to(args[i], slopes[i](), batch, self.event_ndims[i]) for i in wanted
        ]
