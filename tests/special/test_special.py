"""Special functions against SciPy, and their derivatives against finite differences."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.special
from autograd import elementwise_grad

from probmodel.numerics import special

POSITIVE = np.array([0.02, 0.4, 1.0, 3.7, 25.0])
LINE = np.array([-20.0, -2.1, -0.3, 0.4, 1.9, 20.0])
UNIT = np.array([0.03, 0.4, 0.9])

UNARY = {
    "gammaln": (special.gammaln, scipy.special.gammaln, POSITIVE),
    "digamma": (special.digamma, scipy.special.digamma, POSITIVE),
    "trigamma": (special.trigamma, lambda x: scipy.special.polygamma(1, x), POSITIVE),
    "expit": (special.expit, scipy.special.expit, LINE),
    "logit": (special.logit, scipy.special.logit, UNIT),
    "log_expit": (special.log_expit, scipy.special.log_expit, LINE),
    "log1p_exp": (special.log1p_exp, lambda x: np.logaddexp(0.0, x), LINE),
    "erf": (special.erf, scipy.special.erf, LINE / 8),
    "erfc": (special.erfc, scipy.special.erfc, LINE / 8),
    "ndtr": (special.ndtr, scipy.special.ndtr, LINE / 4),
    "log_ndtr": (special.log_ndtr, scipy.special.log_ndtr, LINE),
    "inverse_mills": (
        special.inverse_mills,
        lambda x: np.exp(-0.5 * x**2 - scipy.special.log_ndtr(x)) / np.sqrt(2 * np.pi),
        LINE,
    ),
}
BINARY = {
    "betaln": (special.betaln, scipy.special.betaln, POSITIVE),
    "xlogy": (special.xlogy, scipy.special.xlogy, POSITIVE),
    "xlog1py": (special.xlog1py, scipy.special.xlog1py, POSITIVE),
}


def difference(f, x):
    h = 1e-3 * np.minimum(np.abs(x), 1.0) * 0.1
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@pytest.fixture(params=UNARY.values(), ids=UNARY)
def unary(request):
    return request.param


@pytest.fixture(params=BINARY.values(), ids=BINARY)
def binary(request):
    return request.param


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_a_logarithm_that_serves_several_elements(name):
    """Zeros, infinities and what is not a number are as with one for each element."""
    x = np.array([0.0, -0.0, 1.0, 3.5, -2.0, np.inf, np.nan])
    y = np.array([[-2.0], [-1.0], [0.0], [1e-300], [1.0], [7.3], [np.inf], [np.nan]])
    expected = getattr(scipy.special, name)(x, y)
    np.testing.assert_allclose(getattr(special, name)(x, y), expected, rtol=4e-16)
    assert np.shape(getattr(special, name)(x, y[3:6, 0, None])) == (3, 7)


def test_values_are_those_of_scipy(unary):
    function, reference, x = unary
    np.testing.assert_allclose(function(x), reference(x), rtol=1e-12)
    assert np.ndim(function(x[0])) == 0


def test_first_and_second_derivatives(unary):
    function, _, x = unary
    slope = elementwise_grad(function)
    np.testing.assert_allclose(slope(x), difference(function, x), rtol=1e-7, atol=1e-9)
    second = elementwise_grad(slope)(x)
    np.testing.assert_allclose(second, difference(slope, x), rtol=1e-6, atol=1e-8)


def test_a_wrong_derivative_is_noticed():
    slope = difference(special.gammaln, POSITIVE)
    assert not np.allclose(special.trigamma(POSITIVE), slope, rtol=1e-3)


def test_two_arguments_broadcast_and_have_derivatives(binary):
    function, reference, x = binary
    a, b = x[:, None], x[:3]
    np.testing.assert_allclose(function(a, b), reference(a, b), rtol=1e-12)
    in_a = elementwise_grad(function, 0)(a, b)
    assert in_a.shape == a.shape
    expected = difference(lambda a: function(a, b), a).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(in_a, expected, rtol=1e-7)
    in_b = elementwise_grad(function, 1)(a, b)
    expected = difference(lambda b: function(a, b), b).sum(axis=0)
    np.testing.assert_allclose(in_b, expected, rtol=1e-7)
    mixed = elementwise_grad(lambda a: elementwise_grad(function, 1)(a, 1.3))(1.7)
    assert mixed == pytest.approx(
        difference(lambda a: elementwise_grad(function, 1)(a, 1.3), np.array(1.7)), rel=1e-6
    )


def test_polygamma_of_higher_order():
    for n in (1, 2, 3):
        expected = scipy.special.polygamma(n, POSITIVE)
        np.testing.assert_allclose(special.polygamma(n, POSITIVE), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (special.log1p_exp, 1e4, 1e4),
        (special.log1p_exp, -800.0, 0.0),
        (special.log1p_exp, -50.0, np.exp(-50.0)),
        (special.log_expit, -1e4, -1e4),
        (special.inverse_mills, -1e8, 1e8),
        (special.inverse_mills, 1e3, 0.0),
        (special.gammaln, 1e300, 6.897755279e302),
    ],
)
def test_extreme_arguments(function, x, expected):
    with np.errstate(all="ignore"):
        assert function(x) == pytest.approx(expected, rel=1e-7)
        assert np.isfinite(elementwise_grad(function)(x))


def test_logsumexp():
    x = np.random.default_rng(0).standard_normal((2, 3, 4)) * 10
    for axis in (None, 0, -1, (1, 2)):
        for keepdims in (False, True):
            expected = scipy.special.logsumexp(x, axis=axis, keepdims=keepdims)
            actual = special.logsumexp(x, axis=axis, keepdims=keepdims)
            np.testing.assert_allclose(actual, expected, rtol=1e-12)
    softmax = elementwise_grad(lambda x: special.logsumexp(x, axis=-1))(x)
    np.testing.assert_allclose(softmax, scipy.special.softmax(x, axis=-1), rtol=1e-10)
    with np.errstate(divide="ignore"):
        nothing = special.logsumexp(np.array([[-np.inf, -np.inf], [-np.inf, 1.0]]), axis=1)
    np.testing.assert_array_equal(nothing, [-np.inf, 1.0])


class Symbol:
    """Records the ufunc that it is called with."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__


UFUNCS = {
    "gammaln": special.gammaln,
    "psi": special.digamma,
    "betaln": special.betaln,
    "expit": special.expit,
    "logit": special.logit,
    "log_expit": special.log_expit,
    "erf": special.erf,
    "erfc": special.erfc,
    "ndtr": special.ndtr,
    "log_ndtr": special.log_ndtr,
    "xlogy": special.xlogy,
    "xlog1py": special.xlog1py,
}


@pytest.mark.parametrize("name", UFUNCS)
def test_symbols_see_the_ufunc_of_scipy(name):
    function = UFUNCS[name]
    ufunc = getattr(scipy.special, name)
    assert ufunc(*[Symbol()] * ufunc.nin) == name
    assert function(*[Symbol()] * ufunc.nin) == name
    x = [POSITIVE / 30] * ufunc.nin
    np.testing.assert_array_equal(function(*x), ufunc(*x))


def test_softplus_of_a_symbol_is_a_numpy_function():
    assert special.log1p_exp(Symbol()) == "logaddexp"


def test_importing_does_not_import_scipy_special():
    code = (
        "import sys, probmodel.numerics.special, probmodel.numerics.linalg; "
        "import probmodel.distributions; "
        "assert not [m for m in sys.modules if m.startswith('scipy')], 'scipy is imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
