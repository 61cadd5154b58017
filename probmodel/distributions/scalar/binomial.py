"""The binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, UnitInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.binomial_logit import BinomialLogit, log_binomial_coefficient
from probmodel.numerics.special import ratio, xlog1py, xlogy
from probmodel.types import Array


class Binomial(Distribution):
    r"""Number of successes in a number of trials.

    .. math:: P(y) = \binom{n}{y} p^y (1 - p)^{n - y}, \quad y = 0, \dots, n

    Parameters
    ----------
    n : number of trials, a whole number
    p : probability of success, between zero and one

    Notes
    -----
    Stan: ``binomial(n, p)``. SciPy: ``binom(n, p)``. One number per batch element. Of log odds,
    `BinomialLogit` is the stable and faster form.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "p": Parameter(UnitInterval()),
    }
    link_forms: ClassVar = {("p", "expit"): BinomialLogit}
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero to ``n``."""
        return IntegerInterval(0, self.args["n"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, p = params
        p = where_valid(xp, (p >= 0) & (p <= 1), p)
        return xlogy(value, p) + xlog1py(n - value, -p)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log binomial coefficient, or minus infinity for impossible counts."""
        return log_binomial_coefficient(params[0], value)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on ``p``; without bound towards certainty, which itself has none."""
        n, p = params
        return {("p", "p"): lambda: ratio(n, p * (1.0 - p))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, p = params
        return np.asarray(rng.binomial(np.asarray(n).astype(np.int64), p, shape))
