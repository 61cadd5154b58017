"""A distribution observed through bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions.compound.bounded import Bounded
from probmodel.distributions.domain import is_integer, where_inside
from probmodel.numerics.special import where
from probmodel.types import Array


class Censored(Bounded):
    r"""Distribution of a variable of which values beyond bounds are recorded as the bounds.

    .. math:: P(y = a) = P(x \le a), \qquad P(y = b) = P(x \ge b), \qquad
              p(y) = p_x(y) \text{ for } a < y < b

    Parameters
    ----------
    dist : a distribution of numbers with a cumulative distribution function
    lower, upper : bounds; at least one is given. A value that equals a bound is censored. An
        infinite bound is no bound

    Notes
    -----
    For observed data: the point masses at the bounds make it useless as a prior. Stan: ``lcdf`` and
    ``lccdf`` terms. SciPy: ``CensoredData``.

    Raises
    ------
    ModelError
        If ``dist`` has no cumulative distribution function here, or the bounds make no sense.
    """

    @property
    def has_atoms(self) -> bool:
        """The bounds have probabilities of their own."""
        return True

    def objection(self, event: tuple[int, ...], *params: Array | None) -> str:
        """Refuse bounds that no count can be recorded as."""
        inner, *bounds = self._split(params)
        for bound in bounds:
            bad = None if bound is None else ~(is_integer(bound) | np.isinf(bound))
            if self.discrete and bad is not None and bad.any():
                return f"bounds of counts must be whole numbers; got {np.asarray(bound)[bad][0]:g}"
        return super().objection(event, *inner)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, or at the bounds log probability: batch shape."""
        inner, lower, upper = self._split(params)
        density = self.dist.log_kernel(xp, value, *inner)
        # A probability may be finite for parameters that make no sense: the density is not.
        invalid = where(xp.isnan(density), density, 0.0)
        logp = density + self.dist.log_base(value, *inner)
        if lower is not None and _may_be(value, lower):
            # Elsewhere that beyond the value is taken: it exists, if the density does.
            at = value == lower
            mass = self._log_mass(xp, None, where(at, lower, value), inner) + invalid
            logp = where(at, mass, logp)
        if lower is not None:
            logp = where_inside(value >= lower, logp)
        if upper is not None and _may_be(value, upper):
            at = value == upper
            mass = self._log_mass(xp, where(at, upper, value), None, inner) + invalid
            logp = where(at, mass, logp)
        if upper is not None:
            logp = where_inside(value <= upper, logp)
        return logp

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape`` and record those beyond the bounds as the bounds."""
        inner, lower, upper = self._split(params)
        draws = self.dist.sample(rng, shape, *inner)
        return np.clip(draws, lower, upper).astype(draws.dtype)


def _may_be(value: Any, bound: Any) -> bool:
    """Whether some value may be at a bound: the probability beyond need not exist otherwise."""
    known = isinstance(value, np.ndarray) and isinstance(bound, np.ndarray)
    return not known or bool(np.any(value == bound))
