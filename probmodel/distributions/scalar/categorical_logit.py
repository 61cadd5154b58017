"""The categorical distribution given unnormalised log probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.numerics.special import logsumexp, where
from probmodel.types import Array


class CategoryFamily(Distribution):
    """Distributions of categories, which a vector among the parameters numbers."""

    discrete = True
    vector: ClassVar[int] = 0  # which parameter it is
    last: ClassVar[int] = -1  # the last category, less the number of its elements

    def support(self) -> Constraint:
        """Whole numbers from zero to the last category."""
        vector = list(self.args.values())[self.vector]
        plain = isinstance(vector, list | tuple)
        shape = np.shape(vector) if plain else getattr(vector, "shape", None)
        return IntegerInterval(0, shape[-1] + self.last if shape else None)

    def support_for(self, *shapes: tuple[int, ...]) -> Constraint:
        """As many categories as the vector numbers."""
        return IntegerInterval(0, shapes[self.vector][-1] + self.last)


class CategoricalLogit(CategoryFamily):
    r"""One of K categories, with unnormalised log probabilities as the parameter.

    .. math:: P(y) = \exp(\eta_y) / \sum_{k=0}^{K-1} \exp(\eta_k), \quad y = 0, \dots, K - 1

    Parameters
    ----------
    logits : unnormalised log probabilities :math:`\eta`, (K,)

    Notes
    -----
    Categories count from zero. Stan: ``categorical_logit(logits)``, counting from one. SciPy:
    ``multinomial(1, softmax(logits))`` of the indicator vector.
    """

    parameters: ClassVar = {"logits": Parameter(Real(), event_ndim=1)}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape; -inf for what is no category."""
        (logits,) = params
        chosen, possible = indicators(value, logits.shape[-1])
        own = xp.sum(where(chosen, logits, 0.0), axis=-1)
        return own + possible - logsumexp(logits, axis=-1)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the logits, a variance: batch shape."""
        (logits,), (change,) = params, changes
        if change is None:
            return 0.0
        p = np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))
        centred = change - xp.sum(p * change, axis=-1, keepdims=True)
        return xp.sum(p * centred * centred, axis=-1)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw categories of shape ``shape``."""
        (logits,) = params
        gumbel = rng.gumbel(size=(*shape, logits.shape[-1]))
        return np.asarray(np.argmax(logits + gumbel, axis=-1))


def indicators(value: Any, n_categories: int) -> tuple[Array, Array]:
    """Return which category each value is, (..., K), and 0 or, if it is none, -inf: (...,)."""
    chosen = np.asarray(value)[..., None] == np.arange(n_categories)
    return chosen, np.where(chosen.any(axis=-1), 0.0, -np.inf)
