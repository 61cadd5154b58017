"""Logarithms of powers in densities, at the ends of the support: 0 log(0) is zero there.

Where a shape is exactly one, the density at the end that it belongs to is finite. Numbers that are
known to lie inside, and exponents that are known not to be zero, keep the plain formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.numerics.special import product, ratio, xlog1py, xlogy


def log_power(xp: Any, exponent: Any, value: Any) -> Any:
    """Return ``exponent log(value)``, zero where both are zero."""
    if _never(value, 0.0) or _never(exponent, 0.0):
        return exponent * xp.log(value)
    return xlogy(exponent, value)


def log_power_of_rest(xp: Any, exponent: Any, value: Any) -> Any:
    """Return ``exponent log(1 - value)``, zero where the exponent is zero and the value one."""
    if _never(value, 1.0) or _never(exponent, 0.0):
        return exponent * xp.log1p(-value)
    return xlog1py(exponent, -value)


def times_log(exponent: Any, logarithm: Any) -> Any:
    """Return the product with a logarithm, zero where the exponent is zero."""
    if _never(logarithm, -np.inf) or _never(exponent, 0.0):
        return exponent * logarithm
    return product(exponent, logarithm)


def power_slope(exponent: Any, part: Any) -> Any:
    """Return ``exponent / part``, the slope of a `log_power`: zero where both are zero."""
    if _never(part, 0.0) or _never(exponent, 0.0):
        return exponent / part
    return ratio(exponent, part)


def _never(numbers: Any, number: float) -> bool:
    """Whether numbers are known, and none of them is this one."""
    numbers = getval(numbers)
    known = isinstance(numbers, np.ndarray | float | int | np.number)
    return known and not np.any(np.equal(numbers, number))
