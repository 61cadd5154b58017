"""The constraint of an interval of the line that may lack a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.interval import Interval
from probmodel.constraints.lower import Lower
from probmodel.constraints.real import Real
from probmodel.constraints.upper import Upper


def between(lower: Any = None, upper: Any = None) -> Constraint:
    """Return the constraint of the numbers between two limits.

    Parameters
    ----------
    lower, upper : numbers, arrays or expressions; None and infinity are no limit

    Returns
    -------
    Constraint
        `Real`, `Lower`, `Upper` or `Interval`.
    """
    has_lower, has_upper = not _is_missing(lower, -np.inf), not _is_missing(upper, np.inf)
    if has_lower and has_upper:
        return Interval(lower, upper)
    if has_lower:
        return Lower(lower)
    return Upper(upper) if has_upper else Real()


def _is_missing(limit: Any, infinity: float) -> bool:
    """Whether a limit is missing, or infinite in all its elements.

    Expressions are never infinite: their values are not known here.
    """
    if limit is None:
        return True
    known = isinstance(limit, int | float | np.number | np.ndarray)
    return known and bool(np.all(limit == infinity))
