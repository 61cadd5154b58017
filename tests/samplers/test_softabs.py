"""Slopes of the smooth absolute value against mpmath-free closed forms and differences."""

import numpy as np
import pytest

from probmodel.samplers.riemannian.softabs import soft_absolute, soft_slopes


def phi(t):
    """Evaluate t coth t in extended precision."""
    t = np.asarray(t, dtype=np.longdouble)
    return t / np.tanh(t)


def slopes(*values):
    return soft_slopes(np.array([values], dtype=float))[0]


@pytest.mark.parametrize("t", [1e-9, 1e-3, 0.0199, 0.0201, 0.5, 3.0, 19.99, 20.01, 400.0])
def test_derivative(t):
    h = np.longdouble(1e-6) * max(t, 1.0)
    lower, upper = phi(t - h), phi(t + h)
    expected = float((upper - lower) / (2 * h))
    assert slopes(t)[0, 0] == pytest.approx(expected, rel=1e-7, abs=1e-10)
    assert slopes(-t)[0, 0] == -slopes(t)[0, 0]


@pytest.mark.parametrize("gap", [1e-12, 1e-8, 9e-5, 1.1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("t", [-19.0, -0.3, -1e-5, 1e-3, 0.7, 12.0])
def test_divided_differences(t, gap):
    """Near the diagonal rounding swamps the quotient; there it is a mean of derivatives."""
    found = slopes(t, t + gap)
    np.testing.assert_array_equal(found, found.T)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    between = [slopes(t + gap * 0.5 * (1 + s))[0, 0] for s in nodes]
    assert found[0, 1] == pytest.approx(0.5 * weights @ between, abs=1e-9)


def test_large_values_have_the_slope_of_the_absolute_value():
    J = slopes(1e6, 3e8, -2e7, np.inf)
    np.testing.assert_array_equal(J[np.ix_([0, 1, 3], [0, 1, 3])], 1.0)
    assert J[2, 2] == -1.0
    assert J[0, 2] == pytest.approx((1e6 - 2e7) / (1e6 + 2e7))


def test_equal_values_and_zero():
    assert slopes(0.0, 0.0).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert slopes(2.0, 2.0)[0, 1] == slopes(2.0)[0, 0]
    assert soft_absolute(np.zeros(1), 2.0)[0] == 0.5
