"""Functions of numbers by Stan's names, against mpmath and SciPy, and on symbols."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from probmodel.errors import ModelError
from probmodel.expressions import Symbol
from probmodel.stan.library.elementwise import ELEMENTWISE, KINDS, OF_NUMBERS, WHOLE_NUMBERS
from probmodel.stan.library.special_functions import SPECIAL

R = [-1.7, -0.4, 0.3, 2.2]  # real
S = [0.9, -1.3, 1.4, -0.2]
P = [0.3, 0.8, 1.9, 4.5]  # positive
Q = [1.2, 0.4, 3.1, 0.7]
U = [0.07, 0.35, 0.6, 0.93]  # between zero and one
N = [0, 1, 3, 5]  # whole
TRUE = [0, 1, 1, 0]


def log_choose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def lmgamma(k, x):
    terms = (mp.loggamma(x - mp.mpf(i) / 2) for i in range(k))
    return k * (k - 1) * mp.log(mp.pi) / 4 + sum(terms)


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def truth(function):
    return lambda *args: int(function(*args))


# Name: an independent evaluation of single numbers, arguments, and which of them may be symbols.
CASES = {
    "exp": (mp.exp, [R]),
    "exp2": (lambda x: mp.mpf(2) ** x, [R]),
    "expm1": (mp.expm1, [[-2.0, -1e-9, 1e-7, 1.5]]),
    "log": (mp.log, [P]),
    "log2": (lambda x: mp.log(x, 2), [P]),
    "log10": (mp.log10, [P]),
    "log1p": (mp.log1p, [[-0.5, -1e-9, 1e-12, 3.0]]),
    "log1m": (lambda x: mp.log1p(-x), [[-2.0, -1e-12, 1e-9, 0.8]]),
    "sqrt": (mp.sqrt, [P]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [R]),
    "square": (lambda x: x * x, [R]),
    "inv": (lambda x: 1 / x, [R]),
    "inv_sqrt": (lambda x: 1 / mp.sqrt(x), [P]),
    "inv_square": (lambda x: 1 / x**2, [R]),
    "pow": (mp.power, [P, S]),
    "hypot": (mp.hypot, [R, S]),
    "fma": (lambda x, y, z: x * y + z, [R, S, P]),
    "ldexp": (lambda x, n: x * mp.mpf(2) ** n, [R, N], [0]),
    "lmultiply": (lambda a, b: a * mp.log(b), [R, P]),
    "multiply_log": (lambda a, b: a * mp.log(b), [R, P]),
    "abs": (abs, [R]),
    "fabs": (abs, [R]),
    "fmin": (min, [R, S]),
    "fmax": (max, [R, S]),
    "min:numbers": (min, [R, S]),
    "max:numbers": (max, [R, S]),
    "fdim": (lambda x, y: max(x - y, 0), [R, S]),
    "fmod": (math.fmod, [[-7.3, -0.2, 5.1, 9.9], [2.0, 1.5, -1.1, 3.0]]),
    "floor": (mp.floor, [R]),
    "ceil": (mp.ceil, [R]),
    "round": (lambda x: mp.sign(x) * mp.floor(abs(x) + 0.5), [[-2.7, -0.3, 1.4, 1.6]]),
    "trunc": (math.trunc, [R]),
    "step": (truth(lambda x: x >= 0), [R]),
    "int_step": (truth(lambda x: x > 0), [R]),
    "is_inf": (truth(math.isinf), [[1.0, np.inf, -np.inf, np.nan]], []),
    "is_nan": (truth(math.isnan), [[1.0, np.inf, -np.inf, np.nan]], []),
    "if_else": (lambda c, x, y: x if c else y, [TRUE, R, S], [1, 2]),
    "logical_negation": (truth(lambda x: not x), [TRUE], []),
    "logical_and": (truth(lambda x, y: x and y), [TRUE, [1, 0, 1, 0]], []),
    "logical_or": (truth(lambda x, y: x or y), [TRUE, [1, 0, 1, 0]], []),
    "logical_eq": (truth(lambda x, y: x == y), [N, [0, 2, 3, 4]], []),
    "logical_neq": (truth(lambda x, y: x != y), [N, [0, 2, 3, 4]], []),
    "logical_lt": (truth(lambda x, y: x < y), [R, S]),
    "logical_lte": (truth(lambda x, y: x <= y), [R, S]),
    "logical_gt": (truth(lambda x, y: x > y), [R, S]),
    "logical_gte": (truth(lambda x, y: x >= y), [R, S]),
    "squared_distance:numbers": (lambda x, y: (x - y) ** 2, [R, S]),
    "sin": (mp.sin, [R]),
    "cos": (mp.cos, [R]),
    "tan": (mp.tan, [R]),
    "asin": (mp.asin, [U]),
    "acos": (mp.acos, [U]),
    "atan": (mp.atan, [R]),
    "atan2": (mp.atan2, [R, S]),
    "sinh": (mp.sinh, [R]),
    "cosh": (mp.cosh, [R]),
    "tanh": (mp.tanh, [R]),
    "asinh": (mp.asinh, [R]),
    "acosh": (mp.acosh, [[1.1, 1.5, 3.0, 8.0]]),
    "atanh": (mp.atanh, [[-0.9, -0.1, 0.4, 0.7]]),
    "logit": (lambda p: mp.log(p / (1 - p)), [U]),
    "inv_logit": (logistic, [R]),
    "inv_cloglog": (lambda x: 1 - mp.exp(-mp.exp(x)), [[-20.0, -0.4, 0.3, 1.2]]),
    "Phi": (mp.ncdf, [R]),
    "Phi_approx": (lambda x: logistic(0.07056 * x**3 + 1.5976 * x), [R]),
    "binary_log_loss": (lambda n, p: -mp.log(p if n else 1 - p), [TRUE, U], [1]),
    "log1p_exp": (lambda x: mp.log1p(mp.exp(x)), [[-40.0, -0.4, 0.3, 800.0]]),
    "log1m_exp": (lambda x: mp.log(-mp.expm1(x)), [[-50.0, -1.0, -0.3, -1e-3]]),
    "log_diff_exp": (
        lambda x, y: x + mp.log(-mp.expm1(y - x)), [[3.0, 1.0, 0.0, 2.0], [-1.7, 0.4, -0.3, -9.0]]
    ),
    "log_sum_exp:numbers": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), [R, S]),
    "log_inv_logit": (lambda x: mp.log(logistic(x)), [[-50.0, -0.4, 0.3, 30.0]]),
    "log1m_inv_logit": (lambda x: mp.log(logistic(-x)), [[-30.0, -0.4, 0.3, 50.0]]),
    "log_inv_logit_diff": (
        lambda x, y: mp.log(logistic(x) - logistic(y)),
        [[1.0, 0.1, 3.0, 30.0], [0.4, -2.0, 1.0, 29.0]],
    ),
    "log_mix": (lambda p, x, y: mp.log(p * mp.exp(x) + (1 - p) * mp.exp(y)), [U, R, S]),
    "erf": (mp.erf, [R]),
    "erfc": (mp.erfc, [R]),
    "lgamma": (mp.loggamma, [P]),
    "tgamma": (mp.gamma, [[-2.3, -0.6, 0.7, 4.5]]),
    "digamma": (lambda x: mp.psi(0, x), [P]),
    "trigamma": (lambda x: mp.psi(1, x), [[-1.3, -0.4, 0.7, 4.5]]),
    "lbeta": (lambda a, b: mp.log(mp.beta(a, b)), [P, Q]),
    "beta": (mp.beta, [P, Q]),
    "lchoose": (log_choose, [[4.5, 6.0, 9.2, 30.0], [1.5, 0.0, 7.0, 29.1]]),
    "binomial_coefficient_log": (log_choose, [[4.5, 6.0, 9.2, 30.0], [1.5, 6.0, 7.0, 29.1]]),
    "log_rising_factorial": (lambda x, n: mp.log(mp.rf(x, n)), [P, Q]),
    "log_falling_factorial": (lambda x, n: mp.log(mp.ff(x, n)), [[4.5, 6.0, 9.2, 30.0], Q]),
    "rising_factorial": (mp.rf, [R, N], [0]),
    "falling_factorial": (mp.ff, [R, N], [0]),
    "lmgamma": (lmgamma, [[0, 1, 2, 4], [0.4, 0.7, 1.9, 4.5]], [1]),
    "gamma_p": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), [P, Q], [1]),
    "gamma_q": (lambda a, x: mp.gammainc(a, x, regularized=True), [P, Q], [1]),
    "inc_beta": (lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True), [P, Q, U], [2]),
    "inv_inc_beta": (lambda a, b, p: stats.beta(a, b).ppf(p), [P, Q, U], []),
    "inv_erfc": (lambda x: mp.erfinv(1 - mp.mpf(x)), [U]),
    "inv_Phi": (lambda p: mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1), [U]),
    "std_normal_qf": (lambda p: mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1), [U]),
    "std_normal_log_qf": (
        lambda y: mp.sqrt(2) * mp.erfinv(2 * mp.exp(mp.mpf(y)) - 1), [[-9.0, -1.2, -0.5, -0.1]]
    ),
    "student_t_qf": (
        lambda p, nu, mu, sigma: stats.t(nu, mu, sigma).ppf(p), [U, P, R, Q], []
    ),
    "owens_t": (
        lambda h, a: mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), [0, a])
        / (2 * mp.pi),
        [R, S],
    ),
    "lambert_w0": (lambda x: mp.lambertw(x).real, [[-0.3, 0.2, 1.0, 9.0]]),
    "lambert_wm1": (lambda x: mp.lambertw(x, -1).real, [[-0.36, -0.3, -0.1, -0.02]]),
    "bessel_first_kind": (mp.besselj, [N, P], [1]),
    "bessel_second_kind": (mp.bessely, [N, P], [1]),
    "modified_bessel_first_kind": (mp.besseli, [N, P], [1]),
    "modified_bessel_second_kind": (mp.besselk, [N, P], [1]),
    "log_modified_bessel_first_kind": (
        lambda v, x: mp.log(mp.besseli(v, x)), [[0.5, 0.0, 2.3, 1.0], [0.3, 0.8, 4.5, 900.0]], [1]
    ),
    "hypergeometric_1F0": (lambda a, z: (1 - mp.mpf(z)) ** -a, [P, U]),
    "hypergeometric_2F1": (lambda a, b, c, z: mp.hyp2f1(a, b, c, z), [P, Q, [2, 3, 4, 5], U], []),
    "choose": (math.comb, [[4, 6, 9, 30], [1, 6, 12, 15]], []),
    "to_int": (math.trunc, [R], []),
    "get_real": (lambda z: z.real, [[1 + 2j, -1j]], []),
    "get_imag": (lambda z: z.imag, [[1 + 2j, -1j]], []),
    "arg": (lambda z: math.atan2(z.imag, z.real), [[1 + 2j, -1j]], []),
    "norm": (lambda z: abs(z) ** 2, [[1 + 2j, -1j]], []),
    "conj": (lambda z: z.conjugate(), [[1 + 2j, -1j]], []),
    "proj": (lambda z: z, [[1 + 2j, -1j]], []),
    "polar": (lambda r, t: r * mp.expjpi(t / mp.pi), [P, R], []),
    "to_complex": (complex, [R, S], []),
}  # fmt: skip
COARSE = {"inv_inc_beta": 1e-9, "student_t_qf": 1e-9}


def varied(name):
    *_, which = (*CASES[name], range(len(CASES[name][1])))[:3]
    return list(which)


def test_every_entry_has_a_case():
    assert CASES.keys() == ELEMENTWISE.keys()
    assert KINDS.keys() | WHOLE_NUMBERS | OF_NUMBERS <= ELEMENTWISE.keys()


@pytest.mark.parametrize("name", CASES)
def test_numbers(name):
    oracle, args = CASES[name][:2]
    with mp.workdps(40):
        expected = [complex(oracle(*each)) for each in zip(*args, strict=True)]
    if not np.any(np.imag(expected)):
        expected = np.real(expected)
    function, tolerance = ELEMENTWISE[name], COARSE.get(name, 1e-12)
    with np.errstate(all="ignore"):
        found = function(*map(np.array, args))
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-15)
        one = function(*(a[1] for a in args))
        np.testing.assert_allclose(one, expected[1], rtol=tolerance, atol=1e-15)
        batch = function(*(np.array(a)[:, None] for a in args[:1]), *map(np.array, args[1:]))
        if len(args) > 1:
            np.testing.assert_allclose(np.diagonal(batch), expected, rtol=tolerance, atol=1e-15)
    if KINDS.get(name) == "int":
        assert np.asarray(found).dtype.kind == np.asarray(one).dtype.kind == "i"


@pytest.mark.parametrize("name", [name for name in CASES if varied(name)])
def test_symbols(name, assert_symbols):
    args, which = CASES[name][1], varied(name)
    assert_symbols(ELEMENTWISE[name], args, which, second=name in SPECIAL)
    for chosen in itertools.combinations(which, len(which) - 1):
        if chosen:
            assert_symbols(ELEMENTWISE[name], args, chosen)
    assert_symbols(ELEMENTWISE[name], [a[1] for a in args], which)


@pytest.mark.parametrize("name", sorted(OF_NUMBERS))
def test_functions_without_derivative_refuse_symbols(name):
    args = CASES[name][1]
    with pytest.raises(ModelError, match="no derivative"):
        ELEMENTWISE[name](Symbol("x"), *(a[0] for a in args[1:]))


@pytest.mark.parametrize("name", ["bessel_first_kind", "lmgamma"])
def test_arguments_without_derivative_refuse_symbols(name):
    args = CASES[name][1]
    with pytest.raises(ModelError, match="no derivative"):
        ELEMENTWISE[name](Symbol("a"), *(a[0] for a in args[1:]))


INF = np.inf


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("log1m_exp", [-1e-300], math.log(1e-300)),
        ("log1m_exp", [-INF], 0.0),
        ("log1m_exp", [0.0], -INF),
        ("log1p_exp", [-INF], 0.0),
        ("log1p_exp", [1e4], 1e4),
        ("log_diff_exp", [-INF, -INF], -INF),
        ("log_diff_exp", [2.0, 2.0], -INF),
        ("log_diff_exp", [2.0, -INF], 2.0),
        ("log_diff_exp", [1.0, 2.0], np.nan),
        ("log_sum_exp:numbers", [-INF, -INF], -INF),
        ("log_sum_exp:numbers", [-INF, 1.5], 1.5),
        ("log_mix", [0.0, 3.0, 1.0], 1.0),
        ("log_mix", [1.0, 3.0, 1.0], 3.0),
        ("lmultiply", [0.0, 0.0], 0.0),
        ("step", [0.0], 1.0),
        ("int_step", [0.0], 0),
        ("round", [-2.5], -3.0),
        ("round", [0.49999999999999994], 0.0),
        ("inv", [4], 0.25),
        ("pow", [2, -2], 0.25),
        ("square", [3_000_000_000], 9e18),
        ("fmin", [np.nan, 1.0], 1.0),
        ("falling_factorial", [3, 5], 0.0),
        ("choose", [5, -1], 0),
        ("choose", [3, 4], 0),
        ("inv_Phi", [0.0], -INF),
        ("to_complex", [], 0j),
        ("proj", [complex(INF, 2.0)], complex(INF, 0.0)),
    ],
)
def test_edges(name, args, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ELEMENTWISE[name](*args), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("log1m_exp", [[-800.0, -1e-12]]),
        ("log_diff_exp", [[800.0, 0.0], [-800.0, -1e-3]]),
        ("log_inv_logit_diff", [[800.0, -700.0], [-800.0, -800.0]]),
        ("tgamma", [[-30.5, 100.0]]),
        ("fdim", [[1e200, -1e200], [-1e200, 1e200]]),
    ],
)
def test_slopes_are_finite_where_a_branch_is_not_taken(name, args, density_of):
    density, x = density_of(ELEMENTWISE[name], [np.array(a) for a in args])
    logp, grad = density(x[None])
    assert np.isfinite(logp).all()
    assert np.isfinite(grad).all()


def test_large_binomial_coefficients_are_whole_numbers():
    assert special.binom(62, 31) == ELEMENTWISE["choose"](62, 31)
