"""The search for a first step size."""

import pytest

from probmodel.adaptation.initial_step import initial_step


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 0.02, 1.0, 37.0, 1e9])
def test_step_ends_within_a_factor_of_two_below_the_crossing(scale):
    step = initial_step(lambda s: 1.0 / (1.0 + (s / scale) ** 2))
    assert scale / 2.0 < step <= scale


def test_island_of_accepted_long_steps_is_not_reached():
    step = initial_step(lambda s: 1.0 if s < 1e-3 or 1e2 < s < 1e3 else 0.0, start=1.0)
    assert 1e-4 < step <= 1e-3


def test_start_is_returned_if_nothing_is_accepted():
    assert initial_step(lambda s: 0.0, start=0.7) == 0.7


def test_search_ends_if_everything_is_accepted():
    assert 1e29 < initial_step(lambda s: 1.0) < 1e32


def test_other_crossing():
    step = initial_step(lambda s: 1.0 / (1.0 + s), crossing=0.2)
    assert 2.0 < step <= 4.0
