"""What ordered regressions share: a latent number that cutpoints sort into categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Ordered, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Summed, Thunk
from probmodel.distributions.categorical_logit import indicators
from probmodel.distributions.domain import where_valid
from probmodel.distributions.sums import batch_shape, reduce_to, row_sum
from probmodel.special import where
from probmodel.types import Array


class OrderedCategories(Distribution):
    """Number of cutpoints below ``eta`` plus noise; the noise is symmetric about zero.

    Subclasses give the noise. Cutpoints that do not increase make the density NaN.
    """

    parameters: ClassVar = {
        "eta": Parameter(Real()),
        "cutpoints": Parameter(Ordered(), event_ndim=1),
    }
    discrete = True

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

    def support(self) -> Constraint:
        """Whole numbers from zero to the number of cutpoints."""
        cutpoints = self.args["cutpoints"]
        is_plain = isinstance(cutpoints, list | tuple)
        shape = np.shape(cutpoints) if is_plain else getattr(cutpoints, "shape", None)
        return IntegerInterval(0, shape[-1] if shape else None)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        eta, cutpoints = params
        low, high, _ = _ends(xp, value, cutpoints)
        return self.log_interval(low - eta, high - eta)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Minus infinity for what is no category."""
        return indicators(value, np.shape(params[1])[-1] + 1)[1]

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value (none: zero), ``eta`` and cutpoints."""
        eta, cutpoints = params
        low, high, chosen = _ends(xp, value, cutpoints)
        at_high = self.interval_slope(low - eta, high - eta)
        at_low = self.interval_slope(eta - high, eta - low)

        def slope_in_cutpoints() -> Any:
            return chosen[..., :-1] * at_high[..., None] - chosen[..., 1:] * at_low[..., None]

        return (lambda: np.zeros(np.shape(value)), lambda: at_low - at_high, slope_in_cutpoints)

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

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Look up the places of known categories once."""
        return self.summed if known[0] is None else ObservedCategories(self, np.asarray(known[0]))


class ObservedCategories:
    """Sum of log probabilities of known categories that share one vector of cutpoints.

    Cutpoints are looked up by category, and their derivatives are added up by one matrix product.
    Where cutpoints differ from one value to the next, the general computation takes over.

    Parameters
    ----------
    distribution : whose noise it is
    value : categories, without a chain axis, or with one of length 1
    """

    def __init__(self, distribution: OrderedCategories, value: Array) -> None:
        self.distribution = distribution
        self.value = value
        self._chosen: Array | None = None  # (values, K), made when K is known

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivatives."""
        eta, cutpoints = params
        batch = batch_shape((value, *params), (0, 0, 1))
        if not self._fits(batch, cutpoints):
            return self.distribution.summed(wanted, value, *params)
        n_cutpoints = cutpoints.shape[-1]
        chosen = self._indicators(n_cutpoints + 1)
        index = np.argmax(chosen, axis=-1)
        edges = _edges(np, cutpoints.reshape(-1, n_cutpoints))
        low, high = (e[:, index].reshape(-1, *batch[1:]) - eta for e in edges)
        logp = row_sum(np.broadcast_to(self.distribution.log_interval(low, high), batch), batch)
        if not wanted:
            return logp, []
        at_high = np.broadcast_to(self.distribution.interval_slope(low, high), batch)
        at_low = np.broadcast_to(self.distribution.interval_slope(-high, -low), batch)

        def slope_in_cutpoints() -> Array:
            rows = (len(logp), len(chosen))
            slope = at_high.reshape(rows) @ chosen[:, :-1] - at_low.reshape(rows) @ chosen[:, 1:]
            return reduce_to(cutpoints.reshape(-1, n_cutpoints), slope, slope.shape[:1], 1)

        slopes = (
            lambda: np.zeros(np.shape(value)),
            lambda: reduce_to(eta, at_low - at_high, batch, 0),
            lambda: slope_in_cutpoints().reshape(cutpoints.shape),
        )
        return logp, [slopes[i]() for i in wanted]

    def _fits(self, batch: tuple[int, ...], cutpoints: Array) -> bool:
        """Whether the values fill the batch of each chain, and all share their cutpoints."""
        own = (1,) * (len(batch) - self.value.ndim) + self.value.shape
        vectors = (1,) * (len(batch) + 1 - cutpoints.ndim) + cutpoints.shape[:-1]
        return own == (1, *batch[1:]) and set(vectors[1:]) <= {1}

    def _indicators(self, n_categories: int) -> Array:
        """Return which category each value is, as numbers: (values, K)."""
        if self._chosen is None:
            chosen, _ = indicators(self.value.reshape(-1), n_categories)
            self._chosen = chosen.astype(float)
        return self._chosen


def _edges(xp: Any, cutpoints: Any) -> tuple[Any, Any]:
    """Return the lower and the upper ends of all categories: (..., K) each."""
    increasing = (cutpoints[..., 1:] > cutpoints[..., :-1]).all(axis=-1)
    cutpoints = where_valid(xp, increasing[..., None], cutpoints)
    end = np.full((*np.shape(cutpoints)[:-1], 1), np.inf)
    return xp.concatenate([-end, cutpoints], axis=-1), xp.concatenate([cutpoints, end], axis=-1)


def _ends(xp: Any, value: Any, cutpoints: Any) -> tuple[Any, Any, Array]:
    """Return the ends of the categories of values, (...,) each, and indicators of these."""
    chosen, _ = indicators(value, np.shape(cutpoints)[-1] + 1)
    low, high = (xp.sum(where(chosen, e, 0.0), axis=-1) for e in _edges(xp, cutpoints))
    return low, high, chosen
