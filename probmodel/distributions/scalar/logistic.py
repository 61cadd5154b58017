"""The logistic distribution."""

from __future__ import annotations

from math import pi
from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.scalar.location_scale import LocationScale
from probmodel.numerics.special import log_expit
from probmodel.numerics.special.cutpoints import log_expit_interval
from probmodel.types import Array


class Logistic(LocationScale):
    r"""Logistic distribution.

    .. math:: p(y) = \frac{e^{-z}}{\sigma (1 + e^{-z})^2}, \quad z = (y - \mu) / \sigma

    Parameters
    ----------
    loc : mean and median :math:`\mu`
    scale : scale :math:`\sigma > 0`; the standard deviation is :math:`\pi \sigma / \sqrt 3`

    Notes
    -----
    Stan: ``logistic(loc, scale)``. SciPy: ``logistic(loc, scale)``.
    """

    symmetric = True
    standard_information: ClassVar = (1.0 / 3.0, (3.0 + pi**2) / 9.0)

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard logistic, which is symmetric about zero."""
        return _log_standard(z)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard logistic variates."""
        return np.asarray(rng.logistic(size=shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        loc, scale = params
        return log_expit((x - loc) / scale)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        loc, scale = params
        return log_expit((loc - x) / scale)

    def log_mass_between(self, xp: Any, low: Any, high: Any, *params: Any) -> Any:
        """Log probability of values between two ends."""
        loc, scale = params
        return log_expit_interval((low - loc) / scale, (high - loc) / scale)


def _formula(xp: Any, z: Any) -> Any:
    size = xp.abs(z)
    return -size - 2.0 * xp.log1p(xp.exp(-size))


# About zero the formula's derivative is a difference of numbers near one.
_log_standard = closed_form(_formula, lambda xp, z: (lambda: -xp.tanh(0.5 * z),))
