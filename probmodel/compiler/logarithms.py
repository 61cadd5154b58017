"""Logarithms and powers on vectors of doubles, and what is made of both.

log(x) is e log(2) + log(m) with x = m 2^e, and log(m) = 2 atanh(s) with s = f / (2 + f) and
f = m - 1, or f - (f^2/2 - s (f^2/2 + s^2 ...)). About polynomials see `elementary`.
"""

from __future__ import annotations

from math import inf, nan

from probmodel.compiler.exponentials import LN2_HIGH, LN2_LOW, PER_LN2, exp, exp_sum
from probmodel.compiler.lanes import Lanes, Writer

_PER_LN10 = (float.fromhex("0x1.bcb7b1526e50ep-2"), float.fromhex("0x1.95355baaafad3p-57"))
# The high part ends in zeros, as that of log(2).
_LOG10_2 = (float.fromhex("0x1.3441350900000p-2"), float.fromhex("0x1.ef3fde623e256p-35"))
_TWO_THIRDS = (float.fromhex("0x1.5555555555555p-1"), float.fromhex("0x1.5555555555555p-55"))
_SMALLEST_NORMAL = 2.0**-1022

# (2 atanh(s)/s - 2) / z at z = s^2 for |s| <= 3 - 2 sqrt(2)
_LOG = (
    0.666666666666667, 0.3999999999989889, 0.28571428626253836, 0.22222211089379496,
    0.1818289243253687, 0.15331611722055008, 0.14617807153417325,
)  # fmt: skip
# ((2 atanh(s)/s - 2) / z - 2/3) / z at the same z
_LOG_TAIL = (
    0.4000000000000003, 0.2857142857133801, 0.22222222271326808, 0.18181808210921882,
    0.15385577463308145, 0.13285868837545742, 0.1291471218393509,
)  # fmt: skip
# (arcsinh(x)/x - 1) / z at z = x^2 <= 1/4
_ARCSINH = (
    -0.16666666666666666, 0.0749999999999864, -0.044642857140252436, 0.030381944248546365,
    -0.022372151449922602, 0.01735258771519257, -0.013962235682232349, 0.011526210169675569,
    -0.009591452221673173, 0.007622309427481728, -0.004992717198142511, 0.0018854117655039003,
)  # fmt: skip


def _log_parts(w: Writer, x: Lanes, low: Lanes | None = None) -> tuple[Lanes, Lanes, Lanes]:
    """Return e, f and the rest of log(m), of x + low; x is positive and normal."""
    e, m, inverse = w.split(x)
    f = m - 1.0
    half_square = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    rest = s * w.fma(z, w.polynomial(z, _LOG), half_square)
    if low is not None:
        # d log(m) is dm / (1 + f); the third power of f is too small to matter.
        rest = w.fma(low * inverse, w.fma(f, f - 1.0, 1.0), rest)
    return e, f, rest - half_square


def log_sum(w: Writer, x: Lanes, low: Lanes | None) -> Lanes:
    """Return log(x + low) for positive normal x."""
    e, f, rest = _log_parts(w, x, low)
    return w.fma(e, LN2_HIGH, w.fma(e, LN2_LOW, rest) + f)


def _normal(w: Writer, x: Lanes) -> tuple[Lanes, Lanes]:
    """Return x, times two to the 54 if it is subnormal, and the exponent to add for that."""
    tiny = x < _SMALLEST_NORMAL
    return w.select(tiny, x * 2.0**54, x), w.select(tiny, -54.0, 0.0)


def _log_domain(w: Writer, x: Lanes, result: Lanes) -> Lanes:
    """Return a logarithm's result, right for zero, infinity, NaN and negative numbers too."""
    result = w.select(x < inf, result, x)
    return w.select(x > 0.0, result, w.select(x.equals(0.0), -inf, nan))


def log_value(w: Writer, x: Lanes) -> Lanes:
    """Return log(x) for positive finite x."""
    normal, shift = _normal(w, x)
    e, f, rest = _log_parts(w, normal)
    e = e + shift
    return w.fma(e, LN2_HIGH, w.fma(e, LN2_LOW, rest) + f)


def log_(w: Writer, x: Lanes) -> Lanes:
    """Return the natural logarithm."""
    return _log_domain(w, x, log_value(w, x))


def _log_to_base(
    w: Writer, x: Lanes, of_two: tuple[float, float], per_log: tuple[float, float]
) -> Lanes:
    """Return a logarithm by that of two and the quotient by the natural one, as sums of doubles."""
    normal, shift = _normal(w, x)
    e, f, rest = _log_parts(w, normal)
    e = e + shift
    high, low = w.fast_two_sum(f, rest)
    product, lost = w.two_product(high, per_log[0])
    lost = w.fma(high, per_log[1], w.fma(low, per_log[0], lost))
    total, rounded = w.fast_two_sum(e * of_two[0], product)
    return _log_domain(w, x, total + (rounded + w.fma(e, of_two[1], lost)))


def log2(w: Writer, x: Lanes) -> Lanes:
    """Return the logarithm to base two."""
    return _log_to_base(w, x, (1.0, 0.0), PER_LN2)


