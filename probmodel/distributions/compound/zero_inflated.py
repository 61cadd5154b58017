"""Counts with more zeros than their distribution has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.zeros import WithZeros
from probmodel.numerics.special import where
from probmodel.types import Array

_LEAST = -700.0  # logarithms whose exponential is a number


class ZeroInflated(WithZeros):
    r"""Counts that are zero with probability ``p``, and follow a distribution otherwise.

    .. math:: P(0) = p + (1 - p) f(0), \qquad P(y) = (1 - p) f(y), \quad y > 0

    Parameters
    ----------
    p : probability of a structural zero, :math:`0 \le p \le 1`
    dist : a distribution of counts, :math:`f`

    Notes
    -----
    Zeros have two sources; where they have one, `Hurdle` is meant. Stan: ``log_mix`` at zero.
    SciPy: none.

    References
    ----------
    Lambert (1992), Zero-inflated Poisson regression, with an application to defects in
    manufacturing. Technometrics 34.

    Raises
    ------
    ModelError
        If ``dist`` is not discrete.
    """

    def __init__(self, p: Any, dist: Distribution) -> None:
        super().__init__(p, dist)
        if not dist.discrete:
            raise self.model_error(
                f"ZeroInflated takes a distribution of counts; {dist.name} is continuous. "
                "Hurdle(p, dist) puts a probability at zero beside a density.",
                given=dist.name,
            )

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        inner, p = self._split(params)
        zero = value == 0
        other = xp.log1p(-where(zero, 0.0, p))
        other = other + self.dist.log_kernel(xp, self._nonzero(value), *inner)
        return where(zero, self._log_zero(xp, inner, p), other)

    def _log_zero(self, xp: Any, inner: Sequence[Any], p: Any) -> Any:
        """Log probability of zero; where p is zero or one, its slopes are those from inside."""
        at_zero = self._log_mass_at_zero(xp, inner)
        never, always = p == 0.0, p == 1.0
        q = where(never | always, 0.5, p)
        total = xp.logaddexp(xp.log(q), xp.log1p(-q) + at_zero)
        total = where(always, xp.log1p((1.0 - where(always, p, 1.0)) * xp.expm1(at_zero)), total)
        odds = xp.expm1(-where(at_zero > _LEAST, at_zero, _LEAST))
        return where(never, at_zero + xp.log1p(where(never, p, 0.0) * odds), total)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        *inner, p = params
        structural = rng.random(shape) < p
        return np.where(structural, 0, self.dist.sample(rng, shape, *inner))

    @property
    def has_cdf(self) -> bool:
        """Whether the distribution inside has a distribution function."""
        return self.dist.has_cdf

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        inner, p = self._split(params)
        return self._with_zero(xp, x >= 0, p, self.dist.log_cdf(xp, x, *inner))

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        inner, p = self._split(params)
        return self._with_zero(xp, x < 0, p, self.dist.log_ccdf(xp, x, *inner))

    def _with_zero(self, xp: Any, has_zero: Any, p: Any, logp: Any) -> Any:
        """Log probability of a part of the line, which is ``logp`` under ``dist``."""
        other = xp.log1p(-p) + logp
        return where(has_zero, xp.logaddexp(xp.log(where(has_zero, p, 0.5)), other), other)
