"""The incomplete beta function against many digits, far into both tails, and its derivatives."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from autograd.test_util import check_grads
from scipy import special

from probmodel.numerics.special import tail_integrals
from probmodel.numerics.special.incomplete_beta import (
    beta_hazard,
    log_betainc,
    log_betainc_bend,
    log_betainc_slope,
    log_betaincc,
)

SHAPES = [0.01, 0.5, 3.0, 40.0, 1e4]
PLACES = [-20.0, -3.0, 0.05, 2.0]
POINTS = [
    (a, b, s)
    for a, b, z in itertools.product(SHAPES, SHAPES, PLACES)
    if abs(s := np.log(a / b) + z * np.sqrt(1.0 / (a + 1.0) + 1.0 / (b + 1.0))) < 2.5  # for speed
    or (s < 0.0) == (z < 0.0)
] + [(0.3, 2.0, -200.0), (2.0, 0.5, 30.0), (3.0, 3.0, -230.0), (0.01, 0.02, 100.0)]


def log_lower(a, b, s):
    """Logarithm of the function by a series of positive terms."""
    x, y = 1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(s))
    term = total = mp.mpf(1)
    n = 0
    while term > total * mp.mpf(10) ** -65 or x * (a + b + n) > (a + 1 + n):
        term *= x * (a + b + n) / (a + 1 + n)
        total, n = total + term, n + 1
    gammas = mp.loggamma(a + b) - mp.loggamma(a + 1) - mp.loggamma(b)
    return a * mp.log(x) + b * mp.log(y) + gammas + mp.log(total)


def log_tails(a, b, s):
    if s < mp.log(a / b):
        log = log_lower(a, b, s)
        return log, mp.log1p(-mp.exp(log))
    log = log_lower(b, a, -s)
    return mp.log1p(-mp.exp(log)), log


def differences(function, *args):
    """Values, slopes and second slopes of both tails in all arguments."""
    steps = [mp.mpf(10) ** -15 * (abs(arg) if i < 2 else 1) for i, arg in enumerate(args)]

    def at(*moves):
        moved = zip(args, moves, steps, strict=True)
        return np.array(function(*(arg + m * h for arg, m, h in moved)), dtype=object)

    unit = np.eye(3, dtype=int)
    here = at(0, 0, 0)
    ups, downs = [at(*e) for e in unit], [at(*-e) for e in unit]
    slopes = [(u - d) / (2 * h) for u, d, h in zip(ups, downs, steps, strict=True)]
    bends = {(i, i): (ups[i] - 2 * here + downs[i]) / steps[i] ** 2 for i in (0, 1)}
    mixed = at(1, 1, 0) - at(1, -1, 0) - at(-1, 1, 0) + at(-1, -1, 0)
    bends[0, 1] = mixed / (4 * steps[0] * steps[1])
    return here, slopes, bends


@pytest.mark.parametrize(("a", "b", "s"), POINTS)
def test_values_and_derivatives_in_many_digits(a, b, s):
    with mp.workdps(65):
        here, slopes, bends = differences(log_tails, *map(mp.mpf, (a, b, s)))
    for upper, function in enumerate((log_betainc, log_betaincc)):
        side = bool(upper)
        assert function(a, b, s) == pytest.approx(float(here[upper]), rel=1e-11)
        for i in (0, 1):
            found = log_betainc_slope(side, i, a, b, s)
            assert found == pytest.approx(float(slopes[i][upper]), rel=2e-11)
        hazard = abs(float(slopes[2][upper]))
        assert beta_hazard(side, a, b, s) == pytest.approx(hazard, rel=1e-11)
        for (i, j), bend in bends.items():
            found = log_betainc_bend(side, i, j, a, b, s)
            assert found == pytest.approx(float(bend[upper]), rel=1e-8, abs=1e-11)


def test_it_is_that_of_scipy_in_arrays_of_any_size():
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.uniform(-3.0, 6.0, (2, 3, 2000)))
    x = rng.beta(a[0], b[0])
    x, s = special.expit(special.logit(x)), special.logit(x)
    ordinary = (x > 1e-12) & (x < 1.0 - 1e-3)
    a, b, x, s = a[:, ordinary], b[:, ordinary], x[ordinary], s[ordinary]
    assert a.size > tail_integrals._BLOCK
    np.testing.assert_allclose(np.exp(log_betainc(a, b, s)), special.betainc(a, b, x), 1e-9, 1e-300)
    slopes = log_betainc_slope(True, 1, a, b, s)
    assert slopes[1, 7] == log_betainc_slope(True, 1, a[1, 7], b[1, 7], s[7])


def test_at_the_ends():
    a, b = np.array([0.3, 1.0, 2.5]), 1.4
    assert np.all(log_betainc(a, b, -np.inf) == -np.inf)
    assert np.all(log_betaincc(a, b, -np.inf) == 0.0)
    assert np.all(log_betainc(a, b, np.inf) == 0.0)
    for i in (0, 1):
        np.testing.assert_array_equal(log_betainc_slope(True, i, a, b, -np.inf), 0.0)
    np.testing.assert_array_equal(beta_hazard(True, a, b, -np.inf), 0.0)


def test_bad_arguments_give_no_number():
    for bad in ((np.nan, 1.0, 0.0), (1.0, np.nan, 0.0), (1.0, 1.0, np.nan)):
        assert np.isnan(log_betainc(*bad))
        assert np.isnan(log_betaincc(*bad))


@pytest.mark.parametrize("function", [log_betainc, log_betaincc])
def test_second_derivatives(function):
    a, b = np.array([0.4, 2.0, 7.0, 40.0]), np.array([0.7, 0.5, 5.0, 33.0])
    s = np.array([-0.5, 3.0, 0.2, 0.0])
    check_grads(function, modes=["rev"], order=2)(a, b, s)
    check_grads(lambda s: function(3.0, 1.2, s), modes=["rev"], order=2)(s)
