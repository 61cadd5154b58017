"""Advice on differential equations whose right-hand side jumps in time."""

import numpy as np
import pytest

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfNormal, LogNormal, Normal
from probmodel.functions import solve_ode
from probmodel.model.lints import lint


def model(slope, **settings):
    class Decay(Model):
        t = data(dims="time")
        rate = param(LogNormal(0, 1))
        lock = param(LogNormal(0, 1))
        s = param(HalfNormal(1))
        level = solve_ode(slope, [1.0], 0.0, t, rate, lock, **settings)[:, 0]
        y = observed(Normal(level, s), dims="time")

    return Decay(t=[1.0, 2.0, 3.0], y=[0.5, 0.2, 0.1])


def jump(t, y, rate, lock):
    return -rate * np.where(t > 1.5, lock, 1.0) * y


def jump_of_a_sum(t, y, rate, lock):
    return -rate * (1.0 + lock * (np.exp(0.1 * t) <= rate)) * y


def smooth(t, y, rate, lock):
    return -rate * np.where(lock > 1.0, 1.0, np.sin(t)) * y


@pytest.mark.parametrize("slope", [jump, jump_of_a_sum])
def test_right_hand_sides_that_compare_their_time(slope):
    advice = [a for a in lint(model(slope)) if a.kind == "jumps in time"]
    assert [a.declaration for a in advice] == ["y"]
    assert "piece by piece" in advice[0].message


def test_none_where_it_is_smooth_or_solved_tightly():
    for given in (model(smooth), model(jump, rtol=1e-10, atol=1e-10)):
        assert not [a for a in lint(given) if a.kind == "jumps in time"]
