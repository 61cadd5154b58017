"""Cumulative probabilities: of part of the line, of sums, and of what lies between bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from autograd.tracer import getval

from probmodel.distributions.base import Distribution, Thunk
from probmodel.distributions.domain import where_inside
from probmodel.numerics.special import log1m_exp, logsumexp, where

Sides = tuple[Thunk, Thunk]

_FEW = 24  # counts, whose probabilities cost about as much as four distribution functions


class AboveZero(Distribution):
    """Distribution of numbers from zero to an end, with one formula for each side of a number."""

    end: ClassVar[float] = np.inf
    start: ClassVar[int | None] = None  # which parameter stands in the place of zero, if one does

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``, a distance from the start inside."""
        raise NotImplementedError

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return log_cdf_above_zero(self._side(0, xp, params), self._distance(x, params), self.end)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        side, y = self._side(1, xp, params), self._distance(x, params)
        return _between(side, y, self.end, 0.0, -np.inf)

    def _side(self, which: int, xp: Any, params: Sequence[Any]) -> Callable[[Any], Any]:
        return lambda y: self.log_sides(xp, y, *params)[which]()

    def _distance(self, x: Any, params: Sequence[Any]) -> Any:
        return x if self.start is None else x - params[self.start]


def log_cdf_above_zero(function: Callable[[Any], Any], x: Any, end: Any) -> Any:
    """Log probability up to ``x``: ``function(x)`` between 0 and ``end``."""
    return _between(function, x, end, -np.inf, 0.0)


def _between(function: Callable[[Any], Any], x: Any, end: Any, below: float, above: float) -> Any:
    """Give ``function`` numbers inside alone: outside its derivatives would be 0 times infinity."""
    outside = (x <= 0) | (x >= end)
    return where(outside, where(x <= 0, below, above), function(where(outside, 0.5, x)))


def log_between(xp: Any, dist: Any, low: Any, high: Any, *params: Any) -> Any:
    """Log probability of values of a distribution above ``low``, up to and including ``high``.

    The difference of two probabilities is taken in the tail where both are small. An infinite
    bound is no bound. An empty range has minus infinity, without a slope.
    """
    if dist.discrete:
        low, high = xp.floor(low), xp.floor(high)
    no_low, no_high, some = is_endless(low, -np.inf), is_endless(high, np.inf), low < high
    # In the place of infinity, and of an empty range, are points where slopes are finite.
    high = where(no_high, where(no_low, 0.0, low + 1.0), high) if np.any(no_high) else high
    low = where(no_low | ~some, high - 1.0, low)
    mass = dist.log_mass_between(xp, low, high, *params)
    if mass is None:
        mass = _log_difference(xp, dist, low, high, *params)
    if np.any(no_low):
        mass = where(no_low, dist.log_cdf(xp, high, *params), mass)
    if np.any(no_high):
        above = dist.log_ccdf(xp, low, *params)
        mass = where(no_high, where(no_low, 0.0, above), mass)
    return where_inside(some, mass)


def _log_difference(xp: Any, dist: Any, low: Any, high: Any, *params: Any) -> Any:
    """Log of the difference of two probabilities, in the tail where both are small."""
    up_to, above = dist.log_cdf(xp, high, *params), dist.log_ccdf(xp, low, *params)
    right = above < up_to
    large = where(right, above, up_to)
    small = where(right, dist.log_ccdf(xp, high, *params), dist.log_cdf(xp, low, *params))
    # Where nothing is below both ends, as of counts below zero, both are minus infinity.
    gap = where(large > -np.inf, small - large, -1.0)
    return large + xp.log(-xp.expm1(gap))


def in_lower_tail(xp: Any, dist: Any, low: Any, high: Any, *params: Any) -> Any:
    """Log probability between two ends, of a family that is symmetric about its ``loc``.

    An interval that is more above it than below has the probability of its mirror image.
    """
    loc = params[list(dist.parameters).index("loc")]
    above = low + high > loc + loc
    low, high = where(above, loc + (loc - high), low), where(above, loc + (loc - low), high)
    up_to = dist.log_cdf(xp, high, *params)
    return up_to + xp.log(-xp.expm1(dist.log_cdf(xp, low, *params) - up_to))


def log_sum_of_few(xp: Any, dist: Any, low: Any, high: Any, *params: Any) -> Any:
    """Log probability of counts above ``low``, up to ``high``, if these are known to be few.

    Otherwise it is None. Few probabilities cost less than distribution functions, and do not
    cancel.
    """
    if not all(isinstance(end, int | float | np.number | np.ndarray) for end in (low, high)):
        return None
    low, high = np.maximum(np.floor(low), -1.0), np.floor(high)
    most = np.max(high - low, initial=0.0)
    if not most <= _FEW:
        return None
    counts = np.expand_dims(low, -1) + np.arange(1.0, most + 1.0)
    inside = np.maximum(counts, 0.0)  # an interval that ends below zero has no counts
    terms = dist.log_density(xp, inside, *(xp.expand_dims(p, -1) for p in params))
    return _log_sum(terms, counts <= np.expand_dims(high, -1))


def is_endless(bound: Any, infinity: float) -> Any:
    """Which elements of a bound are infinite, as those of data may be: a mask."""
    known = isinstance(bound, int | float | np.number | np.ndarray)
    return np.equal(bound, infinity) if known else np.zeros(np.shape(bound), dtype=bool)


def log_tail_sums(xp: Any, dist: Any, x: Any, *params: Any) -> tuple[Any, Any]:
    """Log probabilities of counts up to ``x`` and above it, of those from 0 to the first parameter.

    The smaller one is a sum, the other the rest of one.
    """
    n = np.expand_dims(np.asarray(getval(params[0]), dtype=float), -1)
    counts = np.arange(np.max(n, initial=0.0, where=np.isfinite(n)) + 1.0)
    terms = dist.log_density(xp, np.minimum(counts, n), *(xp.expand_dims(p, -1) for p in params))
    is_below = counts <= np.expand_dims(x, -1)
    below = _log_sum(terms, is_below & (counts <= n))
    above = _log_sum(terms, ~is_below & (counts <= n))
    is_less = below < above
    rest = log1m_exp(-where(is_less, below, above))
    return where(is_less, below, rest), where(is_less, rest, above)


def _log_sum(terms: Any, wanted: Any) -> Any:
    """Log sum of the wanted terms; minus infinity, without a slope, where there are none."""
    none = ~wanted.any(axis=-1)
    chosen = where(wanted | np.expand_dims(none, -1), terms, -np.inf)
    return where(none, -np.inf, logsumexp(chosen, axis=-1))
