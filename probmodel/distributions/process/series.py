"""What distributions of series share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.types import Array

# A coefficient vector: its length is the order of the series.
COEFFICIENTS = Parameter(Real(), event_ndim=1)


class Series(Distribution):
    """A distribution of values in time, time being the last axis (the last but one of vectors).

    Its length does not follow from its parameters.
    """

    event_ndim: ClassVar[int] = 1
    sequential: ClassVar[bool] = True
    domain = Real()

    @property
    def batch_hint(self) -> str:
        """What to do where parameters have more axes than there are values, in sentences."""
        return (
            "Where the mean changes in time, the deviations from it are such a series: with "
            f"y = data(...), write potential(log_density({self.name}(...), y - mean)), or "
            f"param({self.name}(...)) of a latent series, to which the mean is added. Where "
            "anything else changes, write each value given the one before, which is data: "
            "observed(Normal(c + phi * before, sigma))."
        )

    def event_shape(self, *params: Array) -> None:
        """Leave the length to the declaration."""

    def is_walk(self, known: Callable[[Any], Any]) -> bool:
        """Whether values stay where they are where the scale of the steps vanishes.

        ``known`` returns the values of an argument that data decide, and NaN for others.
        """
        return False

    def rescaled(self, origin: Any, unit: Any) -> Distribution:
        """Return the walk of ``(x - origin) / unit``; ``unit``, not zero, may be negative."""
        raise self._without("form in other units")


def over_time(xp: Any, number: Any) -> Any:
    """Give one number per series an axis of time."""
    return xp.expand_dims(number, -1)


def joined(xp: Any, *parts: Any) -> Any:
    """Put stretches of time one after another; their batch axes broadcast."""
    batch = np.broadcast_shapes(*(np.shape(part)[:-1] for part in parts))
    full = [p if np.shape(p)[:-1] == batch else p + np.zeros((*batch, 1)) for p in parts]
    return xp.concatenate(full, axis=-1)
