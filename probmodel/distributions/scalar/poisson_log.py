"""The Poisson distribution given the logarithm of its rate."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.count_families import PoissonFamily
from probmodel.numerics.special import product, where
from probmodel.numerics.special.incomplete_gamma import log_gammainc, log_gammaincc
from probmodel.types import Array


class PoissonLog(PoissonFamily):
    r"""Poisson distribution with the logarithm of the rate as its parameter.

    .. math:: P(y) = \exp(y \eta - e^{\eta}) / y!, \quad y = 0, 1, \dots

    Parameters
    ----------
    log_rate : logarithm :math:`\eta` of the mean; minus infinity is that of a rate of zero

    Notes
    -----
    Stan: ``poisson_log(log_rate)``. SciPy: ``poisson(exp(log_rate))``.
    """

    parameters: ClassVar = {"log_rate": Parameter(Real())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without ``-log(y!)``: batch shape."""
        (log_rate,) = params
        return product(value, log_rate) - xp.exp(log_rate)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log rate: the variance of the count."""
        (log_rate,) = params
        return {("log_rate", "log_rate"): lambda: np.exp(log_rate)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        (log_rate,) = params
        return np.asarray(rng.poisson(np.exp(log_rate), shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        (log_rate,) = params
        return poisson_log_cdf(xp, x, xp.exp(log_rate))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        (log_rate,) = params
        return poisson_log_ccdf(xp, x, xp.exp(log_rate))


def poisson_log_cdf(xp: Any, x: Any, rate: Any) -> Any:
    """Log probability of Poisson counts up to ``x``; -inf below zero."""
    count = xp.floor(x)
    inside = log_gammaincc(xp.maximum(count, 0.0) + 1.0, rate)
    return where(count >= 0, inside, -np.inf)


def poisson_log_ccdf(xp: Any, x: Any, rate: Any) -> Any:
    """Log probability of Poisson counts above ``x``; zero below zero."""
    count = xp.floor(x)
    # Below zero any rate will do: of a rate of zero the slope of the logarithm has no bound.
    inside = log_gammainc(xp.maximum(count, 0.0) + 1.0, where(count >= 0, rate, 1.0))
    return where(count >= 0, inside, 0.0)
