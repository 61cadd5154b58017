"""What truncation and censoring share: bounds, and the probability that lies between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints import IntegerInterval, Interval, Lower, Real, Upper
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.compound.wrapper import Wrapper
from probmodel.distributions.tail_probabilities import is_endless, log_between
from probmodel.numerics.special import where
from probmodel.types import Array


class _Bound(Real):
    """A number, or the infinity that leaves an element without a bound."""

    def __init__(self, infinity: float) -> None:
        super().__init__()
        self.infinity = infinity

    @property
    def name(self) -> str:
        """The constraint in words."""
        return f"real, or {self.infinity}"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``y`` is finite, or the infinity."""
        return np.isfinite(y) | (y == self.infinity)


_BOUNDS = {"lower": _Bound(-np.inf), "upper": _Bound(np.inf)}


class Bounded(Wrapper):
    """A distribution of numbers with a lower bound, an upper bound or both, each included."""

    def __new__(cls, dist: Any = None, lower: Any = None, upper: Any = None) -> Any:
        """Return ``dist`` itself where all bounds are infinite, and a new instance else."""
        given = [bound for bound in (lower, upper) if bound is not None]
        endless = [_no_bound(lower, -np.inf), _no_bound(upper, np.inf)]
        if given and all(endless) and isinstance(dist, Distribution):
            return dist
        return super().__new__(cls)

    def __init__(self, dist: Distribution, lower: Any = None, upper: Any = None) -> None:
        lower = None if _no_bound(lower, -np.inf) else lower
        upper = None if _no_bound(upper, np.inf) else upper
        bounds = {"lower": lower, "upper": upper}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        super().__init__(dist, {name: Parameter(_BOUNDS[name]) for name in given}, given)
        if not dist.has_cdf or dist.event_ndim:
            raise self.model_error(
                f"{dist.name} has no cumulative distribution function here, which {self.name} "
                f"needs. Distributions that have one: {', '.join(_with_cdf())}.",
                given=dist.name,
            )
        if not given:
            raise self.model_error(f"{self.name} needs lower=, upper= or both.")
        if is_number(lower) and is_number(upper) and not lower < upper:
            raise self.model_error(
                f"{self.name} needs lower < upper; lower is {lower} and upper is {upper}.",
                lower=lower,
                upper=upper,
            )
        self._given = tuple(given)

    def support(self) -> Constraint:
        """Return the part of the support of ``dist`` between the bounds."""
        inner = self.dist.support()
        low, high = support_bounds(inner)
        lower, upper = self.args.get("lower"), self.args.get("upper")
        low = _tighter(np.maximum, low, lower)
        high = _tighter(np.minimum, high, upper)
        if self.discrete:
            return IntegerInterval(low, high)
        if low is None:
            return Upper(high)
        return Lower(low) if high is None else Interval(low, high)

    def _split(self, params: Any) -> tuple[tuple[Any, ...], Any, Any]:
        """Parameters of ``dist``, lower bound and upper bound (None where not given)."""
        n = len(params) - len(self._given)
        bounds = dict(zip(self._given, params[n:], strict=True))
        return tuple(params[:n]), bounds.get("lower"), bounds.get("upper")

    def _log_mass(self, xp: Any, lower: Any, upper: Any, inner: Any) -> Any:
        """Log probability of what lies between the bounds, of which one may be None."""
        if lower is None:
            endless = is_endless(upper, np.inf)
            mass = self.dist.log_cdf(xp, where(endless, 0.0, upper), *inner)
            return where(endless, 0.0, mass) if np.any(endless) else mass
        below = xp.ceil(lower) - 1.0 if self.discrete else lower
        if upper is not None:
            return log_between(xp, self.dist, below, upper, *inner)
        endless = is_endless(lower, -np.inf)
        mass = self.dist.log_ccdf(xp, where(endless, 0.0, below), *inner)
        return where(endless, 0.0, mass) if np.any(endless) else mass


def support_bounds(support: Constraint) -> tuple[Any, Any]:
    """Lower and upper bound of a support on the line; None where there is none."""
    if isinstance(support, IntegerInterval):
        bounds = iter(support.bounds)
        lower = next(bounds) if support.has_lower else None
        return lower, next(bounds) if support.has_upper else None
    return support.limits or (None, None)


def _tighter(choose: Any, bound: Any, other: Any) -> Any:
    if bound is None or other is None:
        return other if bound is None else bound
    return choose(bound, other)


def _no_bound(bound: Any, infinity: float) -> bool:
    """Whether a bound is none: not given, or infinite in all elements."""
    known = isinstance(bound, int | float | np.number | np.ndarray)
    return bound is None or (known and bool(np.all(np.equal(bound, infinity))))


def is_number(bound: Any) -> bool:
    """Whether a bound is a number, not an expression or one number per element."""
    return isinstance(bound, int | float | np.number)


def _with_cdf() -> list[str]:
    """Names of the distributions that can be truncated."""
    from probmodel.distributions import DISTRIBUTIONS

    return [n for n, kind in DISTRIBUTIONS.items() if kind.log_cdf is not Distribution.log_cdf]
