"""The Mills ratio against values to 17 digits, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from autograd import elementwise_grad
from scipy.special import log_ndtr

from probmodel.numerics.special import inverse_mills
from probmodel.numerics.special.mills import log_mills, mills_excess

# x, the logarithm of ndtr over the density, and three derivatives of it, from sums of 60 digits.
TRUTH = np.array(
    [
        (-1e6, -13.815510557965274, 9.99999999998e-7, 9.99999999994e-13, 1.99999999998e-18),
        (-12.1, -2.4999227093085671, 0.081552403709138344, 6.5651205686877907e-3, 1.04364210198e-3),
        (-12.0, -2.4917344683641232, 0.08221417525428433, 6.6707263358458643e-3, 1.06860269604e-3),
        (-11.9, -2.4834795180436147, 0.082886633486248059, 6.7788675029644552e-3, 1.09435518863e-3),
        (-1.0, -0.42208311180459076, 0.52513527616098121, 0.19909766557034879, 1.16931195406e-1),
        (3.0, 5.4175877232399245, 3.0044378390421257, 0.98666678845825919, 3.56801368766e-2),
    ]
)  # fmt: skip
X, LOG_RATIO, EXCESS, SLOPE, CURVATURE = TRUTH.T


def test_values_keep_their_digits_on_both_sides_of_the_border():
    np.testing.assert_allclose(log_mills(X), LOG_RATIO, rtol=1e-14)
    np.testing.assert_allclose(mills_excess(X), EXCESS, rtol=1e-13)


def test_derivatives_keep_their_digits_too():
    slope = elementwise_grad(mills_excess)
    np.testing.assert_allclose(elementwise_grad(log_mills)(X), EXCESS, rtol=1e-13)
    np.testing.assert_allclose(slope(X), SLOPE, rtol=1e-11)
    np.testing.assert_allclose(elementwise_grad(slope)(X), CURVATURE, rtol=1e-9)


def test_the_ratio_completes_the_square():
    x = np.linspace(-8.0, 5.0, 14)
    np.testing.assert_allclose(
        log_mills(x) - 0.5 * x * x - 0.5 * np.log(2 * np.pi), log_ndtr(x), atol=1e-14
    )


def test_a_formula_that_cancels_is_noticed():
    assert mills_excess(np.array(-1e6)) == pytest.approx(EXCESS[0], rel=1e-14)
    assert abs((-1e6 + inverse_mills(-1e6)) / EXCESS[0] - 1.0) > 1e-5
