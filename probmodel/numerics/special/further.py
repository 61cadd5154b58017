"""Special functions that densities do not need: Bessel functions of any order, inverses.

Each is an autograd primitive, as those of `probmodel.numerics.special`. Orders and shapes have no
derivatives; the rules are written with these functions, so they can be differentiated again.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import (
    differentiable,
    erf,
    inverse_mills,
    scipy_special,
)

_ROOT_2_PI = sqrt(2.0 * pi)
_ROOT_HALF = sqrt(0.5)


@differentiable
def bessel_j(v: Any, x: Any) -> Any:
    """Bessel function of the first kind of order ``v``."""
    return scipy_special().jv(v, x)


@differentiable
def bessel_y(v: Any, x: Any) -> Any:
    """Bessel function of the second kind of order ``v``."""
    return scipy_special().yv(v, x)


@differentiable
def bessel_i(v: Any, x: Any) -> Any:
    """Bessel function ``I`` of order ``v``, the modified one of the first kind."""
    return scipy_special().iv(v, x)


@differentiable
def bessel_k(v: Any, x: Any) -> Any:
    """Bessel function ``K`` of order ``v``, the modified one of the second kind."""
    return scipy_special().kv(v, x)


@differentiable
def log_bessel_i(v: Any, x: Any) -> Any:
    """Logarithm of `bessel_i` for ``x >= 0``."""
    return np.log(scipy_special().ive(v, x)) + x


@differentiable
def lambert_w0(x: Any) -> Any:
    """Return the solution ``w >= -1`` of ``w exp(w) = x``."""
    return np.real(scipy_special().lambertw(x, 0))


@differentiable
def lambert_wm1(x: Any) -> Any:
    """Return the solution ``w <= -1`` of ``w exp(w) = x``, for ``-1/e <= x < 0``."""
    return np.real(scipy_special().lambertw(x, -1))


@differentiable
def inv_erfc(x: Any) -> Any:
    """Inverse of the complementary error function."""
    return scipy_special().erfcinv(x)


@differentiable
def ndtri_of_log(log_p: Any) -> Any:
    """`special.ndtri` of a probability that is given by its logarithm."""
    return scipy_special().ndtri_exp(log_p)


@differentiable
def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function."""
    return scipy_special().owens_t(h, a)


def _neighbours(function: Any, sign: float, scale: float = 0.5) -> Any:
    """Return the rule of a Bessel function: its slope is a sum of those of the next orders."""
    return lambda ans, v, x: unbroadcast_f(
        x, lambda g: g * scale * (function(v - 1.0, x) + sign * function(v + 1.0, x))
    )


def _slope_log_i(v: Any, x: Any) -> Any:
    return anp.exp(log_bessel_i(v + 1.0, x) - log_bessel_i(v, x)) + v / x


defvjp(bessel_j, _neighbours(bessel_j, -1.0), argnums=(1,))
defvjp(bessel_y, _neighbours(bessel_y, -1.0), argnums=(1,))
defvjp(bessel_i, _neighbours(bessel_i, 1.0), argnums=(1,))
defvjp(bessel_k, _neighbours(bessel_k, 1.0, -0.5), argnums=(1,))
defvjp(
    log_bessel_i,
    lambda ans, v, x: unbroadcast_f(x, lambda g: g * _slope_log_i(v, x)),
    argnums=(1,),
)
defvjp(lambert_w0, lambda ans, x: lambda g: g / (x + anp.exp(ans)))
defvjp(lambert_wm1, lambda ans, x: lambda g: g / (x + anp.exp(ans)))
defvjp(inv_erfc, lambda ans, x: lambda g: g * (-0.5 * sqrt(pi)) * anp.exp(ans * ans))
defvjp(ndtri_of_log, lambda ans, log_p: lambda g: g / inverse_mills(ans))
defvjp(
    owens_t,
    lambda ans, h, a: unbroadcast_f(
        h, lambda g: g * anp.exp(-0.5 * h * h) * erf(_ROOT_HALF * a * h) * (-0.5 / _ROOT_2_PI)
    ),
    lambda ans, h, a: unbroadcast_f(
        a, lambda g: g * anp.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * pi * (1.0 + a * a))
    ),
)
