"""The Bernoulli distribution given its log odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.sums import reduce_to, row_sum
from probmodel.numerics import row_sum_log
from probmodel.special import expit, log1p_exp
from probmodel.types import Array


class BernoulliLogit(Distribution):
    r"""Success or failure, with the log odds of success as the parameter.

    .. math:: P(y) = \mathrm{expit}(\eta)^y \{1 - \mathrm{expit}(\eta)\}^{1 - y},
              \quad y \in \{0, 1\}

    Parameters
    ----------
    logit : log odds :math:`\eta` of success

    Notes
    -----
    Stan: ``bernoulli_logit(logit)``. SciPy: ``bernoulli(expit(logit))``. One number per batch
    element.
    """

    parameters: ClassVar = {"logit": Parameter(Real())}
    discrete = True

    def support(self) -> Constraint:
        """Zero and one."""
        return IntegerInterval(0, 1)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        (logit,) = params
        return -log1p_exp((1.0 - 2.0 * value) * logit)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is neither zero nor one."""
        return np.where((value == 0) | (value == 1), 0.0, -np.inf)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value (as if it were a real number) and logit."""
        (logit,) = params
        sign = 1.0 - 2.0 * value
        return (
            lambda: 2.0 * logit * expit(sign * logit),
            lambda: -sign * expit(sign * logit),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log odds: the variance of the outcome."""
        (logit,) = params
        return {("logit", "logit"): lambda: expit(logit) * expit(-logit)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw zeros and ones of shape ``shape``."""
        (logit,) = params
        return (rng.logistic(size=shape) < logit).astype(np.int64)

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out the signs of known outcomes beforehand."""
        value, logit = known
        if value is None or logit is not None:
            return self.summed
        return _FixedOutcomes(self, np.asarray(value, dtype=float))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log probability per chain, with partials, from one exponential.

        With ``t = (1 - 2 y) logit`` a term is ``-log(1 + e)`` and its slope ``e / (1 + e)``, for
        ``e = exp(t)``: exact in both tails short of overflow, which another formula serves.
        """
        (logit,) = params
        sign = 1.0 - 2.0 * value
        t = np.asarray(sign * logit)
        if 0 in wanted or (t.size and not t.max() <= 700.0):
            return super()._summed(wanted, value, *params)
        e = np.exp(t, out=t)
        logp = -row_sum(np.log1p(e), t.shape)
        if not wanted:
            return logp, []
        slope = e / (1.0 + e)
        slope *= -sign
        return logp, [reduce_to(logit, slope, slope.shape, 0)]


class _FixedOutcomes:
    """Sum of log probabilities of known outcomes, as a function of the log odds."""

    def __init__(self, general: BernoulliLogit, value: Array) -> None:
        self.general = general
        self.sign = 1.0 - 2.0 * value
        self.minus_sign = -self.sign

    def __call__(
        self, wanted: Sequence[int], value: Array, logit: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative, as in `BernoulliLogit._summed`."""
        t = self.sign * logit
        largest = t.max()
        if t.shape != logit.shape or t.ndim < 2 or not largest <= 700.0:
            return self.general.summed(wanted, value, logit)
        e = np.exp(t, out=t)
        w = e + 1.0
        logp = -row_sum_log(w.reshape(len(w), -1), 1.0 + np.exp(largest))
        if not wanted:
            return logp, []
        slope = np.divide(e, w, out=e)
        slope *= self.minus_sign
        return logp, [slope]
