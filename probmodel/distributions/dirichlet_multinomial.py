"""The Dirichlet-multinomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Positive
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.counts import CountVector, draw_counts, log_impossible
from probmodel.distributions.dirichlet import Dirichlet
from probmodel.distributions.domain import where_valid
from probmodel.special import betaln, digamma
from probmodel.types import Array


class DirichletMultinomial(Distribution):
    r"""Multinomial counts whose probabilities are drawn from a Dirichlet distribution.

    .. math:: P(y) = \prod_k \binom{y_k + \alpha_k - 1}{y_k} \Big/ \binom{n + A - 1}{n},
              \quad A = \sum_k \alpha_k, \quad \sum_k y_k = n

    Parameters
    ----------
    n : number of trials, a whole number: what the counts add up to
    concentration : :math:`\alpha_k > 0`, (K,)

    Notes
    -----
    The value is a vector of K counts. ``n`` is given, as in `Binomial`, because draws need it; of
    counts ``y`` it is ``y.sum(axis=-1)``. Stan: ``dirichlet_multinomial(concentration)``, which
    takes ``n`` from the counts. SciPy: ``dirichlet_multinomial(concentration, n)``.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "concentration": Parameter(Positive(), event_ndim=1),
    }
    event_ndim = 1
    discrete = True

    def support(self) -> Constraint:
        """Vectors of counts that add up to ``n``."""
        return CountVector(self.args["n"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        n, alpha = params
        alpha = where_valid(xp, alpha > 0, alpha)
        own = xp.sum(_log_coefficient(xp, alpha, value), axis=-1)
        return own - _log_coefficient(xp, xp.sum(alpha, axis=-1), n)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for impossible counts."""
        return log_impossible(params[0], value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives in value and ``n`` (as if they were real) and concentration."""
        n, alpha = params
        total = xp.sum(alpha, axis=-1)

        def slope_in_concentration() -> Any:
            of_total = digamma(total + n) - digamma(total)
            return digamma(alpha + value) - digamma(alpha) - of_total[..., None]

        return (
            lambda: digamma(alpha + value) - digamma(value + 1.0),
            lambda: digamma(n + 1.0) - digamma(total + n),
            slope_in_concentration,
        )

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors of counts: ``shape`` ends with their length."""
        n, alpha = params
        return draw_counts(rng, shape, n, Dirichlet(alpha).sample(rng, shape, alpha))


def _log_coefficient(xp: Any, a: Any, y: Any) -> Any:
    """Log of "y + a - 1 choose y": a beta function, which stays accurate for large ``a``."""
    return -xp.log(a + y) - betaln(a, y + 1.0)
