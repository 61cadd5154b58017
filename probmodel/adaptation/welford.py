"""Running mean and scatter of the positions of several chains, a batch at a time.

x_1..x_C   positions of the chains               (chains, dim)
mean       of all positions so far               (dim,)
scatter    sum of (x - mean)(x - mean)'          (dim, dim)
n          number of positions so far            ()

Welford (1962), Technometrics 4; in batches, Chan, Golub and LeVeque (1983), The American
Statistician 37.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array


class Moments(NamedTuple):
    """Number, mean and scatter of the positions so far."""

    n: int
    mean: Array
    scatter: Array


def no_moments(dim: int) -> Moments:
    """Return the moments of nothing."""
    return Moments(0, np.zeros(dim), np.zeros((dim, dim)))


def add_batch(moments: Moments, x: Array) -> Moments:
    """Return the moments with one more position of each chain."""
    n, mean, scatter = moments
    chains = len(x)
    if not chains:
        return moments
    centre = x.mean(axis=0)
    own = x - centre
    delta = centre - mean
    total = n + chains
    between = (n * chains / total) * np.outer(delta, delta)
    return Moments(total, mean + chains / total * delta, scatter + own.T @ own + between)
