"""The multinomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Simplex
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import SUM_TOLERANCE, where_valid
from probmodel.distributions.vector.count_vectors import MultinomialFamily, draw_counts
from probmodel.numerics.special import xlogy
from probmodel.types import Array


class Multinomial(MultinomialFamily):
    r"""Numbers of trials that end in each of K ways.

    .. math:: P(y) = \frac{n!}{\prod_k y_k!} \prod_k p_k^{y_k}, \quad \sum_k y_k = n

    Parameters
    ----------
    n : number of trials, a whole number: what the counts add up to
    p : probabilities that add up to one, (K,)

    Notes
    -----
    The value is a vector of K counts. ``n`` is given, as in `Binomial`, because draws need it; of
    counts ``y`` it is ``y.sum(axis=-1)``. Stan: ``multinomial(p)``, which takes ``n`` from the
    counts. SciPy: ``multinomial(n, p)``. Of unnormalised log probabilities, `MultinomialLogit` is
    the stable and faster form.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "p": Parameter(Simplex(), event_ndim=1),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the multinomial coefficient: batch shape."""
        n, p = params
        total = xp.sum(where_valid(p >= 0, p), axis=-1)
        valid = where_valid(abs(total - 1.0) < SUM_TOLERANCE, 0.0 * n)
        return xp.sum(xlogy(value, p), axis=-1) + valid

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the probabilities, as if free: batch shape.

        It is the mean square of the score, whose mean vanishes where the changes keep the sum.
        """
        (n, p), (change_of_n, change) = params, changes
        if change_of_n is not None:
            raise self._without_information(["n"])
        if change is None:
            return 0.0
        # A category of probability zero never occurs, which says nothing about the others.
        weight = np.divide(1.0, p, out=np.zeros(np.shape(p)), where=p != 0)
        mean = xp.sum(change + np.zeros(p.shape[-1]), axis=-1)
        return n * (xp.sum(weight * change * change, axis=-1) + (n - 1.0) * mean * mean)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors of counts: ``shape`` ends with their length."""
        return draw_counts(rng, shape, *params)
