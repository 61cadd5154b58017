"""The binomial distribution given its log odds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.count_families import BinomialFamily
from probmodel.numerics.special import expit, log_expit, product, where
from probmodel.numerics.special.incomplete_beta import log_betainc
from probmodel.types import Array


class BinomialLogit(BinomialFamily):
    r"""Number of successes in a number of trials, with the log odds as the parameter.

    .. math:: P(y) = \binom{n}{y} \exp\{y \eta - n \log(1 + e^\eta)\}, \quad y = 0, \dots, n

    Parameters
    ----------
    n : number of trials, a whole number
    logit : log odds :math:`\eta` of success

    Notes
    -----
    Stan: ``binomial_logit(n, logit)``. SciPy: ``binom(n, expit(logit))``.
    """

    parameters: ClassVar = {"n": Parameter(IntegerInterval(0, None)), "logit": Parameter(Real())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, logit = params
        return product(value, log_expit(logit)) + product(n - value, log_expit(-logit))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log odds: the variance of the count."""
        n, logit = params
        return {("logit", "logit"): lambda: n * expit(logit) * expit(-logit)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, logit = params
        return np.asarray(rng.binomial(np.asarray(n).astype(np.int64), expit(logit), shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        n, logit = params
        return log_at_most(xp.floor(x), n, logit)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        n, logit = params
        return log_at_most(n - 1.0 - xp.floor(x), n, -logit)


def log_at_most(count: Any, n: Any, logit: Any) -> Any:
    """Log probability of up to ``count`` successes, a whole number, in ``n`` trials."""
    open_ended = (count >= 0) & (count < n)
    few, trials = where(open_ended, count, 0.0), where(open_ended, n, 1.0)
    inside = log_betainc(trials - few, few + 1.0, -logit)
    return where(open_ended, inside, where(count < 0, -np.inf, 0.0 * logit))
