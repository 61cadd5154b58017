"""The scaled inverse chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.inverse_gamma import InverseGamma
from probmodel.numerics.special import trigamma
from probmodel.types import Array


class ScaledInverseChi2(Distribution):
    r"""Scaled inverse chi-squared distribution.

    .. math:: p(y) = \frac{(\nu / 2)^{\nu / 2}}{\Gamma(\nu / 2)} s^\nu y^{-\nu / 2 - 1}
              \exp\{-\nu s^2 / (2 y)\}, \quad y > 0

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > 0`
    scale : scale :math:`s > 0`, on the scale of the square root of the value

    Notes
    -----
    The inverse gamma distribution with shape :math:`\nu / 2` and scale :math:`\nu s^2 / 2`. Stan:
    ``scaled_inv_chi_square(df, scale)``. SciPy: ``invgamma(df / 2, 0, df * scale**2 / 2)``.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, appendix A.
    """

    parameters: ClassVar = {"df": Parameter(Positive()), "scale": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        df, scale = params
        scale = where_valid(scale > 0, scale)
        return _INVERSE_GAMMA.log_kernel(xp, value, 0.5 * df, 0.5 * df * scale * scale)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on degrees of freedom and scale, which are orthogonal."""
        df, scale = params
        return {
            ("df", "df"): lambda: 0.25 * trigamma(0.5 * df) - 0.5 / df,
            ("scale", "scale"): lambda: 2.0 * df / (scale * scale),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        df, scale = params
        return _INVERSE_GAMMA.sample(rng, shape, 0.5 * df, 0.5 * df * scale * scale)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        df, scale = params
        scale = where_valid(scale > 0, scale)
        return _INVERSE_GAMMA.log_cdf(xp, x, 0.5 * df, 0.5 * df * scale * scale)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        df, scale = params
        scale = where_valid(scale > 0, scale)
        return _INVERSE_GAMMA.log_ccdf(xp, x, 0.5 * df, 0.5 * df * scale * scale)


_INVERSE_GAMMA = InverseGamma(1.0, 1.0)
