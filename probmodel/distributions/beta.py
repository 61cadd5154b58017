"""The beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, UnitInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.domain import where_valid
from probmodel.special import betaln, digamma
from probmodel.types import Array


class Beta(Distribution):
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
        return powers - betaln(alpha, beta)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value and both shapes."""
        alpha, beta = params
        return (
            lambda: (alpha - 1.0) / value - (beta - 1.0) / (1.0 - value),
            lambda: xp.log(value) - digamma(alpha) + digamma(alpha + beta),
            lambda: xp.log1p(-value) - digamma(beta) + digamma(alpha + beta),
        )

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(rng.beta(alpha, beta, shape))
