"""Arithmetic of data is that of numbers: Python's integers, which never overflow, are the truth."""

import math
import operator

import numpy as np
import pandas as pd
import pytest

from probmodel import DataError, Model, ShapeError, data, deterministic, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Binomial, Normal, Poisson
from probmodel.functions import scan, segment_sum

N = [3, 40, 7]
BIG = [2**40, -(2**41), 2**42]
LEAST = [-(2**63), 2**62, 2**62]


def computed(function, n=N, on=(True, True, False)):
    """Value of an expression of data when it is bound, and as it is saved with a draw."""

    class Computed(Model):
        n = data("obs", dtype=int)
        on = data("obs", dtype=bool)
        k = data(dtype=int)
        a = param(Normal(0, 1))
        value = deterministic(function(n, on, k, a))

    model = Computed(n=n, on=on, k=3)
    return as_posterior(model).constrain(np.array([[0.5]]))["value"][0]


@pytest.mark.parametrize(
    ("function", "n", "expected"),
    [
        (lambda n, on, k, a: n**40, N, [v**40 for v in N]),
        (lambda n, on, k, a: k**n, N, [3**v for v in N]),
        (lambda n, on, k, a: np.power(n, 2 * k + 30), N, [v**36 for v in N]),
        (lambda n, on, k, a: n * n, BIG, [v * v for v in BIG]),
        (lambda n, on, k, a: np.square(n), BIG, [v * v for v in BIG]),
        (lambda n, on, k, a: n + n, [2**62, 2**62, 5], [2**63, 2**63, 10]),
        (lambda n, on, k, a: n - 2**62, LEAST, [v - 2**62 for v in LEAST]),
        (lambda n, on, k, a: -n, LEAST, [-v for v in LEAST]),
        (lambda n, on, k, a: abs(n), LEAST, [abs(v) for v in LEAST]),
        (lambda n, on, k, a: np.diff(n), LEAST, [3 * 2**62, 0]),
        (lambda n, on, k, a: np.sum(n), [2**62] * 3, 3 * 2**62),
        (lambda n, on, k, a: np.cumsum(n), [2**62] * 3, [2**62, 2**63, 3 * 2**62]),
        (lambda n, on, k, a: segment_sum(n, np.array([1, 0, 1]), 2), [2**62] * 3, [2**62, 2**63]),
        (lambda n, on, k, a: np.prod(n), BIG, math.prod(BIG)),
        (lambda n, on, k, a: n @ n, BIG, sum(v * v for v in BIG)),
        (lambda n, on, k, a: np.dot(n, n), BIG, sum(v * v for v in BIG)),
        (lambda n, on, k, a: np.trace(np.outer(n, n)), BIG, sum(v * v for v in BIG)),
        (lambda n, on, k, a: n * 10**30, N, [v * 10**30 for v in N]),
        (lambda n, on, k, a: np.where(on, n, 0) ** 20, N, [3**20, 40**20, 0]),
        (lambda n, on, k, a: n * np.array([2**64 - 1] * 3, "u8"), N, [v * (2**64 - 1) for v in N]),
        (lambda n, on, k, a: n * np.array([100] * 3, "i1") * np.int8(9), N, [v * 900 for v in N]),
        (lambda n, on, k, a: n**-1, N, [1 / v for v in N]),
        (lambda n, on, k, a: np.reciprocal(n), N, [1 / v for v in N]),
        (lambda n, on, k, a: 2 * a * n**40, N, [v**40 for v in N]),
        (lambda n, on, k, a: scan(lambda s, v: v**40 + 0 * s, 1.0, n), N, [v**40 for v in N]),
    ],
)  # fmt: skip
def test_integers_do_not_wrap(function, n, expected):
    wanted = np.array(expected, dtype=object).astype(float)
    np.testing.assert_allclose(computed(function, n).astype(float), wanted, rtol=1e-13)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda n, on, k, a: on + on, [2, 2, 0]),
        (lambda n, on, k, a: (n > 3) + (n > 7), [0, 2, 1]),
        (lambda n, on, k, a: on - (n > 3), [1, 0, -1]),
        (lambda n, on, k, a: -on, [-1, -1, 0]),
        (lambda n, on, k, a: on @ on, 2),
        (lambda n, on, k, a: np.diff(on), [0, -1]),
        (lambda n, on, k, a: np.exp(on), [math.e, math.e, 1.0]),
        (lambda n, on, k, a: np.log1p(on), [math.log(2), math.log(2), 0.0]),
        (lambda n, on, k, a: np.sqrt(2 * on), [math.sqrt(2), math.sqrt(2), 0.0]),
        (lambda n, on, k, a: np.logaddexp(on, on), [1 + math.log(2)] * 2 + [math.log(2)]),
    ],
)
def test_truth_values_count(function, expected):
    np.testing.assert_allclose(computed(function).astype(float), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "function",
    [lambda n, on, k, a: n - 1, lambda n, on, k, a: np.sum(n) * k, lambda n, on, k, a: on + 1],
)
def test_whole_numbers_stay_whole(function):
    assert computed(function).dtype == np.int64


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda n, on, k, a: ((a > 0) * n) ** 40, [v**40 for v in N]),
        (lambda n, on, k, a: (a > 0) * 2**62 * 4, 2**64),
        (lambda n, on, k, a: np.sum((n * a > 0) * n) * 2**62, sum(N) * 2**62),
        (lambda n, on, k, a: np.where(a > 0, 10**30, 0), 10**30),
        (lambda n, on, k, a: a * 10**30, 5 * 10**29),
    ],
)
def test_integers_beside_what_varies(function, expected):
    wanted = np.array(expected, dtype=object).astype(float)
    np.testing.assert_allclose(computed(function).astype(float), wanted, rtol=1e-13)


