"""The half-normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.location_scale import LOG_2, HalfFamily
from probmodel.distributions.scalar.normal import Normal
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import erf, log_ndtr


class HalfNormal(FreeScale, HalfFamily):
    r"""Absolute value of a normal variable with mean zero.

    .. math:: p(y) = \sqrt{2 / \pi}\, \sigma^{-1} \exp\{-y^2 / (2 \sigma^2)\}, \quad y \ge 0

    Parameters
    ----------
    scale : standard deviation :math:`\sigma > 0` of the underlying normal

    Notes
    -----
    Stan: ``normal(0, scale)`` on a parameter with ``<lower=0>`` (up to the constant 2). SciPy:
    ``halfnorm(0, scale)``.
    """

    full = Normal

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        z = y / params[0]
        return lambda: xp.log(erf(z * np.sqrt(0.5))), lambda: LOG_2 + log_ndtr(-z)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``u - exp(2 u) / 2`` for unit scale."""
        return np.log(self.args["scale"]), np.sqrt(0.5)
