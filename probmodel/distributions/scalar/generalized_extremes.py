"""The largest of many values, and what exceeds a threshold, whatever the tail.

    z    (y - mu) / sigma
    s    log(1 + xi z) / xi, and z where xi is 0

The reduced value ``s`` has a standard Gumbel distribution if ``y`` is the largest of many values
(Fisher and Tippett, 1928), and a standard exponential one if ``y`` is what exceeds a high threshold
(Balkema and de Haan, 1974; Pickands, 1975). For negative ``xi`` the values end at
``mu - sigma / xi``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Lower, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.numerics.special import log1m_exp, where
from probmodel.numerics.special.positive_numbers import log_inv_cloglog
from probmodel.types import Array

# Where |x| is less, log(1 + x) / x is a power series, to the last digit with as many terms.
_NEAR, _TERMS = 0.05, 13


class _Reduced(Distribution):
    """A distribution that is known once the value is reduced to ``s``."""

    parameters: ClassVar = {
        "mu": Parameter(Real()),
        "sigma": Parameter(Positive()),
        "xi": Parameter(Real()),
    }

    @staticmethod
    @abstractmethod
    def log_standard(xp: Any, s: Any) -> Any:
        """Log density of ``s``."""

    @staticmethod
    @abstractmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw ``s``."""

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        _, sigma, xi = params
        inside, _, s = _reduced(xp, value, *params)
        logp = self.log_standard(xp, s) - xi * s - xp.log(where_valid(sigma > 0.0, sigma))
        return where_inside(inside, logp)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape`` from reduced ones."""
        mu, sigma, xi = params
        x = xi * (s := self.draw_standard(rng, shape))
        with np.errstate(over="ignore"):
            z = s * np.divide(np.expm1(x), x, out=np.ones(shape), where=x != 0.0)
        return np.asarray(mu + sigma * z)


class GeneralizedExtremeValue(_Reduced):
    r"""Generalised extreme value distribution of the largest of many values, as of a year.

    .. math:: p(y) = \frac{1}{\sigma} t^{\xi + 1} e^{-t}, \quad
              t = (1 + \xi z)^{-1 / \xi}, \quad z = (y - \mu) / \sigma, \quad 1 + \xi z > 0

    Parameters
    ----------
    mu : location :math:`\mu`, exceeded with the probability :math:`1 - 1/e`
    sigma : scale :math:`\sigma > 0`
    xi : shape :math:`\xi`: heavy tails above 0 (Frechet), light ones at 0, where it is
        :math:`t = e^{-z}` (Gumbel), and an end of the values at :math:`\mu - \sigma / \xi` below
        (reversed Weibull)

    Notes
    -----
    Stan: written out. SciPy: ``genextreme(-xi, mu, sigma)``.

    References
    ----------
    Coles (2001), An introduction to statistical modeling of extreme values, chapter 3.
    """

    domain = Real()  # up to, or from, an end that depends on all parameters

    @staticmethod
    def log_standard(xp: Any, s: Any) -> Any:
        """Log density of the standard Gumbel."""
        return -s - xp.exp(-s)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard Gumbel variates."""
        return np.asarray(rng.gumbel(size=shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        inside, above, s = _reduced(xp, x, *params)
        return where(inside, -xp.exp(-s), where(above, 0.0, -np.inf))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        inside, above, s = _reduced(xp, x, *params)
        return where(inside, log_inv_cloglog(-s), where(above, -np.inf, 0.0))


class GeneralizedPareto(_Reduced):
    r"""Generalised Pareto distribution of what exceeds a high threshold.

    .. math:: p(y) = \frac{1}{\sigma} (1 + \xi z)^{-1 / \xi - 1}, \quad
              z = (y - \mu) / \sigma \ge 0, \quad 1 + \xi z > 0

    Parameters
    ----------
    mu : threshold :math:`\mu`, the smallest value
    sigma : scale :math:`\sigma > 0`
    xi : shape :math:`\xi`: heavy tails above 0, exponential ones at 0, and an end of the values
        at :math:`\mu - \sigma / \xi` below

    Notes
    -----
    Stan: written out. SciPy: ``genpareto(xi, mu, sigma)``.

    References
    ----------
    Coles (2001), An introduction to statistical modeling of extreme values, chapter 4.
    """

    def support(self) -> Constraint:
        """Numbers from ``mu`` up; for negative ``xi`` they have an end, besides."""
        return Lower(self.args["mu"])

    @staticmethod
    def log_standard(xp: Any, s: Any) -> Any:
        """Log density of the standard exponential distribution."""
        return where_inside(s >= 0.0, -s)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard exponential variates."""
        return np.asarray(rng.standard_exponential(shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        inside, above, s = _reduced(xp, x, *params)
        some = inside & (s > 0.0)
        return where(some, log1m_exp(where(some, s, 1.0)), where(above, 0.0, -np.inf))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        inside, above, s = _reduced(xp, x, *params)
        return where(inside, where(s > 0.0, -s, 0.0), where(above, -np.inf, 0.0))


def _reduced(xp: Any, value: Any, mu: Any, sigma: Any, xi: Any) -> tuple[Any, Any, Any]:
    """Whether values lie inside, whether above where they begin, and ``s``, 0 outside."""
    z = (value - mu) / where_valid(sigma > 0.0, sigma)
    x = xi * z
    outside = x <= -1.0
    x = where(outside, 0.0, x)
    near = abs(x) < _NEAR
    small, far = where(near, x, 0.0), where(near, 1.0, x)
    series = 1.0 / (_TERMS + 1)
    for n in range(_TERMS, 0, -1):
        series = 1.0 / n - small * series
    s = where(outside, 0.0, z) * where(near, series, xp.log1p(far) / far)
    return np.logical_not(outside), z > 0.0, s
