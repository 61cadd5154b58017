"""The Frechet distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from probmodel.distributions.scalar.powered_exponential import PoweredExponential
from probmodel.distributions.tail_probabilities import Sides
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

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        u = self.log_exponential(xp, y, *params)
        return lambda: -xp.exp(u), lambda: log_inv_cloglog(u)
