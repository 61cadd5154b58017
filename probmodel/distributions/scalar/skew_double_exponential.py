"""The skew double exponential distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real, UnitInterval
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.distributions.scalar.normal import Normal
from probmodel.numerics.special import where
from probmodel.types import Array


class SkewDoubleExponential(Distribution):
    r"""Skew double exponential (asymmetric Laplace) distribution, as in quantile regression.

    .. math:: p(y) = \frac{2 \tau (1 - \tau)}{\sigma} \exp\{-2 z (\tau - [z < 0])\},
              \quad z = (y - \mu) / \sigma

    Parameters
    ----------
    mu : location :math:`\mu`, the quantile at :math:`\tau` and the mode
    sigma : scale :math:`\sigma > 0`
    tau : probability :math:`0 < \tau < 1` of values below the location; 1/2 is the Laplace

    Notes
    -----
    Stan: ``skew_double_exponential(mu, sigma, tau)``. SciPy: ``laplace_asymmetric(k, mu, s)`` with
    ``k = sqrt(tau / (1 - tau))`` and ``s = sigma / (2 * sqrt(tau * (1 - tau)))``. Derivatives at
    the location itself are those from the right.
    """

    parameters: ClassVar = {
        "mu": Parameter(Real()),
        "sigma": Parameter(Positive()),
        "tau": Parameter(UnitInterval()),
    }
    domain = Real()
    takes_pseudo_data = "elements"

    @property
    def stand_in(self) -> Distribution:
        """The normal distribution with the same mode, and the scale as standard deviation."""
        return Normal(self.args["mu"], self.args["sigma"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN for parameters out of range."""
        mu, sigma, tau = params
        z = (value - mu) / sigma
        height = LOG_2 + xp.log(tau) + xp.log1p(-tau) - xp.log(sigma)
        return height - 2.0 * z * _weight(z, tau)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on location, scale and probability."""
        _, sigma, tau = params
        spread = tau * (1.0 - tau)
        return {
            ("mu", "mu"): lambda: 4.0 * spread / (sigma * sigma),
            ("mu", "tau"): lambda: -2.0 / sigma,
            ("sigma", "sigma"): lambda: 1.0 / (sigma * sigma),
            ("sigma", "tau"): lambda: (2.0 * tau - 1.0) / (sigma * spread),
            ("tau", "tau"): lambda: (1.0 - 2.0 * spread) / (spread * spread),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``, as the difference of two exponential ones."""
        mu, sigma, tau = params
        right = rng.standard_exponential(shape) / tau
        left = rng.standard_exponential(shape) / (1.0 - tau)
        return np.asarray(mu + 0.5 * sigma * (right - left))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        mu, sigma, tau = params
        sigma = where_valid(sigma > 0, sigma)
        return _log_below(xp, (x - mu) / sigma, tau)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        mu, sigma, tau = params
        sigma = where_valid(sigma > 0, sigma)
        return _log_below(xp, (mu - x) / sigma, 1.0 - tau)

    def base(self) -> Distribution:
        """Return the member with location zero and unit scale."""
        return SkewDoubleExponential(0.0, 1.0, self.args["tau"])

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard value."""
        mu, sigma, _ = params
        return mu + sigma * z


def _weight(z: Any, tau: Any) -> Any:
    """Half the rate of decay on the side of ``z``, signed as ``z`` is."""
    return where(z < 0, tau - 1.0, tau)


def _log_below(xp: Any, z: Any, tau: Any) -> Any:
    """Log of the standard distribution function, without overflow on either side."""
    left = xp.log(tau) + 2.0 * (1.0 - tau) * where(z < 0, z, 0.0)
    right = xp.log1p((tau - 1.0) * xp.exp(-2.0 * tau * where(z < 0, 0.0, z)))
    return where(z < 0, left, right)
