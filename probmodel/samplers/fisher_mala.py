"""Fisher-adaptive Metropolis-adjusted Langevin: learns its preconditioner from score increments.

    x, y      position, proposal                                   (chains, dim)
    g         score, the gradient of the log density               (chains, dim)
    s         signal that is learned from, sqrt(alpha) (g(y) - g(x))   (chains, dim)
    A, R      inverse Fisher matrix, and a root of it: A = R R'    (dim, dim)
    sigma     step size: a move is sigma_R^2/2 A g + sigma_R R eta, sigma_R^2 = sigma^2 dim/tr(A)
    alpha     Metropolis-Hastings probability                      (chains,)
    n0        iterations of plain MALA before R is learned
    lambda    damping: A starts as I / lambda
    gamma_n   learning rate of the n-th update of A

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.fisher_root import downdate, kept, normalised, paired
from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.langevin import langevin_step
from probmodel.samplers.metropolis import adaptable, check_start, evaluate
from probmodel.samplers.settings import check_choice, check_number, check_whole
from probmodel.types import Array, LogDensity

Signal = Literal["rb", "increment", "score", "paired"]


class Params(NamedTuple):
    root: Array | None
    step_size: float


class Adaptation(NamedTuple):
    R: Array
    log_sigma2: float
    n: int
    gamma: float
    mean: Array
    weight: float
    learning: bool
    rej: Array
    f: Array


@dataclass(frozen=True)
class FisherMALA(Sampler):
    step_size: float | None = None
    target_accept: float = 0.574
    step_rate: float = 0.015
    signal: Signal = "rb"
    damping: float = 10.0
    initial_steps: int | None = None
    learning_rate: float | Callable[[int], float] | None = None
    eta: float = 3.0
    research: tuple = (1,2,4,8,16,32,64)
    rescue: int = 10

    name: ClassVar[str] = "fisher_mala"
    summary: ClassVar[str] = "Langevin with a preconditioner learned from score increments"
    paper: ClassVar[str] = "Titsias (2023)"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 1000
    default_draws: ClassVar[int] = 4000
    default_chains: ClassVar[int] = 16

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        return check_start(self.name, evaluate(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        return langevin_step(rng, density, state, params.root, params.step_size)

    def adapt_init(self, rng, density, state):
        def acceptance_at(step_size):
            _, info = langevin_step(rng, density, state, None, step_size)
            return float(np.mean(info.accept_prob))

        sigma = self.step_size or initial_step(acceptance_at)
        dim = state.x.shape[1]
        return Adaptation(np.eye(dim) / np.sqrt(self.damping), 2 * np.log(sigma), 0, 1.0, np.zeros(dim), 0.0, False, np.zeros(len(state.x)), np.ones(len(state.x)))

    def adapt(self, rng, density, i, n_warmup, adaptation, state, info):
        R, log_sigma2, n, gamma, mean, weight, learning, rej, f = adaptation
        whole = f == 1.0
        n0 = min(500, n_warmup // 4) if self.initial_steps is None else self.initial_steps
        if i >= n0:
            n += 1
            C = len(state.x)
            s = np.sqrt(info.accept_prob)[:, None] * (info.proposal.grad - info.previous.grad)
            eta = 0.0 if C == 1 else self.eta
            new = (1 + eta) / (n + eta)
            keep = 1.0 if n == 1 else kept(new, gamma)
            R = downdate(R, adaptable(s, info), keep)
            gamma = new
        alpha = adaptable(info.accept_prob, info) if whole.all() else (info.accept_prob[whole] if whole.any() else np.zeros(1))
        if len(state.x) > 1 and self.rescue:
            rej = np.where(info.accepted, 0, rej+1)
            f = np.where(info.accepted, np.minimum(1.0, f*2), np.where(rej >= self.rescue, f*.5, f))
        if i >= n0 and n in self.research and len(state.x) > 1:
            root = normalised(R)
            def acceptance_at(step_size):
                _, inf = langevin_step(rng, density, state, root, step_size)
                return float(np.mean(inf.accept_prob))
            sg = initial_step(acceptance_at, float(np.exp(.5*log_sigma2)))
            return Adaptation(R, 2*np.log(sg), n, gamma, mean, weight, learning, rej, f)
        log_sigma2 = rm_abs(log_sigma2, alpha, self.target_accept, self.step_rate)
        return Adaptation(R, log_sigma2, n, gamma, mean, weight, learning, rej, f)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        sg = float(np.exp(0.5 * adaptation.log_sigma2))
        return Params(normalised(adaptation.R), sg if final or (adaptation.f==1).all() else sg*adaptation.f)
