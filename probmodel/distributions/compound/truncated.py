"""A distribution restricted to an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.bounded import Bounded, is_number, support_bounds
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.numerics.special import where
from probmodel.types import Array

_TRIES = 32  # draws of an element, before it is found by bisection
_BISECTIONS = 100
_DOUBLINGS = 1000


class Truncated(Bounded):
    r"""Distribution of a variable given that it lies between bounds.

    .. math:: p(y) = p_x(y) / P(a \le x \le b), \quad a \le y \le b

    Parameters
    ----------
    dist : a distribution of numbers with a cumulative distribution function
    lower, upper : bounds, included; at least one is given. An infinite bound is no bound

    Notes
    -----
    Stan: ``T[lower, upper]``. SciPy: ``truncnorm`` and others of its kind.

    Raises
    ------
    ModelError
        If ``dist`` has no cumulative distribution function here, or the bounds make no sense.
    """

    def __init__(self, dist: Distribution, lower: Any = None, upper: Any = None) -> None:
        if isinstance(dist, Distribution) and lower is not None and upper is not None:
            # A bound beyond the support cuts nothing off, and has no finite log probability.
            low, high = support_bounds(dist.support())
            if is_number(low) and is_number(lower) and lower <= low:
                lower = None
            if is_number(high) and is_number(upper) and upper >= high and lower is not None:
                upper = None
        super().__init__(dist, lower, upper)
        if dist.takes_pseudo_data == "elements" and isinstance(dist.support(), Real):
            vars(self).update(takes_pseudo_data="elements")

    def standardised_by_default(self, event: tuple[int, ...], known: Callable[[Any], bool]) -> bool:
        """Whether data decide the bounds."""
        return all(known(self.args[name]) for name in self._given)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density without the terms of `log_base`: batch shape."""
        inner, lower, upper = self._split(params)
        logp = self.dist.log_kernel(xp, value, *inner) - self._log_normalizer(xp, *params)
        if lower is not None:
            logp = where_inside(value >= lower, logp)
        return logp if upper is None else where_inside(value <= upper, logp)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, as for ``dist``."""
        return self.dist.log_base(value, *self._split(params)[0])

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``, of those between the bounds."""
        inner, lower, upper = self._split(params)
        end = x if upper is None else where(x > upper, upper, x)
        return self._log_mass(xp, lower, end, inner) - self._log_normalizer(xp, *params)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``, of those between the bounds."""
        inner, lower, upper = self._split(params)
        start = xp.floor(x) + 1.0 if self.discrete else x
        start = start if lower is None else where(start < lower, lower, start)
        return self._log_mass(xp, start, upper, inner) - self._log_normalizer(xp, *params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``.

        Draws from ``dist`` are tried, again for the elements that lie outside; then the
        distribution function is inverted for these, which takes a hundred times as long.
        """
        inner, lower, upper = self._split(params)
        value: Array = np.array(self.dist.sample(rng, shape, *inner))
        left: Array = np.array(~_inside(value, lower, upper))
        for _ in range(_TRIES - 1):
            if not left.any():
                return value
            inner, lower, upper = self._split(self._at(left, params))
            drawn = self.dist.sample(rng, (int(left.sum()),), *inner)
            value[left] = drawn
            left[left] = ~_inside(drawn, lower, upper)
        value[left] = self._inverted(rng, (int(left.sum()),), *self._at(left, params))
        return value

    def _at(self, places: Array, params: Sequence[Array]) -> list[Array]:
        """Parameters of some of the elements: one row for each."""
        events = (
            np.shape(p)[np.ndim(p) - n :] for p, n in zip(params, self.event_ndims[1:], strict=True)
        )
        return [
            np.broadcast_to(p, places.shape + event)[places]
            for p, event in zip(params, events, strict=True)
        ]

    def _inverted(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw by bisection of the distribution function."""
        inner, lower, upper = self._split(params)
        level = np.log(rng.random(shape))
        total = self._log_normalizer(np, *params)

        def reached(x: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.asarray(self._log_mass(np, lower, x, inner) - total >= level)

        low, high = self._bracket(reached, lower, upper, shape)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if not np.any((low < middle) & (middle < high)):
                break
            enough = reached(middle)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.floor(high) if self.discrete else high

    def _bracket(
        self, reached: Any, lower: Any, upper: Any, shape: tuple[int, ...]
    ) -> tuple[Array, Array]:
        """Points below and above the quantiles that are looked for."""
        start = support_bounds(self.dist.support())[0]
        if lower is None and isinstance(start, int | float):
            lower = start
        low = np.full(shape, -np.inf if lower is None else lower)
        high = np.full(shape, np.inf if upper is None else upper)
        no_low, no_high = np.isinf(low), np.isinf(high)
        low = np.where(no_low, np.where(no_high, -1.0, high - 1.0), low)
        low = np.ceil(low) - 1.0 if self.discrete else low
        high, width = np.where(no_high, low + 2.0, high), 1.0
        for _ in range(_DOUBLINGS):
            short, long = no_high & ~reached(high), no_low & reached(low)
            if not (short.any() or long.any()):
                break
            low, high, width = low - width * long, high + width * short, 2.0 * width
        return low, high

    def _log_normalizer(self, xp: Any, *params: Any) -> Any:
        """Log probability of the interval; NaN where it is empty."""
        inner, lower, upper = self._split(params)
        mass = self._log_mass(xp, lower, upper, inner)
        return mass if lower is None or upper is None else where_valid(lower < upper, mass)


def _inside(x: Array, lower: Any, upper: Any) -> Array:
    """Whether numbers lie within the bounds, of which there may be one."""
    above = True if lower is None else x >= lower
    return np.asarray(above & (True if upper is None else x <= upper))
