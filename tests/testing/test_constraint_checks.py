"""Negative controls: each check notices the constraints that are broken in its way."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel.constraints import IntegerInterval, Ordered, Positive, Simplex, UnitVector
from probmodel.testing import CONSTRAINT_CHECKS, check_constraint


class WithoutLeadingAxes(Simplex):
    def free_shape(self, shape):
        return (shape[-1] - 1,)


class OfList(Positive):
    def free_shape(self, shape):
        return list(shape)


class AllCoordinates(Simplex):
    def free_coords(self, y):
        return y


class OneTotal(Positive):
    """Adds up what belongs to several values."""

    def log_det(self, xp, u, *bounds):
        return xp.sum(u)


class Shifted(Positive):
    def inverse(self, y, *bounds):
        return np.log(y) + 1e-6


class WithoutConstant(Simplex):
    def log_det(self, xp, u, *bounds):
        return super().log_det(xp, u) - 0.5 * np.log(u.shape[-1] + 1)


class Strict(Positive):
    def check(self, y, *bounds):
        return y > 1.0


class Lenient(Positive):
    def check(self, y, *bounds):
        return ~(y <= 0)


class Numbers(Positive):
    def check(self, y, *bounds):
        return np.where(y > 0, 1.0, 0.0)


class Together(Simplex):
    """Normalises all that it is given at once, however many values that are."""

    def forward(self, xp, u, *bounds):
        y = super().forward(xp, u)
        return y * xp.exp(xp.max(u)) / xp.exp(xp.max(u[..., :1]))


class Kinked(Positive):
    """Grows linearly above 0; autograd takes one side's derivative."""

    def forward(self, xp, u, *bounds):
        return xp.where(u > 0, 1.0 + u, xp.exp(u))

    def inverse(self, y, *bounds):
        return np.where(y > 1, y - 1.0, np.log(np.minimum(y, 1.0)))

    def log_det(self, xp, u, *bounds):
        return xp.where(u > 0, 0.0 * u, u)


class OnlyNumbers(Ordered):
    """Uses what arrays have and symbols have not."""

    def forward(self, xp, u, *bounds):
        return super().forward(xp, u.view() if xp is np else u)


BROKEN = [
    (WithoutLeadingAxes(), (3,), "check_free_shape", "must keep leading axes"),
    (OfList(), (3,), "check_free_shape", "must be a tuple of integers, is [3]"),
    (AllCoordinates(), (3,), "check_free_shape", "as many as free_shape says, 2; are 3"),
    (OneTotal(), (3,), "check_free_shape", "log_det must have the axes before"),
    (Simplex(), (), "check_free_shape", "IndexError"),
    (Ordered(), (), "check_free_shape", "a value has at least event_ndim = 1 axes"),
    (IntegerInterval(0, 5), (), "check_free_shape", "bijective is False"),
    (Shifted(), (3,), "check_there_and_back", "inverse must undo forward"),
    (WithoutConstant(), (3,), "check_log_det", "log_det must be the log determinant"),
    (Strict(), (3,), "check_values", "check must accept what forward gives"),
    (Lenient(), (3,), "check_values", "refuse values with NaN"),
    (Numbers(), (3,), "check_values", "one Boolean for each value"),
    (Together(), (3,), "check_batches", "must be the one that it would be alone"),
    (Kinked(), (3,), "check_derivatives", "second derivatives"),
    (OnlyNumbers(), (3,), "check_in_a_model", "view"),
]


@pytest.mark.parametrize(
    ("constraint", "shape", "check", "message"),
    BROKEN,
    ids=lambda value: type(value).__name__ if hasattr(value, "bounds") else None,
)
def test_what_is_broken_is_noticed(constraint, shape, check, message):
    report = check_constraint(constraint, shape)
    assert not report.ok
    assert message in report.problems[check]


def test_every_check_has_a_control():
    assert {check for *_, check, _ in BROKEN} == {check.__name__ for check in CONSTRAINT_CHECKS}


@pytest.mark.parametrize(
    ("constraint", "shape"), [(Simplex(), (2, 3)), (UnitVector(), (4,)), (Positive(), ())]
)
def test_sound_ones_pass(constraint, shape):
    report = check_constraint(constraint, shape)
    assert report.ok, str(report)
    assert str(report).startswith(f"{constraint.name}: all checks passed")
