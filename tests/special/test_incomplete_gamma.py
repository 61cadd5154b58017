"""Incomplete gamma functions against many digits, far into both tails, and their derivatives."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from autograd.test_util import check_grads
from scipy import special

from probmodel.numerics.special import tail_integrals
from probmodel.numerics.special.incomplete_gamma import (
    gamma_hazard,
    log_gammainc,
    log_gammainc_bend,
    log_gammainc_slope,
    log_gammaincc,
)

SHAPES = [0.01, 0.1, 0.7, 1.0, 3.0, 30.0, 1e3, 1e4]
PLACES = [-25.0, -5.0, -1.0, -0.01, 0.01, 1.0, 5.0, 25.0]
POINTS = [
    (a, x)
    for a, z in itertools.product(SHAPES, PLACES)
    if (x := a + z * max(a, 1.0) ** 0.5) > 0 and (z > -20 or a > 1e3)
] + [(0.01, 1e-100), (0.3, 1e-8), (5.0, 1e-50), (2.5, 690.0), (0.5, 0.1), (0.05, 0.09)]


def log_tails(a, x):
    """Logarithms of the two, of which mpmath has the smaller to its last digit."""
    if x < a:
        log = mp.log(mp.gammainc(a, 0, x, regularized=True))
        return log, mp.log1p(-mp.exp(log))
    log = mp.log(mp.gammainc(a, x, mp.inf, regularized=True))
    return mp.log1p(-mp.exp(log)), log


@pytest.mark.parametrize(("a", "x"), POINTS)
def test_values_and_derivatives_in_many_digits(a, x):
    with mp.workdps(60):
        a, x = mp.mpf(a), mp.mpf(x)
        step, other = a * mp.mpf(10) ** -15, x * mp.mpf(10) ** -15
        here, up, down = log_tails(a, x), log_tails(a + step, x), log_tails(a - step, x)
        right, left = log_tails(a, x + other), log_tails(a, x - other)
        slopes = [(u - d) / (2 * step) for u, d in zip(up, down, strict=True)]
        bends = [(u - 2 * m + d) / step**2 for u, m, d in zip(up, here, down, strict=True)]
        hazards = [abs(u - d) / (2 * other) for u, d in zip(right, left, strict=True)]
    a, x = float(a), float(x)
    for upper, function in enumerate((log_gammainc, log_gammaincc)):
        assert function(a, x) == pytest.approx(float(here[upper]), rel=1e-11)
        found = log_gammainc_slope(bool(upper), a, x)
        assert found == pytest.approx(float(slopes[upper]), rel=1e-11)
        found = gamma_hazard(bool(upper), a, x)
        assert found == pytest.approx(float(hazards[upper]), rel=1e-11)
        found = log_gammainc_bend(bool(upper), a, x)
        assert found == pytest.approx(float(bends[upper]), rel=1e-9)


def test_they_are_those_of_scipy_in_arrays_of_any_size():
    rng = np.random.default_rng(1)
    a = np.exp(rng.uniform(-3.0, 6.0, (3, 2000)))
    x = a * np.exp(rng.uniform(-1.0, 1.0, (2000,)) / np.sqrt(a))
    assert a.size > tail_integrals._BLOCK
    np.testing.assert_allclose(np.exp(log_gammainc(a, x)), special.gammainc(a, x), rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_gammaincc(a, x)), special.gammaincc(a, x), rtol=1e-12)
    slopes = log_gammainc_slope(True, a, x)
    assert slopes[1, 7] == log_gammainc_slope(True, a[1, 7], x[1, 7])


def test_at_the_ends():
    a = np.array([0.3, 1.0, 2.5])
    assert np.all(log_gammainc(a, 0.0) == -np.inf)
    assert np.all(log_gammaincc(a, 0.0) == 0.0)
    assert np.all(log_gammainc(a, np.inf) == 0.0)
    assert np.all(log_gammaincc(a, np.inf) < -1e299)
    np.testing.assert_array_equal(gamma_hazard(True, a, 0.0), [np.inf, 1.0, 0.0])
    np.testing.assert_array_equal(log_gammainc_slope(True, a, 0.0), 0.0)


def test_bad_arguments_give_no_number():
    for a, x in ((np.nan, 1.0), (1.0, np.nan), (-1.5, 2.0), (2.0, -1.0)):
        assert np.isnan(log_gammainc(a, x))
        assert np.isnan(log_gammaincc(a, x))


@pytest.mark.parametrize("function", [log_gammainc, log_gammaincc])
def test_second_derivatives(function):
    a, x = np.array([0.4, 2.0, 2.0, 40.0]), np.array([0.7, 0.5, 5.0, 33.0])
    check_grads(function, modes=["rev"], order=2)(a, x)
    check_grads(lambda x: function(3.0, x), modes=["rev"], order=2)(x)
