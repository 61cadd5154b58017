"""Evaluations that are counted on the way to a log density."""

import numpy as np

from probmodel.inference.counting import Work, counting
from probmodel.types import CurvedLogDensity, LogDensity, MetricLogDensity


def test_evaluations_are_counted_by_kind(targets):
    target = targets.Banana()
    counted = counting(target)
    x = np.ones((3, 2))
    np.testing.assert_array_equal(counted(x)[1], target(x)[1])
    assert counted.work == Work(grad=3)
    np.testing.assert_array_equal(counted.log_density(x[:2]), target.log_density(x[:2]))
    assert counted.work == Work(logp=2, grad=3)
    np.testing.assert_array_equal(counted.hvp(x, x), target.hvp(x, x))
    np.testing.assert_array_equal(counted.hessian(x[:1]), target.hessian(x[:1]))
    assert counted.work == Work(2, 3, 3, 1)


class WithMetric:
    """A density that has a metric besides."""

    def __init__(self, density):
        self.density = density
        self.dim, self.coordinate_names = density.dim, density.coordinate_names

    def __call__(self, x):
        return self.density(x)

    def log_density(self, x):
        return self.density.log_density(x)

    def metric(self, x):
        return np.broadcast_to(np.eye(2), (len(x), 2, 2))


def test_a_metric_counts_as_a_hessian(flat):
    counted = counting(WithMetric(flat))
    counted.metric(np.ones((4, 2)))
    assert counted.work == Work(hessian=4)
    assert isinstance(counted, MetricLogDensity)
    assert not isinstance(counted, CurvedLogDensity)


def test_it_has_what_the_density_has(targets, flat):
    curved = counting(targets.Banana())
    assert isinstance(curved, CurvedLogDensity)
    assert curved.b == 0.6
    plain = counting(flat)
    assert isinstance(plain, LogDensity)
    assert not isinstance(plain, CurvedLogDensity | MetricLogDensity)


def test_counts_are_added_and_subtracted():
    assert Work(1, 2, 3, 4).plus(Work(grad=1)) == Work(1, 3, 3, 4)
    assert Work(1, 2, 3, 4).minus(Work(1, 1, 1, 1)) == Work(0, 1, 2, 3)
