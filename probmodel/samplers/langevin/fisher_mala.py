"""Fisher-adaptive Langevin (MALA): the preconditioner is learned from score increments.

    x, y      position, proposal                                        (chains, dim)
    g         score, the gradient of the log density                    (chains, dim)
    A, R      inverse Fisher matrix, and a root of it: A = R R'         (dim, dim)
    sigma     step size: a move is sigma^2/2 A g(x) + sigma R eta, with tr(A) = dim
    eta       standard normal noise                                     (chains, dim)

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", Algorithm 1.

The head of `fisher_warmup` says how R and sigma are adapted, and what is added to the paper for
several chains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.fisher_warmup import (
    FisherWarmedSampler,
    FisherWarmup,
    LearningRate,
    Params,
    Signal,
)
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.types import LogDensity


@dataclass(frozen=True)
class FisherMALA(FisherWarmedSampler):
    """Fisher-adaptive Metropolis-adjusted Langevin algorithm.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1.
    step_rate : float
        Robbins-Monro rate rho of sigma^2, between 0 and 1.
    signal : {"rb", "increment", "score", "paired"}
        Signal from which R is learned: the score increment of every proposal, weighted by its
        acceptance probability (eq. 16); that of accepted proposals (eq. 15); the score itself,
        uncentred (section 4.1); or centred by its running mean (appendix C).
    damping : float
        lambda, above 0.
    initial_steps : int, optional
        n0, iterations before R is learned, at least 0. By default 500, or a quarter of a warm-up
        shorter than 2000.
    learning_rate : float or callable, optional
        gamma_n of appendix B: a number in (0, 1), or a function of n = 2, 3, ... with such values
        (gamma_1 is 1). By default 1/n, or 4/(n + 3) in a robust run.
    robust : bool, optional
        Whether to add to Algorithm 1 the changes listed at the head of `fisher_warmup`. By default
        for groups of several chains; ``False`` is the paper's algorithm for any number of chains.
    metric : {"dense", "diag"}
        Whether A is dense, as in the paper, or a diagonal, for very many parameters.
    """

    signal: Signal = "rb"
    damping: float = 10.0
    initial_steps: int | None = None
    learning_rate: LearningRate = None
    robust: bool | None = None
    metric: Literal["dense", "diag"] = "dense"

    name: ClassVar[str] = "fisher_mala"
    summary: ClassVar[str] = "Langevin with a preconditioner learned from score increments"
    paper: ClassVar[str] = "Titsias (2023)"
    learns: ClassVar[str] = "step size, dense preconditioner"
    cost: ClassVar[str] = "1 gradient, 3 O(d²)"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._warmup()

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One preconditioned Langevin transition of every chain (eq. 3, Proposition 1)."""
        return langevin_step(rng, density, state, params.root, params.step_size)

    def _warmup(self) -> FisherWarmup:
        return FisherWarmup(
            self.name, self.step_size, self.target_accept, self.step_rate, self.signal,
            self.damping, self.initial_steps, self.learning_rate, self.robust,
            diagonal=self.metric == "diag",
        )  # fmt: skip