@pytest.mark.parametrize("operate", [operator.pow, operator.mul, operator.sub])
def test_lists_of_numbers_are_arrays(operate):
    def density(numbers):
        class Lists(Model):
            a = param(Normal(0, 1), shape=2)
            y = observed(Normal(operate(a, numbers), 1))

        return as_posterior(Lists(y=[1.0, 2.0]))

    x = np.array([[0.5, -0.8]])
    written, meant = density([2, 4])(x), density(np.array([2, 4]))(x)
    np.testing.assert_array_equal(written.logp, meant.logp)
    np.testing.assert_array_equal(written.grad, meant.grad)


@pytest.mark.parametrize("kind", [pd.Series, pd.Index, lambda x: pd.DataFrame({"x": x})])
@pytest.mark.parametrize(
    "operate", [operator.mul, operator.add, operator.sub, operator.truediv, operator.pow]
)
def test_objects_of_pandas_are_arrays(operate, kind):
    numbers = [2.0, 4.0]

    def density(given):
        class Columns(Model):
            a = param(Normal(0, 1))
            both = operate(given, np.exp(a)) + operate(a, given)
            y = observed(Normal(np.ravel(both), 1))

        return as_posterior(Columns(y=[1.0, 2.0]))

    x = np.array([[0.5], [-0.8]])
    written, meant = density(kind(numbers))(x), density(np.asarray(kind(numbers)))(x)
    assert np.isfinite(meant.logp).any()
    np.testing.assert_array_equal(written.logp, meant.logp)
    np.testing.assert_array_equal(written.grad, meant.grad)


def test_masks():
    both = computed(lambda n, on, k, a: a * n[on * (n > 3)])
    np.testing.assert_array_equal(both, [20.0])
    with pytest.raises(DataError, match=r"on \+ \(n > 3\) is a sum of masks.*a \| b"):
        computed(lambda n, on, k, a: a * n[on + (n > 3)])


@pytest.mark.parametrize("width", ["i1", "u1", "i2", "f2", "g"])
def test_constants_of_other_widths(width):
    constant = np.array([100, 101, 102], dtype=width)
    value = computed(lambda n, on, k, a: a * constant)
    assert value.dtype == np.float64
    np.testing.assert_array_equal(value, [50.0, 50.5, 51.0])


def test_a_constant_that_is_not_real():
    with pytest.raises(ShapeError, match="1j is complex, and models compute with real numbers"):
        computed(lambda n, on, k, a: a * 1j)


def test_counts_of_narrow_and_of_large_integers():
    class Trials(Model):
        p = param(lower=0, upper=1)
        y = observed(Binomial(np.array([127, 127], dtype=np.int8), p), dims="obs")

    class Counts(Model):
        rate = param(lower=0)
        y = observed(Poisson(rate), dims="obs")

    half = as_posterior(Trials(y=np.array([60, 127], dtype=np.int8))).terms(np.zeros((1, 1)))
    exact = math.log(math.comb(127, 60)) - 254 * math.log(2)
    np.testing.assert_allclose(half["likelihood of y"], [exact], rtol=1e-13)
    most = 2**63 - 1  # y + 1 is no longer an integer of 64 bits
    x = 43.0  # the logarithm of the rate
    density = as_posterior(Counts(y=[most])).terms(np.array([[x]]))["likelihood of y"]
    np.testing.assert_allclose(density, [most * x - math.exp(x) - math.lgamma(2.0**63)], rtol=1e-12)
