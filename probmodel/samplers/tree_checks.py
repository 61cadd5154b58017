"""Which stretches of a No-U-Turn trajectory are asked whether they turn, and when.

A stretch of leaves with momenta r_a, ..., r_b and their sum S turns if S'r_a <= 0 or S'r_b <= 0.
Asked are all trees that a recursion would build, and of each the left half with the first leaf of
the right half, and the right half with the last leaf of the left half.

Trajectories grow by blocks of four leaves. A block is a tree of the recursion, and the stretches
within it are asked of the products of its momenta with each other (`WITHIN`). All others end with
the first or the last leaf of a block. Where a block begins, its first momentum r and the sum S of
all before it are kept in a slot of the chain, and so are those of the leaf before: a stretch of
leaves is then a difference of two sums. Slot 0 is that of the far end of the whole trajectory; the
n-th block of a subtree, from zero, is kept in slot 1 + (number of ones of n in base two).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from probmodel.types import Array

BLOCK = 4  # leaves
STRETCHES = ((0, 1), (2, 3), (0, 3), (0, 2), (1, 3))  # first and last leaf of those within a block
FIRST, LAST = 0, 1  # the leaf of the newest block with which a stretch ends


def _products() -> Array:
    """Return what takes the products of four momenta to S'r at both ends of each stretch."""
    sums = np.zeros((BLOCK, BLOCK, len(STRETCHES), 2))
    for i, ends in enumerate(STRETCHES):
        for side in (0, 1):
            sums[ends[0] : ends[1] + 1, ends[side], i, side] = 1.0
    return sums.reshape(BLOCK * BLOCK, -1)


WITHIN = _products()  # (16, 10)


class Schedule(NamedTuple):
    """What is done with each block of a trajectory; the last row is that of an idle chain.

    Block 0 is the start with the first three leaves. It needs nothing of what is said here, but for
    being whole.

    Attributes
    ----------
    slots : int
        Slots of a chain. The last one is never read.
    slot : (blocks + 1,) int
        Where the beginning of the block is kept.
    asked : (blocks + 1, 4 slots) bool
        Which stretches are asked: one column for each of the three below.
    begin, before : (4 slots,) int
        The slot where the stretch begins, and 1 if it begins with the leaf before that.
    end : (4 slots,) int
        Whether the stretch ends with the `FIRST` or the `LAST` leaf of the block.
    outer : (4 slots,) bool
        Whether the stretch is one of the whole trajectory, not of the subtree.
    whole : (blocks + 1,) bool
        Whether the block completes a doubling.
    """

    slots: int
    slot: Array
    asked: Array
    begin: Array
    before: Array
    end: Array
    outer: Array
    whole: Array


@cache
def schedule(depth: int) -> Schedule:
    """Return the schedule of trajectories of up to ``depth`` doublings."""
    blocks = max(2**depth // BLOCK, 1)
    slots = max(depth, 2) + 1
    slot = np.full(blocks + 1, slots - 1)
    asked = np.zeros((blocks + 1, 2, 2, slots), dtype=bool)  # end, leaf before or not, slot
    whole = np.zeros(blocks + 1, dtype=bool)
    whole[0] = True
    for block in range(1, blocks):
        size = 2 ** (block.bit_length() - 1)
        n = block - size
        own = 1 + n.bit_count()
        ones = (~n & (n + 1)).bit_length() - 1  # trailing ones of n
        slot[block], whole[block] = own, n == size - 1
        # It begins one right half; and it completes trees, of which it may be one itself.
        asked[block, FIRST, 0, own - 1] = True
        least = 0 if whole[block] else own - ones
        asked[block, LAST, 0, least:own] = True
        asked[block, LAST, 1, least + 1 : own + 1] = least < own
    outer = np.zeros(asked.shape[1:], dtype=bool)
    outer[:, 0, 0] = outer[LAST, 1, 1] = True
    end, before, begin = (column.ravel() for column in np.indices(outer.shape))
    return Schedule(
        slots, slot, asked.reshape(blocks + 1, -1), begin, before, end, outer.ravel(), whole
    )
