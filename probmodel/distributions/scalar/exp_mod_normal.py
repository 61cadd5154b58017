"""The exponentially modified normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.normal import Normal
from probmodel.numerics.special import LOG_2PI, inverse_mills, log_ndtr, where
from probmodel.numerics.special.mills import log_mills, mills_correction, mills_excess
from probmodel.types import Array


class ExpModNormal(Distribution):
    r"""Exponentially modified normal distribution: the sum of a normal and an exponential value.

    .. math:: p(y) = \lambda \exp(r^2 / 2 - r z)\, \Phi(z - r), \quad
              z = (y - \mu) / \sigma, \quad r = \lambda \sigma

    Parameters
    ----------
    mu : mean :math:`\mu` of the normal part
    sigma : standard deviation :math:`\sigma > 0` of the normal part
    rate : rate :math:`\lambda > 0` of the exponential part, whose mean is :math:`1 / \lambda`

    Notes
    -----
    :math:`\Phi` is the distribution function of the standard normal. Stan:
    ``exp_mod_normal(mu, sigma, lambda)``. SciPy: ``exponnorm(1 / (sigma * rate), mu, sigma)``.
    Where :math:`z < r` the squares of :math:`r` are cancelled by hand, which keeps the digits of
    nearly normal values, with a large :math:`r`.
    """

    parameters: ClassVar = {
        "mu": Parameter(Real()),
        "sigma": Parameter(Positive()),
        "rate": Parameter(Positive()),
    }
    domain = Real()
    takes_pseudo_data = "elements"

    @property
    def stand_in(self) -> Distribution:
        """The normal distribution with the same mean and variance."""
        mu, sigma, rate = self.args.values()
        return Normal(mu + 1.0 / rate, np.sqrt(sigma**2 + rate**-2.0))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return _log_kernel(value, *params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        mu, sigma, rate = params
        exponential = rng.standard_exponential(shape) / rate
        return np.asarray(mu + sigma * rng.standard_normal(shape) + exponential)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``, from the tail that is the smaller one."""
        mu, sigma, rate = params
        sigma = where_valid(sigma > 0, sigma)
        z, r = (x - mu) / sigma, rate * sigma
        low, high = _below(z), _above(z)
        left = log_ndtr(low) + xp.log(-xp.expm1(log_mills(low - r) - log_mills(low)))
        right = xp.log1p(-xp.exp(_log_tail(xp, high, r)))
        return where(z < 0, left, right)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        mu, sigma, rate = params
        sigma = where_valid(sigma > 0, sigma)
        return _log_tail(xp, (x - mu) / sigma, rate * sigma)


def _below(x: Any) -> Any:
    """Return ``x`` where it is negative, else zero: with a one-sided derivative at zero."""
    return where(x < 0, x, 0.0)


def _above(x: Any) -> Any:
    """Return ``x`` where it is not negative, else zero."""
    return where(x < 0, 0.0, x)


def _log_mean_decay(xp: Any, z: Any, r: Any) -> Any:
    """Log mean of ``exp(-r (z - x))`` over the ``x`` below ``z`` of a standard normal."""
    w = z - r
    below = log_mills(_below(w)) - 0.5 * z * z - 0.5 * LOG_2PI
    above = log_ndtr(_above(w)) + r * (0.5 * r - z)
    return where(w < 0, below, above)


def _log_tail(xp: Any, z: Any, r: Any) -> Any:
    """Log probability of more than ``z``, standardised: a normal tail and an exponential one."""
    return xp.logaddexp(log_ndtr(-z), _log_mean_decay(xp, z, r))


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape."""
    mu, sigma, rate = params
    sigma = where_valid(sigma > 0, sigma)
    return xp.log(rate) + _log_mean_decay(xp, (value - mu) / sigma, rate * sigma)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, mean, standard deviation and rate."""
    mu, sigma, rate = params
    z, r = (value - mu) / sigma, rate * sigma
    w = z - r
    excess = mills_excess(w)
    pull = inverse_mills(_above(w))
    slope = where(w < 0, excess - z, pull - r) / sigma

    def in_sigma() -> Any:
        below = z * z - excess * (z + r)
        return where(w < 0, below, r * r - pull * (z + r)) / sigma

    def in_rate() -> Any:
        # Far below, the excess is one over r - z and a correction; what is left of one over r.
        far = w < -1.0
        below = (z + r * mills_correction(w)) / where(far, w, -1.0)
        return where(far, below, 1.0 - r * excess) / rate

    return (lambda: slope, lambda: -slope, in_sigma, in_rate)


# Far out, the derivatives of the formula are differences of large numbers.
_log_kernel = closed_form(_formula, _slopes)
