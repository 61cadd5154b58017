"""What distributions of vectors of counts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution
from probmodel.distributions.domain import is_integer
from probmodel.numerics.special import gammaln
from probmodel.types import Array


class CountVector(Constraint):
    """Vectors of whole numbers from zero up that add up to a total."""

    event_ndim = 1
    bijective = False
    integer = True

    def __init__(self, total: Any) -> None:
        super().__init__(total)

    @property
    def name(self) -> str:
        """The constraint in words."""
        return "vectors of counts that add up to n"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether each vector holds counts that add up to its total."""
        return np.asarray(_are_counts(y) & (np.sum(y, axis=-1) == bounds[0]))


class MultinomialFamily(Distribution):
    """Distributions of vectors of counts that add up to the number of trials, the parameter n."""

    event_ndim = 1
    discrete = True

    def support(self) -> Constraint:
        """Vectors of counts that add up to ``n``."""
        return CountVector(self.args["n"])

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return the log multinomial coefficient, or minus infinity for impossible counts."""
        return log_multinomial_coefficient(params[0], value)


def log_impossible(n: Array, value: Array) -> Array:
    """Minus infinity for vectors that are no counts adding up to ``n``, zero for others: (...,)."""
    n, value = np.asarray(n, dtype=float), np.asarray(value, dtype=float)
    return np.where(_are_counts(value) & (np.sum(value, axis=-1) == n), 0.0, -np.inf)


def log_multinomial_coefficient(n: Array, value: Array) -> Array:
    """Logarithm of ``n! / prod(value!)``; minus infinity for what is impossible: (...,)."""
    impossible = log_impossible(n, value)
    counts = np.where(np.isfinite(impossible)[..., None], value, 0.0)
    arrangements = gammaln(np.sum(counts, axis=-1) + 1.0)
    return impossible + arrangements - np.sum(gammaln(counts + 1.0), axis=-1)


def draw_counts(
    rng: np.random.Generator, shape: tuple[int, ...], n: Array, weights: Array
) -> Array:
    """Draw counts of ``n`` trials with probabilities in proportion to weights: ``shape``."""
    p = np.broadcast_to(weights / np.sum(weights, axis=-1, keepdims=True), shape)
    return np.asarray(rng.multinomial(np.asarray(n).astype(np.int64), p, shape[:-1]))


def _are_counts(y: Array) -> Array:
    return np.asarray((is_integer(y) & (y >= 0)).all(axis=-1))
