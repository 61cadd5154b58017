"""Exponential and hyperbolic functions on vectors of doubles.

exp(x) is (1 + (r + r^2 q)) 2^n with x = n log(2) + r and a polynomial q of r. About polynomials see
`elementary`.
"""

from __future__ import annotations

from math import log
from typing import Any

from probmodel.compiler.lanes import Lanes, Mask, Writer

# log(2) as a sum. The high part ends in zeros, so that its product with an exponent is exact.
LN2_HIGH = float.fromhex("0x1.62e42fef00000p-1")
LN2_LOW = float.fromhex("0x1.473de6af278edp-34")
_LN2_REST = float.fromhex("0x1.abc9e3b39803fp-56")  # log(2) less its nearest double
PER_LN2 = (float.fromhex("0x1.71547652b82fep+0"), float.fromhex("0x1.777d0ffda0d24p-56"))

# (exp(r) - 1 - r) / r^2 for |r| <= log(2)/2
_EXP = (
    0.5000000000000001, 0.16666666666666669, 0.041666666666623824, 0.008333333333330039,
    0.0013888888917367081, 0.00019841269863171557, 2.4801521057868204e-05, 2.7557268276905696e-06,
    2.7620201591031547e-07, 2.5100472505694996e-08,
)  # fmt: skip
# (tanh(x)/x - 1) / z at z = x^2 for |x| <= 0.625
_TANH = (
    -0.3333333333333333, 0.13333333333333042, -0.05396825396789699, 0.021869488519008305,
    -0.008863235103240878, 0.0035921217511549622, -0.0014557754120478055, 0.0005896606577757043,
    -0.0002375906496055562, 9.257116129556769e-05, -3.12011014257974e-05, 6.485163482793113e-06,
)  # fmt: skip
# (sinh(x)/x - 1) / z at z = x^2 <= 1
_SINH = (
    0.16666666666666666, 0.008333333333333333, 0.00019841269841269773, 2.755731922404034e-06,
    2.505210836405804e-08, 1.6059048396350562e-10, 7.646625361656657e-13, 2.8445264169895285e-15,
)  # fmt: skip


def _reduced(w: Writer, x: Lanes, low: Lanes | None = None) -> tuple[Lanes, Lanes, Any]:
    """Return r with x + low = n log(2) + r, and n, as doubles and raw."""
    n, raw = w.nearest(x, PER_LN2[0])
    r = w.fma(n, -LN2_HIGH, x)
    return (w.fma(n, -LN2_LOW, r) if low is None else r + w.fma(n, -LN2_LOW, low)), n, raw


def _exp_near_zero(w: Writer, r: Lanes) -> Lanes:
    """Return exp(r) for |r| <= log(2)/2."""
    return 1.0 + w.fma(r * r, w.polynomial(r, _EXP), r)


def _scaled(w: Writer, p: Lanes, n: Lanes, raw: Any, small: Mask) -> Lanes:
    """Return p times two to the n, rounded once where ``small`` says it may be subnormal."""
    if w.scales:
        return w.scaled(p, n)
    raw = w.add_where(small, raw, 128)
    return p * w.power_of_two(raw, less=1) * w.select(small, 2.0**-127, 2.0)


def exp_sum(w: Writer, x: Lanes, low: Lanes | None) -> Lanes:
    """Return exp(x + low) for a low part that is small where x is no infinity."""
    x = w.clamp(x, -746.0, 710.0)
    r, n, raw = _reduced(w, x, low)
    return _scaled(w, _exp_near_zero(w, r), n, raw, x < -690.0)


def exp(w: Writer, x: Lanes) -> Lanes:
    """Return the exponential."""
    return exp_sum(w, x, None)


def exp2(w: Writer, x: Lanes) -> Lanes:
    """Return a power of two."""
    x = w.clamp(x, -1077.0, 1025.0)
    n, raw = w.nearest(x, 1.0)
    f = x - n
    r, low = w.two_product(f, log(2.0))
    low = w.fma(f, _LN2_REST, low)
    p = 1.0 + (r + w.fma(r * r, w.polynomial(r, _EXP), low))
    return _scaled(w, p, n, raw, x < -1000.0)


def expm1(w: Writer, x: Lanes) -> Lanes:
    """Return exp(x) - 1."""
    bounded = w.clamp(x, -50.0, 710.0)
    n, raw = w.nearest(bounded, PER_LN2[0])
    high = w.fma(n, -LN2_HIGH, bounded)
    r = w.fma(n, -LN2_LOW, high)
    low = w.fma(n, -LN2_LOW, high - r)
    rest = w.fma(r * r, w.polynomial(r, _EXP), low)
    half = w.power_of_two(raw, less=1)
    result = w.fma(half, rest, w.fma(half, r, half - 0.5)) * 2.0
    return w.select(abs(x) < 2.0**-54, x, result)


def _half_exp(w: Writer, x: Lanes) -> Lanes:
    """Return exp(x)/2 for x from 0 to 711, which is not too large where half of it is not."""
    r, _, raw = _reduced(w, x)
    return _exp_near_zero(w, r) * w.power_of_two(raw, less=2) * 2.0


def cosh(w: Writer, x: Lanes) -> Lanes:
    """Return the hyperbolic cosine."""
    half = _half_exp(w, w.clamp(abs(x), 0.0, 711.0))
    return half + 0.25 / half


def sinh(w: Writer, x: Lanes) -> Lanes:
    """Return the hyperbolic sine."""
    size = w.clamp(abs(x), 0.0, 711.0)
    half = _half_exp(w, size)
    z = size * size
    near = w.fma(size * z, w.polynomial(z, _SINH), size)
    return w.copysign(w.select(size < 1.0, near, half - 0.25 / half), x)


def tanh(w: Writer, x: Lanes) -> Lanes:
    """Return the hyperbolic tangent: a polynomial near zero, 1 - 2 / (exp(2x) + 1) beyond."""
    size = w.clamp(abs(x), 0.0, 30.0)
    r, _, raw = _reduced(w, size + size)
    far = 1.0 - 2.0 / w.fma(_exp_near_zero(w, r), w.power_of_two(raw), 1.0)
    z = size * size
    near = w.fma(size * z, w.polynomial(z, _TANH), size)
    return w.copysign(w.select(size < 0.625, near, far), x)


def expit(w: Writer, x: Lanes) -> Lanes:
    """Return the logistic function 1 / (1 + exp(-x))."""
    e = exp(w, -abs(x))
    bottom, bottom_low = w.fast_two_sum(1.0, e)
    high, low = w.divide(w.select(x < 0.0, e, 1.0), None, bottom, bottom_low)
    return high + low
