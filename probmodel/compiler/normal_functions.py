"""The error function and the normal distribution on vectors of doubles.

All are made of erfcx(s) = exp(s^2) erfc(s) for s from 0 on, which is a polynomial of
u = (s - 4) / (s + 4) divided by 1 + 2s, and of the exponential of a square, which is taken with
what its rounding lost. Errors are a few units in the last place, in both tails too. About
polynomials see `elementary`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt

from probmodel.compiler.exponentials import exp_sum
from probmodel.compiler.lanes import Lanes, Writer
from probmodel.compiler.logarithms import log_sum, log_value

_ROOT_HALF = sqrt(0.5)

# (1 + 2s) exp(s^2) erfc(s) at u = (s - 4) / (s + 4) for -1 <= u <= 1
_SCALED = (
    1.2329951186255526, -0.1396211168405625, 0.015379652102610162, 0.0680970542546862,
    -0.10103906603585294, 0.09373283499865172, -0.06633036582050367, 0.0371675155318432,
    -0.01619773397992426, 0.005031970032548695, -0.0007577737141838885, -0.00019925700412184815,
    0.0001506231178516207, -2.439811794207995e-05, -1.1225140354449658e-05, 5.707239573693257e-06,
    2.980596055322769e-07, -8.218020654813044e-07, 7.111912428010423e-08, 1.0683442926744586e-07,
    -1.6357383982124768e-08, -1.2544825403855518e-08, 1.5712153638319064e-09, 9.655408225482863e-10,
)  # fmt: skip
# erf(x) / x at z = x^2 <= 0.36
_ERF = (
    1.1283791670955126, -0.37612638903183704, 0.1128379167095059, -0.0268661706435161,
    0.005223977596212891, -0.0008548323981793935, 0.00012055139954657011, -1.4918046220845441e-05,
    1.628002129733572e-06, -1.3916404409140413e-07,
)  # fmt: skip

# Quotients of Wichura (1988), algorithm AS 241: of the quantile by p - 1/2 at 0.180625 less the
# square of that, up to 0.425 in size; of minus the quantile at sqrt(-log(p)), less 1.6 or 5.
_CENTRE = (
    (
        3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
        13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
        33430.575583588128105, 2509.0809287301226727,
    ),
    (
        1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
        21213.794301586595867, 39307.895800092710610, 28729.085735721942674,
        5226.4952788528545610,
    ),
)  # fmt: skip
_OUTER = (
    (
        1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
        3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770,
        0.0227238449892691845833, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
        0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)  # fmt: skip
_FAR = (
    (
        6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
        0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    (
        1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)  # fmt: skip


def _scaled_tail(w: Writer, s: Lanes) -> Lanes:
    """Return exp(s^2) erfc(s) for s from 0 to infinity."""
    bounded = w.clamp(s, 0.0, 1e300)
    u = (bounded - 4.0) / (bounded + 4.0)
    return 0.5 * w.polynomial(u, _SCALED) / (s + 0.5)


def _exp_of_square(w: Writer, size: Lanes, factor: float) -> Lanes:
    """Return the exponential of a factor, of 1/2 or 1 in size, times a square."""
    bounded = w.clamp(size, 0.0, 40.0)  # from where on it is zero or infinite
    return exp_sum(w, *w.two_product(bounded, factor * bounded))


def erfcx(w: Writer, x: Lanes) -> Lanes:
    """Return exp(x^2) erfc(x)."""
    size = abs(x)
    tail = _scaled_tail(w, size)
    return w.select(x < 0.0, 2.0 * _exp_of_square(w, size, 1.0) - tail, tail)


def erfc(w: Writer, x: Lanes) -> Lanes:
    """Return one less the error function."""
    size = abs(x)
    tail = _exp_of_square(w, size, -1.0) * _scaled_tail(w, size)
    return w.select(x < 0.0, 2.0 - tail, tail)


def erf(w: Writer, x: Lanes) -> Lanes:
    """Return the error function: a polynomial near zero, one less the tail beyond."""
    size = abs(x)
    z = w.clamp(size * size, 0.0, 1.0)
    far = 1.0 - _exp_of_square(w, size, -1.0) * _scaled_tail(w, size)
    return w.copysign(w.select(size < 0.6, size * w.polynomial(z, _ERF), far), x)


def _lesser_tail(w: Writer, x: Lanes) -> tuple[Lanes, Lanes]:
    """Return the probability beyond x, on its side of zero, and the same over exp(-x^2/2)."""
    size = abs(x)
    scaled = 0.5 * _scaled_tail(w, size * _ROOT_HALF)
    return _exp_of_square(w, size, -0.5) * scaled, scaled


def ndtr(w: Writer, x: Lanes) -> Lanes:
    """Return the distribution function of the standard normal."""
    tail, _ = _lesser_tail(w, x)
    return w.select(x > 0.0, 1.0 - tail, tail)


def log_ndtr(w: Writer, x: Lanes) -> Lanes:
    """Return its logarithm, that of the scaled tail less x^2/2 below zero."""
    tail, scaled = _lesser_tail(w, x)
    above = x >= 0.0
    high, low = w.fast_two_sum(1.0, -tail)
    scaled = w.select(scaled < 1e-300, 1e-300, scaled)  # where x^2 is infinite
    logarithm = log_sum(w, w.select(above, high, scaled), w.select(above, low, 0.0))
    result = w.select(above, logarithm, w.fma(x, -0.5 * x, logarithm))
    return w.select(above & (tail < 2.0**-54), -tail, result)


def ndtri(w: Writer, p: Lanes) -> Lanes:
    """Return the quantile function of the standard normal."""
    q, above = p - 0.5, p > 0.5
    lesser = w.select(above, 1.0 - p, p)
    inside = lesser > 0.0
    r = w.intrinsic("sqrt", -log_value(w, w.select(inside, lesser, 0.5)))
    near, far = abs(q) <= 0.425, r > 5.0
    z = w.select(near, w.fma(-q, q, 0.180625), r - w.select(far, 5.0, 1.6))
    top, bottom = (
        w.select(near, centre, w.select(far, beyond, outer))
        for centre, outer, beyond in (
            [w.polynomial(z, quotient[k]) for quotient in (_CENTRE, _OUTER, _FAR)] for k in (0, 1)
        )
    )
    result = w.select(near, q, w.select(above, 1.0, -1.0)) * top / bottom
    end = w.select(lesser.equals(0.0), w.select(above, inf, -inf), nan)
    return w.select(inside, result, end)


FUNCTIONS: dict[str, tuple[int, Callable[..., Lanes]]] = {
    "erf": (1, erf),
    "erfc": (1, erfc),
    "erfcx": (1, erfcx),
    "log_ndtr": (1, log_ndtr),
    "ndtr": (1, ndtr),
    "ndtri": (1, ndtri),
}
