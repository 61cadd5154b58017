"""Gradients that are counted on the way to a log density."""

import numpy as np

from probmodel.inference.counting import counting
from probmodel.types import CurvedLogDensity, LogDensity


def test_costs(targets):
    target = targets.Banana()
    counted = counting(target)
    x = np.ones((3, 2))
    np.testing.assert_array_equal(counted(x)[1], target(x)[1])
    assert counted.gradients == 3
    np.testing.assert_array_equal(counted.log_density(x), target.log_density(x))
    assert counted.gradients == 3
    np.testing.assert_array_equal(counted.hvp(x, x), target.hvp(x, x))
    assert counted.gradients == 3 + 6
    np.testing.assert_array_equal(counted.hessian(x), target.hessian(x))
    assert counted.gradients == 3 + 6 + 6


def test_it_has_what_the_density_has(targets, flat):
    curved = counting(targets.Banana())
    assert isinstance(curved, CurvedLogDensity)
    assert curved.b == 0.6
    plain = counting(flat)
    assert isinstance(plain, LogDensity)
    assert not isinstance(plain, CurvedLogDensity)
