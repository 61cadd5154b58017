"""The negative binomial distribution, by shape and inverse scale of a gamma rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, NonNegative, Positive
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.domain import where_valid
from probmodel.distributions.poisson_log import count_base
from probmodel.special import digamma
from probmodel.special.counts import log_rising, poisson_counts, rising_slope
from probmodel.types import Array


class NegativeBinomial(Distribution):
    r"""Negative binomial distribution: a Poisson whose rate is gamma distributed.

    .. math:: P(y) = \binom{y + \alpha - 1}{y} \Bigl(\frac{\beta}{\beta + 1}\Bigr)^\alpha
              \Bigl(\frac{1}{\beta + 1}\Bigr)^y, \quad y = 0, 1, \dots

    Parameters
    ----------
    alpha : shape :math:`\alpha \ge 0` of the rate; of shape zero the count is zero
    beta : inverse scale :math:`\beta > 0` of the rate; the mean is :math:`\alpha / \beta`

    Notes
    -----
    Stan: ``neg_binomial(alpha, beta)``. SciPy: ``nbinom(alpha, beta / (beta + 1))``. One number per
    batch element. `NegativeBinomial2` is the same by mean and dispersion.
    """

    parameters: ClassVar = {"alpha": Parameter(NonNegative()), "beta": Parameter(Positive())}
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero up."""
        return IntegerInterval(0, None)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without ``-log(y!)``: batch shape."""
        alpha, beta = params
        alpha = where_valid(xp, alpha >= 0, alpha)
        beta = where_valid(xp, beta > 0, beta)
        return log_rising(alpha, value) - alpha * xp.log1p(1.0 / beta) - value * xp.log1p(beta)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return ``-log(y!)``, or minus infinity for what is no count."""
        return count_base(value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives of `log_kernel` with respect to value, shape and inverse scale."""
        alpha, beta = params
        return (
            lambda: digamma(value + alpha) - xp.log1p(beta),
            lambda: rising_slope(alpha, value) - xp.log1p(1.0 / beta),
            lambda: (alpha / beta - value) / (1.0 + beta),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the inverse scale: that on the shape is an infinite sum."""
        alpha, beta = params
        return {("beta", "beta"): lambda: alpha / beta / beta / (1.0 + beta)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        alpha, beta = params
        return poisson_counts(rng, rng.standard_gamma(alpha, shape) / beta)
