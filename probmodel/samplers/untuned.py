"""Samplers that learn nothing: their proposals are functions of the state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.samplers.base import Info, Sampler
from probmodel.types import LogDensity


class NoParams(NamedTuple):
    """Nothing."""


class UntunedSampler(Sampler):
    """A sampler whose warm-up only forgets the start."""

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: Any) -> NoParams:
        """Nothing is learned."""
        return NoParams()

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: NoParams,
        state: Any,
        info: Info,
    ) -> NoParams:
        """Nothing is learned."""
        return adaptation

    def params(self, adaptation: NoParams, final: bool = False) -> NoParams:
        """Nothing."""
        return adaptation
