"""Special functions of distributions whose cumulative probabilities are double exponentials.

The differentiable ones are autograd primitives, as in `probmodel.numerics.special`; their
derivative rules are written with these functions, so they can be differentiated again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp

from probmodel.numerics.special import differentiable, digamma, log1m_exp, scipy_special, trigamma
from probmodel.types import Array

EULER = float(np.euler_gamma)
# Below this log(1 - exp(-s)) is log(s) - s / 2 to the last digit, with s = exp(u).
_LINEAR = -30.0
_LARGEST_EXPONENT = 700.0
# Within this distance from 2 divided differences are power series; beyond, they cancel little.
_NEAR = 0.05
_TERMS = 12


@differentiable
def log_inv_cloglog(u: Any) -> Any:
    """Logarithm of ``1 - exp(-exp(u))``, accurate for large ``u`` of either sign."""
    s = np.exp(u)
    linear = np.minimum(u, _LINEAR)
    linear = linear - 0.5 * np.exp(linear)
    return np.where(u < _LINEAR, linear, log1m_exp(np.where(u < _LINEAR, 1.0, s)))


@differentiable
def slope_log_inv_cloglog(u: Any) -> Any:
    """Return the derivative of `log_inv_cloglog`, which falls from one to zero."""
    s = np.exp(np.maximum(np.minimum(u, _LARGEST_EXPONENT), -_LARGEST_EXPONENT))
    return s / np.expm1(s)


defvjp(log_inv_cloglog, lambda ans, u: lambda g: g * slope_log_inv_cloglog(u))
defvjp(
    slope_log_inv_cloglog,
    lambda ans, u: lambda g: g * ans * (1.0 - anp.exp(anp.minimum(u, _LARGEST_EXPONENT)) - ans),
)


@differentiable
def bernoulli_gap(x: Any) -> Any:
    """``1 - x / (exp(x) - 1)`` for ``x > 0``, about ``x / 2`` for small ``x``.

    There it is a power series, the coefficients of which are Bernoulli numbers over factorials.
    """
    near = x < 1.0
    small = np.where(near, x, 0.0)
    coefficients = _bernoulli_series()
    series = 0.5 * small - np.polynomial.polynomial.polyval(small * small, coefficients)
    far = np.minimum(np.where(near, 1.0, x), _LARGEST_EXPONENT)
    return np.where(near, series, 1.0 - far / np.expm1(far))


defvjp(bernoulli_gap, lambda ans, x: lambda g: g * (1.0 - ans) * (1.0 - ans / x))


@cache
def _bernoulli_series() -> Array:
    """Coefficients of even powers of ``x`` in ``x / (exp(x) - 1)``, the first being left out."""
    even = np.arange(2, 2 * _TERMS, 2)
    numbers = scipy_special().bernoulli(int(even[-1]))[even]
    return np.concatenate([[0.0], numbers / scipy_special().factorial(even)])


@cache
def _digamma_series() -> Array:
    """Coefficients of ``digamma(2 + t) - digamma(2)`` in powers of ``t``, from the first on."""
    order = np.arange(1, _TERMS + 2)
    return np.asarray((-1.0) ** (order + 1) * scipy_special().zetac(order + 1.0))


def divided_digamma(x: Array) -> Array:
    """Return ``(digamma(x) - digamma(2)) / (x - 2)``, without the gap at 2."""
    step = np.asarray(x) - 2.0
    near = np.abs(step) < _NEAR
    series = np.polynomial.polynomial.polyval(np.where(near, step, 0.0), _digamma_series())
    apart = np.where(near, 1.0, step)
    return np.where(near, series, (digamma(2.0 + apart) - digamma(2.0)) / apart)


def divided_trigamma(x: Array) -> Array:
    """Return ``(trigamma(x) - trigamma(2)) / (x - 2)``, without the gap at 2."""
    step = np.asarray(x) - 2.0
    near = np.abs(step) < _NEAR
    coefficients = _digamma_series()[1:] * np.arange(2, _TERMS + 2)
    series = np.polynomial.polynomial.polyval(np.where(near, step, 0.0), coefficients)
    apart = np.where(near, 1.0, step)
    return np.where(near, series, (trigamma(2.0 + apart) - trigamma(2.0)) / apart)
