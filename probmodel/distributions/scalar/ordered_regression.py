"""What ordered regressions share: a latent number that cutpoints sort into categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Ordered, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.categorical_logit import CategoryFamily, indicators
from probmodel.numerics.special import where
from probmodel.types import Array


class OrderedCategories(CategoryFamily):
    """Number of cutpoints below ``eta`` plus noise; the noise is symmetric about zero.

    Subclasses give the noise. Cutpoints that do not increase make the density NaN.
    """

    parameters: ClassVar = {
        "eta": Parameter(Real()),
        "cutpoints": Parameter(Ordered(), event_ndim=1),
    }
    vector, last = 1, 0

    @staticmethod
    def log_interval(low: Any, high: Any) -> Any:
        """Log probability that the noise lies between two numbers."""
        raise NotImplementedError

    @staticmethod
    def interval_slope(low: Any, high: Any) -> Any:
        """Return the derivative of `log_interval` in its upper end.

        By symmetry that in its lower end is ``-interval_slope(-high, -low)``.
        """
        raise NotImplementedError

    @staticmethod
    def draw_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw noise of shape ``shape``."""
        raise NotImplementedError

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        eta, cutpoints = params
        low, high, _ = _ends(xp, value, cutpoints)
        return self.log_interval(low - eta, high - eta)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is no category."""
        return indicators(value, np.shape(params[1])[-1] + 1)[1]

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information: the mean square of the score along the changes."""
        (eta, cutpoints), (change_of_eta, change_of_cutpoints) = params, changes
        if change_of_eta is None and change_of_cutpoints is None:
            return 0.0
        low, high = (edges - np.asarray(eta)[..., None] for edges in _edges(np, cutpoints))
        at_low, at_high = self.interval_slope(-high, -low), self.interval_slope(low, high)
        score: Any = 0.0
        if change_of_eta is not None:
            score = change_of_eta[..., None] * (at_low - at_high)
        if change_of_cutpoints is not None:
            moved = change_of_cutpoints + np.zeros(cutpoints.shape[-1])
            still = np.zeros((*np.shape(moved)[:-1], 1))
            score = score + at_high * xp.concatenate([moved, still], axis=-1)
            score = score - at_low * xp.concatenate([still, moved], axis=-1)
        return xp.sum(np.exp(self.log_interval(low, high)) * score * score, axis=-1)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw categories of shape ``shape``."""
        eta, cutpoints = params
        latent = np.asarray(eta + self.draw_noise(rng, shape))
        return np.asarray(np.sum(latent[..., None] > cutpoints, axis=-1))


def _edges(xp: Any, cutpoints: Any) -> tuple[Any, Any]:
    """Return the lower and the upper ends of all categories: (..., K) each."""
    increasing = (cutpoints[..., 1:] > cutpoints[..., :-1]).all(axis=-1)
    cutpoints = where_valid(increasing[..., None], cutpoints)
    end = np.full((*np.shape(cutpoints)[:-1], 1), np.inf)
    return xp.concatenate([-end, cutpoints], axis=-1), xp.concatenate([cutpoints, end], axis=-1)


def _ends(xp: Any, value: Any, cutpoints: Any) -> tuple[Any, Any, Array]:
    """Return the ends of the categories of values, (...,) each, and indicators of these."""
    chosen, _ = indicators(value, np.shape(cutpoints)[-1] + 1)
    low, high = (xp.sum(where(chosen, e, 0.0), axis=-1) for e in _edges(xp, cutpoints))
    return low, high, chosen
