"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import UnitInterval
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.bernoulli_logit import BernoulliLogit
from probmodel.distributions.scalar.bernoulli_probit import BernoulliProbit
from probmodel.distributions.scalar.count_families import BernoulliFamily
from probmodel.numerics.special import ratio, where, xlog1py, xlogy
from probmodel.types import Array


class Bernoulli(BernoulliFamily):
    r"""Success or failure.

    .. math:: P(y) = p^y (1 - p)^{1 - y}, \quad y \in \{0, 1\}

    Parameters
    ----------
    p : probability of success, between zero and one

    Notes
    -----
    Stan: ``bernoulli(p)``. SciPy: ``bernoulli(p)``. Of log odds, `BernoulliLogit` is the stable and
    faster form.
    """

    parameters: ClassVar = {"p": Parameter(UnitInterval())}
    link_forms: ClassVar = {("p", "expit"): BernoulliLogit, ("p", "ndtr"): BernoulliProbit}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape; NaN where ``p`` is no probability."""
        (p,) = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return xlogy(value, p) + xlog1py(1.0 - value, -p)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on ``p``; without bound towards certainty, which itself has none."""
        (p,) = params
        return {("p", "p"): lambda: ratio(1.0, p * (1.0 - p))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw zeros and ones of shape ``shape``."""
        (p,) = params
        return (rng.random(shape) < p).astype(np.int64)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of outcomes up to ``x``."""
        (p,) = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return where(x < 0, -np.inf, where(x < 1, xp.log1p(-p), 0.0 * p))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of outcomes above ``x``."""
        (p,) = params
        p = where_valid((p >= 0) & (p <= 1), p)
        return where(x < 0, 0.0 * p, where(x < 1, xp.log(p), -np.inf))
