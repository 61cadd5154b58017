"""The Mills ratio of the standard normal, for densities that mix a normal with an exponential.

``log(ndtr(x))`` is ``-x**2 / 2`` plus a term that grows like ``log(-x)`` in the lower tail. What
adds a square of its own to it loses all digits there. `log_mills` is that term alone, and
`mills_excess` its slope; derivatives of every order come through autograd.
"""

from __future__ import annotations

from math import fsum, pi, sqrt
from typing import Any

import numpy as np
from autograd.extend import defvjp

from probmodel.numerics.special import differentiable, inverse_mills, scipy_special, where

# Below this the asymptotic series is accurate to rounding, and ``x + inverse_mills(x)`` cancels.
_FAR = -12.0
_TERMS = 20
_ROOT_HALF = sqrt(0.5)
_ROOT_HALF_PI = sqrt(0.5 * pi)


def _excess_coefficients() -> list[float]:
    """Return the coefficients of ``1 / t``, ``1 / t**3``, ... in `mills_excess` at ``x = -t``.

    They follow from its differential equation ``e' = 1 + x e - e**2``.
    """
    found = [1.0]
    for n in range(1, _TERMS):
        products = (found[i] * found[-1 - i] for i in range(n))
        found.append(-(2 * n - 1) * found[-1] - fsum(products))
    return found


_COEFFICIENTS = _excess_coefficients()


@differentiable
def log_mills(x: Any) -> Any:
    """Logarithm of `ndtr` over the standard normal density at ``x``, which is at most 25."""
    return np.log(_ROOT_HALF_PI * scipy_special().erfcx(-_ROOT_HALF * x))


def mills_excess(x: Any) -> Any:
    """``x`` plus the standard normal density over `ndtr`: positive, about ``-1 / x`` far below."""
    is_near = x > _FAR
    near = where(is_near, x, _FAR)
    inverse = -1.0 / where(is_near, _FAR, x)
    return where(is_near, near + inverse_mills(near), (1.0 + _correction(inverse)) * inverse)


def mills_correction(x: Any) -> Any:
    """``-x`` times `mills_excess`, less one: about ``-2 / x**2`` far below."""
    is_near = x > _FAR
    near = where(is_near, x, _FAR)
    far = _correction(-1.0 / where(is_near, _FAR, x))
    return where(is_near, -near * (near + inverse_mills(near)) - 1.0, far)


def _correction(inverse: Any) -> Any:
    """Asymptotic series of `mills_correction` in ``inverse = -1 / x``."""
    square = inverse * inverse
    series = 0.0
    for coefficient in reversed(_COEFFICIENTS[1:]):
        series = (series + coefficient) * square
    return series


defvjp(log_mills, lambda ans, x: lambda g: g * mills_excess(x))
