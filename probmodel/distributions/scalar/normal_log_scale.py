"""The normal distribution given the logarithm of its scale."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class NormalLogScale(Distribution):
    r"""Normal distribution whose standard deviation is ``exp(log_scale)``.

    .. math:: \log p(y) = -\tfrac12 \log 2\pi - s - \tfrac12 (y - \mu)^2 e^{-2 s}

    The form that `Normal` takes when its scale is an exponential, as in stochastic volatility
    models: it saves a logarithm and a division per element and cannot divide by zero.

    Parameters
    ----------
    loc : mean :math:`\mu`
    log_scale : logarithm :math:`s` of the standard deviation

    Notes
    -----
    Stan: ``normal(loc, exp(log_scale))``. SciPy: ``norm(loc, exp(log_scale))``.
    """

    parameters: ClassVar = {"loc": Parameter(Real()), "log_scale": Parameter(Real())}
    domain = Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        loc, log_scale = params
        z = (value - loc) * xp.exp(-log_scale)
        return -0.5 * z * z - log_scale - 0.5 * LOG_2PI

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on location and log scale."""
        _, log_scale = params
        return {
            ("loc", "loc"): lambda: np.exp(-2.0 * log_scale),
            ("log_scale", "log_scale"): lambda: np.asarray(2.0),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        loc, log_scale = params
        return np.asarray(loc + np.exp(log_scale) * rng.standard_normal(shape))

    def base(self) -> Distribution:
        """Return the standard normal."""
        return NormalLogScale(0.0, 0.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard normal value."""
        loc, log_scale = params
        return loc + xp.exp(log_scale) * z
