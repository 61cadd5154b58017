"""The categorical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Simplex
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import SUM_TOLERANCE, where_valid
from probmodel.distributions.scalar.categorical_logit import CategoryFamily, indicators
from probmodel.numerics.special import xlogy
from probmodel.types import Array


class Categorical(CategoryFamily):
    r"""One of K categories.

    .. math:: P(y) = p_y, \quad y = 0, \dots, K - 1

    Parameters
    ----------
    p : probabilities that add up to one, (K,)

    Notes
    -----
    Categories count from zero. Stan: ``categorical(p)``, counting from one. SciPy:
    ``multinomial(1, p)`` of the indicator vector.
    """

    parameters: ClassVar = {"p": Parameter(Simplex(), event_ndim=1)}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape; -inf for what is no category."""
        (p,) = params
        chosen, possible = indicators(value, p.shape[-1])
        total = xp.sum(where_valid(p >= 0, p), axis=-1)
        valid = where_valid(abs(total - 1.0) < SUM_TOLERANCE, 0.0)
        return xp.sum(xlogy(1.0 * chosen, p), axis=-1) + possible + valid

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the probabilities, as if free: batch shape."""
        (p,), (change,) = params, changes
        if change is None:
            return 0.0
        # A category of probability zero never occurs, which says nothing about the others.
        weight = np.divide(1.0, p, out=np.zeros(np.shape(p)), where=p != 0)
        return xp.sum(weight * change * change, axis=-1)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw categories of shape ``shape``."""
        (p,) = params
        below = rng.random(shape)[..., None] >= np.cumsum(p, axis=-1)[..., :-1]
        return np.asarray(np.sum(below, axis=-1))
