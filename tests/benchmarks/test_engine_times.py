"""The densities written by hand agree with both engines, and the comparison notices."""

import engines
import numpy as np
import pytest
from hand_written import HAND_WRITTEN


def test_every_density_is_timed():
    assert {model for model, _ in engines.CASES.values()} == set(HAND_WRITTEN)


@pytest.mark.parametrize("title", list(engines.CASES))
def test_both_programs_agree(title):
    density, by_hand = engines.build(*engines.CASES[title])
    for radius in (0.1, 1.0):
        x = density.initial_points(np.random.default_rng(1), 3, inits=radius)
        engines.check(density, by_hand, x)
        made, seconds = engines.machine(density, x)
        if made is not None:
            assert seconds > 0.0
            engines.check(made, by_hand, x)


@pytest.mark.parametrize("part", [0, 1])
def test_a_difference_is_noticed(part):
    density, by_hand = engines.build("eight_schools", "eight_schools.json")
    x = density.initial_points(np.random.default_rng(1), 3)

    def wrong(x):
        result = list(by_hand(x))
        result[part] = result[part] * (1.0 + 1e-5)
        return result

    with pytest.raises(AssertionError):
        engines.check(density, wrong, x)


def test_the_summary_has_medians_and_extremes():
    rows = [
        [title, chains, 0.1 * k, k * 10.0, 100.0, 50.0 if k < 3 else None]
        for k, title in enumerate(("a", "b", "c"), 1)
        for chains in engines.CHAINS
    ]
    assert engines.shown(rows[0]).split() == [
        "a",
        "1",
        "0.10",
        "10.0",
        "100.0",
        "0.10",
        "50.0",
        "0.20",
    ]
    assert engines.shown(rows[-1]).split() == ["c", "64", "0.30", "30.0", "100.0", "0.30"]
    text = engines.summary(rows).splitlines()
    assert text[0] == (
        "  1 chains: machine code over the NumPy engine 0.20 in the median of 3, 0.30 at most; "
        "over NumPy by hand 0.30 in the median of 2, 0.40 at most"
    )
    assert text[-1] == "made in 0.20 s in the median, 0.30 s at most"
