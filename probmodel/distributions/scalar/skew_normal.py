"""The skew normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.distributions.scalar.normal import Normal
from probmodel.numerics.special import LOG_2PI, erf, log_ndtr, where
from probmodel.numerics.special.owen import log_owen_rest
from probmodel.types import Array

_ROOT_HALF = sqrt(0.5)


class SkewNormal(Distribution):
    r"""Skew normal distribution.

    .. math:: p(y) = \frac{2}{\omega} \phi(z) \Phi(\alpha z), \quad z = (y - \xi) / \omega

    Parameters
    ----------
    loc : location :math:`\xi`; the mean only where :math:`\alpha = 0`
    scale : scale :math:`\omega > 0`
    alpha : slant :math:`\alpha`; positive leans the long tail to the right, 0 is the normal

    Notes
    -----
    :math:`\phi` and :math:`\Phi` are the density and the distribution function of the standard
    normal. Stan: ``skew_normal(loc, scale, alpha)``. SciPy: ``skewnorm(alpha, loc, scale)``.

    References
    ----------
    Azzalini (1985), A class of distributions which includes the normal ones.
    """

    parameters: ClassVar = {
        "loc": Parameter(Real()),
        "scale": Parameter(Positive()),
        "alpha": Parameter(Real()),
    }
    domain = Real()
    takes_pseudo_data = "elements"

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN through the logarithm where the scale is negative."""
        loc, scale, alpha = params
        z = (value - loc) / scale
        return _log_density(xp, z, alpha) - xp.log(scale)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``: a half-normal part and a normal one."""
        loc, scale, alpha = params
        half = np.abs(rng.standard_normal(shape))
        z = (alpha * half + rng.standard_normal(shape)) / np.hypot(1.0, alpha)
        return np.asarray(loc + scale * z)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return _log_cdf(x, *params)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``: the reflected variable has slant ``-alpha``."""
        loc, scale, alpha = params
        return _log_cdf(-x, -loc, scale, -alpha)

    @property
    def stand_in(self) -> Distribution:
        """The normal distribution with the same mean and variance."""
        loc, scale, alpha = self.args.values()
        mean = np.sqrt(2.0 / np.pi) * alpha / np.sqrt(1.0 + alpha**2)
        return Normal(loc + scale * mean, scale * np.sqrt(1.0 - mean**2))

    def base(self) -> Distribution:
        """Return the member with location zero and unit scale."""
        return SkewNormal(0.0, 1.0, self.args["alpha"])

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard value."""
        loc, scale, _ = params
        return loc + scale * z


def _formula_of_cdf(xp: Any, x: Any, *params: Any) -> Any:
    """Log probability of values up to ``x``, in terms that do not cancel.

    Where ``alpha >= 0`` it is ``rest`` below the centre, and above it ``rest + erf(z / sqrt(2))``.
    By reflection it is what ``rest`` leaves of a half-normal tail, or of one, for other slants.
    """
    loc, scale, alpha = params
    z = (x - loc) / where_valid(scale > 0, scale)
    log_rest = log_owen_rest(z, xp.abs(alpha))
    tail = LOG_2 + log_ndtr(-xp.abs(z))
    log_left = xp.log1p(-xp.minimum(xp.exp(log_rest - tail), 0.5))
    near = xp.log(erf(xp.minimum(xp.abs(z), 1.0) * _ROOT_HALF) + xp.exp(log_rest))
    above = where(z < 1, near, xp.log1p(-xp.exp(tail + log_left)))
    right = where(z < 0, log_rest, above)
    return where(alpha < 0, where(z < 0, tail + log_left, xp.log1p(-xp.exp(log_rest))), right)


def _slopes_of_cdf(xp: Any, x: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, location, scale and slant."""
    loc, scale, alpha = params
    z = (x - loc) / scale
    log_cdf = _log_cdf(x, *params)

    def in_x() -> Any:
        return xp.exp(_log_density(xp, z, alpha) - xp.log(scale) - log_cdf)

    def in_alpha() -> Any:
        spread = 1.0 + alpha * alpha
        return -xp.exp(-0.5 * z * z * spread - xp.log(spread) - log_cdf) / np.pi

    return in_x, lambda: -in_x(), lambda: -z * in_x(), in_alpha


def _log_density(xp: Any, z: Any, alpha: Any) -> Any:
    return LOG_2 - 0.5 * LOG_2PI - 0.5 * z * z + log_ndtr(alpha * z)


_log_cdf = closed_form(_formula_of_cdf, _slopes_of_cdf)
