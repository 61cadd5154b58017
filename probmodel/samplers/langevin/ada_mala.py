"""Adaptive Langevin, preconditioned by the running covariance of the chain.

    x, y      position, proposal                                        (chains, dim)
    Sigma_n   covariance of the first n positions, plus lambda I/(n-1)  (dim, dim)
    R         Cholesky factor of Sigma_n up to a factor                 (dim, dim)
    sigma     step size: a move is sigma^2/2 A g(x) + sigma R eta, A = R R' with tr(A) = dim
    lambda    damping
    n0        initial iterations of each of two phases

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", section 5.1,
    eq. (7) and (17), appendix D.

Deviations: the first step size is found by trying (the paper gives none). The positions of all
chains of a group update Sigma_n together (eq. 17 in batches), and each chain applies the rule for
sigma^2 once. R is computed anew after every fifth iteration only. A warm-up shorter than 2000
iterations has shorter phases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.fisher_root import normalised
from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.adaptation.welford import Moments, add_batch, no_moments
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.kernel import find_step_size, langevin_step
from probmodel.samplers.metropolis import adaptable
from probmodel.samplers.settings import check_number, check_whole
from probmodel.samplers.steered import SteeredSampler
from probmodel.types import Array, LogDensity

INITIAL_STEPS = 500  # the paper's n0, for a warm-up long enough
REFRESH = 5  # iterations between factorisations


class Params(NamedTuple):
    """Root of the preconditioner (None: the identity), with tr(R R') = dim, and step size."""

    root: Array | None
    step_size: float


class Adaptation(NamedTuple):
    """Logarithm of sigma^2, moments of the positions, and the root in use."""

    log_sigma2: float
    moments: Moments
    root: Array | None


@dataclass(frozen=True)
class AdaMALA(SteeredSampler):
    """Metropolis-adjusted Langevin preconditioned by the running covariance.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1.
    step_rate : float
        Robbins-Monro rate rho of sigma^2, between 0 and 1.
    damping : float
        lambda, above 0.
    initial_steps : int, optional
        n0, at least 1: number of plain iterations, followed by as many that learn the covariance
        before it is used. By default 500, or a quarter of a warm-up shorter than 2000.
    """

    damping: float = 10.0
    initial_steps: int | None = None

    name: ClassVar[str] = "ada_mala"
    summary: ClassVar[str] = "Langevin preconditioned by the running covariance"
    paper: ClassVar[str] = "Titsias (2023)"
    learns: ClassVar[str] = "step size, dense preconditioner"
    cost: ClassVar[str] = "1 gradient, 3 O(d²)"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.name, "damping", self.damping, above=0.0)
        check_whole(self.name, "initial_steps", self.initial_steps, least=1, optional=True)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One preconditioned Langevin transition of every chain (eq. 3, Proposition 1)."""
        return langevin_step(rng, density, state, params.root, params.step_size)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start with plain MALA."""
        sigma = self.step_size or find_step_size(rng, density, state, None)
        return Adaptation(2.0 * float(np.log(sigma)), no_moments(state.x.shape[1]), None)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Steer sigma^2; from n0 on learn Sigma_n, and use it from 2 n0 on (appendix D)."""
        n0 = min(INITIAL_STEPS, max(n_warmup // 4, 1))
        n0 = n0 if self.initial_steps is None else self.initial_steps
        alpha = adaptable(info.accept_prob, info)
        log_sigma2 = rm_abs(adaptation.log_sigma2, alpha, self.target_accept, self.step_rate)
        moments, root = adaptation.moments, adaptation.root
        if i >= n0:
            moments = add_batch(moments, state.x)  # eq. (17)
        if i >= 2 * n0 - 1 and (root is None or i % REFRESH == 0):
            root = self._root(moments, root)
        return Adaptation(log_sigma2, moments, root)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Root and step size of the next transition (eq. 7)."""
        return Params(adaptation.root, float(np.exp(0.5 * adaptation.log_sigma2)))

    def _root(self, moments: Moments, known: Array | None) -> Array | None:
        """Root of Sigma_n scaled to trace dim; the last one if rounding leaves none."""
        try:
            # Sigma_n (n - 1) = scatter + lambda I: eq. (7) does not see the factor.
            root = np.linalg.cholesky(moments.scatter + self.damping * np.eye(len(moments.mean)))
        except np.linalg.LinAlgError:
            return known
        return normalised(root) if np.isfinite(root).all() else known
