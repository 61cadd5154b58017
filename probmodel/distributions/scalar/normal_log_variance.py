"""The normal distribution given the logarithm of its variance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class NormalLogVariance(Distribution):
    r"""Normal distribution whose variance is ``exp(log_variance)``.

    .. math:: \log p(y) = -\tfrac12 \{\log 2\pi + v + (y - \mu)^2 e^{-v}\}

    The form that `Normal` takes when its scale is the exponential of half an expression, as in
    stochastic volatility models.

    Parameters
    ----------
    loc : mean :math:`\mu`
    log_variance : logarithm :math:`v` of the variance

    Notes
    -----
    Stan: ``normal(loc, exp(log_variance / 2))``. SciPy: ``norm(loc, exp(log_variance / 2))``.
    """

    parameters: ClassVar = {"loc": Parameter(Real()), "log_variance": Parameter(Real())}
    domain = Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        loc, log_variance = params
        residual = value - loc
        return -0.5 * (residual * residual * xp.exp(-log_variance) + log_variance + LOG_2PI)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on location and log variance."""
        _, log_variance = params
        return {
            ("loc", "loc"): lambda: np.exp(-log_variance),
            ("log_variance", "log_variance"): lambda: np.asarray(0.5),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        loc, log_variance = params
        return np.asarray(loc + np.exp(0.5 * log_variance) * rng.standard_normal(shape))

    def base(self) -> Distribution:
        """Return the standard normal."""
        return NormalLogVariance(0.0, 0.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard normal value."""
        loc, log_variance = params
        return loc + xp.exp(0.5 * log_variance) * z
