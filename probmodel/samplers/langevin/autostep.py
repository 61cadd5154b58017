"""AutoStep: each move looks for a step size that suits its place, and has to find it back.

    x, r      position, whitened momentum; s = (x, r)                          (chains, dim)
    A, R      preconditioner, and a root of it: A = R R', tr(A) = dim          (dim, dim)
    theta0    first step size that is tried
    theta     theta0 2^j, the step size of a move                              (chains,)
    f_theta   one leapfrog step of size theta, and a flip of the momentum
    l         log density of f_theta(s) less that of s, momentum included      (chains,)
    a, b      thresholds, the smaller and the larger of two uniform numbers    (chains,)
    mu(s)     the exponent j that is chosen at s, with those thresholds        (chains,) int

    Liu, Surjanovic, Biron-Lattes, Bouchard-Côté and Campbell (2025), "AutoStep: locally adaptive
    involutive MCMC", ICML; Biron-Lattes, Surjanovic, Syed, Campbell and Bouchard-Côté (2024),
    "autoMALA: locally adaptive Metropolis-adjusted Langevin algorithm", AISTATS.

The choice of j, with AutoStep's symmetric criterion: where |l| is below |log b| for j = 0, the step
is doubled until it is not, and the last one before is taken; where |l| is above |log a|, the step
is halved until it is not. Then the move is f_theta, and it is accepted with probability
min(1, exp(l)) if mu(f_theta(s)) = mu(s), and never otherwise: f_theta undoes itself, so that this
is reversible whatever mu is. Of the steps that are tried at f_theta(s) one is known, that of size
theta, which leads to s with -l; where the first step was neither too short nor too long it is the
only one.

Deviations: A is learned in the first half of the warm-up by Langevin moves, as `fisher_mala` learns
it (see `fisher_warmup`), where the papers take the standard deviations of the draws. theta0 is the
median step size of rounds that double in length, over the moves of all chains; that is autoMALA's
rule but for the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.numerics.roots import Root
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.hamiltonian.dynamics import Phase, leapfrog, with_momentum
from probmodel.samplers.langevin.fisher_warmup import Adaptation as Langevin
from probmodel.samplers.langevin.fisher_warmup import FisherWarmup
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.samplers.metropolis import check_start, decide, evaluate, placed
from probmodel.samplers.settings import check_types
from probmodel.types import Array, LogDensity

Metric = Literal["dense", "diag"]

MOST = 60  # doublings, or halvings, of a step
FIRST_ROUND = 10  # iterations of the first round, in which theta0 stays


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    root : R, (dim, dim), or (dim,) for a diagonal one
    step_size : theta0, or the step size of Langevin moves, in the warm-up perhaps (chains,)
    searches : whether step sizes are looked for; else the moves are Langevin moves
    """

    root: Array
    step_size: float | Array
    searches: bool


class Rounds(NamedTuple):
    """What the second half of the warm-up knows.

    Attributes
    ----------
    root : R
    step_size : theta0
    chosen : logarithms of the step sizes of this round, one array of all chains an iteration
    length : iterations of this round
    """

    root: Array
    step_size: float
    chosen: tuple[Array, ...] = ()
    length: int = FIRST_ROUND


