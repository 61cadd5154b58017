"""The skew normal distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.numerics.special import LOG_2PI, log_ndtr
from probmodel.types import Array


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
    normal. Stan: ``skew_normal(loc, scale, alpha)``. SciPy: ``skewnorm(alpha, loc, scale)``. One
    number per batch element.

    References
    ----------
    Azzalini (1985), A class of distributions which includes the normal ones.
    """

    parameters: ClassVar = {
        "loc": Parameter(Real()),
        "scale": Parameter(Positive()),
        "alpha": Parameter(Real()),
    }

    def support(self) -> Constraint:
        """All real numbers."""
        return Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN through the logarithm where the scale is negative."""
        loc, scale, alpha = params
        z = (value - loc) / scale
        return LOG_2 - 0.5 * LOG_2PI - 0.5 * z * z - xp.log(scale) + log_ndtr(alpha * z)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``: a half-normal part and a normal one."""
        loc, scale, alpha = params
        half = np.abs(rng.standard_normal(shape))
        z = (alpha * half + rng.standard_normal(shape)) / np.hypot(1.0, alpha)
        return np.asarray(loc + scale * z)

    def base(self) -> Distribution:
        """Return the member with location zero and unit scale."""
        return SkewNormal(0.0, 1.0, self.args["alpha"])

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard value."""
        loc, scale, _ = params
        return loc + scale * z
