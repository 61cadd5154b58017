"""Warm-up schedule of `fisher_hmc`: Langevin steps, then trajectories in windows.

A window is a part with one mass matrix, which is renewed at its end. The warm-up may end early
after a window, if the chains have settled in it, see `inference.settled`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

FIRST_WINDOWS = (10, 25, 50)  # trajectories after which C is renewed; then they double
SETTLING = 0.2  # share of the trajectories after the last renewal
FIRST_END = 50  # trajectories after which the warm-up may end
LAST_END = 300  # trajectories after which it may whatever their steps


def langevin_steps(n_warmup: int, dim: int) -> int:
    """Return how many iterations of a warm-up take Langevin steps: more for more parameters."""
    return min(n_warmup // 2, max(n_warmup // 5, 100) + dim // 2)


def is_renewal(count: int, total: int) -> bool:
    """Whether a new C is put to use after ``count`` of ``total`` trajectories."""
    if count > (1.0 - SETTLING) * total:
        return False
    doublings = count / FIRST_WINDOWS[-1]
    return count in FIRST_WINDOWS or (doublings >= 1.0 and np.log2(doublings) % 1.0 == 0.0)


def windows(n_warmup: int, dim: int) -> list[tuple[int, int]]:
    """First and last iterations of the windows that end after `FIRST_END` trajectories or more."""
    first = langevin_steps(n_warmup, dim)
    total = n_warmup - first
    ends = [n for n in range(LAST_END) if is_renewal(n, total)] + [min(LAST_END, total)]
    return [(first + a, first + b - 1) for a, b in pairwise(ends) if b >= FIRST_END]
