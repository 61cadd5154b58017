"""The loss of entropy-based adaptive HMC, and its gradient as outer products.

    C          root of the inverse mass matrix, M^-1 = C C'                  a map
    h, L       step size, leapfrog steps
    g_l        gradient of the potential U at the point q_l of a trajectory  (chains, dim)
    v, r_L     whitened momentum at its start and end                        (chains, dim)
    Delta      energy at the end less that at the start                      (chains,)
    w          h² sum_{l<L} (L - l) g_l + L h²/2 g_0: q_L = q_0 + L h C v - C C'w
    s          h/2 (g_0 + g_L) + h sum_{0<l<L} g_l:  r_L = v - C's
    D          -kappa C'H C, H the Hessian of U at the middle of the trajectory
    mu         largest eigenvalue of D, estimated
    beta       weight of the proposal's entropy
    gamma      weight of the penalty for |mu| above delta
    l, r       factors of the gradient in C, the sum of l r'                 (k, chains, dim)

The loss of one trajectory is

    E = max(0, Delta) - beta [dim log h + log|det C| + log|det(I + D)| - gamma penalty(|mu|)].

Its first term is minus the logarithm of the acceptance probability, the rest the entropy of the
proposal, up to a constant. The gradients g_l are held fixed when it is differentiated.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    eq. (3), (4), (9), (14) and (16), Algorithm 1 and appendix A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.adaptation.projections import Products
from probmodel.adaptation.roulette import Expansion
from probmodel.types import Array

BETA = (1e-2, 1e2)  # limits of beta
GAMMA = (1e3, 1e5)  # limits of gamma
FIRST_BETA, FIRST_GAMMA = 1.0, 1e4
LINEAR = 1.0  # beyond delta by this much the penalty is linear

Outer = tuple[Array, Array]  # l and r: (k, chains, dim) each


class Path(NamedTuple):
    """Trajectories of L leapfrog steps, all of them finite.

    Attributes
    ----------
    x : (L + 1, chains, dim), positions q_l
    slopes : (L + 1, chains, dim), gradients g_l of the potential
    halves : (L, chains, dim), whitened momenta halfway between the positions
    start, end : (chains, dim), v and r_L
    delta : (chains,), Delta
    """

    x: Array
    slopes: Array
    halves: Array
    start: Array
    end: Array
    delta: Array

    @property
    def n_steps(self) -> int:
        """L."""
        return len(self.halves)

    @property
    def middle(self) -> Array:
        """Where the Hessian is taken (eq. 12): (chains, dim)."""
        return np.asarray(self.x[self.n_steps // 2])


class Weights(NamedTuple):
    """What the entropy (beta) and the penalty within it (gamma) weigh."""

    beta: float = FIRST_BETA
    gamma: float = FIRST_GAMMA


def displacement(path: Path, h: float) -> Array:
    """Return w (eq. 3 and 5): (chains, dim)."""
    L = path.n_steps
    factors = h * h * np.arange(L, 0.0, -1.0)
    factors[0] *= 0.5
    return np.tensordot(factors, path.slopes[:L], 1)


def impulse(path: Path, h: float) -> Array:
    """Return s (eq. 4): (chains, dim)."""
    factors = np.full(path.n_steps + 1, h)
    factors[[0, -1]] *= 0.5
    return np.tensordot(factors, path.slopes, 1)


def energy_outer(path: Path, h: float, C: Products) -> Outer:
    """Gradient in C of max(0, Delta) with all g_l held fixed (eq. 16)."""
    w, last = displacement(path, h), path.slopes[-1]
    uphill = np.where(path.delta > 0.0, 1.0, 0.0)[:, None]
    pull = uphill * last
    left = [path.n_steps * h * pull, -pull, -uphill * w, -uphill * impulse(path, h)]
    right = [path.start, C.transposed(w), C.transposed(last), path.end]
    return np.stack(left), np.stack(right)


def entropy_outer(
    expansion: Expansion, eps: Array, kappa: float, weights: Weights, bend: Array
) -> Outer:
    """Gradient in C of -beta [log|det(I + D)| - gamma penalty(|mu|)].

    Parameters
    ----------
    expansion, eps, kappa : of the series that estimates the log determinant
    weights : beta and gamma
    bend : (chains,), derivative of the penalty at |mu|
    """
    beta, gamma = weights
    push = 2.0 * beta * gamma * kappa * (bend * np.sign(expansion.mu))[:, None]
    left = [
        beta * kappa * expansion.curved_eps,
        beta * kappa * expansion.curved_y,
        -push * expansion.curved_direction,
    ]
    return np.stack(left), np.stack([expansion.y, eps, expansion.direction])


def loss(
    delta: Array, log_det_root: float, expansion: Expansion, weights: Weights, penalties: Array
) -> Array:
    """Return E for each chain, up to the constant beta dim log h."""
    entropy = log_det_root + expansion.log_det - weights.gamma * penalties
    return np.asarray(np.maximum(0.0, delta) - weights.beta * entropy)


def penalty(size: Array, start: float, slope: float) -> tuple[Array, Array]:
    """Penalty for an eigenvalue of D of that size, and its derivative (appendix A.2).

    Parameters
    ----------
    size : |mu|
    start : delta, up to which there is none; from there it is a square
    slope : derivative from delta + 1 on. With 1, as published, the penalty has a kink there; with
        2 it is smooth.
    """
    excess = np.maximum(size - start, 0.0)
    beyond = np.maximum(excess - LINEAR, 0.0)
    inner = np.minimum(excess, LINEAR)
    bend = np.where(beyond > 0.0, slope, 2.0 * inner)
    return np.asarray(inner * inner + slope * beyond), bend


def steer(
    weights: Weights, accepted: float, target: float, rate: float, penalties: Array
) -> Weights:
    """Update beta and gamma (Algorithm 1, lines 11 and 12).

    ``rate`` is that of both; gamma is raised by ``rate gamma`` times the mean of the penalties,
    (chains,). ``accepted`` is the mean acceptance probability, ``target`` the one aimed at.
    """
    beta = np.clip(weights.beta * (1.0 + rate * (accepted - target)), *BETA)
    rise = np.mean(penalties) if len(penalties) else 0.0
    gamma = np.clip(weights.gamma * (1.0 + rate * rise), *GAMMA)
    return Weights(float(beta), float(gamma))
