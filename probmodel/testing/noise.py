"""Noise that can be recorded and played back to one chain alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Recorder:
    """A generator that keeps what it returns.

    Parameters
    ----------
    seed : of the noise

    Attributes
    ----------
    calls : the methods that were called, in turn, with what they returned
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._rng, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            value = method(*args, **kwargs)
            self.calls.append((name, value))
            return value

        return call


class Player:
    """Plays back one chain's rows of what a `Recorder` returned.

    Parameters
    ----------
    calls : what was recorded
    chain : which of the chains
    chains : how many there were; arrays of this length have a row for each
    """

    def __init__(self, calls: list[tuple[str, Any]], chain: int, chains: int) -> None:
        self._calls = iter(calls)
        self._chain, self._chains = chain, chains

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nothing: tuple[str, Any] = ("nothing more", None)
            recorded, value = next(self._calls, nothing)
            if recorded != name:
                raise AssertionError(
                    f"One chain alone asks for rng.{name} where several together ask for "
                    f"{recorded}. Draw the noise of all chains at every step, whatever becomes of "
                    "them, in arrays whose first axis is the chain."
                )
            if np.ndim(value) and len(value) == self._chains:
                return value[self._chain : self._chain + 1]
            return value

        return call
