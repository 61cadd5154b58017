"""The Metropolis-adjusted Langevin kernel with a preconditioner, shared by the Langevin samplers.

    x, y      position, proposal                      (chains, dim)
    g         gradient of the log density             (chains, dim)
    R         a square root of the preconditioner     (dim, dim) or (dim,), A = R R'
    sigma     step size                               () or (chains,)
    eta       standard normal noise                   (chains, dim)

A move is ``y = x + sigma^2/2 A g(x) + sigma R eta``. The ratio is computed from the noise that
would lead back, so that neither the inverse of A nor its determinant is needed: the whitened form
of Proposition 1 in Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.adaptation.initial_step import initial_step
from probmodel.numerics.roots import times, transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import decide, evaluate
from probmodel.types import Array, LogDensity

# A transition of every chain: generator, target, state, root and step size.
Kernel = Callable[
    [np.random.Generator, LogDensity, State, Array | None, float | Array], tuple[State, Info]
]


def propose(
    density: LogDensity, state: State, root: Array | None, step_size: float | Array, eta: Array
) -> tuple[State, Array]:
    """Proposal for each chain, and the logarithm of its Metropolis-Hastings ratio.

    Parameters
    ----------
    density : the target
    state : where the chains are
    root : (dim, dim), (dim,) for a diagonal one, or None for the identity
    step_size : positive; one for all, or (chains,)
    eta : (chains, dim), the noise

    Returns
    -------
    proposal : State
    log_ratio : (chains,); meaningless where the proposal is not finite
    """
    sigma = np.reshape(step_size, (-1, 1))
    half = 0.5 * sigma
    w = half * transposed_times(root, state.grad) + eta
    with np.errstate(over="ignore", invalid="ignore"):
        y = state.x + sigma * times(root, w)  # eq. (3)
        proposal = evaluate(density, y)
        u = w + half * transposed_times(
            root, proposal.grad
        )  # minus the noise that leads from y to x
        log_ratio = proposal.logp - state.logp - 0.5 * np.sum((u - eta) * (u + eta), axis=1)
    return proposal, log_ratio


def langevin_step(
    rng: np.random.Generator,
    density: LogDensity,
    state: State,
    root: Array | None,
    step_size: float | Array,
) -> tuple[State, Info]:
    """One Metropolis-adjusted Langevin transition of every chain; see `propose`."""
    eta = rng.standard_normal(state.x.shape)
    proposal, log_ratio = propose(density, state, root, step_size, eta)
    return decide(rng, log_ratio, state, proposal, n_grad=1)


def noisy_langevin_step(
    rng: np.random.Generator, density: LogDensity, state: State, root: Array
) -> tuple[State, Info]:
    """One transition with a step size of one, whose ``info.record`` is the noise: (chains, dim)."""
    eta = rng.standard_normal(state.x.shape)
    proposal, log_ratio = propose(density, state, root, 1.0, eta)
    new, info = decide(rng, log_ratio, state, proposal, n_grad=1)
    return new, info._replace(record=eta)


def find_step_size(
    rng: np.random.Generator,
    density: LogDensity,
    state: State,
    root: Array | None,
    start: float = 1.0,
    chains: Array | slice = slice(None),
    kernel: Kernel = langevin_step,
) -> float:
    """Step size that about half of the chains (or of some of them) accept from where they are."""

    def acceptance_at(step_size: float) -> float:
        _, info = kernel(rng, density, state, root, step_size)
        return float(np.mean(info.accept_prob[chains]))

    return initial_step(acceptance_at, start)
