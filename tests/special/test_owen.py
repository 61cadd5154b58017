"""Owen's function against quadrature in many digits."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from probmodel.numerics.special.owen import log_owen_rest

SLANTS = [0.0, 1e-3, 0.3, 1.0, 2.5, 50.0, 1e4]
PLACES = [0.0, 1e-8, 1e-3, 0.04, 0.06, 0.5, 2.0, 12.0, 36.0]


@pytest.mark.parametrize(("alpha", "z"), list(itertools.product(SLANTS, PLACES)))
def test_it_is_the_integral(alpha, z):
    with mp.workdps(30):
        a, square = mp.mpf(alpha), mp.mpf(z) ** 2
        width = 1 / (max(mp.mpf(z), mp.mpf(10) ** -12) * max(1, a * z))
        ends = [0, width / 100, width / 10, width, 3 * width, 10 * width] if z else [0, 1, 10]

        def decay(u):
            return mp.exp(-square * u * (2 * a + u) / 2) / (1 + (a + u) ** 2)

        integral = mp.quad(decay, [*ends, mp.inf])
        expected = float(mp.log(integral / mp.pi) - square * (1 + a * a) / 2)
    assert log_owen_rest(z, alpha) == pytest.approx(expected, rel=1e-13, abs=1e-14)
    assert log_owen_rest(-z, alpha) == log_owen_rest(z, alpha)


def test_it_is_what_is_left_of_the_function_of_scipy():
    rng = np.random.default_rng(1)
    z, alpha = rng.standard_normal(200), np.abs(rng.standard_normal(200))
    expected = special.ndtr(-np.abs(z)) - 2.0 * special.owens_t(z, alpha)
    np.testing.assert_allclose(np.exp(log_owen_rest(z, alpha)), expected, atol=1e-14)