@dataclass(frozen=True)
class AutoStep(Sampler):
    """Langevin moves with a step size of their own, chosen reversibly.

    Parameters
    ----------
    metric : {"dense", "diag"}
        Whether A is dense, or a diagonal, for very many parameters.
    """

    metric: Metric = "dense"

    name: ClassVar[str] = "autostep"
    summary: ClassVar[str] = "Langevin moves whose step size is looked for at each place"
    paper: ClassVar[str] = "Liu et al. (2025)"
    learns: ClassVar[str] = "first step size, dense preconditioner"
    cost: ClassVar[str] = "2 to 5 gradients, 3 O(d²) each"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 1000
    default_draws: ClassVar[int] = 2000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_types(self.name, self)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        return check_start(self.name, evaluate(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One move of every chain, each with its step size; or one Langevin move."""
        chains = len(state.x)
        if not params.searches:
            new, info = langevin_step(rng, density, state, params.root, params.step_size)
            sizes = np.broadcast_to(np.asarray(params.step_size, dtype=float), (chains,))
            return new, info._replace(stats={"step_size": sizes})
        start = with_momentum(state, rng.standard_normal(state.x.shape))
        a, b = np.sort(rng.random((chains, 2)), axis=1).T
        search = Search(density, params.root, float(params.step_size), -np.log(b), -np.log(a))
        found = search.chosen(start)
        returns, tried = search.is_chosen(found.flipped, found.exponent, np.abs(found.gain))
        log_ratio = np.where(returns, found.gain, -np.inf)
        new, info = decide(rng, log_ratio, state, found.end.state, n_grad=0)
        sizes = params.step_size * 2.0**found.exponent
        return new, info._replace(n_grad=found.tried + tried, stats={"step_size": sizes})

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Langevin:
        """Start with plain Langevin moves."""
        return self._langevin(0).start(rng, density, state)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Langevin | Rounds,
        state: State,
        info: Info,
    ) -> Langevin | Rounds:
        """Learn R as `fisher_mala` does, and then theta0."""
        if isinstance(adaptation, Rounds):
            return _after(adaptation, np.log(info.stats["step_size"]))
        first = n_warmup // 2
        warmup = self._langevin(first)
        adaptation = warmup.adapt(rng, density, i, first, adaptation, state, info)
        if i + 1 < first:
            return adaptation
        root, step_size = warmup.params(adaptation, final=True)
        return Rounds(root, float(step_size))

    def params(self, adaptation: Langevin | Rounds, final: bool = False) -> Params:
        """Root and step size of the next transition."""
        if isinstance(adaptation, Rounds):
            return Params(adaptation.root, adaptation.step_size, True)
        return Params(*self._langevin(0).params(adaptation, final), final)

    def _langevin(self, iterations: int) -> FisherWarmup:
        """Return the first half of a warm-up, of so many iterations."""
        return FisherWarmup(
            self.name, initial_steps=iterations // 2, diagonal=self.metric == "diag"
        )


def _after(known: Rounds, log_steps: Array) -> Rounds:
    """Take in the step sizes of an iteration; at the end of a round their median is theta0."""
    chosen = (*known.chosen, log_steps)
    if len(chosen) < known.length:
        return known._replace(chosen=chosen)
    return Rounds(known.root, float(np.exp(np.median(chosen))), (), 2 * known.length)


class Found(NamedTuple):
    """Step sizes that were chosen.

    Attributes
    ----------
    exponent : (chains,) int, j
    gain : (chains,), l
    end : where the step leads, before the flip
    tried : (chains,) int, gradients that it took
    """

    exponent: Array
    gain: Array
    end: Phase
    tried: Array

    @property
    def flipped(self) -> Phase:
        """f_theta(s)."""
        return self.end._replace(momentum=-self.end.momentum)


class Search(NamedTuple):
    """The rule mu.

    Attributes
    ----------
    density : the target
    root : R
    first : theta0
    near, far : (chains,), |log b| and |log a|
    """

    density: LogDensity
    root: Root
    first: float
    near: Array
    far: Array

    def gains(self, start: Phase, exponent: Array) -> tuple[Array, Phase]:
        """Make one leapfrog step of size theta0 2^j from each point: l, and where it leads."""
        end = leapfrog(self.density, start, self.root, self.first * 2.0**exponent)
        with np.errstate(invalid="ignore"):
            gain = start.energy - end.energy
        return np.where(np.isnan(gain), -np.inf, gain), end

    def chosen(self, start: Phase) -> Found:
        """Choose j, and return the step of that size."""
        exponent = np.zeros(len(start.x), dtype=int)
        gain, end = self.gains(start, exponent)
        tried = np.ones_like(exponent)
        sign = np.where(np.abs(gain) < self.near, 1, np.where(np.abs(gain) > self.far, -1, 0))
        rows = np.flatnonzero(sign)
        for j in range(1, MOST + 1):
            if not rows.size:
                break
            longer, trial = sign[rows] > 0, j * sign[rows]
            new, reached = self.gains(start.rows(rows), trial)
            tried[rows] += 1
            goes_on = np.abs(new) > self.far[rows]
            goes_on[longer] = (np.abs(new) < self.near[rows])[longer]
            taken = goes_on | ~longer
            at = rows[taken]
            exponent[at], gain[at] = trial[taken], new[taken]
            end = placed(end, at, reached.rows(taken))
            rows = rows[goes_on]
        return Found(exponent, gain, end, tried)

    def is_chosen(self, start: Phase, exponent: Array, size: Array) -> tuple[Array, Array]:
        """Whether j would be chosen at s, where |l| is ``size`` for j; and gradients that it took.

        A step that is not too short itself has to be the first; a shorter one, reached through
        steps that are all too long; a longer one, through steps that are all too short, with the
        next one too long.
        """
        holds, tried = np.ones(len(exponent), dtype=bool), np.zeros_like(exponent)
        longer = (exponent >= 0) & (size < self.near)
        last = np.where(longer, np.minimum(exponent + 1, MOST), -exponent - 1)
        for j in range(int(last.max(initial=-1)) + 1):
            rows = np.flatnonzero(holds & (j <= last) & (j != exponent))
            if not rows.size:
                continue
            trial = np.where(longer[rows], j, -j)
            found = np.abs(self.gains(start.rows(rows), trial)[0])
            short = found < self.near[rows]
            on_the_way = np.where(j < exponent[rows], short, ~short)
            holds[rows] = np.where(longer[rows], on_the_way, found > self.far[rows])
            tried[rows] += 1
        return holds, tried
