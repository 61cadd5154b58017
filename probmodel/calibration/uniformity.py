"""Whether whole numbers from 0 to L are uniform: an exact test, and bands for a plot.

    Säilynoja, Bürkner and Vehtari (2022), "Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison", Statistics and
    Computing 32.

    ranks   n whole numbers from 0 to L for each quantity              (quantities, n)
    counts  how many ranks are below k = 1, ..., L                     (quantities, L)
    tails   twice the smaller tail probability of a count, at most 1   (L, n + 1)

Under uniformity the count below k is binomial with probability k / (L + 1). The statistic of a
quantity is the smallest of its L tail probabilities. The paper finds its distribution by stepping
from k to k + 1 with binomial transitions. Here the numbers in the L + 1 cells are independent
Poisson variables given their sum, so that each step is one convolution with the same weights.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

_TIE = 1.0 + 1e-9  # tail probabilities that differ by less are equal but for rounding
_CANDIDATES, _ROUNDS = 32, 4  # of the search for a band: 32^4 steps on a logarithmic scale
_SMALLEST = 1e-12  # level of the widest band that is searched for


def counts_below(ranks: Array, most: int) -> Array:
    """Return how many ranks are below 1, 2, ..., ``most``: (quantities, n) -> (quantities, L)."""
    rows, _ = ranks.shape
    cells = np.zeros((rows, most + 1), dtype=np.intp)
    np.add.at(cells, (np.arange(rows)[:, None], ranks), 1)
    return np.cumsum(cells, axis=1)[:, :most]


def p_values(ranks: Array, most: int) -> Array:
    """Return the p-value of uniformity on 0, ..., ``most`` of each row: (quantities,).

    They are exact for independent ranks, whole numbers (quantities, n), up to rounding of 1e-12.
    """
    rows, n = ranks.shape
    if n == 0 or rows == 0:
        return np.full(rows, np.nan)
    tails = tail_probabilities(n, most)
    counts = counts_below(ranks, most)
    statistic = tails[np.arange(most), counts].min(axis=1)
    return np.clip(1.0 - inside_probability(tails, statistic), 0.0, 1.0)


def fewest(most: int, level: float) -> int:
    """Return how many ranks it takes to refute those that are all the middle one.

    That is what the test is slowest to find: of ranks that are all at one end, or at both, it takes
    fewer.
    """
    n = 1
    while p_values(np.full((1, n), most // 2), most)[0] > level:
        n += 1
    return n


def band(n: int, most: int, level: float) -> tuple[Array, Array]:
    """Return the least and the largest counts of the simultaneous band: (L,) each.

    The counts of uniform ranks leave the band anywhere with a probability of at most ``level``.
    """
    tails = tail_probabilities(n, most)
    low, high = np.log(_SMALLEST * level), 0.0
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _CANDIDATES)
        kept = inside_probability(tails, np.exp(grid)) >= 1.0 - level
        last = int(np.flatnonzero(kept).max(initial=0))
        low, high = grid[last], grid[min(last + 1, _CANDIDATES - 1)]
    inside = tails > np.exp(low) * _TIE
    return inside.argmax(axis=1), n - inside[:, ::-1].argmax(axis=1)


def tail_probabilities(n: int, most: int) -> Array:
    """Return twice the smaller tail probability, at most 1, of every count: (L, n + 1)."""
    from scipy.special import bdtr, bdtrc

    share = np.arange(1, most + 1)[:, None] / (most + 1.0)
    count = np.arange(n + 1)[None, :]
    above = np.ones((most, n + 1))  # of at least ``count``
    above[:, 1:] = bdtrc(count[:, 1:] - 1.0, n, share)
    return np.minimum(1.0, 2.0 * np.minimum(bdtr(count * 1.0, n, share), above))


def inside_probability(tails: Array, statistic: Array) -> Array:
    """Return the probability that all tail probabilities exceed a statistic: (quantities,).

    ``tails`` are those of `tail_probabilities`.
    """
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.special import gammaln

    most, n = tails.shape[0], tails.shape[1] - 1
    count = np.arange(n + 1)

    def poisson(mean: float) -> Array:
        return np.exp(count * np.log(mean) - mean - gammaln(count + 1.0))

    size = next_fast_len(2 * n + 1, real=True)
    weights = rfft(poisson(n / (most + 1.0)), size)
    state = np.zeros((len(statistic), n + 1))
    state[:, 0] = 1.0
    for k in range(most):
        state = irfft(rfft(state, size, axis=1) * weights, size, axis=1)[:, : n + 1]
        state *= tails[k] > statistic[:, None] * _TIE
    # The last cell takes what is left over, and all cells together hold n.
    return state @ poisson(n / (most + 1.0))[::-1] / poisson(float(n))[n]
