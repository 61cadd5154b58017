"""Ascent on the generalised speed measure: against direct formulas."""

import numpy as np
import pytest

from probmodel.adaptation.speed_measure import (
    LARGEST_BETA,
    SMALLEST_BETA,
    SpeedMeasure,
    ascend,
    floored,
    ratio_gradient,
    shrunk,
    weigh_entropy,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    return rng.standard_normal((2, 6, 4))


def test_gradient_is_the_mean_outer_product(rows):
    left, right = rows
    outer = sum(np.outer(a, b) for a, b in zip(left, right, strict=True)) / 5.0
    np.testing.assert_allclose(ratio_gradient(left, right, 5, False), np.tril(outer), rtol=1e-12)
    np.testing.assert_allclose(ratio_gradient(left, right, 5, True), np.diag(outer), rtol=1e-12)


def test_no_rows_give_no_gradient():
    none = np.empty((0, 3))
    np.testing.assert_array_equal(ratio_gradient(none, none, 4, False), np.zeros((3, 3)))
    np.testing.assert_array_equal(ratio_gradient(none, none, 4, True), np.zeros(3))


@pytest.mark.parametrize("diagonal", [False, True])
def test_enormous_rows_leave_everything_finite(diagonal):
    huge = np.full((2, 3), 1e200)
    measure = SpeedMeasure(np.ones(3) if diagonal else np.eye(3), None, 1.0)
    for sign in (1.0, -1.0):
        measure = ascend(measure, ratio_gradient(huge, sign * huge, 2, diagonal), 0.1, 1e-3)
        assert np.isfinite(measure.L).all()
        assert np.isfinite(measure.V).all()


def test_two_steps_by_hand(rows):
    L = np.tril(rows[0, :4]) + 3.0 * np.eye(4)
    first, second = np.tril(rows[1, :4]), np.tril(rows[1, 2:6])
    measure = SpeedMeasure(L, None, 0.7)
    V = None
    for gradient in (first, second):
        G = gradient + 0.7 * np.diag(1.0 / np.diag(L))
        V = G**2 if V is None else 0.9 * V + 0.1 * G**2
        L = L + 0.01 * G / (1.0 + np.sqrt(V))
        measure = ascend(measure, gradient, 0.01, 1e-3)
        np.testing.assert_allclose(measure.L, L, rtol=1e-13)
        np.testing.assert_allclose(measure.V, V, rtol=1e-13)


def test_a_diagonal_moves_like_the_diagonal_of_a_matrix(rows):
    scales = np.abs(rows[0, 0]) + 1.0
    gradient = rows[1, 0]
    whole = ascend(SpeedMeasure(np.diag(scales), None, 2.0), np.diag(gradient), 0.05, 1e-3)
    thin = ascend(SpeedMeasure(scales, None, 2.0), gradient, 0.05, 1e-3)
    np.testing.assert_allclose(np.diag(whole.L), thin.L, rtol=1e-14)
    assert np.array_equal(whole.L, np.diag(np.diag(whole.L)))


def test_the_diagonal_stays_above_its_floor(rows):
    L = np.tril(rows[0, :4])
    above = floored(L, 0.5)
    assert np.all(np.diag(above) >= 0.5)
    np.testing.assert_array_equal(np.tril(above, -1), np.tril(L, -1))
    down = ascend(SpeedMeasure(np.full(4, 0.51), None, 1e-4), np.full(4, -50.0), 0.1, 0.5)
    np.testing.assert_array_equal(down.L, 0.5)


def test_shrinking():
    measure = shrunk(SpeedMeasure(2.0 * np.eye(2), None, 1.0), 1e-3)
    np.testing.assert_allclose(measure.L, 1.8 * np.eye(2))
    assert measure.V is None


def test_weight_of_the_entropy_follows_the_acceptance():
    assert weigh_entropy(2.0, 0.8, 0.5, 0.02) == pytest.approx(2.0 * 1.006)
    assert weigh_entropy(2.0, 0.2, 0.5, 0.02) == pytest.approx(2.0 * 0.994)
    assert weigh_entropy(SMALLEST_BETA, 0.0, 0.5, 0.02) == SMALLEST_BETA
    assert weigh_entropy(LARGEST_BETA, 1.0, 0.5, 0.02) == LARGEST_BETA
