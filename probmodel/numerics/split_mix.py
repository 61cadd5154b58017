"""Uniform numbers by SplitMix64: a seed and a number in, so that nobody has to take turns.

    Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators", OOPSLA.

A seed and multiples of an odd number are mixed by shifts and products. In NumPy and in machine code
the same numbers come out.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

GOLDEN = 0x9E3779B97F4A7C15
MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT, BITS = 31, 53
# What a transition of the No-U-Turn sampler uses them for: the leaves, in order, from zero; whether
# a subtree is joined, and to which side the next one is, in the order of the doublings.
JOIN, SIDE = 1 << 32, 1 << 33


def uniform(seeds: Array, number: int) -> Array:
    """Return one ``number`` in [0, 1) of each of some independent sequences.

    Their seeds are unsigned integers of 64 bits.
    """
    mixed = seeds + np.uint64(GOLDEN * (number + 1) % (1 << 64))
    for shift, factor in MIXING:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(LAST_SHIFT)
    return np.asarray((mixed >> np.uint64(64 - BITS)) * 2.0**-BITS)
