"""Exponentials and logarithms that LLVM can put into vectors, unlike those of a library."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
ROUND = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to an integer


@njit(fastmath={"contract"}, error_model="numpy", inline="always")
def exp(x: float) -> float:
    """Return e^x to the last bits, for x from -708 to 708; beyond, the value at the end."""
    x = min(max(x, -708.0), 708.0)
    shifted = x * LOG2_E + ROUND
    n = shifted - ROUND
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    power = (np.float64(shifted).view(np.int64) + 1023) << 52
    return p * np.int64(power).view(np.float64)


@njit(fastmath={"contract"}, error_model="numpy", inline="always")
def atanh_series(z: float) -> float:
    """Return atanh(s) / s, for the square z of an s of at most 0.172."""
    p = 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return p * z + 1.0


@njit(fastmath={"contract"}, error_model="numpy", inline="always")
def log1p(e: float) -> float:
    """Return log(1 + e) for e from 0 to 1, by the series of 2 atanh."""
    large = e > 0.4142135623730951  # then 2 is taken out
    s = (e - 1.0 if large else e) / (e + 3.0 if large else e + 2.0)
    return 2.0 * s * atanh_series(s * s) + (math.log(2.0) if large else 0.0)


@njit(fastmath={"contract"}, error_model="numpy", inline="always")
def log(x: float) -> float:
    """Return log(x) for a positive number that is not subnormal."""
    bits = np.float64(x).view(np.int64)
    # The mantissa lies between 2^-1/2 and 2^1/2.
    n = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = np.int64(bits - (n << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    return 2.0 * s * atanh_series(s * s) + n * 0.6931471805599453
