"""Functions of numbers, which apply to each element of containers.

What they return is of the kind of the container among their arguments: of whole numbers if the
function is in `WHOLE_NUMBERS` and all arguments are, of the kind that `KINDS` says if it is there,
of real numbers otherwise. Names with a colon are one meaning of a name that has several;
`overloads` says which.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from probmodel.expressions import Expression
from probmodel.stan.library.recorded import Function, either, of_numbers
from probmodel.stan.library.special_functions import SPECIAL

_LOG_2 = math.log(2.0)


def real(x: Any) -> Any:
    """Return whole numbers as floating-point numbers, and anything else as it is."""
    if isinstance(x, Expression) or np.asarray(x).dtype.kind not in "iub":
        return x
    return np.asarray(x, dtype=float)[()]


def _truth(function: Function) -> Function:
    """Make truth values of numbers whole numbers; those of symbols count as such."""
    return either(lambda *args: np.asarray(function(*args)).astype(np.int64)[()], function)


def _log1m_exp(x: Any) -> Any:
    """``log(1 - exp(x))`` by two branches, neither of which has a slope that is not finite."""
    near = x > -_LOG_2
    close, far = np.where(near, x, -1.0), np.where(near, -1.0, x)
    return np.where(near, np.log(-np.expm1(close)), np.log1p(-np.exp(far)))


def _log_diff_exp(x: Any, y: Any) -> Any:
    same = np.equal(x, y)
    gap = np.where(same, -1.0, real(y) - x)
    return np.where(same, -np.inf, x + _log1m_exp(gap))


def _lmultiply(a: Any, b: Any) -> Any:
    zero = np.logical_and(np.equal(a, 0.0), np.equal(b, 0.0))
    return np.where(zero, 0.0, a * np.log(np.where(zero, 1.0, b)))


def _round(x: Any) -> Any:
    """Round halves away from zero."""
    size = np.absolute(x)
    below = np.floor(size)
    return np.sign(x) * np.where(size - below < 0.5, below, below + 1.0)


def _tgamma(x: Any) -> Any:
    right = x > 0.0
    above = np.exp(special.gammaln(np.where(right, x, 1.0)))
    left = np.where(right, -0.5, x)
    below = math.pi / (np.sin(math.pi * left) * np.exp(special.gammaln(1.0 - left)))
    return np.where(right, above, below)


def _choose(n: Any, k: Any) -> Any:
    return np.rint(np.where(np.less(k, 0), 0.0, special.binom(n, k))).astype(np.int64)[()]


def _to_int(x: Any) -> Any:
    return np.trunc(x).astype(np.int64)[()]


def _pow(x: Any, y: Any) -> Any:
    return np.power(real(x), y)


_log_beta = either(
    special.betaln, lambda a, b: special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)
)


def _lchoose(n: Any, k: Any) -> Any:
    return -np.log1p(n) - _log_beta(1.0 + n - k, 1.0 + k)


def _log_rising(x: Any, n: Any) -> Any:
    return special.gammaln(x + n) - special.gammaln(x)


_POWERS: dict[str, Function] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "log1m": lambda x: np.log1p(-x),
    "sqrt": np.sqrt,
    "cbrt": either(np.cbrt, lambda x: np.sign(x) * np.power(np.absolute(x), 1.0 / 3.0)),
    "square": lambda x: np.square(real(x)),
    "inv": lambda x: 1.0 / real(x),
    "inv_sqrt": lambda x: 1.0 / np.sqrt(x),
    "inv_square": lambda x: 1.0 / np.square(real(x)),
    "pow": _pow,
    "hypot": either(np.hypot, lambda x, y: np.sqrt(np.square(x) + np.square(y))),
    "fma": lambda x, y, z: x * y + z,
    "ldexp": lambda x, n: x * np.exp2(n),
    "lmultiply": _lmultiply,
    "multiply_log": _lmultiply,
}

_STEPS: dict[str, Function] = {
    "abs": np.absolute,
    "fabs": np.absolute,
    "fmin": either(np.fmin, np.minimum),
    "fmax": either(np.fmax, np.maximum),
    "min:numbers": np.minimum,
    "max:numbers": np.maximum,
    "fdim": lambda x, y: np.where(np.less_equal(x, y), 0.0, real(x) - y),
    "fmod": either(np.fmod, lambda x, y: np.sign(x) * np.remainder(np.absolute(x), np.absolute(y))),
    "floor": lambda x: np.floor(real(x)),
    "ceil": lambda x: np.ceil(real(x)),
    "round": _round,
    "trunc": either(lambda x: np.trunc(real(x)), lambda x: np.sign(x) * np.floor(np.absolute(x))),
    "step": lambda x: np.where(np.less(x, 0.0), 0.0, 1.0),
    "int_step": _truth(lambda x: np.greater(x, 0.0)),
    "is_inf": _truth(lambda x: np.equal(np.absolute(x), np.inf)),
    "is_nan": _truth(np.isnan),
    "if_else": lambda condition, x, y: np.where(np.not_equal(condition, 0), x, y),
    "logical_negation": _truth(lambda x: np.equal(x, 0)),
    "logical_and": _truth(np.logical_and),
    "logical_or": _truth(np.logical_or),
    "logical_eq": _truth(np.equal),
    "logical_neq": _truth(np.not_equal),
    "logical_lt": _truth(np.less),
    "logical_lte": _truth(np.less_equal),
    "logical_gt": _truth(np.greater),
    "logical_gte": _truth(np.greater_equal),
    "squared_distance:numbers": lambda x, y: np.square(real(x) - y),
}

_TRIGONOMETRY: dict[str, Function] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}

_LINKS: dict[str, Function] = {
    "logit": special.logit,
    "inv_logit": special.expit,
    "inv_cloglog": lambda x: -np.expm1(-np.exp(x)),
    "Phi": special.ndtr,
    "Phi_approx": lambda x: special.expit(x * (0.07056 * np.square(real(x)) + 1.5976)),
    "binary_log_loss": lambda n, p: np.where(np.equal(n, 1), -np.log(p), -np.log1p(-p)),
    "log1p_exp": lambda x: np.logaddexp(0.0, x),
    "log1m_exp": _log1m_exp,
    "log_diff_exp": _log_diff_exp,
    "log_sum_exp:numbers": np.logaddexp,
    "log_inv_logit": lambda x: special.log_expit(real(x)),
    "log1m_inv_logit": lambda x: special.log_expit(-real(x)),
    "log_inv_logit_diff": lambda x, y: (
        special.log_expit(real(x)) + special.log_expit(-real(y)) + _log1m_exp(real(y) - x)
    ),
    "log_mix": lambda p, x, y: np.logaddexp(np.log(p) + x, np.log1p(-p) + y),
}

_GAMMA: dict[str, Function] = {
    "erf": special.erf,
    "erfc": special.erfc,
    "lgamma": special.gammaln,
    "tgamma": either(special.gamma, _tgamma),
    "digamma": special.psi,
    "lbeta": _log_beta,
    "beta": lambda a, b: np.exp(_log_beta(a, b)),
    "lchoose": _lchoose,
    "binomial_coefficient_log": _lchoose,
    "log_rising_factorial": _log_rising,
    "log_falling_factorial": lambda x, n: _log_rising(x - n + 1.0, n),
}

_WHOLE: dict[str, Function] = {
    "choose": of_numbers("choose", _choose),
    "to_int": of_numbers("to_int", _to_int),
}

_COMPLEX: dict[str, Function] = {
    "get_real": of_numbers("get_real", np.real),
    "get_imag": of_numbers("get_imag", np.imag),
    "arg": of_numbers("arg", np.angle),
    "norm": of_numbers("norm", lambda z: np.square(np.abs(z))),
    "conj": of_numbers("conj", np.conj),
    "proj": of_numbers("proj", lambda z: np.where(np.isinf(z), complex(np.inf), z)[()]),
    "polar": of_numbers("polar", lambda r, theta: r * np.exp(1j * np.asarray(theta))),
    "to_complex": of_numbers("to_complex", lambda x=0.0, y=0.0: x + 1j * np.asarray(y)),
}

# Functions of arrays, of numbers or of symbols: what the modelling language knows, and what is
# made of that.
ELEMENTWISE: dict[str, Function] = {
    **_POWERS, **_STEPS, **_TRIGONOMETRY, **_LINKS, **_GAMMA, **SPECIAL, **_WHOLE, **_COMPLEX,
}  # fmt: skip

# Those that are whole numbers where all arguments are.
WHOLE_NUMBERS = frozenset({"abs", "min:numbers", "max:numbers"})

# Those whose numbers are of one kind, whatever their arguments are.
KINDS: dict[str, str] = {
    **dict.fromkeys(_WHOLE, "int"),
    **{n: "int" for n in _STEPS if n.startswith(("logical", "is_")) or n == "int_step"},
    **dict.fromkeys(("get_real", "get_imag", "arg", "norm"), "real"),
    **dict.fromkeys(("conj", "proj", "polar", "to_complex"), "complex"),
}

# Those that symbols cannot have: only data may decide their arguments.
OF_NUMBERS = frozenset({*_WHOLE, *_COMPLEX, "inv_inc_beta", "hypergeometric_2F1", "student_t_qf"})
