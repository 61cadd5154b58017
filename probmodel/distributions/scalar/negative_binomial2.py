"""The negative binomial distribution, by mean and dispersion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import NegativeBinomialFamily
from probmodel.distributions.scalar.negative_binomial2_log import (
    NegativeBinomial2Log,
    log_above,
    log_up_to,
)
from probmodel.numerics.special import digamma, ratio, where, xlogy
from probmodel.numerics.special.count_functions import log_ways_kernel, precision_slope
from probmodel.types import Array


class NegativeBinomial2(NegativeBinomialFamily):
    r"""Negative binomial distribution with mean and dispersion: a Poisson of a gamma rate.

    .. math:: P(y) = \binom{y + \phi - 1}{y} \Bigl(\frac{\mu}{\mu + \phi}\Bigr)^y
              \Bigl(\frac{\phi}{\mu + \phi}\Bigr)^\phi, \quad y = 0, 1, \dots

    Parameters
    ----------
    mu : mean :math:`\mu \ge 0`
    phi : precision :math:`\phi > 0`; the variance is :math:`\mu + \mu^2 / \phi`

    Notes
    -----
    Stan: ``neg_binomial_2(mu, phi)``. SciPy: ``nbinom(phi, phi / (mu + phi))``. Of a log mean,
    `NegativeBinomial2Log` is the stable and faster form.
    """

    parameters: ClassVar = {"mu": Parameter(NonNegative()), "phi": Parameter(Positive())}
    link_forms: ClassVar = {("mu", "exp"): NegativeBinomial2Log}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the mean: that on the precision, orthogonal to it, is an infinite sum."""
        mu, phi = params
        return {("mu", "mu"): lambda: ratio(phi / (mu + phi), mu)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        mu, phi = params
        return np.asarray(rng.poisson(mu / phi * rng.standard_gamma(phi, shape)))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        none = params[0] == 0
        # Of a mean of zero all counts are; the slope is that of their log probability.
        at_zero = where(x >= 0, -where(x < 1, params[0], 0.0), -np.inf)
        return where(none, at_zero, log_up_to(xp, x, *_log_odds(xp, *params)))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        above = log_above(xp, x, *_log_odds(xp, *params))
        return where((params[0] == 0) & (x >= 0), -np.inf, above)


def _log_odds(xp: Any, mu: Any, phi: Any) -> tuple[Any, Any]:
    """Return the precision, and the log odds of ``phi / (mu + phi)`` for means above zero."""
    mu = where_valid(mu >= 0, mu)
    phi = where_valid(phi > 0, phi)
    return phi, xp.log(phi) - xp.log(where(mu == 0, 1.0, mu))


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log probability without the terms of `log_base`: batch shape."""
    mu, phi = params
    mu = where_valid(mu >= 0, mu)
    phi = where_valid(phi > 0, phi)
    ways = log_ways_kernel(phi, value)
    return ways + xlogy(value, mu / (mu + phi)) - phi * xp.log1p(mu / phi)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value (as if it were real), mean and precision."""
    mu, phi = params
    total = mu + phi

    return (
        lambda: digamma(value + phi) + xp.log(mu) - xp.log(total),
        lambda: (ratio(value - mu, mu) - 1.0 * (mu == 0.0)) * phi / total,
        lambda: precision_slope(
            xp, value, phi, xp.log1p(mu / phi), mu / total, (value - mu) / total
        ),
    )


# The derivative in a large precision is of order phi**-2, a difference of terms of order 1 / phi.
_log_kernel = closed_form(_formula, _slopes)
