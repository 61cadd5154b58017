"""The Bernoulli distribution given its log odds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.count_families import BernoulliFamily
from probmodel.numerics.special import expit, log1p_exp, where
from probmodel.types import Array


class BernoulliLogit(BernoulliFamily):
    r"""Success or failure, with the log odds of success as the parameter.

    .. math:: P(y) = \mathrm{expit}(\eta)^y \{1 - \mathrm{expit}(\eta)\}^{1 - y},
              \quad y \in \{0, 1\}

    Parameters
    ----------
    logit : log odds :math:`\eta` of success

    Notes
    -----
    Stan: ``bernoulli_logit(logit)``. SciPy: ``bernoulli(expit(logit))``.
    """

    parameters: ClassVar = {"logit": Parameter(Real())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        (logit,) = params
        return -log1p_exp((1.0 - 2.0 * value) * logit)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log odds: the variance of the outcome."""
        (logit,) = params
        return {("logit", "logit"): lambda: expit(logit) * expit(-logit)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw zeros and ones of shape ``shape``."""
        (logit,) = params
        return (rng.logistic(size=shape) < logit).astype(np.int64)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of outcomes up to ``x``."""
        (logit,) = params
        return where(x < 0, -np.inf, where(x < 1, -log1p_exp(logit), 0.0 * logit))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of outcomes above ``x``."""
        (logit,) = params
        return where(x < 0, 0.0 * logit, where(x < 1, -log1p_exp(-logit), -np.inf))
