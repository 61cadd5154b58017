"""Random-walk Metropolis: normal moves of one scale, without gradients.

    x, y       position, proposal                      (chains, dim)
    sigma      step size: a move is sigma eta          ()
    delta      sigma^2                                 ()
    a          whether the proposal was accepted       (chains,)

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 4.

The rule for delta is that of `step_size`. Deviations: the first step size is found by trying, where
the paper's code starts at delta = 0.5/dim, and chains that share a step size apply the rule for it
once each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.samplers.base import Info, Need, State
from probmodel.samplers.metropolis import decide, evaluate_value
from probmodel.samplers.step_size import Params, StepSizeSampler
from probmodel.types import LogDensity


@dataclass(frozen=True)
class RandomWalk(StepSizeSampler):
    """Random-walk Metropolis.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1.
    step_rate : float
        Robbins-Monro rate eta, above 0; the factor ``1 - eta`` of a rejection must stay positive,
        so below 1.
    """

    target_accept: float = 0.25
    step_rate: float = 0.01

    name: ClassVar[str] = "rwm"
    summary: ClassVar[str] = "random-walk Metropolis, no gradients"
    paper: ClassVar[str] = "Metropolis et al. (1953); Titsias and Dellaportas (2019)"
    needs: ClassVar[Need] = "log density"
    learns: ClassVar[str] = "step size"
    cost: ClassVar[str] = "1 log density"

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One random-walk transition of every chain."""
        y = state.x + params.step_size * rng.standard_normal(state.x.shape)
        proposal = evaluate_value(density, y)
        with np.errstate(over="ignore"):
            log_ratio = proposal.logp - state.logp
        return decide(rng, log_ratio, state, proposal, n_grad=0)
