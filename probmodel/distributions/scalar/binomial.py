"""The binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, UnitInterval
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.binomial_logit import BinomialLogit, log_at_most
from probmodel.distributions.scalar.binomial_probit import BinomialProbit
from probmodel.distributions.scalar.count_families import BinomialFamily
from probmodel.numerics.special import logit, ratio, where, xlog1py, xlogy
from probmodel.types import Array


class Binomial(BinomialFamily):
    r"""Number of successes in a number of trials.

    .. math:: P(y) = \binom{n}{y} p^y (1 - p)^{n - y}, \quad y = 0, \dots, n

    Parameters
    ----------
    n : number of trials, a whole number
    p : probability of success, between zero and one

    Notes
    -----
    Stan: ``binomial(n, p)``. SciPy: ``binom(n, p)``. Of log odds, `BinomialLogit` is the stable and
    faster form.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "p": Parameter(UnitInterval()),
    }
    link_forms: ClassVar = {("p", "expit"): BinomialLogit, ("p", "ndtr"): BinomialProbit}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, p = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return xlogy(value, p) + xlog1py(n - value, -p)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on ``p``; without bound towards certainty, which itself has none."""
        n, p = params
        return {("p", "p"): lambda: ratio(n, p * (1.0 - p))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, p = params
        return np.asarray(rng.binomial(np.asarray(n).astype(np.int64), p, shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts up to ``x``."""
        n, p = params
        return _log_at_most(xp.floor(x), n, p, 1.0)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of counts above ``x``."""
        n, p = params
        return _log_at_most(n - 1.0 - xp.floor(x), n, p, -1.0)


def _log_at_most(count: Any, n: Any, p: Any, sign: float) -> Any:
    """Log probability of up to ``count`` successes, or failures where the sign is negative.

    At the ends of the unit interval the log odds are infinite; there it has its limits, and where
    one of these is zero the slope of it.
    """
    p = where_valid((p >= 0) & (p <= 1), p)
    never, always = (p == 0, p == 1) if sign > 0 else (p == 1, p == 0)
    inside = log_at_most(count, n, sign * logit(where(never | always, 0.5, p)))
    rare = (p if sign > 0 else 1.0 - p) * n
    without = where(count < 0, -np.inf, -where(count == 0, rare, 0.0) * (n > 0))
    return where(never, without, where(always, where(count >= n, 0.0, -np.inf), inside))
