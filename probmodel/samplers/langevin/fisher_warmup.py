"""Warm-up of Langevin chains: the step size, and the inverse Fisher matrix from score increments.

    g         score, the gradient of the log density                    (chains, dim)
    alpha     Metropolis-Hastings probability                           (chains,)
    a         whether the proposal was accepted                         (chains,)
    s         signal that is learned from, sqrt(alpha) (g(y) - g(x))    (chains, dim)
    A, R      inverse Fisher matrix, and a root of it: A = R R'         (dim, dim)
    sigma     step size, with tr(A) = dim
    lambda    damping: A starts as I / lambda
    gamma_n   learning rate of the n-th update of A
    n0        initial iterations, before R is learned

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", Algorithm 1.

Deviations. The first step size is found by trying (the paper gives none). The signals of all chains
of a group update R together, and their mean acceptance steers sigma^2. With one chain that is
Algorithm 1 as published. Several chains that start far apart in a badly scaled posterior need
more within a short warm-up; ``robust`` adds, by default for groups of several chains:

1. Each chain steers its own step size at first, for n0/4 iterations (50 at most) or, up to n0, for
   as long as the steps of some chain keep growing.
2. R is learned from then on, from score increments, and thrown away after n0 iterations, so that
   the path to the bulk is forgotten.
3. The step size is looked for anew after updates 1, 2, 4, ..., 64 of R, because each changes the
   geometry under it by orders of magnitude, which Robbins-Monro steps take long to follow.
4. gamma_n = 4/(n + 3) in place of 1/n: later signals, from a better preconditioner, weigh more.
5. Each chain applies the rule for sigma^2, so that C chains steer C times as fast.
6. In coordinates in which chains are more than a thousand apart by then, such as masses of 1e30
   kilograms, A starts with the square of that distance: beside lambda such small scores are lost.
7. Chains that keep being rejected take shorter steps until they move, and signals a hundred times
   longer than those of other chains are shortened.

All of it ends with the warm-up.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.fisher_root import downdate, kept, normalised, paired, winsorised
from probmodel.adaptation.own_steps import OwnSteps, rescue, search, share, steer, whole_steps
from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.numerics.roots import held
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.kernel import Kernel, find_step_size, langevin_step
from probmodel.samplers.metropolis import adaptable
from probmodel.samplers.settings import check_number, check_types, check_whole
from probmodel.samplers.steered import SteeredSampler
from probmodel.types import Array, LogDensity

Signal = Literal["rb", "increment", "score", "paired"]
LearningRate = float | Callable[[int], float] | None

INITIAL_STEPS = 500  # the paper's n0, for a warm-up long enough
PLAIN_STEPS = 50  # iterations before a robust run begins to learn R
SEARCHES = (1, 2, 4, 8, 16, 32, 64)  # updates of R after which a step size is looked for
LONGEST_SIGNAL = 100.0  # times the median length, in a robust run
VERY_FAR = 1e3  # chains from each other, for their distance to be a first guess of a scale
FORGETTING = 3.0  # signal i of n weighs i^FORGETTING in a robust run


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    root : (dim, dim), R scaled so that tr(R R') = dim
    step_size : sigma; in a robust warm-up it may differ between chains, (chains,)
    """

    root: Array
    step_size: float | Array


class Fisher(NamedTuple):
    """Current estimate of the Fisher matrix.

    Attributes
    ----------
    R : (dim, dim), root of the inverse of the sum of signals, up to a factor
    n : number of updates
    gamma : learning rate of the last one
    mean, weight : mean signal (dim,), and what the signals weigh; for ``signal="paired"`` only
    """

    R: Array
    n: int
    gamma: float
    mean: Array
    weight: float


class Adaptation(NamedTuple):
    """State of the adaptation: log sigma^2, the Fisher matrix, and the chains that lag behind."""

    log_sigma2: float
    fisher: Fisher
    own: OwnSteps


