"""The normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.scalar.location_scale import LocationScale
from probmodel.distributions.scalar.normal_log_scale import NormalLogScale
from probmodel.distributions.scalar.normal_log_variance import NormalLogVariance
from probmodel.numerics.special import LOG_2PI, log_ndtr
from probmodel.types import Array


class Normal(LocationScale):
    r"""Normal distribution.

    .. math:: p(y) = \frac{1}{\sqrt{2\pi}\,\sigma} \exp\{-(y - \mu)^2 / (2 \sigma^2)\}

    Parameters
    ----------
    loc : mean :math:`\mu`
    scale : standard deviation :math:`\sigma > 0`

    Notes
    -----
    Stan: ``normal(loc, scale)``. SciPy: ``norm(loc, scale)``.
    """

    link_forms: ClassVar = {
        ("scale", "exp"): NormalLogScale,
        ("scale", "exp of half"): NormalLogVariance,
    }

    symmetric = True
    standard_information: ClassVar = (1.0, 2.0)

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard normal."""
        return -0.5 * z * z - 0.5 * LOG_2PI

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard normal variates."""
        return rng.standard_normal(shape)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        loc, scale = params
        return log_ndtr((x - loc) / scale)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        loc, scale = params
        return log_ndtr((loc - x) / scale)
