"""Noise that is recorded and played back."""

import numpy as np
import pytest

from probmodel.testing.noise import Player, Recorder


def test_rows_of_one_chain_come_back():
    recorder = Recorder(1)
    normal, uniform, shared = (
        recorder.standard_normal((3, 2)), recorder.random(3), recorder.standard_normal(2)
    )  # fmt: skip
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(normal, rng.standard_normal((3, 2)))
    player = Player(recorder.calls, 1, 3)
    np.testing.assert_array_equal(player.standard_normal((1, 2)), normal[1:2])
    np.testing.assert_array_equal(player.random(1), uniform[1:2])
    np.testing.assert_array_equal(player.standard_normal(2), shared)


def test_other_calls_than_were_recorded():
    recorder = Recorder(1)
    recorder.random(3)
    with pytest.raises(AssertionError, match=r"rng.standard_normal .* ask for random"):
        Player(recorder.calls, 0, 3).standard_normal(1)
    player = Player(recorder.calls, 0, 3)
    player.random(1)
    with pytest.raises(AssertionError, match="ask for nothing more"):
        player.random(1)
