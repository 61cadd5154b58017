"""The scaled inverse chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.inverse_gamma import InverseGamma
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import trigamma
from probmodel.types import Array


class ScaledInverseChi2(FreeScale):
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
        return _INVERSE_GAMMA.log_kernel(xp, value, *_shape_and_scale(*params))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on degrees of freedom and scale, which are orthogonal."""
        df, scale = params
        return {
            ("df", "df"): lambda: 0.25 * trigamma(0.5 * df) - 0.5 / df,
            ("scale", "scale"): lambda: 2.0 * df / (scale * scale),
        }

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, as for the inverse gamma distribution."""
        return 2.0 * np.log(self.args["scale"]), np.sqrt(2.0 / self.args["df"])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        df, scale = params
        return _INVERSE_GAMMA.sample(rng, shape, 0.5 * df, 0.5 * df * scale * scale)

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        return _INVERSE_GAMMA.log_sides(xp, y, *_shape_and_scale(*params))


def _shape_and_scale(df: Any, scale: Any) -> tuple[Any, Any]:
    """Return those of the inverse gamma distribution."""
    scale = where_valid(scale > 0, scale)
    return 0.5 * df, 0.5 * df * scale * scale


_INVERSE_GAMMA = InverseGamma(1.0, 1.0)
