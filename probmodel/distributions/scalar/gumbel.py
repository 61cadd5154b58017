"""The Gumbel distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.location_scale import LocationScale
from probmodel.distributions.scalar.powered_exponential import CROSS, IN_LOG_SCALE
from probmodel.numerics.special.positive_numbers import log_inv_cloglog
from probmodel.types import Array


class Gumbel(LocationScale):
    r"""Gumbel distribution of the largest of many light-tailed variables.

    .. math:: p(y) = \frac{1}{\beta} \exp\{-z - e^{-z}\}, \quad z = (y - \mu) / \beta

    Parameters
    ----------
    mu : mode :math:`\mu`; the mean is :math:`\mu + 0.5772 \beta`
    beta : scale :math:`\beta > 0`; the standard deviation is :math:`\pi \beta / \sqrt 6`

    Notes
    -----
    Stan: ``gumbel(mu, beta)``. SciPy: ``gumbel_r(mu, beta)``.
    """

    parameters: ClassVar = {"mu": Parameter(Real()), "beta": Parameter(Positive())}

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard Gumbel."""
        return -z - xp.exp(-z)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard Gumbel variates."""
        return np.asarray(rng.gumbel(size=shape))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mode and scale, which the skew couples."""
        _, beta = params
        return {
            ("mu", "mu"): lambda: 1.0 / (beta * beta),
            ("mu", "beta"): lambda: -CROSS / (beta * beta),
            ("beta", "beta"): lambda: IN_LOG_SCALE / (beta * beta),
        }

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        mu, beta = params
        return -xp.exp((mu - x) / beta)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        mu, beta = params
        return log_inv_cloglog((mu - x) / beta)
