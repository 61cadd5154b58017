"""Distributions of a known map, `noncentered`, of standard normal or exponential values."""

from __future__ import annotations

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.distributions.scalar.exponential import Exponential
from probmodel.distributions.scalar.normal import Normal
from probmodel.types import Array


class OfStandardNormal(Distribution):
    """A distribution that is drawn by `noncentered` of independent standard normal values."""

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def base(self) -> Distribution:
        """Return the standard normal."""
        return Normal(0.0, 1.0)


class OfStandardExponential(Distribution):
    """A distribution that is drawn by `noncentered` of exponential values of unit rate."""

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        return np.asarray(self.noncentered(np, rng.standard_exponential(shape), *params))

    def base(self) -> Distribution:
        """Return the exponential distribution of unit rate."""
        return Exponential(1.0)
