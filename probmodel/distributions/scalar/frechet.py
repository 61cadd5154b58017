"""The Frechet distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from probmodel.distributions.scalar.powered_exponential import PoweredExponential
from probmodel.distributions.tail_probabilities import log_ccdf_above_zero, log_cdf_above_zero
from probmodel.numerics.special.positive_numbers import log_inv_cloglog


class Frechet(PoweredExponential):
    r"""Frechet distribution of large extremes: the reciprocal is Weibull distributed.

    .. math:: p(y) = \frac{\alpha}{\sigma} \Bigl(\frac{y}{\sigma}\Bigr)^{-\alpha - 1}
              \exp\{-(y / \sigma)^{-\alpha}\}, \quad y > 0

    Parameters
    ----------
    alpha : shape :math:`\alpha > 0`; moments of order :math:`\alpha` and above are infinite
    sigma : scale :math:`\sigma > 0`

    Notes
    -----
    Stan: ``frechet(alpha, sigma)``. SciPy: ``invweibull(alpha, 0, sigma)``.
    """

    sign: ClassVar = -1.0

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return log_cdf_above_zero(lambda y: -xp.exp(self.log_exponential(xp, y, *params)), x)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        return log_ccdf_above_zero(
            lambda y: log_inv_cloglog(self.log_exponential(xp, y, *params)), x
        )
