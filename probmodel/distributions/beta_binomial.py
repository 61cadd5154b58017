"""The beta-binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, NonNegative
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.binomial_logit import log_binomial_coefficient
from probmodel.distributions.domain import where_valid
from probmodel.distributions.sums import BLOCK
from probmodel.special import digamma
from probmodel.special.counts import log_rising, rising_slope
from probmodel.types import Array


class BetaBinomial(Distribution):
    r"""Number of successes in a number of trials whose probability is beta distributed.

    .. math:: P(y) = \binom{n}{y} \frac{B(\alpha + y, \beta + n - y)}{B(\alpha, \beta)},
              \quad y = 0, \dots, n

    Parameters
    ----------
    n : number of trials, a whole number
    alpha : first shape :math:`\alpha \ge 0`
    beta : second shape :math:`\beta \ge 0`; the mean is :math:`n \alpha / (\alpha + \beta)`. Of one
        shape zero the count is none or all; both cannot be zero.

    Notes
    -----
    Stan: ``beta_binomial(n, alpha, beta)``. SciPy: ``betabinom(n, alpha, beta)``. One number per
    batch element.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "alpha": Parameter(NonNegative()),
        "beta": Parameter(NonNegative()),
    }
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero to ``n``."""
        return IntegerInterval(0, self.args["n"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, alpha, beta = params
        alpha = where_valid(xp, alpha >= 0, alpha)
        beta = where_valid(xp, (beta >= 0) & (alpha + beta > 0), beta)
        ways = log_rising(alpha, value) + log_rising(beta, n - value)
        return ways - log_rising(alpha + beta, n)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log binomial coefficient, or minus infinity for impossible counts."""
        return log_binomial_coefficient(params[0], value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives of `log_kernel` with respect to value, ``n`` and the shapes."""
        n, alpha, beta = params
        total = alpha + beta
        return (
            lambda: digamma(alpha + value) - digamma(beta + n - value),
            lambda: digamma(beta + n - value) - digamma(total + n),
            lambda: rising_slope(alpha, value) - rising_slope(total, n),
            lambda: rising_slope(beta, n - value) - rising_slope(total, n),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the shapes: a sum over the possible counts, made once for all entries."""

        @cache
        def entries() -> tuple[Any, Any, Any]:
            return self._expected_squares(*params)

        return {
            ("alpha", "alpha"): lambda: entries()[0],
            ("alpha", "beta"): lambda: entries()[1],
            ("beta", "beta"): lambda: entries()[2],
        }

    def _expected_squares(self, *params: Array) -> tuple[Any, Any, Any]:
        """Mean squares and product of the scores, over blocks of counts: each of batch shape."""
        n, alpha, beta = (np.asarray(p, dtype=float)[..., None] for p in params)
        size = np.broadcast(n, alpha, beta).size
        most = np.max(n, initial=0.0, where=np.isfinite(n))
        per_block = max(1, BLOCK // max(size, 1))
        first = second = mixed = np.zeros(np.broadcast(n, alpha, beta).shape[:-1])
        for start in np.arange(0.0, most + 1.0, per_block):
            count = np.arange(start, min(start + per_block, most + 1.0))
            y = np.minimum(count, n)
            mass = np.where(count <= n, np.exp(self.log_density(np, y, n, alpha, beta)), 0.0)
            _, _, *scores = self.partials(np, y, n, alpha, beta)
            a, b = (score() for score in scores)
            first = first + np.sum(mass * a * a, axis=-1)
            mixed = mixed + np.sum(mass * a * b, axis=-1)
            second = second + np.sum(mass * b * b, axis=-1)
        return first, mixed, second

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, alpha, beta = (np.asarray(p) for p in params)
        never, always = alpha == 0, beta == 0
        p = rng.beta(np.where(never, 1.0, alpha), np.where(always, 1.0, beta), shape)
        p = np.where(never, 0.0, np.where(always, 1.0, p))
        return np.asarray(rng.binomial(n.astype(np.int64), p))
