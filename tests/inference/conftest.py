"""A sampler whose moves are known, and ways to interrupt it."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from probmodel.samplers.base import Info, Sampler, State


class Params(NamedTuple):
    step_size: float


@dataclass(frozen=True)
class Counting(Sampler):
    """Adds one to every coordinate at each transition; the step size counts adaptations.

    ``interrupt_at`` presses Ctrl-C in the adaptation or transition with that number (from 1).
    """

    fewest: int = 1
    interrupt_at: int | None = None

    name: ClassVar[str] = "counting"
    summary: ClassVar[str] = "adds one"
    paper: ClassVar[str] = "none"
    coupling: ClassVar[str] = "pooled_warmup"
    presses: ClassVar[SimpleNamespace] = SimpleNamespace(count=0)

    def min_chains(self, dim):
        return self.fewest

    def init(self, rng, density, x):
        return State(x, *density(x))

    def step(self, rng, density, state, params):
        self.presses.count += 1
        if self.presses.count == self.interrupt_at:
            raise KeyboardInterrupt
        x = state.x + 1.0
        proposal = State(x, *density(x))
        chains = len(x)
        stats = {"energy": -proposal.logp, "n_steps": np.full(chains, 3)}
        return proposal, Info(
            np.full(chains, 0.5), np.ones(chains, dtype=bool), np.zeros(chains, dtype=bool),
            np.full(chains, 3), state, proposal, stats,
        )  # fmt: skip

    def adapt_init(self, rng, density, state):
        return 0

    def adapt(self, rng, density, i, n_warmup, adaptation, state, info):
        assert i == adaptation
        return adaptation + 1

    def params(self, adaptation, final=False):
        return Params(-1.0 if final else float(adaptation))


class Flat:
    """A constant log density."""

    dim = 2
    coordinate_names = ()

    def __call__(self, x):
        return np.zeros(len(x)), np.zeros_like(x)

    def log_density(self, x):
        return np.zeros(len(x))


@pytest.fixture
def counting():
    """Make a counting sampler with a fresh count of its transitions."""

    def make(**settings):
        Counting.presses.count = 0
        return Counting(**settings)

    return make


@pytest.fixture
def flat():
    """A constant log density of two coordinates."""
    return Flat()
