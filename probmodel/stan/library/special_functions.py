"""Special functions of numbers that are no operations of the modelling language, but calls."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from scipy import special

from probmodel.numerics import special as own
from probmodel.numerics.special import further
from probmodel.numerics.special.incomplete_beta import log_betainc
from probmodel.numerics.special.incomplete_gamma import log_gammainc, log_gammaincc
from probmodel.stan.library.recorded import Function, called, either, of_numbers


def _number(name: str, function: Function, numbers: tuple[int, ...] = (), count: int = 1) -> Any:
    """Make a function of ``count`` numbers that autograd can differentiate an entry."""
    return called(name, function, (0,) * count, numbers)


def _trigamma(x: Any) -> Any:
    """Return the derivative of digamma, also left of zero, where it is reflected."""
    right = np.greater(x, 0.0)
    below = np.square(np.pi / np.sin(np.pi * np.where(right, 0.5, x)))
    below = below - special.polygamma(1, np.where(right, 1.0, 1.0 - np.asarray(x, dtype=float)))
    return np.where(right, special.polygamma(1, np.where(right, x, 1.0)), below)


def _lmgamma(k: Any, x: Any) -> Any:
    """Logarithm of the multivariate gamma function of ``k`` by ``k`` matrices."""
    total: Any = 0.25 * np.log(np.pi) * k * (k - 1.0)
    for i in range(int(np.max(k, initial=0.0))):
        inside = np.less(i, k)
        shifted = np.where(inside, x - 0.5 * i, 1.0) if np.ndim(k) else x - 0.5 * i
        term = special.gammaln(shifted)
        total = total + (term * inside if np.ndim(k) else term)
    return total


def _rising(x: Any, n: Any) -> Any:
    """Multiply ``x``, ``x + 1``, ..., of which there are ``n``."""
    product: Any = 1.0 + 0.0 * x
    for i in range(int(np.max(n, initial=0.0))):
        product = product * (np.where(np.less(i, n), x + float(i), 1.0) if np.ndim(n) else x + i)
    return product


def _counted(name: str, function: Function, count: int) -> Function:
    """Make a function refuse symbols in the place of the whole number ``count``."""
    check = of_numbers(name, lambda n: n)

    def call(*args: Any) -> Any:
        check(args[count])
        return function(*args)

    return call


def _of_log(name: str, function: Function, count: int) -> Any:
    """Make an entry of a function of numbers from one that returns its logarithm."""
    return _number(name, lambda *args: anp.exp(function(*args)), (), count)


SPECIAL: dict[str, Function] = {
    "trigamma": either(_trigamma, _number("trigamma", own.trigamma)),
    "lmgamma": _counted("lmgamma", _lmgamma, 0),
    "rising_factorial": _counted("rising_factorial", _rising, 1),
    "falling_factorial": _counted("falling_factorial", lambda x, n: _rising(x - n + 1.0, n), 1),
    "gamma_p": _of_log("gamma_p", log_gammainc, 2),
    "gamma_q": _of_log("gamma_q", log_gammaincc, 2),
    "inc_beta": _of_log("inc_beta", lambda a, b, x: log_betainc(a, b, anp.log(x / (1.0 - x))), 3),
    "inv_inc_beta": of_numbers("inv_inc_beta", special.betaincinv),
    "inv_erfc": _number("inv_erfc", further.inv_erfc),
    "inv_Phi": _number("inv_Phi", own.ndtri),
    "std_normal_qf": _number("std_normal_qf", own.ndtri),
    "std_normal_log_qf": _number("std_normal_log_qf", further.ndtri_of_log),
    "student_t_qf": of_numbers(
        "student_t_qf", lambda p, nu, mu, sigma: mu + sigma * special.stdtrit(nu, p)
    ),
    "owens_t": _number("owens_t", further.owens_t, (), 2),
    "lambert_w0": _number("lambert_w0", further.lambert_w0),
    "lambert_wm1": _number("lambert_wm1", further.lambert_wm1),
    "bessel_first_kind": _number("bessel_first_kind", further.bessel_j, (0,), 2),
    "bessel_second_kind": _number("bessel_second_kind", further.bessel_y, (0,), 2),
    "modified_bessel_first_kind": _number("modified_bessel_first_kind", further.bessel_i, (0,), 2),
    "modified_bessel_second_kind": _number(
        "modified_bessel_second_kind", further.bessel_k, (0,), 2
    ),
    "log_modified_bessel_first_kind": _number(
        "log_modified_bessel_first_kind", further.log_bessel_i, (0,), 2
    ),
    "hypergeometric_1F0": lambda a, z: np.exp(-a * np.log1p(-z)),
    "hypergeometric_2F1": of_numbers("hypergeometric_2F1", special.hyp2f1),
}
