"""Noise that can be recorded and played back row by row."""

import numpy as np
import pytest


class Recorder:
    """A generator that keeps what it returns."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.calls = []

    def __getattr__(self, name):
        method = getattr(self._rng, name)

        def call(*args, **kwargs):
            value = method(*args, **kwargs)
            self.calls.append((name, value))
            return value

        return call


class Player:
    """Plays back one chain's rows of what a `Recorder` of ``chains`` chains returned."""

    def __init__(self, calls, chain, chains):
        self._calls = iter(calls)
        self._chain, self._chains = chain, chains

    def __getattr__(self, name):
        def call(*args, **kwargs):
            recorded, value = next(self._calls)
            assert recorded == name
            if np.ndim(value) and len(value) == self._chains:
                return value[self._chain : self._chain + 1]
            return value

        return call


@pytest.fixture
def noise():
    """Classes that record noise and play it back."""
    return Recorder, Player
