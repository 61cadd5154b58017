"""Elementary functions on vectors of doubles, within two units in the last place.

Every function takes a `Writer` and `Lanes` and returns `Lanes`. All lanes take the same way through
a function; what differs between ranges is selected. The exceptions are rare arguments, for which
the C library is called. Results for infinities, NaN, signed zeros, and outside the domain are
NumPy's.

The polynomials are near-minimax: each interpolates at the Chebyshev nodes of the interval named
beside it, and its coefficients, lowest power first, are rounded to doubles.
"""

from __future__ import annotations

from collections.abc import Callable

from probmodel.compiler.addresses import c_library
from probmodel.compiler.circular import arccos, arcsin, arctan, cos, sin, tan
from probmodel.compiler.exponentials import cosh, exp, exp2, expit, expm1, sinh, tanh
from probmodel.compiler.lanes import Lanes, Writer
from probmodel.compiler.logarithms import (
    arcsinh,
    log1p,
    log2,
    log10,
    log_,
    log_expit,
    logaddexp,
    power,
)


def maximum(w: Writer, x: Lanes, y: Lanes) -> Lanes:
    """Return the greater number, or NaN if one is NaN."""
    return w.select(x.is_nan(), x, w.select(x > y, x, y))


def minimum(w: Writer, x: Lanes, y: Lanes) -> Lanes:
    """Return the smaller number, or NaN if one is NaN."""
    return w.select(x.is_nan(), x, w.select(x < y, x, y))


def sign(w: Writer, x: Lanes) -> Lanes:
    """Return -1, 0 or 1, or NaN."""
    return w.select(x > 0.0, 1.0, w.select(x < 0.0, -1.0, x + 0.0))


def remainder(w: Writer, x: Lanes, y: Lanes) -> Lanes:
    """Return x - y floor(x / y): the rest of a division, with the sign of the divisor."""
    quotient = x / y
    whole = w.intrinsic("trunc", quotient)
    rest = w.select(whole.equals(0.0), x, w.fma(-whole, y, x))
    # The quotient was rounded, so that its whole part may be one too large in size.
    step = w.copysign(y, x)
    beyond = ((rest < 0.0) & (x > 0.0)) | ((rest > 0.0) & (x < 0.0))
    rest = w.select(beyond, rest + step, rest)
    far = ~(abs(quotient) < 2.0**52) & ~quotient.is_nan()
    rest = w.mend(rest, far, c_library("fmod"), x, y)
    crossed = (rest < 0.0).differs_from(y < 0.0)
    moved = w.select(crossed, rest + y, rest)
    return w.select(rest.equals(0.0), w.copysign(0.0, y), moved)


FUNCTIONS: dict[str, tuple[int, Callable[..., Lanes]]] = {
    "arccos": (1, arccos),
    "arcsin": (1, arcsin),
    "arcsinh": (1, arcsinh),
    "arctan": (1, arctan),
    "cos": (1, cos),
    "cosh": (1, cosh),
    "exp": (1, exp),
    "exp2": (1, exp2),
    "expit": (1, expit),
    "expm1": (1, expm1),
    "log": (1, log_),
    "log10": (1, log10),
    "log1p": (1, log1p),
    "log2": (1, log2),
    "log_expit": (1, log_expit),
    "logaddexp": (2, logaddexp),
    "power": (2, power),
    "remainder": (2, remainder),
    "sin": (1, sin),
    "sinh": (1, sinh),
    "tan": (1, tan),
    "tanh": (1, tanh),
}
# One or a few instructions each.
INLINE: dict[str, tuple[int, Callable[..., Lanes]]] = {
    "absolute": (1, lambda w, x: abs(x)),
    "ceil": (1, lambda w, x: w.intrinsic("ceil", x)),
    "copysign": (2, lambda w, x, y: w.copysign(x, y)),
    "floor": (1, lambda w, x: w.intrinsic("floor", x)),
    "maximum": (2, maximum),
    "minimum": (2, minimum),
    "reciprocal": (1, lambda w, x: 1.0 / x),
    "sign": (1, sign),
    "sqrt": (1, lambda w, x: w.intrinsic("sqrt", x)),
    "square": (1, lambda w, x: x * x),
}
