"""Rising factorials, their slopes, and logarithms of ratios, in many digits and by differences."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from autograd import grad

from probmodel.numerics.special import rising
from probmodel.numerics.special.logs import log_less


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


def psi(x):
    return mp.psi(0, x)


TRUTHS = {
    "log_rising": lambda a, k: mp.loggamma(a + k) - mp.loggamma(a),
    "rising_slope": lambda a, k: psi(a + k) - psi(a),
    "rising_excess": lambda a, k: psi(a + k) - psi(a) - mp.log1p(k / a),
    "log_ways": lambda a, k: mp.loggamma(a + k) - mp.loggamma(a) - mp.loggamma(k + 1),
    "log_beta": lambda a, k: mp.loggamma(a) + mp.loggamma(k) - mp.loggamma(a + k),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_no_digits_are_lost(name):
    rng = np.random.default_rng(1)
    a, k = 10.0 ** rng.uniform(-8, 8, (2, 400))
    k[::2] = rng.integers(1, 40, 200)
    # Together and one by one, so that both the branches and their fast paths are met.
    together = getattr(rising, name)(a, k)
    for i, (x, y) in enumerate(zip(a, k, strict=True)):
        truth = float(TRUTHS[name](mp.mpf(x), mp.mpf(y)))
        # Sums of a few terms about one have their rounding, where they cancel to nothing.
        assert together[i] == pytest.approx(truth, rel=1e-8, abs=1e-15 if "log" in name else 0.0)
        assert getattr(rising, name)(np.array(x), np.array(y)) == pytest.approx(
            together[i], rel=1e-12, abs=1e-15
        )


def test_what_is_left_of_a_slope_without_its_logarithm():
    for x in 10.0 ** np.random.default_rng(2).uniform(-8, 8, 200):
        truth = float(mp.log(mp.mpf(x)) - psi(mp.mpf(x)))
        assert rising.log_gap(np.array(x)) == pytest.approx(truth, rel=1e-13)


def test_logarithms_without_their_linear_term():
    size = 10.0 ** np.random.default_rng(3).uniform(-8, 0, 200)
    for u in (*size, *(-0.999 * size)):
        truth = float(mp.log1p(mp.mpf(u)) - mp.mpf(u))
        assert rising.log1p_gap(np.array(u)) == pytest.approx(truth, rel=1e-14)
        known = np.array(float(mp.log1p(mp.mpf(u))))
        assert rising.log_ratio_gap(np.array(u), known) == pytest.approx(truth, rel=1e-14)


def test_gaps_of_neighbouring_factorials():
    a, b, k = np.array(3e7), np.array(2e-6), np.array([0.0, 1.0, 50.0])
    expected = [
        float(TRUTHS["log_rising"](mp.mpf(3e7), j) - TRUTHS["log_rising"](mp.mpf(3e7) + b, j))
        for j in (0, 1, 50)
    ]
    np.testing.assert_allclose(rising.rising_gap(a, b, k), expected, rtol=1e-12)


@pytest.mark.parametrize("name", [*TRUTHS, "log_gap", "log1p_gap"])
@pytest.mark.parametrize("point", [(0.4, 0.7), (0.4, 3.0), (7.0, 30.0), (30.0, 40.0), (25.0, 2.0)])
def test_derivatives_of_both_orders(name, point):
    function = getattr(rising, name)
    args = point if name in TRUTHS else point[:1]
    for i in range(len(args)):

        def along(f, h, i=i):
            up, down = list(args), list(args)
            up[i], down[i] = args[i] + h, args[i] - h
            return (f(*up) - f(*down)) / (2 * h)

        h = 1e-4 * args[i]
        first = grad(function, i)
        assert first(*args) == pytest.approx(along(function, h), rel=1e-6)
        assert grad(first, i)(*args) == pytest.approx(along(first, h), rel=1e-6)


def test_a_count_of_nothing():
    k = np.array([0.0, 1.0, 30.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(rising.log_rising(np.zeros(3), k), [0.0, -np.inf, -np.inf])
        np.testing.assert_array_equal(rising.log_ways(np.zeros(3), k), [0.0, -np.inf, -np.inf])
    np.testing.assert_array_equal(rising.rising_slope(np.zeros(3), k), np.zeros(3))
    assert grad(rising.rising_slope)(0.0, 2.0) == 0.0


@pytest.mark.parametrize("m", [-300.0, -1.7, -1e-3, 0.2, 1.0, 5.5, 690.0])
def test_logarithms_close_to_a_number(m):
    distance = np.array([0.0, 1e-13, 1e-9, -1e-7, 1e-4, 0.3])
    y = np.exp(m + distance)
    truth = [float(mp.log(mp.mpf(v)) - mp.mpf(m)) for v in y]
    # A few parts in 1e16 of the series, below 0.004; farther off, rounding of logarithms.
    np.testing.assert_allclose(log_less(y, m)[:4], truth[:4], rtol=1e-15, atol=3e-18)
    np.testing.assert_allclose(log_less(y, m), truth, rtol=1e-10, atol=3e-18)
    assert grad(log_less)(y[2], m) == pytest.approx(1.0 / y[2])
    assert grad(log_less, 1)(y[2], m) == -1.0


def test_plain_logarithms_lose_them():
    y = np.exp(5.5 + 1e-9)
    truth = float(mp.log(mp.mpf(y)) - mp.mpf(5.5))
    assert abs(np.log(y) - 5.5 - truth) > 1e-8 * abs(truth)
