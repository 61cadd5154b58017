"""Circular functions and their inverses on vectors of doubles.

The angle x is n pi/2 + r + low with pi/2 as a sum of three doubles. For large angles the C library
is called. About polynomials see `elementary`.
"""

from __future__ import annotations

from math import inf, pi
from typing import Any

from probmodel.compiler.addresses import c_library
from probmodel.compiler.lanes import Lanes, Mask, Writer

_HALF_PI = (
    float.fromhex("0x1.921fb54442d18p+0"),
    float.fromhex("0x1.1a62633145c07p-54"),
    float.fromhex("-0x1.f1976b7ed8fbcp-110"),
)
_LARGEST_ANGLE = 1e5

# (sin(r)/r - 1) / z at z = r^2 for |r| <= pi/4
_SIN = (
    -0.16666666666666666, 0.008333333333330936, -0.00019841269836740532, 2.7557316093198404e-06,
    -2.5051129896450185e-08, 1.5917988979397435e-10,
)  # fmt: skip
# (cos(r) - 1 + z/2) / z^2 at the same z
_COS = (
    0.041666666666666664, -0.0013888888888887389, 2.48015872987544e-05, -2.755731726587808e-07,
    2.087614504941318e-09, -1.138254464534925e-11,
)  # fmt: skip
# (arctan(t)/t - 1) / z at z = t^2 for |t| <= tan(pi/8)
_ARCTAN = (
    -0.3333333333333333, 0.1999999999999548, -0.14285714284657894, 0.11111111014561013,
    -0.09090904549884611, 0.07692182535116648, -0.06664502215671447, 0.058580687568615106,
    -0.05085030492810941, 0.03921955253255129, -0.019162068915902577,
)  # fmt: skip
# (arcsin(x)/x - 1) / z at z = x^2 <= 1/4
_ARCSIN = (
    0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247,
    0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
    0.01032281435018578, 0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
    0.028757851367421566,
)  # fmt: skip


def _turned(w: Writer, x: Lanes) -> tuple[tuple[Lanes, Lanes], tuple[Lanes, Lanes], Any]:
    """Return the sine and cosine of r + low, each as a sum of two, and n raw."""
    n, raw = w.nearest(x, 2.0 / pi)
    # The first difference is exact: it is less than one, in units of two to the -53.
    start = w.fma(n, -_HALF_PI[0], x)
    part, part_low = w.two_product(n, -_HALF_PI[1])
    total, lost = w.two_sum(part, start)
    r, low = w.fast_two_sum(total, lost + w.fma(n, -_HALF_PI[2], part_low))
    z = r * r
    sine_low = w.fma(z * r, w.polynomial(z, _SIN), w.fma(z * low, -0.5, low))
    half = 0.5 * z
    cosine = 1.0 - half
    cosine_low = ((1.0 - cosine) - half) + w.fma(z * z, w.polynomial(z, _COS), -(r * low))
    return (r, sine_low), (cosine, cosine_low), raw


def _is_large_angle(x: Lanes) -> Mask:
    size = abs(x)
    return (size > _LARGEST_ANGLE) & (size < inf)


def sin(w: Writer, x: Lanes) -> Lanes:
    """Return the sine."""
    sine, cosine, n = _turned(w, x)
    odd = w.bit(n, 0)
    result = w.select(odd, cosine[0], sine[0]) + w.select(odd, cosine[1], sine[1])
    result = w.select(w.bit(n, 1), -result, result)
    result = w.select(x.equals(0.0), x, result)
    return w.mend(result, _is_large_angle(x), c_library("sin"), x)


def cos(w: Writer, x: Lanes) -> Lanes:
    """Return the cosine."""
    sine, cosine, n = _turned(w, x)
    odd = w.bit(n, 0)
    result = w.select(odd, sine[0], cosine[0]) + w.select(odd, sine[1], cosine[1])
    result = w.select(w.bit(w.add_where(odd, n, 1), 1), -result, result)
    return w.mend(result, _is_large_angle(x), c_library("cos"), x)


def tan(w: Writer, x: Lanes) -> Lanes:
    """Return the tangent."""
    sine, cosine, n = _turned(w, x)
    sine, cosine = w.fast_two_sum(*sine), w.fast_two_sum(*cosine)
    odd = w.bit(n, 0)
    top, top_low = (w.select(odd, -c, s) for s, c in zip(sine, cosine, strict=True))
    bottom, bottom_low = (w.select(odd, s, c) for s, c in zip(sine, cosine, strict=True))
    high, low = w.divide(top, top_low, bottom, bottom_low)
    result = w.select(x.equals(0.0), x, high + low)
    return w.mend(result, _is_large_angle(x), c_library("tan"), x)


def arctan(w: Writer, x: Lanes) -> Lanes:
    """Return the arc tangent, from that of (|x| - b) / (1 + b |x|) for b = 0, 1 or infinity."""
    size = w.clamp(abs(x), 0.0, 1e17)
    middle, high = size > 2.0**0.5 - 1.0, size > 2.0**0.5 + 1.0
    low_known = middle & ~high
    less, more = size - 1.0, size + 1.0
    top = w.select(high, -1.0, w.select(middle, less, size))
    top_low = w.select(low_known, size - (less + 1.0), 0.0)
    bottom = w.select(high, size, w.select(middle, more, 1.0))
    bottom_low = w.select(low_known, size - (more - 1.0), 0.0)
    t, t_low = w.divide(top, top_low, bottom, bottom_low)
    z = t * t
    rest = w.fma(t * z, w.polynomial(z, _ARCTAN), t_low)
    rest = rest + w.select(high, _HALF_PI[1], w.select(middle, 0.5 * _HALF_PI[1], 0.0))
    base = w.select(high, _HALF_PI[0], w.select(middle, 0.5 * _HALF_PI[0], 0.0))
    return w.copysign(base + (t + rest), x)


def _arcsin_parts(w: Writer, x: Lanes) -> tuple[Mask, Lanes, Lanes]:
    """Return whether |x| is at most one half, and arcsin(v) as v and a rest.

    v is |x| for those, and sqrt((1 - |x|)/2) for others, which has the arc sine of the half angle.
    """
    size = abs(x)
    near = size <= 0.5
    z = w.select(near, size * size, w.fma(size, -0.5, 0.5))
    root = w.intrinsic("sqrt", z)
    root_low = w.fma(-root, root, z) / w.select(root > 0.0, root + root, 1.0)
    v = w.select(near, size, root)
    return near, v, w.fma(v * z, w.polynomial(z, _ARCSIN), w.select(near, 0.0, root_low))


def arcsin(w: Writer, x: Lanes) -> Lanes:
    """Return the arc sine."""
    near, v, rest = _arcsin_parts(w, x)
    far = w.fma(v, -2.0, _HALF_PI[0]) + w.fma(rest, -2.0, _HALF_PI[1])
    return w.copysign(w.select(near, v + rest, far), x)


def arccos(w: Writer, x: Lanes) -> Lanes:
    """Return the arc cosine."""
    near, v, rest = _arcsin_parts(w, x)
    below = x < 0.0
    v_signed, rest_signed = w.select(below, -v, v), w.select(below, -rest, rest)
    middle = _HALF_PI[0] - (v_signed - (_HALF_PI[1] - rest_signed))
    base = w.select(below, 2.0 * _HALF_PI[0], 0.0)
    base_low = w.select(below, 2.0 * _HALF_PI[1], 0.0)
    far = base + (w.fma(v_signed, 2.0, w.fma(rest_signed, 2.0, base_low)))
    return w.select(near, middle, far)
