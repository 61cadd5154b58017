"""The densities written by hand agree with both engines, and the comparison notices."""

import engines
import numpy as np
import pytest
from hand_written import HAND_WRITTEN


def test_every_density_is_timed():
    assert {model for model, _ in engines.CASES.values()} == {*HAND_WRITTEN, "hidden_markov"}
    assert set(engines.LOOPS) <= set(engines.CASES)


@pytest.mark.parametrize("title", engines.LOOPS)
def test_the_loops_agree(title):
    pytest.importorskip("numba")
    density, _ = engines.build(*engines.CASES[title])
    programs = engines.loops(title)
    assert len(programs) == 2
    for radius, chains in ((0.1, 1), (1.0, 11)):
        x = density.initial_points(np.random.default_rng(1), chains, inits=radius)
        for program in programs:
            engines.check(density, program, x)


@pytest.mark.parametrize("title", list(engines.CASES))
def test_both_programs_agree(title):
    density, by_hand = engines.build(*engines.CASES[title])
    for radius in (0.1, 1.0):
        x = density.initial_points(np.random.default_rng(1), 3, inits=radius)
        reference = density if by_hand is None else by_hand
        engines.check(density, reference, x)
        made, seconds = engines.machine(density, x)
        if made is not None:
            assert seconds > 0.0
            engines.check(made, reference, x)


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
        [title, chains, 0.1 * k, k * 10.0, 100.0, 50.0 if k < 3 else None, *limit]
        for k, (title, limit) in enumerate(
            (("a", (5.0, 2.0)), ("b", (None, None)), ("c", (10.0, 3.0))), 1
        )
        for chains in engines.CHAINS
    ]
    cells = [engines.shown(row).split() for row in rows[:: len(engines.CHAINS)]]
    assert cells[0] == ["a", "1", "0.10", "10.0", "100.0", "0.10", "50.0", "0.20", "5.0", "2.00"]
    assert cells[1] == ["b", "1", "0.20", "20.0", "100.0", "0.20", "50.0", "0.40"]
    assert cells[2] == ["c", "1", "0.30", "30.0", "100.0", "0.30", "10.0", "3.00"]
    text = engines.summary(rows).splitlines()
    assert text[0] == (
        "  1 chains: machine code over the NumPy engine 0.20 in the median of 3, 0.30 at most; "
        "over NumPy by hand 0.30 in the median of 2, 0.40 at most; "
        "over loops by numba 2.50 in the median of 2, 3.00 at most"
    )
    assert text[-1] == "made in 0.20 s in the median, 0.30 s at most"
