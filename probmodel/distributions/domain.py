"""Marking what lies outside: NaN for parameters without meaning, -inf for impossible values."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.numerics.special import where

# How far from one probabilities may add up to, as rounding leaves them.
SUM_TOLERANCE = 1e-8


def where_valid(xp: Any, condition: Any, parameter: Any) -> Any:
    """Return ``parameter`` where the condition on it holds, NaN elsewhere."""
    return where(condition, parameter, np.nan)


def where_simplex(xp: Any, p: Any) -> Any:
    """Return vectors of probabilities that sum to one, NaN for vectors that do not."""
    total = xp.sum(where_valid(xp, p >= 0, p), axis=-1, keepdims=True)
    return where_valid(xp, abs(total - 1.0) < SUM_TOLERANCE, p)


def where_inside(xp: Any, condition: Any, log_density: Any) -> Any:
    """Return ``log_density`` where the value lies in the support, minus infinity elsewhere."""
    return where(condition, log_density, -np.inf)


def is_integer(value: Any) -> Any:
    """Whether each element is a whole number (NaN and infinities are not)."""
    value = np.asarray(value)
    return np.isfinite(value) & (value == np.floor(value))
