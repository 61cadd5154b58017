"""The multinomial distribution given unnormalised log probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.vector.count_vectors import MultinomialFamily, draw_counts
from probmodel.numerics.special import logsumexp, product
from probmodel.types import Array


class MultinomialLogit(MultinomialFamily):
    r"""Numbers of trials that end in each of K ways, by unnormalised log probabilities.

    .. math:: P(y) = \frac{n!}{\prod_k y_k!}
              \exp\Bigl\{\sum_k y_k \eta_k - n \log \sum_k e^{\eta_k}\Bigr\}, \quad \sum_k y_k = n

    Parameters
    ----------
    n : number of trials, a whole number: what the counts add up to
    logits : unnormalised log probabilities :math:`\eta`, (K,)

    Notes
    -----
    The value is a vector of K counts. ``n`` is given, as in `Binomial`, because draws need it; of
    counts ``y`` it is ``y.sum(axis=-1)``. Stan: ``multinomial_logit(logits)``, which takes ``n``
    from the counts. SciPy: ``multinomial(n, softmax(logits))``.
    """

    parameters: ClassVar = {
        "n": Parameter(IntegerInterval(0, None)),
        "logits": Parameter(Real(), event_ndim=1),
    }

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the multinomial coefficient: batch shape."""
        n, logits = params
        return xp.sum(product(value, logits), axis=-1) - n * logsumexp(logits, axis=-1)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the logits, a variance: batch shape."""
        (n, logits), (change_of_n, change) = params, changes
        if change_of_n is not None:
            raise self._without_information(["n"])
        if change is None:
            return 0.0
        p = np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))
        centred = change - xp.sum(p * change, axis=-1, keepdims=True)
        return n * xp.sum(p * centred * centred, axis=-1)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors of counts: ``shape`` ends with their length."""
        n, logits = params
        return draw_counts(rng, shape, n, np.exp(logits - np.max(logits, axis=-1, keepdims=True)))
