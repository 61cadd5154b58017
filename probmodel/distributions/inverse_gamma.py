"""The inverse gamma distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import are_positive_numbers, where_inside, where_valid
from probmodel.distributions.free_scale import FreeScale
from probmodel.distributions.gamma import gamma_information, log_normalizer
from probmodel.special import digamma, gammaln
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
    Stan: ``inv_gamma(alpha, beta)``. SciPy: ``invgamma(alpha, 0, beta)``. One number per batch
    element.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}

    def support(self) -> Constraint:
        """Positive numbers."""
        return Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for negative values."""
        alpha, beta = params
        alpha = where_valid(xp, alpha > 0, alpha)
        powers = alpha * xp.log(beta) - (alpha + 1.0) * xp.log(value)
        return where_inside(xp, value > 0, powers - beta / value - gammaln(alpha))

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value, shape and scale."""
        alpha, beta = params
        return (
            lambda: (beta / value - alpha - 1.0) / value,
            lambda: xp.log(beta) - xp.log(value) - digamma(alpha),
            lambda: alpha / beta - 1.0 / value,
        )

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out the normaliser of known parameters beforehand."""
        value, *params = known
        if value is not None or not are_positive_numbers(params):
            return self.summed
        return _Fixed(*map(float, params))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on shape and scale: that of the reciprocal."""
        return gamma_information(*params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(beta / rng.standard_gamma(alpha, shape))

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``-alpha u - beta exp(-u)``."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(beta / alpha), 1.0 / np.sqrt(alpha)


class _Fixed:
    """Sum of log densities with a known shape and scale, as a function of the value."""

    def __init__(self, alpha: float, beta: float) -> None:
        self.power, self.beta = alpha + 1.0, beta
        self.constant = log_normalizer(alpha, beta)

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Any
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the value."""
        rate = self.beta / value
        terms = self.constant - self.power * np.log(value) - rate
        terms = np.where(value > 0.0, terms, -np.inf)
        logp = terms if terms.ndim == 1 else terms.reshape(len(terms), -1).sum(axis=1)
        return logp, [(rate - self.power) / value] if wanted else []
