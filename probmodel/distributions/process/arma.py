"""Autoregressive moving-average process."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.process.series import COEFFICIENTS, Series, over_time
from probmodel.numerics.recurrences import finite_filter, recursive_filter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class ARMA(OfStandardNormal, Series):
    r"""Autoregressive moving-average process, conditional on a quiet past.

    .. math:: y_t - m = \sum_{k=1}^p \phi_k (y_{t-k} - m) + \epsilon_t
              + \sum_{k=1}^q \theta_k \epsilon_{t-k}, \qquad \epsilon_t \sim N(0, \sigma),

    with :math:`y_t = m` and :math:`\epsilon_t = 0` before the first time.

    Parameters
    ----------
    phi : autoregressive coefficients, (p,), p at least 1
    theta : moving-average coefficients, (q,), q at least 1
    sigma : standard deviation :math:`\sigma > 0` of the errors
    mean : :math:`m`, 0 unless given

    Notes
    -----
    The value is a vector: the process at equally spaced times. Time is the last axis. This is the
    likelihood known as conditional least squares, and as such proper: the errors are a one-to-one
    function of the values. The coefficients may be anything; a moving average that is not
    invertible makes the errors grow without bounds. Stan: written out, as in the User's Guide,
    where the intercept is :math:`m (1 - \sum_k \phi_k)` and stands for the value before the first
    as well. SciPy: none.

    References
    ----------
    Box, Jenkins and Reinsel (1994), Time Series Analysis, section 7.1.
    """

    parameters: ClassVar = {
        "phi": COEFFICIENTS,
        "theta": COEFFICIENTS,
        "sigma": Parameter(Positive()),
        "mean": Parameter(Real(), default=0.0),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from the errors: batch shape."""
        phi, theta, sigma, mean = params
        centred = value - over_time(xp, mean)
        errors = recursive_filter(-theta, finite_filter(-phi, centred))
        squares = xp.sum(errors * errors, axis=-1) / (sigma * sigma)
        return -0.5 * squares - value.shape[-1] * (xp.log(sigma) + 0.5 * LOG_2PI)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series: ``shape`` ends with their length."""
        return super().sample(rng, shape, *(np.asarray(p, dtype=float) for p in params))

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Run the process on standard normal errors ``z``."""
        phi, theta, sigma, mean = params
        errors = over_time(xp, sigma) * z
        return over_time(xp, mean) + recursive_filter(phi, finite_filter(theta, errors))

    def standardise(self, value: Array, *params: Any) -> Array:
        """Return the errors in their standard deviation."""
        phi, theta, sigma, mean = (np.asarray(p, dtype=float) for p in params)
        errors = recursive_filter(-theta, finite_filter(-phi, value - over_time(np, mean)))
        return np.asarray(errors / over_time(np, sigma))
