"""The Weibull distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from probmodel.distributions.scalar.powered_exponential import PoweredExponential
from probmodel.distributions.tail_probabilities import Sides
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

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        u = self.log_exponential(xp, y, *params)
        return lambda: log_inv_cloglog(u), lambda: -xp.exp(u)
