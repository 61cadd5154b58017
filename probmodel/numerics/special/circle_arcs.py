r"""Integrals of the von Mises density over arcs, in terms that do not cancel.

An arc is cut at the mode and its opposite. On each piece the density falls from the end that is
nearer to the mode, so that Gauss's rule on the stretch until it is negligible is exact to rounding,
as in `tail_integrals`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.numerics.special.tail_integrals import DROP, NODES, WEIGHTS, by_blocks, column

_LEAST_HEIGHT = -1.0 + 1e-12  # of the cosine, beyond which a stretch has no end of its own

# Where the pieces begin, and which of them lead to a mode.
_CUTS = np.pi * np.arange(-1, 3)
_TOWARDS = np.array([True, False, True, False])


def log_arc(start: Any, length: Any, kappa: Any) -> Any:
    r"""Logarithm of :math:`\int \exp\{\kappa (\cos t - 1)\}\,dt` over an arc.

    It starts at an angle from the mode, at least -pi and below pi, and is from 0 to 2 pi long.
    """
    return by_blocks(_log_arc, start, length, kappa)[0]


def _log_arc(start: Any, length: Any, kappa: Any) -> tuple[Any]:
    near, stretch = _pieces(np, start, length, kappa)
    half, (weights, _) = np.sin(0.5 * near), _rule(np, near, stretch, kappa)
    logs = -2.0 * column(kappa) * half * half + np.log(np.sum(weights, axis=-1))
    largest = np.max(logs, axis=-1)
    finite = np.where(largest > -np.inf, largest, 0.0)
    return (finite + np.log(np.sum(np.exp(logs - column(finite)), axis=-1)),)


def mean_of_arc(xp: Any, start: Any, length: Any, kappa: Any, log: Any) -> Any:
    """Mean of ``cos(t) - 1`` over an arc, where ``log`` is what `log_arc` returns.

    It is a formula of the namespace ``xp``, and may be differentiated.
    """
    near, stretch = _pieces(xp, start, length, kappa)
    half, (weights, halves) = xp.sin(0.5 * near), _rule(xp, near, stretch, kappa)
    heights = xp.exp(-2.0 * xp.expand_dims(kappa, -1) * half * half - xp.expand_dims(log, -1))
    return -2.0 * xp.sum(heights * xp.sum(weights * halves * halves, axis=-1), axis=-1)


def _pieces(xp: Any, start: Any, length: Any, kappa: Any) -> tuple[Any, Any]:
    """Return how far from a mode each piece begins, and how long it is worth looking at."""
    start, stop, kappa = (xp.expand_dims(x, -1) for x in (start, start + length, kappa))
    low, high = xp.maximum(start, _CUTS), xp.minimum(stop, _CUTS + np.pi)
    near = xp.where(_TOWARDS, _CUTS + np.pi - high, low - _CUTS)
    near = xp.minimum(xp.maximum(near, 0.0), np.pi)
    height = xp.cos(near) - DROP / kappa
    has_end = height > _LEAST_HEIGHT
    end = xp.arccos(xp.where(has_end, height, 0.0)) - near
    length = xp.maximum(high - low, 0.0)
    return near, xp.where(has_end, xp.minimum(length, xp.maximum(end, 0.0)), length)


def _rule(xp: Any, near: Any, stretch: Any, kappa: Any) -> tuple[Any, Any]:
    """Return weights of nodes, relative to the density at ``near``, and sines of half angles."""
    near, v = xp.expand_dims(near, -1), xp.expand_dims(0.5 * stretch, -1) * NODES
    fall = 2.0 * xp.expand_dims(xp.expand_dims(kappa, -1), -1) * xp.sin(near + v) * xp.sin(v)
    weights = xp.expand_dims(stretch, -1) * WEIGHTS * xp.exp(-fall)
    return weights, xp.sin(0.5 * near + v)
