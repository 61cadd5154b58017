"""The negative binomial distribution, by shape and inverse scale of a gamma rate."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import NegativeBinomialFamily
from probmodel.distributions.scalar.negative_binomial2_log import log_above, log_up_to
from probmodel.numerics.special import where
from probmodel.numerics.special.count_functions import log_ways_kernel, poisson_counts
from probmodel.types import Array

# What shapes of zero have more in distribution functions.
_LEAST = 1e-200


class NegativeBinomial(NegativeBinomialFamily):
    r"""Negative binomial distribution: a Poisson whose rate is gamma distributed.

    .. math:: P(y) = \binom{y + \alpha - 1}{y} \Bigl(\frac{\beta}{\beta + 1}\Bigr)^\alpha
              \Bigl(\frac{1}{\beta + 1}\Bigr)^y, \quad y = 0, 1, \dots

    Parameters
    ----------
    alpha : shape :math:`\alpha \ge 0` of the rate; of shape zero the count is zero
    beta : inverse scale :math:`\beta > 0` of the rate; the mean is :math:`\alpha / \beta`

    Notes
    -----
    Stan: ``neg_binomial(alpha, beta)``. SciPy: ``nbinom(alpha, beta / (beta + 1))``.
    `NegativeBinomial2` is the same by mean and dispersion.
    """

    parameters: ClassVar = {"alpha": Parameter(NonNegative()), "beta": Parameter(Positive())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        alpha, beta = _valid(*params)
        ways = log_ways_kernel(alpha, value)
        return ways - alpha * xp.log1p(1.0 / beta) - value * xp.log1p(beta)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the inverse scale: that on the shape is an infinite sum."""
        alpha, beta = params
        return {("beta", "beta"): lambda: alpha / beta / beta / (1.0 + beta)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        alpha, beta = params
        return poisson_counts(rng, rng.standard_gamma(alpha, shape) / beta)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        alpha, beta = _valid(*params)
        return log_up_to(xp, x, _more(alpha), xp.log(beta))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        alpha, beta = _valid(*params)
        above = log_above(xp, x, _more(alpha), xp.log(beta))
        return where((alpha == 0) & (x >= 0), -np.inf, above)


def _valid(alpha: Any, beta: Any) -> tuple[Any, Any]:
    return where_valid(alpha >= 0, alpha), where_valid(beta > 0, beta)


def _more(alpha: Any) -> Any:
    return alpha + where(alpha == 0, _LEAST, 0.0)
