"""The exponential distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import log1m_exp
from probmodel.types import Array


class Exponential(FreeScale):
    r"""Exponential distribution.

    .. math:: p(y) = \beta \exp(-\beta y), \quad y \ge 0

    Parameters
    ----------
    rate : rate :math:`\beta > 0`, the inverse of the mean

    Notes
    -----
    Stan: ``exponential(rate)``. SciPy: ``expon(0, 1 / rate)``.
    """

    parameters: ClassVar = {"rate": Parameter(Positive())}
    domain = NonNegative()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        (rate,) = params
        return where_inside(value >= 0, xp.log(rate) - rate * value)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the rate."""
        (rate,) = params
        return {("rate", "rate"): lambda: 1.0 / (rate * rate)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        (rate,) = params
        return np.asarray(rng.standard_exponential(shape) / rate)

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        (rate,) = params
        return lambda: log1m_exp(rate * y), lambda: -rate * y

    def base(self) -> Distribution:
        """Return the exponential distribution of unit rate."""
        return Exponential(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Divide a value of unit rate by the rate."""
        (rate,) = params
        return z / rate

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm, whose log density is ``u - exp(u)`` for unit rate."""
        return -np.log(self.args["rate"]), 1.0
