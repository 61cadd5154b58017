"""The beta distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, UnitInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.free_scale import FreeScale
from probmodel.special import trigamma
from probmodel.special.rising import log_beta
from probmodel.types import Array


class Beta(FreeScale):
    r"""Beta distribution.

    .. math:: p(y) = y^{\alpha - 1} (1 - y)^{\beta - 1} / B(\alpha, \beta), \quad 0 < y < 1

    Parameters
    ----------
    alpha, beta : shapes :math:`\alpha, \beta > 0`

    Notes
    -----
    Stan: ``beta(alpha, beta)``. SciPy: ``beta(alpha, beta)``. One number per batch element.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}

    def support(self) -> Constraint:
        """Numbers between zero and one."""
        return UnitInterval()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN outside the unit interval."""
        alpha, beta = params
        alpha = where_valid(xp, alpha > 0, alpha)
        beta = where_valid(xp, beta > 0, beta)
        powers = (alpha - 1.0) * xp.log(value) + (beta - 1.0) * xp.log1p(-value)
        return powers - log_beta(alpha, beta)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on both shapes."""
        alpha, beta = params
        return {
            ("alpha", "alpha"): lambda: trigamma(alpha) - trigamma(alpha + beta),
            ("alpha", "beta"): lambda: -trigamma(alpha + beta),
            ("beta", "beta"): lambda: trigamma(beta) - trigamma(alpha + beta),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(rng.beta(alpha, beta, shape))

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the log odds: ``alpha log(p) + beta log(1 - p)`` is their log density."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(alpha / beta), np.sqrt(1.0 / alpha + 1.0 / beta)
