"""Stan's schedule of a warm-up: when a mass matrix is learned, and when it is put to use.

A first buffer takes the chains to the bulk, slow windows of doubling length each learn a mass
matrix from their own draws, and a last buffer settles the step size.

    Stan Development Team, Stan reference manual, "HMC algorithm parameters: automatic tuning".
"""

from __future__ import annotations

from typing import NamedTuple

INITIAL, FIRST, LAST = 75, 25, 50  # iterations: first buffer, first slow window, last buffer
SHARES = (0.15, 0.1)  # of the buffers, in a warm-up too short for these
SHORTEST = 20  # below this only the step size is learned


class Windows(NamedTuple):
    """Iterations of a warm-up, counted from zero.

    Attributes
    ----------
    first : the first iteration whose draws are learned from
    ends : the iterations after which the window's draws become a mass matrix; none in a warm-up
        that is too short
    """

    first: int
    ends: tuple[int, ...]


def windows(n_warmup: int) -> Windows:
    """Return the windows of a warm-up of ``n_warmup`` iterations."""
    if n_warmup < SHORTEST:
        return Windows(n_warmup, ())
    initial, first, last = INITIAL, FIRST, LAST
    if n_warmup < INITIAL + FIRST + LAST:
        initial, last = (int(share * n_warmup) for share in SHARES)
        first = n_warmup - initial - last
    stop = n_warmup - last
    ends, begin, length = [], initial, first
    while begin < stop:
        end = begin + length
        if stop - end < 2 * length:  # the next window, twice as long, would not fit
            end = stop
        ends.append(end - 1)
        begin, length = end, 2 * length
    return Windows(initial, tuple(ends))