@dataclass(frozen=True)
class FisherWarmup:
    """A warm-up in which a preconditioner is learned; the settings are those of `FisherMALA`.

    Parameters
    ----------
    sampler : name of the sampler that warms up, for messages
    step_size, target_accept, step_rate : what steers sigma
    signal, damping, initial_steps, learning_rate, robust : how R is learned
    diagonal : whether R is a vector, (dim,), the root of a diagonal A
    kernel : how the chains move
    fixed : coordinates that stay where they are

    Raises
    ------
    SamplerError
        If a setting of how R is learned is out of its range.
    """

    sampler: str
    step_size: float | None = None
    target_accept: float = 0.574
    step_rate: float = 0.015
    signal: Signal = "rb"
    damping: float = 10.0
    initial_steps: int | None = None
    learning_rate: LearningRate = None
    robust: bool | None = None
    diagonal: bool = False
    kernel: Kernel = langevin_step
    fixed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        name = self.sampler
        check_types(name, self)
        check_number(name, "damping", self.damping, above=0.0)
        check_whole(name, "initial_steps", self.initial_steps, least=0, optional=True)
        if not callable(self.learning_rate):
            check_number(
                name, "learning_rate", self.learning_rate, above=0.0, below=1.0, optional=True
            )

    def start(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start without a preconditioner."""
        chains, dim = state.x.shape
        fisher, own = self._fisher(dim), whole_steps(chains)
        if self.step_size is not None:
            return Adaptation(2.0 * float(np.log(self.step_size)), fisher, own)
        if not self._is_robust(chains):
            return Adaptation(self._search(rng, density, state, fisher, 0.0), fisher, own)

        root: Any = held(None, self.fixed, dim) if self.fixed else None

        def acceptance_at(steps: Array) -> Array:
            return self.kernel(rng, density, state, root, steps)[1].accept_prob

        return Adaptation(0.0, fisher, search(acceptance_at, chains))

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
        """Learn R, and steer the acceptance."""
        n0 = min(INITIAL_STEPS, n_warmup // 4)
        n0 = n0 if self.initial_steps is None else self.initial_steps
        if self._is_robust(len(state.x)):
            return self._adapt_robustly(rng, density, i, n_warmup, n0, adaptation, state, info)
        log_sigma2, fisher, own = adaptation
        if i >= n0:
            fisher = self._learn(fisher, state, info, self.signal)
        return Adaptation(self._steer(log_sigma2, own, info), fisher, own)

    def _adapt_robustly(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        n0: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Warm up with what the head of this file lists."""
        log_sigma2, fisher, own = adaptation
        at_first = i < min(PLAIN_STEPS, n0 // 4) or own.on_their_way
        if fisher.n == 0 and i < n0 and at_first:
            own = steer(own, info.accept_prob, self.target_accept)
            return Adaptation(log_sigma2, fisher, own)
        if fisher.n == 0:
            median = float(np.median(own.factor))
            log_sigma2, own = log_sigma2 + 2.0 * np.log(median), share(own, median)
        if fisher.n == 0 or i == n0:
            fisher = self._fisher(state.x.shape[1], widths(state.x))
        fisher = self._learn(fisher, state, info, "rb" if i < n0 else self.signal)
        if fisher.n in SEARCHES and i < n_warmup // 2:
            rows = own.whole if own.whole.any() else slice(None)
            found = self._search(rng, density, state, fisher, log_sigma2, rows)
            own = share(own, float(np.exp(0.5 * (found - log_sigma2))))
            return Adaptation(found, fisher, own)
        return Adaptation(self._steer(log_sigma2, own, info), fisher, rescue(own, info.accepted))

    def _steer(self, log_sigma2: float, own: OwnSteps, info: Info) -> float:
        """Apply the rule for sigma^2 to the mean acceptance of the chains that used sigma.

        A robust run applies it once for each of them. Where none did, or none had a finite
        proposal, sigma is too long: that is a rejection.
        """
        rows = own.whole & np.isfinite(info.proposal.logp)
        alpha = info.accept_prob[rows] if rows.any() else np.zeros(1)
        if not self._is_robust(len(rows)):
            alpha = np.mean(alpha, keepdims=True)
        return rm_abs(log_sigma2, alpha, self.target_accept, self.step_rate)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Root and step size of the next transition (eq. 7)."""
        log_sigma2, fisher, own = adaptation
        sigma = float(np.exp(0.5 * log_sigma2))
        root = self._root(fisher)
        return Params(root, sigma if final or own.whole.all() else sigma * own.factor)

    def _search(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: State,
        fisher: Fisher,
        log_sigma2: float,
        chains: Array | slice = slice(None),
    ) -> float:
        """Logarithm of a sigma^2 that about half of the chains accept, from the given one on."""
        start, root = float(np.exp(0.5 * log_sigma2)), self._root(fisher)
        sigma = find_step_size(rng, density, state, root, start, chains, self.kernel)
        return 2.0 * float(np.log(sigma))

    def _root(self, fisher: Fisher) -> Array:
        """R with tr(R R') = dim, of the coordinates that move."""
        root: Any = held(fisher.R, self.fixed, len(fisher.R)) if self.fixed else fisher.R
        return normalised(root) if root.any() else np.asarray(root)

    def _is_robust(self, chains: int) -> bool:
        return chains > 1 if self.robust is None else self.robust

    def _fisher(self, dim: int, wide: Array | float = 1.0) -> Fisher:
        """Knowledge before any signal; Proposition 4 starts from the same root (eq. 12)."""
        R = np.ones(dim) * wide if self.diagonal else np.eye(dim) * wide
        return Fisher(R / np.sqrt(self.damping), 0, 1.0, np.zeros(dim), 0.0)

    def _learn(self, fisher: Fisher, state: State, info: Info, signal: Signal) -> Fisher:
        """Update R with the signals of all chains (Proposition 4, eq. 12 and 13)."""
        R, n, gamma, mean, weight = fisher
        n += 1
        gamma, keep = self._rate(n, gamma, len(state.x))
        S = _signals(signal, state, info)
        if self._is_robust(len(state.x)):
            S = winsorised(S, LONGEST_SIGNAL)
        if signal == "paired":
            R, mean, weight = paired(R, mean, weight, S, keep)  # appendix C
        else:
            R = downdate(R, S, keep)
        return Fisher(R, n, gamma, mean, weight)

    def _rate(self, n: int, previous: float, chains: int) -> tuple[float, float]:
        """Learning rate gamma_n, and what remains of the past."""
        rate = self.learning_rate
        if n == 1 or (rate is None and not self._is_robust(chains)):
            return 1.0 / n, 1.0
        if rate is None:
            gamma = (1.0 + FORGETTING) / (n + FORGETTING)
        else:
            gamma = float(rate(n) if callable(rate) else rate)
        check_number(self.sampler, f"learning_rate({n})", gamma, above=0.0, below=1.0)
        return gamma, kept(gamma, previous)


@dataclass(frozen=True)
class FisherWarmedSampler(SteeredSampler):
    """Base of the samplers whose warm-up is this one."""

    default_warmup: ClassVar[int] = 1000

    @abstractmethod
    def _warmup(self) -> FisherWarmup:
        """Return the warm-up with the sampler's settings."""

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start without a preconditioner."""
        return self._warmup().start(rng, density, state)

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
        """Learn R, and steer the acceptance."""
        return self._warmup().adapt(rng, density, i, n_warmup, adaptation, state, info)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Root and step size of the next transition (eq. 7)."""
        return self._warmup().params(adaptation, final)


def widths(x: Array) -> Array:
    """Return how far apart chains are in each coordinate, where that is very far; 1 elsewhere.

    It is the median distance from the median of the chains, which few chains do not decide.
    """
    apart = np.median(np.abs(x - np.median(x, axis=0)), axis=0)
    return np.where(apart > VERY_FAR, apart, 1.0)


def _signals(signal: Signal, state: State, info: Info) -> Array:
    """Signals of one transition, (chains, dim), without those of proposals that are not finite."""
    if signal in ("score", "paired"):
        return state.grad
    with np.errstate(over="ignore"):
        increments = info.proposal.grad - info.previous.grad
    # eq. (15), and eq. (16): s s' is to carry alpha, so s carries its root
    weights = info.accepted if signal == "increment" else np.sqrt(info.accept_prob)
    return adaptable(weights[:, None] * increments, info)
