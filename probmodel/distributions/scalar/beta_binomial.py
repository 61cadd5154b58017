"""The beta-binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
from autograd.tracer import getval

from probmodel.constraints import IntegerInterval, NonNegative
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import BinomialFamily
from probmodel.distributions.sums import BLOCK
from probmodel.distributions.tail_probabilities import log_tail_sums
from probmodel.numerics.special import digamma, where
from probmodel.numerics.special.rising import (
    log_ratio,
    log_rising,
    log_ways,
    rising_excess,
    rising_gap,
    rising_slope,
)
from probmodel.types import Array

# From these trials on, the binomial coefficient is evaluated with the rest of the probability.
_MANY = 1e4
# Below this shape the slope in the other one may be as small.
_SMALL = 1e-3


class BetaBinomial(BinomialFamily):
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
    Stan: ``beta_binomial(n, alpha, beta)``. SciPy: ``betabinom(n, alpha, beta)``.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "alpha": Parameter(NonNegative()),
        "beta": Parameter(NonNegative()),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        return _log_kernel(value, *params)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log binomial coefficient of few trials; -inf for impossible counts."""
        coefficient = super().log_base(value, *params)
        return np.where(np.asarray(params[0]) >= _MANY, np.minimum(coefficient, 0.0), coefficient)

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
            a, b = _slope(alpha, y, beta, n - y), _slope(beta, n - y, alpha, y)
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

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``, by a sum."""
        return log_tail_sums(xp, self, x, *params)[0]

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``, by a sum."""
        return log_tail_sums(xp, self, x, *params)[1]


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log probability without the terms of `log_base`: batch shape."""
    n, alpha, beta = params
    alpha = where_valid(alpha >= 0, alpha)
    beta = where_valid((beta >= 0) & (alpha + beta > 0), beta)
    failures, total = n - value, alpha + beta
    logs = log_rising(alpha, value) + log_rising(beta, failures) - log_rising(total, n)
    many = np.asarray(n) >= _MANY
    if np.any(many):  # with the coefficient, which is about as large, by `log_ways`
        whole = log_ways(alpha, value) + log_ways(beta, failures) - log_ways(total, n)
        logs = where(many, whole, logs)
    for shape, other, rest in ((alpha, beta, failures), (beta, alpha, value)):
        certain = (rest == 0) & (getval(other) < 0.01 * getval(shape))
        if np.any(certain):
            small = where(certain, other, 0.0)
            logs = where(certain, rising_gap(where(certain, shape, 1.0), small, n), logs)
    return logs


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives of `log_kernel` with respect to value, ``n`` and the shapes."""
    n, alpha, beta = params
    failures = n - value
    return (
        lambda: digamma(alpha + value) - digamma(beta + failures),
        lambda: digamma(beta + failures) - digamma(alpha + beta + n),
        lambda: _slope(alpha, value, beta, failures),
        lambda: _slope(beta, failures, alpha, value),
    )


def _slope(shape: Any, count: Any, other: Any, rest: Any) -> Any:
    """Return the derivative of `log_kernel` in one shape, of ``count`` outcomes.

    It is the logarithm of ``(shape + count) total / {shape (total + n)}``, and what is left of the
    slopes of gamma functions without logarithms. If the other shape is small, an outcome of all
    has a slope as small; then these are taken in steps of that shape.
    """
    total, n = shape + other, count + rest
    none = getval(shape) == 0.0
    base = where(none, 1.0, shape)
    gap = count * other - rest * base
    logs = log_ratio(gap, (base + count) * (base + other), base * (base + other + n))
    excess = rising_excess(base, count) - rising_excess(base + other, n)
    small = (rest == 0) & (getval(other) < _SMALL)
    steps = rising_excess(base, other) - rising_excess(base + count, other + rest)
    excess = where(small, steps, excess)
    return where(none, -rising_slope(total, n), excess + logs)


# Of large shapes the derivative is a difference of logarithms that are nearly equal.
_log_kernel = closed_form(_formula, _slopes)
