"""Gradients that are counted on the way to a log density."""

import numpy as np
import pytest

from probmodel.inference.counting import CountingDensity
from probmodel.types import CurvedLogDensity, LogDensity


def test_costs(targets):
    target = targets.Banana()
    counting = CountingDensity(target)
    x = np.ones((3, 2))
    np.testing.assert_array_equal(counting(x)[1], target(x)[1])
    assert counting.gradients == 3
    np.testing.assert_array_equal(counting.log_density(x), target.log_density(x))
    assert counting.gradients == 3
    np.testing.assert_array_equal(counting.hvp(x, x), target.hvp(x, x))
    assert counting.gradients == 3 + 6
    np.testing.assert_array_equal(counting.hessian(x), target.hessian(x))
    assert counting.gradients == 3 + 6 + 6


def test_it_has_what_the_density_has(targets, flat):
    assert isinstance(CountingDensity(targets.Banana()), CurvedLogDensity)
    plain = CountingDensity(flat)
    assert isinstance(plain, LogDensity)
    assert not isinstance(plain, CurvedLogDensity)
    with pytest.raises(AttributeError):
        _ = plain.hvp
