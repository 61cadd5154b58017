"""Cumulative probabilities on part of the line, with derivatives that are finite off it; sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.numerics.special import log1m_exp, logsumexp, where

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


def log_tail_sums(log_density: LogProbability, x: Any, n: Any) -> tuple[Any, Any]:
    """Log probabilities of counts up to ``x`` and above it, of those from 0 to ``n``.

    The smaller one is a sum, the other the rest of one. ``log_density`` takes counts with an axis
    for them behind.
    """
    n = np.expand_dims(np.asarray(getval(n), dtype=float), -1)
    counts = np.arange(np.max(n, initial=0.0, where=np.isfinite(n)) + 1.0)
    terms = log_density(np.minimum(counts, n))
    is_below = counts <= np.expand_dims(x, -1)
    below = _log_sum(terms, is_below & (counts <= n))
    above = _log_sum(terms, ~is_below & (counts <= n))
    is_less = below < above
    rest = log1m_exp(-where(is_less, below, above))
    return where(is_less, below, rest), where(is_less, rest, above)


def _log_sum(terms: Any, wanted: Any) -> Any:
    """Log sum of the wanted terms; minus infinity, without a slope, where there are none."""
    none = ~wanted.any(axis=-1)
    chosen = where(wanted | np.expand_dims(none, -1), terms, -np.inf)
    return where(none, -np.inf, logsumexp(chosen, axis=-1))
