"""The beta negative binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.count_families import PoissonFamily
from probmodel.numerics.special.count_functions import poisson_counts
from probmodel.numerics.special.rising import log_rising
from probmodel.types import Array


class BetaNegativeBinomial(PoissonFamily):
    r"""Number of failures before the r-th success, whose probability is beta distributed.

    .. math:: P(y) = \frac{\Gamma(r + y)}{y! \, \Gamma(r)}
              \frac{B(\alpha + r, \beta + y)}{B(\alpha, \beta)}, \quad y = 0, 1, \dots

    Parameters
    ----------
    r : number of successes :math:`r \ge 0`, which need not be whole
    alpha : first shape :math:`\alpha > 0`; the tail falls like :math:`y^{-\alpha - 1}`
    beta : second shape :math:`\beta \ge 0`; the mean is :math:`r \beta / (\alpha - 1)`

    Notes
    -----
    Stan: ``beta_neg_binomial(r, alpha, beta)``. SciPy: ``betanbinom(r, alpha, beta)`` with whole
    ``r``. Larger draws than 9e18 come out as about 9e18.
    """

    parameters: ClassVar = {
        "r": Parameter(NonNegative()),
        "alpha": Parameter(Positive()),
        "beta": Parameter(NonNegative()),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without ``-log(y!)``: batch shape."""
        r, alpha, beta = params
        r = where_valid(r >= 0, r)
        alpha = where_valid(alpha > 0, alpha)
        beta = where_valid(beta >= 0, beta)
        ways = log_rising(r, value) + log_rising(beta, value) + log_rising(alpha, r)
        return ways - log_rising(alpha + beta, r + value)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``: a Poisson whose rate has gamma factors."""
        r, alpha, beta = params
        numerator = rng.standard_gamma(r, shape) * rng.standard_gamma(beta, shape)
        # Small shapes leave draws to underflow: the rate is then beyond all counts.
        denominator = np.maximum(rng.standard_gamma(alpha, shape), np.finfo(float).tiny)
        with np.errstate(over="ignore"):
            return poisson_counts(rng, numerator / denominator)
