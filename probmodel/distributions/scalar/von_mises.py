"""The von Mises distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Interval, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.numerics.special import LOG_2PI
from probmodel.numerics.special.bessel import bessel_ratio, bessel_ratio_slope, log_i0e
from probmodel.types import Array


class VonMises(Distribution):
    r"""Von Mises distribution of an angle in radians, the normal distribution of the circle.

    .. math:: p(y) = \frac{\exp\{\kappa \cos(y - \mu)\}}{2 \pi I_0(\kappa)},
              \quad -\pi \le y \le \pi

    Parameters
    ----------
    mu : mean direction :math:`\mu`; whole turns more or less make no difference
    kappa : concentration :math:`\kappa > 0`, for large ones about the inverse of the variance

    Notes
    -----
    Stan: ``von_mises(mu, kappa)``, for angles of any number of turns. Here an angle lies in
    :math:`[-\pi, \pi]` whatever the mean direction is, so that the density integrates to one;
    ``np.angle(np.exp(1j * y))`` brings others there. A parameter whose mean direction is near
    :math:`\pi` has a mode at each end of the interval: measure its angles from another direction.
    SciPy: ``vonmises(kappa, mu)``. One number per batch element.

    References
    ----------
    Mardia and Jupp (2000), Directional statistics: the information.
    """

    parameters: ClassVar = {"mu": Parameter(Real()), "kappa": Parameter(Positive())}

    def support(self) -> Constraint:
        """Angles from -pi to pi."""
        return Interval(-np.pi, np.pi)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; ``cos(d) - 1`` as a square is accurate for small ``d``."""
        mu, kappa = params
        kappa = where_valid(xp, kappa > 0, kappa)
        half = xp.sin(0.5 * (value - mu))
        logp = -2.0 * kappa * half * half - log_i0e(kappa) - LOG_2PI
        return where_inside(xp, xp.abs(value) <= np.pi, logp)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mean direction and concentration, which are orthogonal by symmetry."""
        _, kappa = params
        return {
            ("mu", "mu"): lambda: kappa * bessel_ratio(kappa),
            ("kappa", "kappa"): lambda: bessel_ratio_slope(kappa),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        mu, kappa = params
        return np.asarray(rng.vonmises(mu, kappa, shape))
