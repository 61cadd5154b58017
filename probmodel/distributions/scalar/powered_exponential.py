"""What the Weibull and Frechet distributions share: a power of an exponential variable."""

from __future__ import annotations

from math import pi
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside
from probmodel.distributions.noncentered_forms import OfStandardExponential
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.numerics.special.positive_numbers import EULER
from probmodel.types import Array

# Fisher information on the logarithm of a scale parameter of extreme values, and its product with
# that on the location: moments of the logarithm of a unit exponential variable.
IN_LOG_SCALE = pi**2 / 6.0 + (1.0 - EULER) ** 2
CROSS = 1.0 - EULER


class PoweredExponential(OfStandardExponential, FreeScale):
    r"""Distribution of :math:`\sigma e^{\pm 1 / \alpha}`, :math:`e` exponential of unit rate.

    Subclasses say by ``sign`` whether the power is positive. The formulas are in terms of
    :math:`u = \pm \alpha \log(y / \sigma)`, the logarithm of :math:`e`, which neither overflows nor
    underflows.
    """

    noncentered_is_affine: ClassVar = False
    parameters: ClassVar = {"alpha": Parameter(Positive()), "sigma": Parameter(Positive())}
    domain = Positive()
    sign: ClassVar[float]

    def log_exponential(self, xp: Any, value: Any, *params: Any) -> Any:
        """Logarithm of the exponential variable that ``value`` is a power of."""
        alpha, sigma = params
        return self.sign * alpha * (xp.log(value) - xp.log(sigma))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        alpha, _ = params
        u = self.log_exponential(xp, value, *params)
        return where_inside(value > 0, xp.log(alpha) + u - xp.log(value) - xp.exp(u))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on shape and scale: that of the logarithm, an extreme value."""
        alpha, sigma = params
        return {
            ("alpha", "alpha"): lambda: IN_LOG_SCALE / (alpha * alpha),
            ("alpha", "sigma"): lambda: -self.sign * CROSS / sigma,
            ("sigma", "sigma"): lambda: (alpha / sigma) ** 2,
        }

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Raise an exponential value to a power and stretch it."""
        alpha, sigma = params
        return sigma * xp.exp(self.sign * xp.log(z) / alpha)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo the stretch and the power."""
        return np.asarray(np.exp(self.log_exponential(np, value, *params)))

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm: that of sigma, and 1 / alpha for both signs."""
        return np.log(self.args["sigma"]), 1.0 / self.args["alpha"]
