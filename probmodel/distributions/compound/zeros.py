"""What distributions share that give zero a probability of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.constraints import IntegerInterval, UnitInterval, between
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.compound.bounded import is_number, support_bounds
from probmodel.distributions.compound.wrapper import Wrapper
from probmodel.distributions.domain import where_valid
from probmodel.numerics.special import where
from probmodel.types import Array


class WithZeros(Wrapper):
    """A distribution of numbers, with a probability ``p`` that has to do with zero."""

    place = "second"

    def __init__(self, p: Any, dist: Distribution) -> None:
        super().__init__(dist, {"p": Parameter(UnitInterval())}, {"p": p})
        if dist.event_ndim:
            raise self.model_error(
                f"{self.name} takes a distribution of numbers; a value of {dist.name} has "
                f"{dist.event_ndim} axes.",
                given=dist.name,
            )

    def written(self) -> list[tuple[str | None, Any]]:
        """Return the probability and the distribution."""
        return [(None, self.args["p"]), (None, self.dist)]

    def support(self) -> Constraint:
        """Return the support of ``dist``, with zero if it is a limit of it or below it."""
        low, high = support_bounds(self.dist.support())
        if is_number(low) and low >= 0:
            low = 0 if self.discrete else 0.0
        return IntegerInterval(low, high) if self.discrete else between(low, high)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, as for ``dist``; none at zero."""
        return np.where(value == 0, 0.0, self.dist.log_base(value, *params[:-1]))

    def _split(self, params: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        """Parameters of ``dist``, and the probability if it is one."""
        *inner, p = params
        return tuple(inner), where_valid((p >= 0.0) & (p <= 1.0), p)

    def _nonzero(self, value: Any) -> Any:
        """Values, with a harmless one in the place of zero."""
        return where(value == 0, 1.0 if self.discrete else 0.5, value)

    def _log_mass_at_zero(self, xp: Any, inner: Sequence[Any]) -> Any:
        """Log probability of zero under ``dist``."""
        return self.dist.log_density(xp, np.zeros(()), *inner)
