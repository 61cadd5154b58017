"""The Rayleigh distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.distributions.tail_probabilities import AboveZero, Sides
from probmodel.numerics.special.positive_numbers import log_inv_cloglog
from probmodel.types import Array


class Rayleigh(AboveZero):
    r"""Rayleigh distribution: the length of a vector of two independent normal numbers.

    .. math:: p(y) = \frac{y}{\sigma^2} \exp\{-y^2 / (2 \sigma^2)\}, \quad y > 0

    Parameters
    ----------
    sigma : mode :math:`\sigma > 0`, the standard deviation of each of the two numbers

    Notes
    -----
    Stan: ``rayleigh(sigma)``. SciPy: ``rayleigh(0, sigma)``.
    """

    parameters: ClassVar = {"sigma": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for negative values."""
        (sigma,) = params
        z = value / sigma
        return xp.log(value) - 2.0 * xp.log(sigma) - 0.5 * z * z

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the mode."""
        (sigma,) = params
        return {("sigma", "sigma"): lambda: 4.0 / (sigma * sigma)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        (sigma,) = params
        return np.asarray(sigma * rng.rayleigh(size=shape))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        (sigma,) = params
        return (
            lambda: log_inv_cloglog(2.0 * (xp.log(y) - xp.log(sigma)) - LOG_2),
            lambda: -0.5 * (y / sigma) ** 2,
        )

    def base(self) -> Distribution:
        """Return the member of unit mode."""
        return Rayleigh(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Stretch a value of unit mode."""
        (sigma,) = params
        return sigma * z
