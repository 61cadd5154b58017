"""The Cauchy distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.scalar.location_scale import LocationScale
from probmodel.types import Array

LOG_PI = float(np.log(np.pi))


class Cauchy(LocationScale):
    r"""Cauchy distribution.

    .. math:: p(y) = \frac{1}{\pi \sigma \{1 + ((y - \mu) / \sigma)^2\}}

    Parameters
    ----------
    loc : location (median) :math:`\mu`
    scale : scale (half the interquartile range) :math:`\sigma > 0`

    Notes
    -----
    Stan: ``cauchy(loc, scale)``. SciPy: ``cauchy(loc, scale)``.
    """

    symmetric = True
    standard_information: ClassVar = (0.5, 0.5)

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard Cauchy."""
        return -LOG_PI - xp.log1p(z * z)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard Cauchy variates."""
        return rng.standard_cauchy(shape)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        loc, scale = params
        # arctan2(1, -z) is the angle pi F(z), without cancellation in the lower tail.
        return xp.log(xp.arctan2(scale, loc - x)) - LOG_PI

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        loc, scale = params
        return xp.log(xp.arctan2(scale, x - loc)) - LOG_PI
