"""Adaptive Metropolis: a random walk with a covariance learned from the past positions.

    x, y      position, proposal                                   (chains, dim)
    mu        running mean of the positions                        (dim,)
    L         root of the proposal covariance up to delta          (dim, dim), lower triangular
    delta     squared scale: a move is sqrt(delta) L eta           ()
    z         L^-1 (x - mu)                                        (chains, dim)
    rho_t     learning rate of L                                   ()
    a         whether the proposal was accepted                    (chains,)

    variant "haario": Haario, Saksman and Tamminen (2001), "An adaptive Metropolis algorithm",
    Bernoulli 7, as in Zhu (2019), "Sample adaptive MCMC", section 4: L is the Cholesky factor of
    the covariance of all positions so far.
    variant "cholesky": Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte
    Carlo", section 4: L follows a stochastic gradient.

Deviations: both stop adapting with the warm-up. All chains of a group share one L. "haario" steers
its scale by the rule of the other variant, where Zhu tunes it by hand, factorises anew after every
fifth iteration only, and begins with plain steps whose size is found by trying. With ``forget`` it
begins anew with the covariance at iterations n0, 2 n0, 4 n0, ...: otherwise the path from a distant
start would bias it for very long. Each chain applies the rule for delta once. A dense L of
"cholesky" does not more than double in one move, as it would again and again while it is far too
small: there the paper's step is unstable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.robbins_monro import rm_ratio
from probmodel.adaptation.welford import Moments, add_batch, no_moments
from probmodel.numerics.linalg import solve_lower
from probmodel.numerics.roots import times
from probmodel.samplers.base import Info, Need, State
from probmodel.samplers.metropolis import adaptable, decide, evaluate_value
from probmodel.samplers.settings import check_whole
from probmodel.samplers.steered import SteeredSampler
from probmodel.types import Array, LogDensity

Variant = Literal["haario", "cholesky"]
Preset = Literal["paper", "code"]

INITIAL_STEPS = 500  # plain iterations of a warm-up long enough
REFRESH = 5  # iterations between factorisations
OPTIMAL = 2.38  # over sqrt(dim): the scale that suits a normal target of known covariance
MEAN_RATE = 0.01  # of mu
SMALLEST = 1e-3  # of the diagonal of L


class Schedule(NamedTuple):
    """How "cholesky" learns: rho_t = rate / (1 + t / time), and where its scales start.

    Attributes
    ----------
    rate, time : of rho_t
    L, delta : initial diagonal of L, and initial delta, each as (factor, power of dim)
    """

    rate: float
    time: float
    L: tuple[float, float]
    delta: tuple[float, float]


PRESETS: dict[Preset, Schedule] = {
    "paper": Schedule(0.001, 4000.0, (0.1, -0.5), (1.0, 0.0)),
    "code": Schedule(0.0005, 5000.0, (1.0, 0.0), (0.1, -0.5)),
}


class Params(NamedTuple):
    """Root of the proposal covariance, (dim, dim) or None for the identity, and its scale."""

    root: Array | None
    step_size: float


class Adaptation(NamedTuple):
    """Logarithm of delta, moments of the positions, and the root in use."""

    log_delta: float
    moments: Moments
    root: Array | None


@dataclass(frozen=True)
class AdaptiveMetropolis(SteeredSampler):
    """Adaptive random-walk Metropolis.

    Parameters
    ----------
    step_size : float, optional
        Initial scale; by default found by trial steps ("haario") or as in the preset ("cholesky").
    target_accept : float
        Target acceptance rate for the scale, between 0 and 1.
    step_rate : float
        Robbins-Monro rate of delta, between 0 and 1.
    variant : {"haario", "cholesky"}
        Rule that adapts the covariance, see the head of this file.
    diagonal : bool
        Whether to learn scales only.
    initial_steps : int, optional
        Number of plain iterations before the covariance is used, at least 2; for "haario" only. By
        default 500, or a quarter of a warm-up shorter than 2000.
    preset : {"paper", "code"}
        Initial scales and learning rate of "cholesky": those of the paper, or those of its
        authors' program, which made the tables.
    forget : bool
        Whether "haario" forgets the positions before the last power of 2 times ``initial_steps``;
        ``False`` keeps them all, as in the paper.
    """

    target_accept: float = 0.25
    step_rate: float = 0.01
    variant: Variant = "haario"
    diagonal: bool = False
    initial_steps: int | None = None
    preset: Preset = "paper"
    forget: bool = True

    name: ClassVar[str] = "am"
    summary: ClassVar[str] = "random walk with a learned covariance, no gradients"
    paper: ClassVar[str] = "Haario, Saksman and Tamminen (2001)"
    needs: ClassVar[Need] = "log density"
    learns: ClassVar[str] = "scale, dense covariance"
    cost: ClassVar[str] = "1 log density, O(d²)"
    default_warmup: ClassVar[int] = 5000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "initial_steps", self.initial_steps, least=2, optional=True)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One random-walk transition of every chain."""
        eta = rng.standard_normal(state.x.shape)
        move = times(params.root, eta)
        proposal = evaluate_value(density, state.x + params.step_size * move)
        with np.errstate(over="ignore"):
            log_ratio = proposal.logp - state.logp
        return decide(rng, log_ratio, state, proposal, n_grad=0)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start from plain steps ("haario"), or from short equal scales ("cholesky")."""
        dim = state.x.shape[1]
        if self.variant == "cholesky":
            moments = Moments(0, state.x.mean(axis=0), np.zeros((dim, dim)))
            L, delta = (factor * dim**power for factor, power in PRESETS[self.preset][2:])
            delta = delta if self.step_size is None else self.step_size**2
            return Adaptation(float(np.log(delta)), moments, L * np.eye(dim))

        def acceptance_at(step_size: float) -> float:
            _, info = self.step(rng, density, state, Params(None, step_size))
            return float(np.mean(info.accept_prob))

        sigma = self.step_size or initial_step(acceptance_at, crossing=self.target_accept)
        return Adaptation(2.0 * float(np.log(sigma)), no_moments(dim), None)

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
        """Learn the covariance from the new positions, and steer delta."""
        a = adaptable(info.accepted, info).astype(float)
        log_delta = rm_ratio(adaptation.log_delta, a, self.target_accept, self.step_rate)
        if self.variant == "cholesky":
            return Adaptation(log_delta, *self._follow(i, adaptation, state.x))
        n0 = min(INITIAL_STEPS, max(n_warmup // 4, 2))
        n0 = n0 if self.initial_steps is None else self.initial_steps
        start = n0 * 2 ** ((i // n0).bit_length() - 1) if self.forget and i >= n0 else 0
        anew = start > 0 and i == start
        moments = no_moments(len(adaptation.moments.mean)) if anew else adaptation.moments
        moments, root = add_batch(moments, state.x), adaptation.root
        enough = 4 * (i + 1 - start) >= start
        if i >= n0 - 1 and enough and (root is None or i % REFRESH == 0):
            root = self._factor(moments, root)
            if adaptation.root is None and root is not None:
                log_delta = 2.0 * float(np.log(OPTIMAL / np.sqrt(len(root))))
        return Adaptation(log_delta, moments, root)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Root and scale of the next transition."""
        return Params(adaptation.root, float(np.exp(0.5 * adaptation.log_delta)))

    def _factor(self, moments: Moments, known: Array | None) -> Array | None:
        """Root of the covariance so far; the last one while rounding leaves none."""
        covariance = moments.scatter / max(moments.n - 1, 1)
        if self.diagonal:
            covariance = np.diag(np.diagonal(covariance))
        dim = len(covariance)
        jitter = 1e-10 * np.trace(covariance) / dim * np.eye(dim)
        try:
            root = np.linalg.cholesky(covariance + jitter)
        except np.linalg.LinAlgError:
            return known
        return root if np.isfinite(root).all() else known

    def _follow(self, t: int, adaptation: Adaptation, x: Array) -> tuple[Moments, Array]:
        """Move mu and L towards the new positions: L <- L + rho_t tril(L (z z' - I))."""
        L = adaptation.root
        assert L is not None
        mean = adaptation.moments.mean
        mean = mean + MEAN_RATE * (x.mean(axis=0) - mean)
        r = x - mean
        z = solve_lower(L, r.T).T
        schedule = PRESETS[self.preset]
        rho = schedule.rate / (1.0 + t / schedule.time)
        if not self.diagonal:
            z = z / np.maximum(1.0, rho * np.sum(z * z, axis=1, keepdims=True))
        L = (1.0 - rho) * L + rho * np.tril(r.T @ z / len(x))
        diagonal = np.maximum(np.diagonal(L), SMALLEST)
        L = np.diag(diagonal) if self.diagonal else np.tril(L, -1) + np.diag(diagonal)
        return adaptation.moments._replace(mean=mean), L
