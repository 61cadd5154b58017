"""The Dirichlet-multinomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, NonNegative
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.vector.count_vectors import MultinomialFamily, draw_counts
from probmodel.distributions.vector.dirichlet import Dirichlet
from probmodel.numerics.special.rising import log_rising
from probmodel.types import Array


class DirichletMultinomial(MultinomialFamily):
    r"""Multinomial counts whose probabilities are drawn from a Dirichlet distribution.

    .. math:: P(y) = \prod_k \binom{y_k + \alpha_k - 1}{y_k} \Big/ \binom{n + A - 1}{n},
              \quad A = \sum_k \alpha_k, \quad \sum_k y_k = n

    Parameters
    ----------
    n : number of trials, a whole number: what the counts add up to
    concentration : :math:`\alpha_k \ge 0`, (K,), not all zero; where it is zero, so is the count

    Notes
    -----
    The value is a vector of K counts. ``n`` is given, as in `Binomial`, because draws need it; of
    counts ``y`` it is ``y.sum(axis=-1)``. Stan: ``dirichlet_multinomial(concentration)``, which
    takes ``n`` from the counts. SciPy: ``dirichlet_multinomial(concentration, n)``.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "concentration": Parameter(NonNegative(), event_ndim=1),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the multinomial coefficient: batch shape."""
        n, alpha = params
        total = xp.sum(where_valid(alpha >= 0, alpha), axis=-1)
        total = where_valid(total > 0, total)
        return xp.sum(log_rising(alpha, value), axis=-1) - log_rising(total, n)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors of counts: ``shape`` ends with their length."""
        n, alpha = params
        return draw_counts(rng, shape, n, Dirichlet(alpha).sample(rng, shape, alpha))
