"""Sums that are cheaper than their spelling."""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

_LEVELS = 5
_LARGEST = 700.0 / 2 ** (_LEVELS + 1)  # log of the largest factor whose products stay finite
_ENOUGH = 8192  # elements from which fewer logarithms repay the extra calls


def row_sum_log(w: Array, largest: float) -> Array:
    """Sum of logarithms along rows: (c, n) -> (c,), for ``1 <= w <= largest``.

    A logarithm costs several multiplications, so pairs of factors are multiplied a few times
    over before one is taken. Each product keeps its relative accuracy, and the sum of logarithms
    its absolute accuracy, to within n units of rounding.
    """
    product = w
    if w.size >= _ENOUGH and np.log(largest) < _LARGEST:
        for _ in range(_LEVELS):
            half = product.shape[1] // 2
            if half < 8:
                break
            joined = product[:, :half] * product[:, half : 2 * half]
            if product.shape[1] % 2:
                joined[:, 0] *= product[:, -1]
            product = joined
    return np.add.reduce(np.log(product), axis=1)
