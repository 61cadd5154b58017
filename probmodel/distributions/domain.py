"""Marking what lies outside: NaN for parameters without meaning, -inf for impossible values."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.numerics.special import where
from probmodel.types import Array

# How far from one probabilities may add up to, as rounding leaves them.
SUM_TOLERANCE = 1e-8


def where_valid(condition: Any, parameter: Any) -> Any:
    """Return ``parameter`` where the condition on it holds, NaN elsewhere."""
    return where(condition, parameter, np.nan)


def where_simplex(xp: Any, p: Any) -> Any:
    """Return vectors of probabilities that sum to one, NaN for vectors that do not."""
    total = xp.sum(where_valid(p >= 0, p), axis=-1, keepdims=True)
    return where_valid(abs(total - 1.0) < SUM_TOLERANCE, p)


def where_inside(condition: Any, log_density: Any) -> Any:
    """Return ``log_density`` where the value lies in the support, minus infinity elsewhere."""
    return where(condition, log_density, -np.inf)


def unordered(low: Array | None, high: Array | None, strictly: bool = True) -> str:
    """Say that one end of an interval lies beyond the other; empty if none is known to."""
    if low is None or high is None:
        return ""
    low, high = np.broadcast_arrays(low, high)
    bad = ~((low < high) if strictly else (low <= high))
    if not bad.any():
        return ""
    order = "below" if strictly else "at most"
    return f"low must be {order} high; got low={low[bad][0]:g} and high={high[bad][0]:g}"


def is_integer(value: Any) -> Any:
    """Whether each element is a whole number (NaN and infinities are not)."""
    value = np.asarray(value)
    return np.isfinite(value) & (value == np.floor(value))