def log10(w: Writer, x: Lanes) -> Lanes:
    """Return the logarithm to base ten."""
    return _log_to_base(w, x, _LOG10_2, _PER_LN10)


def log1p(w: Writer, x: Lanes) -> Lanes:
    """Return log(1 + x)."""
    result = log_sum(w, *w.two_sum(1.0, x))
    result = w.select(abs(x) < 2.0**-54, x, result)
    result = w.select(x < inf, result, x)
    return w.select(x > -1.0, result, w.select(x.equals(-1.0), -inf, nan))


def _log1p_of_fraction(w: Writer, x: Lanes) -> Lanes:
    """Return log(1 + x) for x from 0 to 1."""
    return log_sum(w, *w.fast_two_sum(1.0, x))


def log_expit(w: Writer, x: Lanes) -> Lanes:
    """Return log(expit(x)) = min(x, 0) - log(1 + exp(-|x|))."""
    lesser = w.select(x >= 0.0, -0.0, x)
    return lesser - _log1p_of_fraction(w, exp(w, -abs(x)))


def logaddexp(w: Writer, x: Lanes, y: Lanes) -> Lanes:
    """Return log(exp(x) + exp(y)) = max(x, y) + log(1 + exp(-|x - y|))."""
    difference = x - y
    greater = w.select(x > y, x, y)
    result = greater + _log1p_of_fraction(w, exp(w, -abs(difference)))
    # Equal infinities have no difference, and NaN stays NaN.
    return w.select(difference.is_nan(), x + y, result)


def arcsinh(w: Writer, x: Lanes) -> Lanes:
    """Return log(|x| + sqrt(x^2 + 1)) with the sign of x, and a polynomial near zero."""
    size = abs(x)
    z = size * size
    near = w.fma(size * z, w.polynomial(z, _ARCSINH), size)
    # The square, one more, its root, and the sum, each with what rounding lost.
    huge = size > 1e10
    bounded = w.select(huge, 1.0, size)
    square, square_low = w.two_product(bounded, bounded)
    radicand, radicand_low = w.two_sum(1.0, square)
    root = w.intrinsic("sqrt", radicand)
    root_low = (w.fma(-root, root, radicand) + (radicand_low + square_low)) / (root + root)
    total, total_low = w.fast_two_sum(root, bounded)
    low = total_low + root_low
    e, f, rest = _log_parts(w, w.select(huge, size, total), w.select(huge, 0.0, low))
    e = w.select(huge, e + 1.0, e)
    far = w.fma(e, LN2_HIGH, w.fma(e, LN2_LOW, rest) + f)
    far = w.select(size < inf, far, size)
    return w.copysign(w.select(size < 0.5, near, far), x)


def _log_in_two(w: Writer, x: Lanes) -> tuple[Lanes, Lanes]:
    """Return log(x) as a sum of two doubles, to some 68 bits, for positive finite x."""
    normal, shift = _normal(w, x)
    e, m, _ = w.split(normal)
    e = e + shift
    bottom = m + 1.0
    s, s_low = w.divide(m - 1.0, None, bottom, m - (bottom - 1.0))
    z, z_low = w.two_product(s, s)
    z_low = w.fma(s + s, s_low, z_low)
    # The series is 2s + s z (2/3 + z ...).
    factor, factor_low = w.fast_two_sum(_TWO_THIRDS[0], z * w.polynomial(z, _LOG_TAIL))
    factor_low = factor_low + _TWO_THIRDS[1]
    cube, cube_low = w.two_product(s, z)
    cube_low = w.fma(s, z_low, w.fma(s_low, z, cube_low))
    term, term_low = w.two_product(cube, factor)
    term_low = w.fma(cube, factor_low, w.fma(cube_low, factor, term_low))
    high, low_1 = w.fast_two_sum(e * LN2_HIGH, s + s)
    high, low_2 = w.fast_two_sum(high, term)
    low = low_1 + (low_2 + w.fma(e, LN2_LOW, w.fma(s_low, 2.0, term_low)))
    return w.fast_two_sum(high, low)


def power(w: Writer, x: Lanes, y: Lanes) -> Lanes:
    """Return x to the y."""
    size = abs(x)
    high, low = _log_in_two(w, size)
    # The logarithm of infinity and NaN is themselves.
    high = w.select(size < inf, w.select(size.equals(0.0), -inf, high), size)
    product, lost = w.two_product(y, high)
    lost = w.fma(y, low, lost)
    lost = w.select(abs(product) < 750.0, lost, 0.0)
    result = exp_sum(w, product, lost)
    half = y * 0.5
    whole = w.intrinsic("floor", y).equals(y)
    odd = whole & w.intrinsic("floor", half).differs(half)
    result = w.select(x.is_negative() & odd, -result, result)
    outside = (x < 0.0) & (x > -inf) & ~whole
    result = w.select(outside, nan, result)
    minus_one = x.equals(-1.0) & abs(y).equals(inf)
    return w.select(x.equals(1.0) | y.equals(0.0) | minus_one, 1.0, result)
