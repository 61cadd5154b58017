"""The surrogate: its posterior against dense linear algebra with every value on its own."""

import numpy as np
import pytest

from probmodel.adaptation.surrogate import Kernel, add_values, no_values, posterior_mean

KERNEL = Kernel(amplitude=5.0, length_scale=0.2, noise=0.1)
AXES = (np.linspace(0.0, 1.0, 7), np.linspace(0.0, 1.0, 5))


def repeated_data(seed=1, distinct=12, values=60):
    """Points on and off the grid, most of them evaluated several times."""
    rng = np.random.default_rng(seed)
    places = rng.random((distinct, 2))
    places[:4] = np.array(np.meshgrid(AXES[0][[1, 5]], AXES[1][[0, 3]])).reshape(2, -1).T
    points = places[rng.integers(distinct, size=values)]
    return points, np.sin(5.0 * points[:, 0]) + points[:, 1] + 0.3 * rng.standard_normal(values)


def dense_posterior(points, values, noise):
    """Mean and variance on the grid by the textbook's formula, replicates as they come."""
    grid = np.array([(a, b) for a in AXES[0] for b in AXES[1]])

    def k(a, b):
        return 25.0 * np.exp(-np.sum((a[:, None] - b) ** 2, axis=2) / (2.0 * 0.2**2))

    inverse = np.linalg.inv(k(points, points) + np.diag(np.broadcast_to(noise, len(points))))
    cross = k(points, grid)
    variance = 25.0 - np.einsum("ig,ij,jg->g", cross, inverse, cross)
    return (cross.T @ inverse @ values).reshape(7, 5), variance.reshape(7, 5)


def learned(points, values):
    surrogate = no_values(KERNEL, AXES)
    for point, value in zip(points, values, strict=True):
        surrogate = add_values(KERNEL, surrogate, point, value)
    return surrogate


def test_posterior_is_that_of_all_values_one_by_one():
    points, values = repeated_data()
    surrogate = learned(points, values)
    assert len(surrogate.points) == len(np.unique(points, axis=0)) < len(points)
    assert surrogate.counts.sum() == len(points)
    mean, variance = dense_posterior(points, values, noise=0.1)
    np.testing.assert_allclose(posterior_mean(KERNEL, surrogate), mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(surrogate.variance, variance, rtol=1e-9, atol=1e-9)


def test_values_that_come_together_count_one_by_one():
    points, values = repeated_data()
    surrogate = learned(points, values)
    together = no_values(KERNEL, AXES)
    for point, first in zip(*np.unique(points, axis=0, return_index=True), strict=True):
        own = values[(points == points[first]).all(axis=1)]
        together = add_values(KERNEL, together, point, own[:1].mean())
        if len(own) > 1:
            together = add_values(KERNEL, together, point, own[1:].mean(), len(own) - 1)
    np.testing.assert_allclose(together.variance, surrogate.variance, rtol=1e-9, atol=1e-9)
    expected = posterior_mean(KERNEL, surrogate)
    np.testing.assert_allclose(posterior_mean(KERNEL, together), expected, rtol=1e-9, atol=1e-9)


def test_merged_values_that_forget_their_number_would_show():
    points, values = repeated_data()
    surrogate = learned(points, values)
    _, variance = dense_posterior(surrogate.points, surrogate.means, noise=0.1)
    assert np.max(np.abs(surrogate.variance / variance - 1.0)) > 0.1


def test_kernel_is_stationary_and_has_its_length_scale():
    a = np.array([[0.3, 0.4]])
    assert KERNEL(a, a)[0, 0] == 25.0
    assert KERNEL(a, a + np.array([0.2, 0.0]))[0, 0] == pytest.approx(
        25.0 * np.exp(-0.5), rel=1e-14
    )
    assert KERNEL(a, a + 0.2)[0, 0] == pytest.approx(25.0 * np.exp(-1.0), rel=1e-14)


def test_nothing_is_known_before_the_first_value():
    surrogate = no_values(KERNEL, AXES)
    np.testing.assert_array_equal(surrogate.variance, np.full((7, 5), 25.0))
    np.testing.assert_array_equal(posterior_mean(KERNEL, surrogate), np.zeros((7, 5)))


def test_many_values_at_one_point_keep_their_precision():
    surrogate = no_values(KERNEL, AXES)
    point = np.array([AXES[0][2], AXES[1][2]])
    for _ in range(300):
        surrogate = add_values(KERNEL, surrogate, point, 2.0, 10)
    left = 0.1 / 3000
    assert surrogate.variance[2, 2] == pytest.approx(1.0 / (1.0 / 25.0 + 1.0 / left), rel=1e-6)
    assert posterior_mean(KERNEL, surrogate)[2, 2] == pytest.approx(2.0, rel=1e-5)


def test_what_was_known_before_is_left_alone():
    points, values = repeated_data()
    before = learned(points[:20], values[:20])
    copies = [a.copy() for a in before[1:]]
    add_values(KERNEL, before, points[3], 9.0)
    add_values(KERNEL, before, np.array([0.123, 0.456]), 9.0)
    for a, b in zip(before[1:], copies, strict=True):
        np.testing.assert_array_equal(a, b)
