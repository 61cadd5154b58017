"""Chains that are lost in the warm-up start again from where others are.

    l_c     mean log density of chain c over a window of the warm-up                 (chains,)
    v_cj    variance of its coordinate j                                             (chains, dim)
    g_cj    mean square of its score in coordinate j                                 (chains, dim)
    F_c     l_c + sum_j log(max(v_cj, 1 / g_cj)) / 2                                 (chains,)
    E_c     l_c + sum_j log(min(v_cj, 1 / g_cj)) / 2                                 (chains,)
    margin  FEWEST_NATS + DEVIATIONS max(s, sqrt(dim / 2)), with s the standard deviation of the
            log density within the chain that others are compared with

The probability of the region that a chain explores is about its density times its volume, whose
logarithm lies between E and F, up to a constant. For a normal distribution v is the marginal
variance and 1 / g the conditional one, and the determinant of the covariance lies between their
products. They differ where coordinates are correlated, and where the width varies: of a funnel, v
tells of the mouth and g of the neck. A chain that hardly moves has too small a v. Where v and 1 / g
differ by no more than those of so many normal draws do, they count as equal.

A chain is lost if its l and F lie further below l and E of another chain than the margin, and it
does not catch up. Both, because

- in the mouth of a funnel the density is low, and the volume large: the neck has not more weight,
- a chain that has hardly moved has a small volume, but its density may be right,
- in a mode without weight, or where every proposal overflows, both are low.

Modes of comparable weight keep their chains; one of weight exp(-margin), e^-12 at most, loses them.

Chains are moved in the first part of the warm-up only, up to `CHECKS[-1]` of it. What comes after
is a valid kernel, from other starts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.types import Array

CHECKS = (
    0.2,
    0.27,
    0.34,
    0.41,
    0.48,
    0.54,
    0.6,
    0.7,
)  # shares of the warm-up after which chains are compared
FEWEST = 4  # chains that can be compared
SHORTEST = 15  # iterations of a window; checks that follow each other sooner are left out
BETTER = 8  # one chain in so many may have more weight than the one that others are compared with
FEWEST_NATS = 10.0
DEVIATIONS = 4.0
NOISE = 2.0  # standard deviations of the logarithm of a variance of draws
CATCHING_UP = 0.1  # share of its distance that a chain makes up in half a window


class Restart(NamedTuple):
    """A chain that began again.

    Attributes
    ----------
    iteration : of the warm-up, after which it was moved
    chain : that was lost
    source : chain whose place it took
    nats : how far its log density lay below
    """

    iteration: int
    chain: int
    source: int
    nats: float


class Window:
    """Sums over the iterations of a window, of each chain."""

    def __init__(self, length: int) -> None:
        self.length, self.n = length, 0

    def add(self, logp: Array, x: Array, grad: Array) -> None:
        """Take in where the chains are: (chains,), and (chains, dim) each."""
        if not self.n:
            self._first_x, self._first_logp = x, logp
            self._halves = np.zeros((2, len(logp)))
            self._square = np.zeros(len(logp))
            self._sum, self._squares, self._scores = np.zeros((3, *x.shape))
        with np.errstate(over="ignore", invalid="ignore"):
            moved, rise = x - self._first_x, logp - self._first_logp
            self._sum += moved
            self._squares += moved * moved
            self._scores += grad * grad
            self._halves[2 * self.n // self.length] += rise
            self._square += rise * rise
        self.n += 1

    @property
    def level(self) -> Array:
        """Mean log density: (chains,)."""
        return np.asarray(self._first_logp + self._halves.sum(axis=0) / self.n)

    @property
    def deviation(self) -> Array:
        """Standard deviation of the log density: (chains,)."""
        mean = self._halves.sum(axis=0) / self.n
        return np.asarray(np.sqrt(np.maximum(self._square / self.n - mean * mean, 0.0)))

    @property
    def rise(self) -> Array:
        """Mean log density of the second half less that of the first: (chains,)."""
        first = -(-self.length // 2)
        return np.asarray(self._halves[1] / (self.n - first) - self._halves[0] / first)

    @property
    def log_volumes(self) -> tuple[Array, Array]:
        """Logarithms of the volume, at least and at most: (chains,) each.

        Minus infinity where nothing is known of it.
        """
        mean = self._sum / self.n
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_v = np.log(np.maximum(self._squares / self.n - mean * mean, 0.0))
            # A score that is always zero is none: the method takes no gradients.
            log_g = np.log(self._scores / self.n)
            other = np.where(self._scores > 0.0, -log_g, log_v)
            least, most = np.minimum(log_v, other), np.maximum(log_v, other)
            noise = np.fmin(0.5 * (most - least), NOISE * np.sqrt(2.0 / self.n))
            return 0.5 * (least + noise).sum(axis=1), 0.5 * (most - noise).sum(axis=1)


def find_lost(window: Window, dim: int) -> tuple[Array, Array]:
    """Find lost chains, and how far their log densities lie below: (chains,) each."""
    level, (least, most) = window.level, window.log_volumes
    reference = np.argsort(-(level + least), kind="stable")[(len(level) - 1) // BETTER]
    margin = FEWEST_NATS + DEVIATIONS * max(window.deviation[reference], np.sqrt(0.5 * dim))
    with np.errstate(invalid="ignore"):
        nats = level[reference] - level
        lighter = level[reference] + least[reference] - (level + most)
        catches_up = window.rise > CATCHING_UP * nats
        return (nats > margin) & (lighter > margin) & ~catches_up, nats


class Restarts:
    """Watches the chains of a group while it warms up.

    Attributes
    ----------
    made : the chains that were moved
    """

    def __init__(self, n_warmup: int) -> None:
        self._windows: dict[int, int] = {}  # the second half of what lies between two checks
        start = 0
        for end in (int(share * n_warmup) for share in CHECKS):
            if (end - start) // 2 >= SHORTEST:
                self._windows[end], start = (end - start) // 2, end
        self._window: Window | None = None
        self.made: list[Restart] = []

    def sources(self, i: int, state: Any, rng: np.random.Generator) -> Array | None:
        """Take in iteration ``i``; return from which chain each goes on, if not all from their own.

        ``state`` has the chains' positions, log densities and scores; ``rng`` chooses among those
        not lost.
        """
        length = next((n for end, n in self._windows.items() if end - n <= i < end), 0)
        chains, dim = state.x.shape
        if not length or chains < FEWEST:
            return None
        window = self._window = self._window or Window(length)
        window.add(state.logp, state.x, state.grad)
        if i + 1 not in self._windows:
            return None
        self._window = None
        lost, nats = find_lost(window, dim)
        if not lost.any():
            return None
        rows = np.arange(chains)
        rows[lost] = rng.choice(np.flatnonzero(~lost), int(lost.sum()))
        self.made += [
            Restart(i, int(c), int(rows[c]), float(nats[c])) for c in np.flatnonzero(lost)
        ]
        return rows


def taken(state: Any, rows: Array) -> Any:
    """Return a state, tuples of arrays of which the first axis is the chains', in those rows."""
    if isinstance(state, tuple):
        return type(state)(*(taken(part, rows) for part in state))
    return state[rows] if np.ndim(state) else state
