"""The hypergeometric distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.scalar.count_families import log_binomial_coefficient
from probmodel.distributions.tail_probabilities import log_tail_sums
from probmodel.types import Array


class Hypergeometric(Distribution):
    r"""Number of marked ones among some that are drawn without putting back.

    .. math:: P(y) = \binom{a}{y} \binom{b}{n - y} \Big/ \binom{a + b}{n}, \quad
              y = \max(0, n - b), \dots, \min(a, n)

    Parameters
    ----------
    n : how many are drawn, a whole number up to :math:`a + b`
    a : how many there are that are marked, a whole number
    b : how many there are that are not, a whole number

    Notes
    -----
    Stan: ``hypergeometric(n, a, b)``. SciPy: ``hypergeom(a + b, a, n)``. The parameters are data.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "a": Parameter(IntegerInterval(0, None)),
        "b": Parameter(IntegerInterval(0, None)),
    }
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers that leave no more undrawn than there are."""
        n, a, b = self.args.values()
        return IntegerInterval(np.maximum(np.subtract(n, b), 0), np.minimum(a, n))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Zero, in batch shape: parameters are data, so that `log_base` says it all."""
        n, a, b = params
        return 0.0 * (value + n + a + b)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Log probability; minus infinity for impossible counts."""
        value, n, a, b = (np.asarray(x, dtype=float) for x in (value, *params))
        ways = log_binomial_coefficient(a, value) + log_binomial_coefficient(b, n - value)
        # Counts that are possible at all have a finite number of ways to draw.
        total = log_binomial_coefficient(a + b, n)
        return ways - np.where(np.isneginf(ways), 0.0, total)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, a, b = (np.asarray(p).astype(np.int64) for p in params)
        return np.asarray(rng.hypergeometric(a, b, n, shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``, by a sum."""
        return log_tail_sums(xp, self, x, *params)[0]

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``, by a sum."""
        return log_tail_sums(xp, self, x, *params)[1]
