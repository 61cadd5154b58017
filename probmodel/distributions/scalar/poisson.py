"""The Poisson distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import PoissonFamily
from probmodel.distributions.scalar.poisson_log import PoissonLog, poisson_log_ccdf, poisson_log_cdf
from probmodel.numerics.special import ratio, xlogy
from probmodel.types import Array


class Poisson(PoissonFamily):
    r"""Poisson distribution.

    .. math:: P(y) = \lambda^y e^{-\lambda} / y!, \quad y = 0, 1, \dots

    Parameters
    ----------
    rate : mean :math:`\lambda \ge 0`

    Notes
    -----
    Stan: ``poisson(rate)``. SciPy: ``poisson(rate)``. Of a log rate, `PoissonLog` is the stable and
    faster form.
    """

    parameters: ClassVar = {"rate": Parameter(NonNegative())}
    link_forms: ClassVar = {("rate", "exp"): PoissonLog}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without ``-log(y!)``: batch shape."""
        (rate,) = params
        rate = where_valid(rate >= 0, rate)
        return xlogy(value, rate) - rate

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the rate; without bound towards zero, which has none."""
        (rate,) = params
        return {("rate", "rate"): lambda: ratio(1.0, rate)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        (rate,) = params
        return np.asarray(rng.poisson(rate, shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        return poisson_log_cdf(xp, x, params[0])

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        return poisson_log_ccdf(xp, x, params[0])
