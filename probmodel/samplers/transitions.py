"""Transitions of trajectories that end one by one, until all chains have made them."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.adaptation.steering import Steering
from probmodel.samplers.base import Info, State
from probmodel.samplers.windowed import Record
from probmodel.types import Array


def selection(index: Array) -> Array | slice:
    """Return what selects some rows; for a single row a slice, which is faster and no copy."""
    if index.size > 1:
        return index
    row = int(index[0])
    return slice(row, row + 1)


class Results:
    """Transitions that are over, until every chain has made them.

    Parameters
    ----------
    chains, dim : sizes
    ahead : transitions that are held at a time
    """

    def __init__(self, chains: int, dim: int, ahead: int) -> None:
        self._shape, self._ahead = (chains, ahead), ahead
        self._nowhere = np.broadcast_to(np.nan, (chains, dim))
        self._broken: dict[int, Array] = {}
        held = chains * ahead
        self._columns = (
            np.empty((2, held, dim)), np.empty((6, held)),
            np.empty((2, held), dtype=int), np.empty((4, held), dtype=bool),
        )  # fmt: skip

    def put(self, index: Array, iterations: Array, *found: Array) -> None:
        """Take what some chains found in their transitions of those numbers.

        ``found`` are arrays whose second axis is that of the chains: position and gradient; log
        density, log weight, total, acceptances, energy at the start and step size; leaves and
        doublings; whether the chain moved, the trajectory turned, a subtree failed, and a leaf
        diverged.
        """
        places = selection(index * self._ahead + iterations % self._ahead)
        for column, values in zip(self._columns, found, strict=True):
            column[:, places] = values

    def break_down(self, index: Array, iterations: Array, x: Array) -> None:
        """Take where trajectories of some chains diverged."""
        for row, iteration, place in zip(index, iterations.tolist(), x, strict=True):
            self._broken.setdefault(iteration, self._nowhere.copy())[row] = place

    def take(self, iteration: int, previous: Any, steering: Steering | None) -> tuple[State, Info]:
        """Return the state after a transition that all chains have made, and its info."""
        place = iteration % self._ahead
        (x, grad), scalars, (n_steps, depth), flags = (
            column.reshape(len(column), *self._shape, *column.shape[2:])[:, :, place].copy()
            for column in self._columns
        )
        logp, weight, _, alpha, energy, step_size = scalars
        moved, turned, failed, diverged = flags
        state = State(x, logp, grad)
        stats = {
            "n_steps": n_steps, "tree_depth": depth, "reached_max_treedepth": ~(turned | failed),
            "energy": energy - weight, "step_size": step_size,
        }  # fmt: skip
        info = Info(
            accept_prob=alpha / n_steps, accepted=moved, diverging=diverged,
            n_grad=n_steps, previous=previous, proposal=state, stats=stats,
            record=Record(self._broken.pop(iteration, self._nowhere), steering),
        )  # fmt: skip
        return state, info
