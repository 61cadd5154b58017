"""Collectors: what is kept of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.inference.driver import Phase
from probmodel.samplers.base import Info
from probmodel.types import Array


class DrawStore:
    """Keeps the draws of one phase, and their statistics, in memory.

    Parameters
    ----------
    phase : the phase to keep
    chains, draws, dim : sizes
    thin : keep the last of every ``thin`` iterations

    Attributes
    ----------
    count : draws kept so far
    """

    def __init__(self, phase: Phase, chains: int, draws: int, dim: int, thin: int = 1) -> None:
        self._phase, self._thin = phase, thin
        self._shape = (chains, draws)
        self._x = np.empty((chains, draws, dim))
        self._stats: dict[str, Array] = {}
        self.count = 0

    def record(self, phase: Phase, i: int, state: Any, info: Info, params: Any) -> None:
        """Keep iteration ``i`` if it is one to keep."""
        if phase != self._phase or (i + 1) % self._thin:
            return
        columns = statistics(state, info, params)
        if not self._stats:
            self._stats = {
                name: np.empty(self._shape, dtype=np.asarray(value).dtype)
                for name, value in columns.items()
            }
        position = i // self._thin
        self._x[:, position] = state.x
        for name, value in columns.items():
            self._stats[name][:, position] = value
        self.count = position + 1  # last, so that an interrupt leaves no half-written draw

    def x(self, count: int) -> Array:
        """First ``count`` draws: (chains, count, dim)."""
        return self._x[:, :count]

    def stats(self, count: int) -> dict[str, Array]:
        """Statistics of the first ``count`` draws: name -> (chains, count)."""
        return {name: column[:, :count] for name, column in self._stats.items()}


def statistics(state: Any, info: Info, params: Any) -> dict[str, Array]:
    """Statistics of one iteration under ArviZ's names; values are (chains,) or ()."""
    return {
        "lp": state.logp,
        "acceptance_rate": info.accept_prob,
        "accepted": info.accepted,
        "step_size": np.asarray(getattr(params, "step_size", np.nan), dtype=float),
        "n_steps": np.asarray(1),
        "n_grad": info.n_grad,
        "diverging": info.diverging,
        **info.stats,
    }


class Counter:
    """Counts iterations, and proposals that were not finite.

    Attributes
    ----------
    iterations : dict of phase to int
    nonfinite : dict of phase to int; proposals, totals over chains
    """

    def __init__(self) -> None:
        self.iterations: dict[Phase, int] = {"warmup": 0, "draw": 0}
        self.nonfinite: dict[Phase, int] = {"warmup": 0, "draw": 0}

    def record(self, phase: Phase, i: int, state: Any, info: Info, params: Any) -> None:
        """Count one iteration."""
        self.iterations[phase] = i + 1
        self.nonfinite[phase] += int(np.sum(~np.isfinite(info.proposal.logp)))
