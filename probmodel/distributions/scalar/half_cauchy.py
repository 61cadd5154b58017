"""The half-Cauchy distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions.scalar.cauchy import LOG_PI, Cauchy
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.location_scale import LOG_2, HalfFamily
from probmodel.distributions.tail_probabilities import Sides


class HalfCauchy(FreeScale, HalfFamily):
    r"""Absolute value of a Cauchy variable with location zero.

    .. math:: p(y) = \frac{2}{\pi \sigma \{1 + (y / \sigma)^2\}}, \quad y \ge 0

    Parameters
    ----------
    scale : scale (median) :math:`\sigma > 0`

    Notes
    -----
    Stan: ``cauchy(0, scale)`` on a parameter with ``<lower=0>`` (up to the constant 2). SciPy:
    ``halfcauchy(0, scale)``.

    References
    ----------
    Gelman (2006), Prior distributions for variance parameters in hierarchical models.
    """

    full = Cauchy

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        (scale,) = params
        return (
            lambda: xp.log(xp.arctan2(y, scale)) + LOG_2 - LOG_PI,
            lambda: xp.log(xp.arctan2(scale, y)) + LOG_2 - LOG_PI,
        )

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``u - log(1 + exp(2 u))`` for unit scale."""
        return np.log(self.args["scale"]), 1.0
