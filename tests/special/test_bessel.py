"""Scaled Bessel functions against values to 17 digits, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from autograd import elementwise_grad
from scipy.special import i0e, i1e

from probmodel.numerics.special.bessel import bessel_gap, bessel_ratio, bessel_ratio_slope, log_i0e

# x, log(I0(x)) - x, 1 - A(x), A'(x), A''(x) with A = I1 / I0, from sums of 60 digits.
TRUTH = np.array(
    [
        (0.3, -0.27762531137795809, 0.85166257305912474, 0.48353791796564295, -1.07052968368e-1),
        (7.0, -1.8725070849171512, 0.074467789205847815, 0.011171239526181592, -3.38616292765e-3),
        (49.9, -2.8714183831966286, 0.01007127959255398, 2.0287760250770798e-4, -8.17427584023e-6),
        (50.0, -2.8724244981281954, 0.010051032621502247, 2.0206263867603742e-4, -8.12506682836e-6),
        (50.1, -2.8734285924292912, 0.010030866901447317, 2.0125257600122826e-4, -8.07625204233e-6),
        (2e3, -4.7193272473425695, 2.5003126563721974e-4, 1.250312734619458e-7, -1.25046921936e-10),
    ]
)  # fmt: skip
X, LOG_I0E, GAP, SLOPE, CURVATURE = TRUTH.T


def test_values_keep_their_digits_on_both_sides_of_the_border():
    np.testing.assert_allclose(log_i0e(X), LOG_I0E, rtol=1e-14)
    np.testing.assert_allclose(bessel_ratio(X), 1.0 - GAP, rtol=1e-14)
    np.testing.assert_allclose(bessel_gap(X), GAP, rtol=1e-13)
    np.testing.assert_allclose(bessel_ratio_slope(X), SLOPE, rtol=1e-12)


def test_derivatives_keep_their_digits_too():
    slope = elementwise_grad(bessel_gap)
    np.testing.assert_allclose(elementwise_grad(log_i0e)(X), -GAP, rtol=1e-13)
    np.testing.assert_allclose(elementwise_grad(bessel_ratio)(X), SLOPE, rtol=1e-12)
    np.testing.assert_allclose(slope(X), -SLOPE, rtol=1e-12)
    np.testing.assert_allclose(elementwise_grad(slope)(X), -CURVATURE, rtol=1e-10)
    np.testing.assert_allclose(elementwise_grad(bessel_ratio_slope)(X), CURVATURE, rtol=1e-10)


def test_a_formula_that_cancels_is_noticed():
    cancelling = 1.0 - i1e(1e12) / i0e(1e12)
    assert bessel_gap(np.array(1e12)) == pytest.approx(0.5e-12, rel=1e-11)
    assert abs(cancelling / 0.5e-12 - 1.0) > 1e-6


@pytest.mark.parametrize("x", [1e-9, 1e20, 1e300])
def test_extremes_are_finite(x):
    for function in (log_i0e, bessel_gap, bessel_ratio, bessel_ratio_slope):
        with np.errstate(under="ignore"):
            assert np.isfinite(function(np.array(x)))
