"""The multivariate gamma function against SciPy's, and its derivatives by differences."""

from __future__ import annotations

import numpy as np
import pytest
from autograd import grad
from scipy import special

from probmodel.numerics.special.multigamma import log_multigamma, multitrigamma


@pytest.mark.parametrize("size", [1, 2, 5])
def test_it_is_scipys(size):
    x = 0.5 * (size - 1) + np.array([1e-3, 0.4, 3.0, 80.0])
    expected = [special.multigammaln(a, size) for a in x]
    np.testing.assert_allclose(log_multigamma(x, size), expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 4])
def test_derivatives(size):
    x, h = np.asarray(2.7), 1e-5
    slope = (log_multigamma(x + h, size) - log_multigamma(x - h, size)) / (2 * h)
    derivative = grad(lambda a: log_multigamma(a, size))
    assert derivative(x) == pytest.approx(slope, rel=1e-8)
    curvature = (derivative(x + h) - derivative(x - h)) / (2 * h)
    assert multitrigamma(x, size) == pytest.approx(curvature, rel=1e-8)
