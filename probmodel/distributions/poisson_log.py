"""The Poisson distribution given the logarithm of its rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import is_integer
from probmodel.distributions.sums import reduce_to, row_sum
from probmodel.special import gammainc, gammaincc, gammaln, product, where
from probmodel.types import Array


class PoissonLog(Distribution):
    r"""Poisson distribution with the logarithm of the rate as its parameter.

    .. math:: P(y) = \exp(y \eta - e^{\eta}) / y!, \quad y = 0, 1, \dots

    Parameters
    ----------
    log_rate : logarithm :math:`\eta` of the mean; minus infinity is that of a rate of zero

    Notes
    -----
    Stan: ``poisson_log(log_rate)``. SciPy: ``poisson(exp(log_rate))``. One number per batch
    element.
    """

    parameters: ClassVar = {"log_rate": Parameter(Real())}
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero up."""
        return IntegerInterval(0, None)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without ``-log(y!)``: batch shape."""
        (log_rate,) = params
        return product(value, log_rate) - xp.exp(log_rate)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return ``-log(y!)``, or minus infinity for what is no count."""
        return count_base(value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives of `log_kernel` with respect to value and log rate."""
        (log_rate,) = params
        return (lambda: log_rate, lambda: value - xp.exp(log_rate))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log rate: the variance of the count."""
        (log_rate,) = params
        return {("log_rate", "log_rate"): lambda: np.exp(log_rate)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        (log_rate,) = params
        return np.asarray(rng.poisson(np.exp(log_rate), shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        (log_rate,) = params
        return poisson_log_cdf(xp, x, xp.exp(log_rate))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        (log_rate,) = params
        return poisson_log_ccdf(xp, x, xp.exp(log_rate))

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Turn the sum over known counts into one product for all chains."""
        value, log_rate = known
        if value is None or log_rate is not None:
            return self.summed
        return _FixedCounts(self, np.asarray(value, dtype=float))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of `log_kernel` per chain, with partials, from one exponential."""
        (log_rate,) = params
        rate = np.exp(log_rate)
        terms = value * log_rate
        terms -= rate
        batch = terms.shape
        logp = row_sum(terms, batch)
        if not isfinite(np.dot(logp, logp)):  # some rate may be zero
            logp = row_sum(self.log_kernel(np, value, log_rate), batch)
        args = (log_rate, value - rate) if wanted else ()
        return logp, [reduce_to((value, log_rate)[i], args[i], batch, 0) for i in wanted]


class _FixedCounts:
    """Sum of log probabilities of known counts, as a function of the log rate."""

    def __init__(self, general: PoissonLog, value: Array) -> None:
        self.general = general
        self.value = value
        self.flat = value.reshape(-1)

    def __call__(
        self, wanted: Sequence[int], value: Array, log_rate: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the log rate."""
        if log_rate.shape[1:] != self.value.shape or log_rate.ndim < 2:
            return self.general.summed(wanted, value, log_rate)
        rate = np.exp(log_rate)
        chains = len(rate)
        total = np.add.reduce(rate.reshape(chains, -1), axis=1)
        logp = log_rate.reshape(chains, -1) @ self.flat - total
        if not isfinite(np.dot(logp, logp)):
            return self.general.summed(wanted, value, log_rate)
        return logp, [self.value - rate] if wanted else []


def count_base(value: Array) -> Array:
    """Return ``-log(y!)``, or minus infinity for what is no count."""
    value = np.asarray(value, dtype=float)
    counts = is_integer(value) & (value >= 0)
    return np.where(counts, -gammaln(np.where(counts, value, 0.0) + 1.0), -np.inf)


def poisson_log_cdf(xp: Any, x: Any, rate: Any) -> Any:
    """Log probability of Poisson counts up to ``x``; -inf below zero."""
    count = xp.floor(x)
    inside = xp.log(gammaincc(xp.maximum(count, 0.0) + 1.0, rate))
    return where(count >= 0, inside, -np.inf)


def poisson_log_ccdf(xp: Any, x: Any, rate: Any) -> Any:
    """Log probability of Poisson counts above ``x``; zero below zero."""
    count = xp.floor(x)
    # Below zero any rate will do: of a rate of zero the slope of the logarithm has no bound.
    inside = xp.log(gammainc(xp.maximum(count, 0.0) + 1.0, where(count >= 0, rate, 1.0)))
    return where(count >= 0, inside, 0.0)
