"""Barker's proposal: noise whose signs lean towards the gradient, so that no move is too long.

    x, y      position, proposal                                              (chains, dim)
    g         gradient of the log density                                     (chains, dim)
    A, R      preconditioner, and a root of it: A = R R', tr(A) = dim         (dim, dim)
    c         whitened gradient R'g                                           (chains, dim)
    sigma     step size                                                       () or (chains,)
    z         sigma times symmetric noise                                     (chains, dim)
    b         signs, +1 with probability p(x, z) = 1 / (1 + exp(-z c))        (chains, dim)
    w         b z, the whitened move: y = x + R w                             (chains, dim)

    Livingstone and Zanella (2022), "The Barker proposal: combining robustness and efficiency in
    gradient-based MCMC", JRSS B 84(2), Algorithms 1 (the proposal) and 2 (its acceptance).
    Vogrinc, Livingstone and Zanella (2023), "Optimal design of the Barker proposal and other
    locally balanced Metropolis-Hastings algorithms", Biometrika 110(3): noise with two modes.

A gradient, however large, decides on signs only, where a Langevin move grows with it. Given z, a
coordinate of w has the density 2 mu(w) / (1 + exp(-w c)), mu being that of the noise. As mu is
symmetric, it drops out of the ratio

    pi(y) / pi(x) times the product over coordinates of
    (1 + exp(-w c(x))) / (1 + exp(w c(y))).

Deviations: A is learned from score increments, as `fisher_mala` learns it (see `fisher_warmup`). In
place of that the paper adapts the covariance of the draws, which learns badly scaled posteriors
far more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from probmodel.numerics.roots import times, transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.fisher_warmup import FisherWarmedSampler, FisherWarmup, Params
from probmodel.samplers.metropolis import decide, evaluate
from probmodel.types import Array, LogDensity

Noise = Literal["bimodal", "normal"]
Metric = Literal["dense", "diag"]

SPREAD = 0.1  # standard deviation about each of the two modes, of noise with variance one


@dataclass(frozen=True)
class Barker(FisherWarmedSampler):
    """Barker's proposal with a learned preconditioner.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1; 0.574 is optimal in high dimension, and
        0.4 suits normal noise.
    step_rate : float
        Robbins-Monro rate of sigma^2, between 0 and 1.
    noise : {"bimodal", "normal"}
        Distribution of the noise: two narrow normal ones about -1 and 1, or one about 0.
    metric : {"dense", "diag"}
        Whether A is dense, or a diagonal, for very many parameters.
    """

    noise: Noise = "bimodal"
    metric: Metric = "dense"

    name: ClassVar[str] = "barker"
    summary: ClassVar[str] = "noise whose signs follow the gradient, with a learned preconditioner"
    paper: ClassVar[str] = "Livingstone and Zanella (2022)"
    learns: ClassVar[str] = "step size, dense preconditioner"
    cost: ClassVar[str] = "1 gradient, 3 O(d²)"

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One transition of every chain (Algorithm 2)."""
        return barker_step(rng, density, state, params.root, params.step_size, self.noise)

    def _warmup(self) -> FisherWarmup:
        return FisherWarmup(
            self.name, self.step_size, self.target_accept, self.step_rate,
            diagonal=self.metric == "diag", kernel=partial(barker_step, noise=self.noise),
        )  # fmt: skip


def barker_step(
    rng: np.random.Generator,
    density: LogDensity,
    state: State,
    root: Array | None,
    step_size: float | Array,
    noise: Noise,
) -> tuple[State, Info]:
    """One transition of every chain; see `propose`."""
    z = rng.standard_normal(state.x.shape)
    if noise == "bimodal":
        z = np.sqrt(1.0 - SPREAD**2) + SPREAD * z  # signs are drawn below
    z = np.reshape(step_size, (-1, 1)) * z
    proposal, log_ratio = propose(density, state, root, z, rng.random(state.x.shape))
    return decide(rng, log_ratio, state, proposal, n_grad=1)


def propose(
    density: LogDensity, state: State, root: Array | None, z: Array, uniform: Array
) -> tuple[State, Array]:
    """Proposal for each chain, and the logarithm of its Metropolis-Hastings ratio.

    Parameters
    ----------
    density : the target
    state : where the chains are
    root : R, (dim, dim), (dim,) for a diagonal one, or None for the identity
    z : (chains, dim); a sign of its own does not matter, b makes either as likely as it has to be
    uniform : (chains, dim), which b is drawn with

    Returns
    -------
    proposal : State
    log_ratio : (chains,); meaningless where the proposal is not finite
    """
    with np.errstate(over="ignore", invalid="ignore"):
        c = transposed_times(root, state.grad)
        w = np.where(uniform < 1.0 / (1.0 + np.exp(-z * c)), z, -z)  # Algorithm 1
        proposal = evaluate(density, state.x + times(root, w))
        back = transposed_times(root, proposal.grad)
        signs = np.logaddexp(0.0, -w * c) - np.logaddexp(0.0, w * back)
        log_ratio = proposal.logp - state.logp + np.sum(signs, axis=1)
    return proposal, log_ratio
