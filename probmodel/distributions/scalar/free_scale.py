"""Families of positive numbers, and of proportions, that are standardised on the free scale."""

from __future__ import annotations

from typing import Any

from probmodel.distributions.base import Distribution
from probmodel.distributions.scalar.location_scale import conditional
from probmodel.distributions.scalar.normal import Normal
from probmodel.distributions.tail_probabilities import AboveZero


class FreeScale(AboveZero):
    """Distribution whose values have a logarithm, or log odds, that a normal can stand for.

    The free scale is the one that a parameter of such a prior is sampled on: u with the value
    exp(u) of a positive number, and 1 / (1 + exp(-u)) of a proportion.
    """

    takes_pseudo_data = "elements"

    def free_location_scale(self) -> tuple[Any, Any]:
        """Mode of u, and the inverse root of minus the second derivative of its log density."""
        raise NotImplementedError

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return the normal distribution that stands for u, given the observations of u."""
        return Normal(*conditional(*self.free_location_scale(), information, value))
