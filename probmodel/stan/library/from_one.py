"""A distribution of categories that are counted from one, as Stan does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.constraints import IntegerInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.wrapper import Wrapper
from probmodel.types import Array


class FromOne(Wrapper):
    """Distribution of one plus a number from another distribution.

    Parameters
    ----------
    dist : of numbers from zero
    """

    def __init__(self, dist: Distribution) -> None:
        super().__init__(dist, {}, {})

    def support(self) -> Constraint:
        """Support of ``dist``, one further up."""
        low, *high = self.dist.support().bounds
        return IntegerInterval(low + 1, *(h + 1 for h in high))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        return self.dist.log_kernel(xp, value - 1, *params)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, as for ``dist``."""
        return self.dist.log_base(value - 1, *params)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information: that of ``dist``."""
        return self.dist.information(xp, changes, *params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        return self.dist.sample(rng, shape, *params) + 1

    @property
    def has_cdf(self) -> bool:
        """Whether the distribution inside has a distribution function."""
        return self.dist.has_cdf

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return self.dist.log_cdf(xp, x - 1, *params)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        return self.dist.log_ccdf(xp, x - 1, *params)
