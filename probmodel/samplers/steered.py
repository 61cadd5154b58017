"""The settings of samplers whose step size is steered towards an acceptance rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from probmodel.samplers.base import Coupling, Sampler
from probmodel.samplers.metropolis import check_start, evaluate, evaluate_value
from probmodel.samplers.settings import check_number, check_types
from probmodel.types import Array, LogDensity


@dataclass(frozen=True)
class SteeredSampler(Sampler):
    """Base of the samplers whose chains steer one step size together in the warm-up.

    Parameters
    ----------
    step_size : float, optional
        Initial step size; found by trial steps if not given.
    target_accept, step_rate : target acceptance rate and Robbins-Monro rate, between 0 and 1
    """

    step_size: float | None = None
    target_accept: float = 0.574
    step_rate: float = 0.015

    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 2000
    default_draws: ClassVar[int] = 5000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(self.name, "step_rate", self.step_rate, above=0.0, below=1.0)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Any:
        """State at the starting points; its gradient is zeros if the method needs none."""
        evaluated = evaluate_value if self.needs == "log density" else evaluate
        return check_start(self.name, evaluated(density, x))
