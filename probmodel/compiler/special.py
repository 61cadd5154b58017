"""Special functions on vectors of doubles with code of their own.

The log gamma function and its first derivative keep an error near 1e-15, relative to the value
where that is greater than one, absolute elsewhere; the log gamma function keeps its relative error
near its zeros one and two as well. At zero and below they are SciPy's, called lane by lane.

The polynomials are made as those in `elementary` are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

from probmodel.compiler.addresses import scipy_special
from probmodel.compiler.bessel_functions import FUNCTIONS as BESSEL
from probmodel.compiler.lanes import Lanes, Mask, Writer
from probmodel.compiler.logarithms import log_value
from probmodel.compiler.normal_functions import FUNCTIONS as NORMAL

_HALF_LOG_2PI_LESS_HALF = 0.4189385332046727
# The zero of the digamma function, less one.
_PSI_ZERO = (float.fromhex("0x1.d8b618d5af8fep-2"), float.fromhex("-0x1.1e563779a1f5bp-56"))

# log gamma(2 + t) / t for |t| <= 1/2
_GAMMALN = (
    0.42278433509846713, 0.3224670334241132, -0.06735230105319814, 0.02058080842778457,
    -0.0073855510286681535, 0.002890510330738737, -0.0011927539120010226, 0.0005096695248853096,
    -0.00022315475074520367, 9.945750909889392e-05, -4.4926351103833334e-05, 2.050726741605779e-05,
    -9.438458716242811e-06, 4.374374916915131e-06, -2.0449201467015115e-06, 9.578663334114758e-07,
    -4.303558760359961e-07, 2.0304806751615227e-07, -1.3412819758517287e-07, 6.379047507619774e-08,
)  # fmt: skip
# x (log gamma(x) - (x - 1/2) (log(x) - 1) - log(2 pi)/2 + 1/2) at z = 1/x^2 for x >= 6.5
_STIRLING = (
    0.08333333333333333, -0.0027777777777777063, 0.000793650793569783, -0.0005952380596898419,
    0.0008417429704122439, -0.0019165370151110915, 0.006335736391005143, -0.02615633806980357,
    0.08831258839702742,
)  # fmt: skip
# psi(1 + t) / (t - t0) at t less the high part of its zero t0 for 0 <= t <= 1
_PSI = (
    0.9676722454476212, -0.4427631689835915, 0.25849976095565214, -0.16394270544259862,
    0.1078240506911874, -0.072199561238073, 0.04880428816027699, -0.033161127280362995,
    0.02259764870569479, -0.015424746562676782, 0.010538774679626106, -0.007204811717465385,
    0.004927092544644748, -0.0033673425977315636, 0.002301794724321792, -0.0015903256854484032,
    0.0011003326985068054, -0.0006962303923862454, 0.0004233028697273659, -0.00040427587920188236,
    0.000399174034998836, -0.00017312261802727394,
)  # fmt: skip
# (log(x) - 1/(2x) - psi(x)) / z at z = 1/x^2 for x >= 6
_PSI_TAIL = (
    0.08333333333333333, -0.008333333333329406, 0.003968253964454612, -0.004166665241786486,
    0.0075754873968014195, -0.021063611805084047, 0.0814363028563542, -0.3678575880716,
    1.239167605191699,
)  # fmt: skip
# Bernoulli's numbers B(2j) / (2j)!
_EULER_MACLAURIN = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15,
)  # fmt: skip


def gammaln(w: Writer, x: Lanes) -> Lanes:
    """Return the logarithm of the absolute value of the gamma function.

    Stirling's series from 6.5 on. Below, x = n + t with integer n, and gamma(x) is gamma(2 + t)
    times or by some of x, x + 1, x - 1, x - 2, x - 3, x - 4.
    """
    far = x >= 6.5
    n = w.intrinsic("rint", x)
    factor = w.select(n < 1.5, x, 1.0)
    factor = w.select(n < 0.5, x * (x + 1.0), factor)
    for less in (1.0, 2.0, 3.0, 4.0):
        factor = w.select(n >= less + 2.0, factor * (x - less), factor)
    logarithm = log_value(w, w.select(far, x, factor))
    t = w.select(far, 0.0, x - n)
    near = w.fma(t, w.polynomial(t, _GAMMALN), w.select(n < 1.5, -logarithm, logarithm))
    inverse = 1.0 / x
    rest = w.fma(inverse, w.polynomial(inverse * inverse, _STIRLING), _HALF_LOG_2PI_LESS_HALF)
    result = w.select(far, w.fma(x - 0.5, logarithm - 1.0, rest), near)
    result = w.select(x < inf, result, x)
    return w.mend(result, x <= 0.0, scipy_special("gammaln", 1), x)


def psi(w: Writer, x: Lanes) -> Lanes:
    """Return the digamma function, the derivative of the logarithm of the gamma function.

    An asymptotic series from 6 on. Below, x = n + t with integer n, and psi(x) is psi(1 + t) plus
    the reciprocals of x - 1, x - 2, ..., or less that of x.
    """
    far = x >= 6.0
    n = w.intrinsic("floor", x)
    # The sum of the reciprocals as one quotient.
    top, bottom = w.select(n < 1.0, -1.0, 0.0), w.select(n < 1.0, x, 1.0)
    for less in (1.0, 2.0, 3.0, 4.0):
        more, other = n >= less + 1.0, x - less
        top = w.select(more, w.fma(top, other, bottom), top)
        bottom = w.select(more, bottom * other, bottom)
    inverse = 1.0 / w.select(far, x, bottom)
    t = w.select(far, 0.0, x - n) - _PSI_ZERO[0]
    near = w.fma(t - _PSI_ZERO[1], w.polynomial(t, _PSI), top * inverse)
    z = inverse * inverse
    tail = w.fma(inverse, 0.5, z * w.polynomial(z, _PSI_TAIL))
    result = w.select(far, log_value(w, x) - tail, near)
    result = w.select(x < inf, result, x)
    return w.mend(result, x <= 0.0, scipy_special("psi", 1), x)


def zeta(w: Writer, s: Lanes, q: Lanes) -> Lanes:
    """Return Hurwitz's zeta function, the sum of (q + k)^-s over k = 0, 1, ...

    The first terms are added, until q + k reaches s + 10 or they are too small to matter; Euler's
    and Maclaurin's formula gives the others. For q below -1e5 the result is NaN, but for integers.
    """
    builder = w.builder
    general = w.any(s.differs(2.0))
    enough = s + 10.0
    inside = (s > 1.0) & (q > -1e5) & (q < enough)
    first = (q.value, w.number(0.0).value, inside.value)
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    loop = [builder.phi(value.type) for value in first]
    for variable, value in zip(loop, first, strict=True):
        variable.add_incoming(value, before)
    a, total, active = Lanes(w, loop[0]), Lanes(w, loop[1]), Mask(w, loop[2])
    builder.cbranch(w.any(active), body, after)

    builder.position_at_end(body)
    term = w.select(active, _negative_power(w, general, a, s, simple=2), 0.0)
    added = total + term
    moved = w.select(active, a + 1.0, a)
    matters = (abs(term) > 2.0**-54 * abs(added)) | ((moved <= 1.0) & ~term.is_nan())
    following = (moved.value, added.value, (active & (moved < enough) & matters).value)
    for variable, value in zip(loop, following, strict=True):
        variable.add_incoming(value, builder.block)
    builder.branch(head)

    builder.position_at_end(after)
    less = s - 1.0
    power = _negative_power(w, general, a, less, simple=1)
    inverse = 1.0 / a
    square = inverse * inverse
    series = w.number(_EULER_MACLAURIN[-1])
    for j in range(len(_EULER_MACLAURIN) - 1, 0, -1):
        rising = (s + (2.0 * j - 1.0)) * (s + 2.0 * j) * square
        series = w.fma(series, rising, _EULER_MACLAURIN[j - 1])
    tail = power * (1.0 / less + inverse * w.fma(s * inverse, series, 0.5))
    result = total + w.select((a >= enough) & (power > 0.0), tail, 0.0)
    result = w.select(q > -1e5, result, nan)
    result = w.select((q <= 0.0) & w.intrinsic("floor", q).equals(q), inf, result)
    result = w.select(s > 1.0, result, w.select(s.equals(1.0), inf, nan))
    return w.select(q.is_nan(), nan, result)


def _negative_power(w: Writer, general: Any, a: Lanes, s: Lanes, simple: int) -> Lanes:
    """Return a to the -s; s is the simple exponent, 1 or 2, in all lanes unless ``general``."""
    inverse = 1.0 / a
    quotient = inverse * inverse if simple == 2 else inverse
    before = w.builder.block
    with w.builder.if_then(general):
        # A lane's result does not depend on the other lanes.
        raised = w.select(s.equals(float(simple)), quotient, w.call("power", a, -s))
        inside = w.builder.block
    result = w.builder.phi(w.type)
    result.add_incoming(quotient.value, before)
    result.add_incoming(raised.value, inside)
    return Lanes(w, result)


FUNCTIONS: dict[str, tuple[int, Callable[..., Lanes]]] = {
    "gammaln": (1, gammaln),
    "psi": (1, psi),
    "zeta": (2, zeta),
    **NORMAL,
    **BESSEL,
}
