"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.gamma import gamma_information, valid_shape_and_rate
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import gammaln
from probmodel.numerics.special.incomplete_gamma import log_gammainc, log_gammaincc
from probmodel.types import Array


class InverseGamma(FreeScale):
    r"""Inverse gamma distribution: the reciprocal of the value is gamma distributed.

    .. math:: p(y) = \frac{\beta^\alpha}{\Gamma(\alpha)} y^{-\alpha - 1} e^{-\beta / y}, \quad y > 0

    Parameters
    ----------
    alpha : shape :math:`\alpha > 0`
    beta : scale :math:`\beta > 0`; the mean is :math:`\beta / (\alpha - 1)`

    Notes
    -----
    Stan: ``inv_gamma(alpha, beta)``. SciPy: ``invgamma(alpha, 0, beta)``.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for negative values."""
        alpha, beta = params
        alpha = where_valid(alpha > 0, alpha)
        powers = alpha * xp.log(beta) - (alpha + 1.0) * xp.log(value)
        return where_inside(value > 0, powers - beta / value - gammaln(alpha))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on shape and scale: that of the reciprocal."""
        return gamma_information(*params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(beta / rng.standard_gamma(alpha, shape))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        alpha, beta = valid_shape_and_rate(*params)
        return lambda: log_gammaincc(alpha, beta / y), lambda: log_gammainc(alpha, beta / y)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``-alpha u - beta exp(-u)``."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(beta / alpha), 1.0 / np.sqrt(alpha)
