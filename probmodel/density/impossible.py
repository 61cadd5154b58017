"""Parameters that a distribution cannot be drawn from, though a formula for draws returns numbers.

A normal variate times a negative scale looks like one, and a uniform number is below no NaN. New
data, and priors that reach too far, lead to such parameters; their log density is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.constraints import Simplex
from probmodel.distributions.base import Distribution
from probmodel.types import Array

_ROUNDING = 1e-9  # of the width of an interval, by which values may lie beyond its ends


def impossible(distribution: Distribution, params: Sequence[Any]) -> Array:
    """Tell which values have impossible parameters: what broadcasts against rows + batch + event.

    The parameters broadcast against rows + batch, event axes behind. Raises a ValueError if there
    are such values, and they are whole numbers, of which none stands for NaN.
    """
    found: Array = np.zeros((), dtype=bool)
    for (name, spec), value in zip(distribution.parameters.items(), params, strict=True):
        outside: Array = ~_possible(spec.constraint, np.asarray(value))
        more = min(spec.event_ndim - spec.constraint.event_ndim, outside.ndim)  # a number for all
        outside = np.any(outside, axis=tuple(range(-more, 0)))
        if outside.any() and distribution.discrete:
            shown = np.array2string(np.asarray(value)[outside][0], precision=4, threshold=8)
            raise ValueError(f"{name} must be {spec.constraint.name}, and is {shown} there")
        event = (1,) * distribution.event_ndim
        found = np.logical_or(found, np.reshape(outside, np.shape(outside) + event))
    return found


def _possible(constraint: Any, value: Array) -> Array:
    """Tell which values are in the closure of a set, as far as that is cheap to see."""
    if isinstance(constraint, Simplex):
        return constraint.check(value)
    low, high = constraint.element_limits or (None, None)
    low = low if isinstance(low, int | float) else -np.inf
    high = high if isinstance(high, int | float) else np.inf
    slack = _ROUNDING * (high - low) if np.isfinite(high - low) else 0.0
    possible = (value >= low - slack) & (value <= high + slack)  # which no NaN is
    axes = tuple(range(-constraint.event_ndim, 0))
    return np.asarray(possible.all(axis=axes) if axes else possible)
