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

from probmodel.numerics.special import differentiable, erf, from_scipy, inverse_mills, scipy_special

_ROOT_2_PI = sqrt(2.0 * pi)
_ROOT_HALF = sqrt(0.5)

bessel_j = from_scipy("bessel_j", "Bessel function of the first kind of order ``v``.", "jv")
bessel_y = from_scipy("bessel_y", "Bessel function of the second kind of order ``v``.", "yv")
bessel_i = from_scipy("bessel_i", "Modified Bessel function ``I`` of order ``v``.", "iv")
bessel_k = from_scipy("bessel_k", "Modified Bessel function ``K`` of order ``v``.", "kv")
inv_erfc = from_scipy("inv_erfc", "Inverse of the complementary error function.", "erfcinv")
ndtri_of_log = from_scipy("ndtri_of_log", "`ndtri` of a probability by its logarithm.", "ndtri_exp")
owens_t = from_scipy("owens_t", "Owen's T function.")


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
    log_bessel_i, lambda ans, v, x: unbroadcast_f(x, lambda g: g * _slope_log_i(v, x)), argnums=(1,)
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
