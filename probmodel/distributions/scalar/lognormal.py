"""The log-normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import LOG_2PI, log_ndtr
from probmodel.numerics.special.logs import log_less
from probmodel.types import Array


class LogNormal(OfStandardNormal, FreeScale):
    r"""Log-normal distribution: the logarithm of the value is normal.

    .. math:: p(y) = \frac{1}{\sqrt{2\pi}\,\sigma y}
              \exp\{-(\log y - \mu)^2 / (2 \sigma^2)\}, \quad y > 0

    Parameters
    ----------
    mu : mean :math:`\mu` of the logarithm
    sigma : standard deviation :math:`\sigma > 0` of the logarithm

    Notes
    -----
    Stan: ``lognormal(mu, sigma)``. SciPy: ``lognorm(sigma, 0, exp(mu))``. Slopes have eight digits
    or more unless :math:`\log y` and :math:`\mu` agree in more than ten; there the last digit of
    :math:`y` alone changes them by more than a millionth.
    """

    noncentered_is_affine: ClassVar = False
    parameters: ClassVar = {"mu": Parameter(Real()), "sigma": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for values that have no logarithm."""
        mu, sigma = params
        z = log_less(value, mu) / sigma
        return -0.5 * z * z - xp.log(value) - xp.log(sigma) - 0.5 * LOG_2PI

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mean and standard deviation of the logarithm."""
        _, sigma = params
        return {
            ("mu", "mu"): lambda: 1.0 / (sigma * sigma),
            ("sigma", "sigma"): lambda: 2.0 / (sigma * sigma),
        }

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        mu, sigma = params
        return (
            lambda: log_ndtr((xp.log(y) - mu) / sigma),
            lambda: log_ndtr((mu - xp.log(y)) / sigma),
        )

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Exponential of a shifted and stretched standard normal value."""
        mu, sigma = params
        return xp.exp(mu + sigma * z)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Standardise the logarithm."""
        mu, sigma = params
        return np.asarray((np.log(value) - mu) / sigma)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Mean and standard deviation of the logarithm."""
        return self.args["mu"], self.args["sigma"]
