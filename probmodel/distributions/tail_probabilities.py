"""Cumulative probabilities on part of the line, with derivatives that are finite off it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.numerics.special import where

LogProbability = Callable[[Any], Any]


def log_cdf_above_zero(function: LogProbability, x: Any, end: float = np.inf) -> Any:
    """Log probability up to ``x``: ``function(x)`` between 0 and ``end``."""
    return _between(function, x, end, -np.inf, 0.0)


def log_ccdf_above_zero(function: LogProbability, x: Any, end: float = np.inf) -> Any:
    """Log probability above ``x``: ``function(x)`` between 0 and ``end``."""
    return _between(function, x, end, 0.0, -np.inf)


def _between(function: LogProbability, x: Any, end: float, below: float, above: float) -> Any:
    """Give ``function`` numbers inside alone: outside its derivatives would be 0 times infinity."""
    outside = (x <= 0) | (x >= end)
    return where(outside, where(x <= 0, below, above), function(where(outside, 0.5, x)))
