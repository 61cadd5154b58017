"""The densities written by hand agree with the compiled ones, and the comparison notices."""

import gradient
import numpy as np
import pytest
from hand_written import HAND_WRITTEN


def test_every_density_is_timed():
    assert {model for model, _ in gradient.CASES.values()} == set(HAND_WRITTEN)


@pytest.mark.parametrize("title", list(gradient.CASES))
def test_both_programs_agree(title):
    density, by_hand = gradient.build(*gradient.CASES[title])
    for radius in (0.1, 1.0):
        x = density.initial_points(np.random.default_rng(1), 3, inits=radius)
        gradient.check(density, by_hand, x)


@pytest.mark.parametrize("part", [0, 1])
def test_a_difference_is_noticed(part):
    density, by_hand = gradient.build("eight_schools", "eight_schools.json")
    x = density.initial_points(np.random.default_rng(1), 3)

    def wrong(x):
        result = list(by_hand(x))
        result[part] = result[part] * (1.0 + 1e-5)
        return result

    with pytest.raises(AssertionError):
        gradient.check(density, wrong, x)
