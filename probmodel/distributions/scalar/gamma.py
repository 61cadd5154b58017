"""The gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import gammaln, trigamma
from probmodel.numerics.special.incomplete_gamma import log_gammainc, log_gammaincc
from probmodel.types import Array


class Gamma(FreeScale):
    r"""Gamma distribution, with an inverse scale.

    .. math:: p(y) = \frac{\beta^\alpha}{\Gamma(\alpha)} y^{\alpha - 1} e^{-\beta y}, \quad y > 0

    Parameters
    ----------
    alpha : shape :math:`\alpha > 0`
    beta : rate :math:`\beta > 0` (inverse scale); the mean is :math:`\alpha / \beta`

    Notes
    -----
    Stan: ``gamma(alpha, beta)``. SciPy: ``gamma(alpha, 0, 1 / beta)``.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for negative values."""
        alpha, beta = params
        alpha = where_valid(alpha > 0, alpha)
        powers = alpha * xp.log(beta) + (alpha - 1.0) * xp.log(value)
        return powers - beta * value - gammaln(alpha)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on shape and rate."""
        return gamma_information(*params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(rng.standard_gamma(alpha, shape) / beta)

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        alpha, beta = valid_shape_and_rate(*params)
        return lambda: log_gammainc(alpha, beta * y), lambda: log_gammaincc(alpha, beta * y)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``alpha u - beta exp(u)``."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(alpha / beta), 1.0 / np.sqrt(alpha)


def valid_shape_and_rate(alpha: Any, beta: Any) -> tuple[Any, Any]:
    """Return shape and rate, NaN where they are not positive."""
    return where_valid(alpha > 0, alpha), where_valid(beta > 0, beta)


def gamma_information(alpha: Array, beta: Array) -> InformationMatrix:
    """Information on shape and rate in a gamma variable, or in its reciprocal."""
    return {
        ("alpha", "alpha"): lambda: trigamma(alpha),
        ("alpha", "beta"): lambda: -1.0 / beta,
        ("beta", "beta"): lambda: alpha / (beta * beta),
    }


def log_normalizer(alpha: float, beta: float) -> float:
    """Return the part of the log density that does not depend on the value."""
    return float(alpha * np.log(beta) - gammaln(alpha))
