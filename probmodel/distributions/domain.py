"""Marking what lies outside: NaN for parameters without meaning, -inf for impossible values."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.special import where


def where_valid(xp: Any, condition: Any, parameter: Any) -> Any:
    """Return ``parameter`` where the condition on it holds, NaN elsewhere."""
    return where(condition, parameter, np.nan)


def where_inside(xp: Any, condition: Any, log_density: Any) -> Any:
    """Return ``log_density`` where the value lies in the support, minus infinity elsewhere."""
    return where(condition, log_density, -np.inf)


def is_integer(value: Any) -> Any:
    """Whether each element is a whole number (NaN and infinities are not)."""
    value = np.asarray(value)
    return np.isfinite(value) & (value == np.floor(value))
