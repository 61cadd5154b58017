"""What distributions of counts share with those of the same counts by other parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import IntegerInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution
from probmodel.distributions.domain import is_integer
from probmodel.distributions.tail_probabilities import log_sum_of_few
from probmodel.numerics.special import gammaln
from probmodel.numerics.special.count_functions import log_ways_base
from probmodel.numerics.special.rising import log_ways
from probmodel.types import Array


class BernoulliFamily(Distribution):
    """Distributions of one trial, a success or a failure."""

    domain = IntegerInterval(0, 1)
    discrete = True

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is neither zero nor one."""
        return np.where((value == 0) | (value == 1), 0.0, -np.inf)


class BinomialFamily(Distribution):
    """Distributions of the number of successes among trials, whose number is the parameter n."""

    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero to ``n``."""
        return IntegerInterval(0, self.args["n"])

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log binomial coefficient, or minus infinity for impossible counts."""
        return log_binomial_coefficient(params[0], value)


class PoissonFamily(Distribution):
    """Distributions of counts without a bound."""

    domain = IntegerInterval(0, None)
    discrete = True

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return ``-log(y!)``, or minus infinity for what is no count."""
        value = np.asarray(value, dtype=float)
        counts = is_integer(value) & (value >= 0)
        return np.where(counts, -gammaln(np.where(counts, value, 0.0) + 1.0), -np.inf)

    def log_mass_between(self, xp: Any, low: Any, high: Any, *params: Any) -> Any:
        """Log probability of few known counts, by a sum; None for many."""
        return log_sum_of_few(xp, self, low, high, *params)


class NegativeBinomialFamily(PoissonFamily):
    """Distributions of Poisson counts of a gamma rate."""

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return ``-log(y!)`` of counts that are not large; minus infinity for what is no count."""
        return log_ways_base(value)


def log_binomial_coefficient(n: Array, value: Array) -> Array:
    """Logarithm of "n choose value"; minus infinity unless both are whole and 0 <= value <= n."""
    n, value = np.asarray(n, dtype=float), np.asarray(value, dtype=float)
    possible = is_integer(n) & is_integer(value) & (value >= 0) & (value <= n)
    y, m = np.where(possible, value, 0.0), np.where(possible, n, 0.0)
    fewer = np.minimum(y, m - y)
    return np.where(possible, log_ways(m - fewer + 1.0, fewer), -np.inf)
