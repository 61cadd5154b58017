"""The constraint of an interval of the line that may lack a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.interval import Interval
from probmodel.constraints.lower import Lower
from probmodel.constraints.partly_bounded import PartlyBounded
from probmodel.constraints.real import Real
from probmodel.constraints.upper import Upper
from probmodel.types import Array


def between(lower: Any = None, upper: Any = None) -> Constraint:
    """Return the constraint of the numbers between two limits.

    Parameters
    ----------
    lower, upper : numbers, arrays or expressions; None and infinity are no limit. Expressions are
        never infinite: their values are not known here.

    Returns
    -------
    Constraint
        `Real`, `Lower`, `Upper` or `Interval`; `PartlyBounded` if some elements are infinite.
    """
    no_lower, no_upper = _missing(lower, -np.inf), _missing(upper, np.inf)
    if no_lower.all() and no_upper.all():
        return Real()
    if (no_lower.any() and not no_lower.all()) or (no_upper.any() and not no_upper.all()):
        return PartlyBounded(
            -np.inf if no_lower.all() else lower, np.inf if no_upper.all() else upper
        )
    if no_lower.all():
        return Upper(upper)
    return Lower(lower) if no_upper.all() else Interval(lower, upper)


def _missing(limit: Any, infinity: float) -> Array:
    """Which elements of a limit are none: a mask."""
    if limit is None:
        return np.array(True)
    known = isinstance(limit, int | float | np.number | np.ndarray)
    return np.equal(limit if known else 0.0, infinity)
