"""Whether chains in the warm-up have settled, so that it may end early.

    x_c     positions of chain c over a window of the warm-up               (dim,)
    R       split R-hat: each half of a chain's window counts as a chain    (dim,)

A sampler that knows of windows in which its kernel hardly changes names them. The warm-up may end
after one in which no trajectory broke down, and `SETTLED` is not exceeded by R of any coordinate
or of the log density. So long a window keeps R that low only if chains from different starts
agree, and draws are nearly independent. With halves of m draws, and tau draws for each that is
independent, R is about sqrt(1 + (tau - 1) / m).

Gelman and Rubin (1992); Gelman et al. (2013), "Bayesian Data Analysis", section 11.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from probmodel.types import Array

SETTLED = 1.1  # R
FEWEST = 4  # chains that can tell


class Settling:
    """Watches the chains of a group while it warms up.

    Parameters
    ----------
    windows : of the warm-up, each from an iteration to the one before another, in order

    Attributes
    ----------
    settled : whether the warm-up may end now, at the end of a window
    """

    def __init__(self, windows: Sequence[tuple[int, int]]) -> None:
        self._windows = list(windows)
        self._halves: _Halves | None = None
        self.settled = False

    def add(self, i: int, x: Array, logp: Array, diverging: Array) -> None:
        """Take in where iteration ``i`` brought the chains: (chains, dim), and (chains,) each."""
        self.settled = False
        if not self._windows or i < self._windows[0][0] or len(x) < FEWEST:
            return
        begin, end = self._windows[0]
        if self._halves is None:
            self._halves = _Halves((end - begin) // 2)
        self._halves.add(np.column_stack([x, logp]), bool(diverging.any()))
        if i + 1 == end:
            self.settled = self._halves.agree(SETTLED)
            self._halves = None
            del self._windows[0]


class _Halves:
    """Sums over the halves of a window, of so many iterations each, for each chain."""

    def __init__(self, length: int) -> None:
        self._length, self._n, self._broken = length, 0, False

    def add(self, x: Array, broken: bool) -> None:
        """Take in an iteration of all chains, (chains, quantities); one too many is left out."""
        if not self._n:
            self._origin = x[0]  # sums of squares of what is far from zero lose digits
            self._sum, self._squares = np.zeros((2, 2, *x.shape))
        half = self._n // self._length
        if half < 2:
            moved = x - self._origin
            self._sum[half] += moved
            self._squares[half] += moved * moved
        self._n += 1
        self._broken |= broken

    def agree(self, limit: float) -> bool:
        """Whether no split R-hat exceeds a limit."""
        m, dim = self._length, self._sum.shape[-1]
        means = (self._sum / m).reshape(-1, dim)
        within = np.mean((self._squares.reshape(-1, dim) - m * means**2) / (m - 1), axis=0)
        between = np.var(means, axis=0, ddof=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            square = (m - 1) / m + between / within
        return not self._broken and bool(np.all((within > 0.0) & (square <= limit * limit)))
