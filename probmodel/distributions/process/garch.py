"""Generalised autoregressive conditional heteroscedasticity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.process.series import Series, joined, over_time
from probmodel.numerics.linalg import geometric_filter
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class GARCH(Series):
    r"""GARCH(1, 1): a series whose variance follows its own past.

    .. math:: y_t \sim N(m, \sqrt{h_t}), \qquad
              h_t = \omega + \alpha (y_{t-1} - m)^2 + \beta h_{t-1}

    Parameters
    ----------
    mean : :math:`m`
    omega : :math:`\omega > 0`
    alpha : :math:`\alpha \ge 0`, weight of the last squared deviation
    beta : :math:`\beta \ge 0`, weight of the last variance
    initial_variance : :math:`h_1 > 0`, the variance of the first value

    Notes
    -----
    The value is a vector: the series at equally spaced times. Time is the last axis. The variance
    settles at :math:`\omega / (1 - \alpha - \beta)` where :math:`\alpha + \beta < 1`, which is the
    model's to ask for: as in Stan, by ``alpha = param(lower=0, upper=1)`` and
    ``beta = param(lower=0, upper=1 - alpha)``. Stan: written out, as in the User's Guide, with
    ``alpha0`` = omega, ``alpha1`` = alpha, ``beta1`` = beta and ``sigma1`` the square root of the
    initial variance. SciPy: none.

    References
    ----------
    Bollerslev (1986), Generalized autoregressive conditional heteroskedasticity.
    """

    parameters: ClassVar = {
        "mean": Parameter(Real()),
        "omega": Parameter(Positive()),
        "alpha": Parameter(NonNegative()),
        "beta": Parameter(NonNegative()),
        "initial_variance": Parameter(Positive()),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from the variances: batch shape."""
        mean, omega, alpha, beta, initial = params
        valid = (omega > 0.0) & (alpha >= 0.0) & (beta >= 0.0) & (initial > 0.0)
        deviation = value - over_time(xp, mean)
        squares = deviation * deviation
        news = over_time(xp, omega) + over_time(xp, alpha) * squares[..., :-1]
        first = over_time(xp, where_valid(valid, initial))
        variance = geometric_filter(beta, joined(xp, first, news))
        terms = xp.sum(xp.log(variance) + squares / variance, axis=-1)
        return -0.5 * (terms + value.shape[-1] * LOG_2PI)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series, one time after another: ``shape`` ends with their length."""
        mean, omega, alpha, beta, variance = (np.asarray(p, dtype=float) for p in params)
        y = rng.standard_normal(shape)
        for t in range(shape[-1]):
            deviation = y[..., t] * np.sqrt(variance)
            y[..., t] = mean + deviation
            variance = omega + alpha * deviation**2 + beta * variance
        return y
