"""The binomial distribution given its log odds."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.domain import is_integer
from probmodel.distributions.sums import reduce_to, row_sum
from probmodel.special import expit, log1p_exp, log_expit, logistic, product
from probmodel.special.rising import log_ways
from probmodel.types import Array


class BinomialLogit(Distribution):
    r"""Number of successes in a number of trials, with the log odds as the parameter.

    .. math:: P(y) = \binom{n}{y} \exp\{y \eta - n \log(1 + e^\eta)\}, \quad y = 0, \dots, n

    Parameters
    ----------
    n : number of trials, a whole number
    logit : log odds :math:`\eta` of success

    Notes
    -----
    Stan: ``binomial_logit(n, logit)``. SciPy: ``binom(n, expit(logit))``. One number per batch
    element.
    """

    parameters: ClassVar = {"n": Parameter(IntegerInterval(0, None)), "logit": Parameter(Real())}
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero to ``n``."""
        return IntegerInterval(0, self.args["n"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, logit = params
        return product(value, log_expit(logit)) + product(n - value, log_expit(-logit))

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log binomial coefficient, or minus infinity for impossible counts."""
        return log_binomial_coefficient(params[0], value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives of `log_kernel` with respect to value, ``n`` and log odds."""
        n, logit = params
        return (
            lambda: logit,
            lambda: -log1p_exp(logit),
            lambda: value * expit(-logit) - (n - value) * expit(logit),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log odds: the variance of the count."""
        n, logit = params
        return {("logit", "logit"): lambda: n * expit(logit) * expit(-logit)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, logit = params
        return np.asarray(rng.binomial(np.asarray(n).astype(np.int64), expit(logit), shape))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of `log_kernel` per chain, with partials, from one exponential."""
        n, logit = params
        failures = n - value
        softplus, softplus_negative, p, q = logistic(logit)
        terms = value * softplus_negative + failures * softplus
        batch = terms.shape
        logp = -row_sum(terms, batch)
        if not isfinite(np.dot(logp, logp)):  # success or failure may be certain
            logp = row_sum(self.log_kernel(np, value, n, logit), batch)
        slopes = (lambda: logit, lambda: -softplus, lambda: value * q - failures * p)
        args = (value, n, logit)
        return logp, [reduce_to(args[i], slopes[i](), batch, 0) for i in wanted]


def log_binomial_coefficient(n: Array, value: Array) -> Array:
    """Logarithm of "n choose value"; minus infinity unless both are whole and 0 <= value <= n."""
    n, value = np.asarray(n, dtype=float), np.asarray(value, dtype=float)
    possible = is_integer(n) & is_integer(value) & (value >= 0) & (value <= n)
    y, m = np.where(possible, value, 0.0), np.where(possible, n, 0.0)
    fewer = np.minimum(y, m - y)
    return np.where(possible, log_ways(m - fewer + 1.0, fewer), -np.inf)
