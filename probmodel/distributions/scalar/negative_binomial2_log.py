"""The negative binomial distribution, by the logarithm of its mean and dispersion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import NegativeBinomialFamily
from probmodel.numerics.special import digamma, expit, log1p_exp, product, where
from probmodel.numerics.special.count_functions import (
    log_ways_kernel,
    poisson_counts,
    precision_slope,
)
from probmodel.numerics.special.incomplete_beta import log_betainc, log_betaincc
from probmodel.types import Array

# Above this precision the slope in it is summed term by term.
_LARGE = 1e5


class NegativeBinomial2Log(NegativeBinomialFamily):
    r"""Negative binomial distribution with the logarithm of the mean as a parameter.

    .. math:: P(y) = \binom{y + \phi - 1}{y} \frac{e^{y t}}{(1 + e^t)^{y + \phi}}, \quad
              t = \eta - \log \phi, \quad y = 0, 1, \dots

    Parameters
    ----------
    eta : logarithm :math:`\eta` of the mean :math:`\mu`; minus infinity is that of a mean of zero
    phi : precision :math:`\phi > 0`; the variance is :math:`\mu + \mu^2 / \phi`

    Notes
    -----
    Stan: ``neg_binomial_2_log(eta, phi)``. SciPy: ``nbinom(phi, phi / (exp(eta) + phi))``.
    """

    parameters: ClassVar = {"eta": Parameter(Real()), "phi": Parameter(Positive())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log mean: that on the precision, orthogonal, is an infinite sum."""
        eta, phi = params
        return {("eta", "eta"): lambda: phi * expit(eta - np.log(phi))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        eta, phi = params
        return poisson_counts(rng, np.exp(eta) / phi * rng.standard_gamma(phi, shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        eta, phi = params
        phi = where_valid(phi > 0, phi)
        return log_up_to(xp, x, phi, xp.log(phi) - eta)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        eta, phi = params
        phi = where_valid(phi > 0, phi)
        return log_above(xp, x, phi, xp.log(phi) - eta)


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log probability without the terms of `log_base`: batch shape."""
    eta, phi = params
    phi = where_valid(phi > 0, phi)
    t = eta - xp.log(phi)
    ways = log_ways_kernel(phi, value)
    return ways - product(value, log1p_exp(-t)) - phi * log1p_exp(t)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives of `log_kernel` with respect to value, log mean and precision."""
    eta, phi = params
    t = eta - xp.log(phi)

    return (
        lambda: digamma(value + phi) - log1p_exp(-t),
        lambda: value * expit(-t) - phi * expit(t),
        lambda: precision_slope(
            xp, value, phi, log1p_exp(t), expit(t), (value / phi) * expit(-t) - expit(t)
        ),
    )


# The derivative in a large precision is of order phi**-2, a difference of terms of order 1 / phi.
_log_kernel = closed_form(_formula, _slopes)


def log_up_to(xp: Any, x: Any, phi: Any, logit: Any) -> Any:
    """Log probability of counts up to ``x``, given the log odds of ``phi / (mu + phi)``."""
    count = xp.floor(x)
    inside = log_betainc(phi, xp.maximum(count, 0.0) + 1.0, logit)
    return where(count >= 0, inside, -np.inf)


def log_above(xp: Any, x: Any, phi: Any, logit: Any) -> Any:
    """Log probability of counts above ``x``, given the log odds of ``phi / (mu + phi)``."""
    count = xp.floor(x)
    inside = log_betaincc(phi, xp.maximum(count, 0.0) + 1.0, logit)
    return where(count >= 0, inside, 0.0)
