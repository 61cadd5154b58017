"""The half-normal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.location_scale import LOG_2, HalfFamily
from probmodel.distributions.scalar.normal import Normal
from probmodel.distributions.tail_probabilities import log_ccdf_above_zero, log_cdf_above_zero
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

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        (scale,) = params
        return log_cdf_above_zero(lambda y: xp.log(erf(y / scale * np.sqrt(0.5))), x)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        (scale,) = params
        return log_ccdf_above_zero(lambda y: LOG_2 + log_ndtr(-y / scale), x)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``u - exp(2 u) / 2`` for unit scale."""
        return np.log(self.args["scale"]), np.sqrt(0.5)
