"""The Weibull distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from probmodel.distributions.scalar.powered_exponential import PoweredExponential
from probmodel.distributions.tail_probabilities import log_ccdf_above_zero, log_cdf_above_zero
from probmodel.numerics.special.positive_numbers import log_inv_cloglog


class Weibull(PoweredExponential):
    r"""Weibull distribution: a power of the value is exponentially distributed.

    .. math:: p(y) = \frac{\alpha}{\sigma} \Bigl(\frac{y}{\sigma}\Bigr)^{\alpha - 1}
              \exp\{-(y / \sigma)^\alpha\}, \quad y > 0

    Parameters
    ----------
    alpha : shape :math:`\alpha > 0`; the hazard rises with time if it is above one
    sigma : scale :math:`\sigma > 0`

    Notes
    -----
    Stan: ``weibull(alpha, sigma)``. SciPy: ``weibull_min(alpha, 0, sigma)``.
    """

    sign: ClassVar = 1.0

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return log_cdf_above_zero(
            lambda y: log_inv_cloglog(self.log_exponential(xp, y, *params)), x
        )

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        return log_ccdf_above_zero(lambda y: -xp.exp(self.log_exponential(xp, y, *params)), x)
