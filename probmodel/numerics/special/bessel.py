"""Modified Bessel functions of orders zero and one, scaled so that they do not overflow.

Derivatives of every order come through autograd. The ratio ``A(x) = I1(x) / I0(x)`` solves
``A' = 1 - A / x - A**2``, which is its derivative rule. For large ``x`` it approaches 1, so that
``1 - A`` is what formulas need; there its asymptotic series takes over, whose coefficients the
same equation gives.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.tracer import getval

from probmodel.numerics.special import differentiable, from_scipy, scipy_special, where

# From here on the series is accurate to rounding, and the direct formulas begin to cancel.
_LARGE = 50.0
_TERMS = 14


def _gap_coefficients() -> list[float]:
    """Return the coefficients of ``1 / x``, ``1 / x**2``, ... in the series of `bessel_gap`."""
    found: list[float] = []
    for power in range(1, _TERMS + 1):
        before = (power - 2) * found[-1] if found else 1.0
        products = (found[i] * found[-1 - i] for i in range(len(found)))
        found.append(0.5 * (before + fsum(products)))
    return found


_COEFFICIENTS = _gap_coefficients()

i0e = from_scipy("i0e", "``exp(-|x|) I0(x)``.")
i1e = from_scipy("i1e", "``exp(-|x|) I1(x)``.")


@differentiable
def log_i0e(x: Any) -> Any:
    """``log(I0(x)) - x`` for ``x >= 0``."""
    return np.log(scipy_special().i0e(x))


@differentiable
def bessel_ratio(x: Any) -> Any:
    """``I1(x) / I0(x)``, the mean resultant length of angles with concentration ``x``."""
    return scipy_special().i1e(x) / scipy_special().i0e(x)


def bessel_gap(x: Any) -> Any:
    """``1 - I1(x) / I0(x)``, accurate for large ``x`` too, where it is about ``1 / (2 x)``."""
    near, inverse = _split(x)
    series = 0.0
    for coefficient in reversed(_COEFFICIENTS):
        series = (series + coefficient) * inverse
    return where(x < _LARGE, 1.0 - bessel_ratio(near), series)


def bessel_ratio_slope(x: Any) -> Any:
    """Return the derivative of `bessel_ratio`: the variance of the cosine of such an angle."""
    near, inverse = _split(x)
    ratio = bessel_ratio(near)
    series = 0.0
    for power in range(_TERMS, 0, -1):
        series = (series + power * _COEFFICIENTS[power - 1]) * inverse
    return where(x < _LARGE, 1.0 - ratio / near - ratio * ratio, series * inverse)


def _split(x: Any) -> tuple[Any, Any]:
    """Return ``x`` as far as it is not large, and ``1 / x`` as far as it is.

    Unlike ``minimum``, `where` has a one-sided derivative at the border.
    """
    is_near = x < _LARGE
    return where(is_near, x, _LARGE), 1.0 / where(is_near, _LARGE, x)


def _i1e_over_x(ans: Any, x: Any) -> Any:
    zero = np.equal(getval(x), 0.0)
    return where(zero, 0.5, ans / where(zero, 1.0, x))


defvjp(i0e, lambda ans, x: lambda g: -g * anp.sign(x) * ans * bessel_gap(anp.absolute(x)))
defvjp(
    i1e, lambda ans, x: lambda g: g * (i0e(x) * bessel_gap(anp.absolute(x)) - _i1e_over_x(ans, x))
)
defvjp(log_i0e, lambda ans, x: lambda g: -g * bessel_gap(x))
defvjp(bessel_ratio, lambda ans, x: lambda g: g * bessel_ratio_slope(x))
