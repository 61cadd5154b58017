"""Sequential Monte Carlo from the prior to the posterior, which finds its own steps.

    beta     inverse temperature of a population, from 0 to 1                (chains,)
    x_n      particles: draws of pi_beta, the prior times L^beta             (chains, N, dim)
    l_n      their log likelihoods                                           (chains, N)
    w_n      weights for the next temperature, exp((beta' - beta) l_n)       (chains, N)
    ESS      (sum w)^2 / sum w^2
    Z        normalising constant: the mean weights of all temperatures, multiplied

Del Moral, Doucet and Jasra (2006), "Sequential Monte Carlo samplers", JRSS B 68, section 3. The
next temperature is the one at which ESS = N / 2: Jasra, Stephens, Doucet and Tsagaris (2011),
"Inference for Levy-driven stochastic volatility models via adaptive sequential Monte Carlo",
Scandinavian Journal of Statistics 38. Particles are then resampled, systematically, and moved by
Hamiltonian trajectories, whose mass matrix and step size are learned from the population: Buchholz,
Chopin and Jacob (2021), "Adaptive tuning of Hamiltonian Monte Carlo within sequential Monte Carlo",
Bayesian Analysis 16. Either half of the particles learns the mass matrix from the other: a dense
one of 20 dimensions that 1000 particles had learned from themselves made log Z too large by 0.34,
twice its standard deviation. Moves go on until the mean squared distance from where they began no
longer grows, in units of the mass matrix: within a mode it stops growing when a particle has
forgotten where it was, whereas a correlation over all modes never ends.

Each chain is a population of its own; that they agree is a check that one run cannot give. The
warm-up goes from the prior to the posterior, a move of all particles an iteration, and ends there.
Then each draw is the next particle. When all have been drawn the population moves on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Need, Remark, Sampler
from probmodel.samplers.metropolis import placed
from probmodel.samplers.settings import check_number, check_whole
from probmodel.samplers.tempered.grouped_moves import (
    Noise,
    Points,
    crossed_roots,
    drawn_steps,
    evaluate,
    halves,
    move,
    whitened,
    whole,
)
from probmodel.samplers.tempered.weights import effective, next_rise, normalised, resampled
from probmodel.types import Array, LogDensity

PARTICLES, FEWEST, NUMBERS = 1000, 100, 1_000_000  # of a population; the last are coordinates
GROWTH = 1.1  # of the mean squared distance, below which moves may end but for noise
FEWEST_MOVES, LAST_MOVES = 2, 10  # at a temperature, and at the last one
RATE = 1.0  # of the logarithm of the step size, for a whole unit of acceptance
UNKNOWN = -1  # iterations that are left, before the first
REFRESH = 5  # moves of the population after all particles have been drawn
POOR = 0.1  # share of effective particles after the last step, below which it was too long


class State(NamedTuple):
    """State of the chains, each of which is a population.

    Attributes
    ----------
    x, logp, grad : of the particle that is drawn; the gradient is zeros
    points : (chains, N, dim)
    log_densities, log_likelihood : (chains, N), the former at beta
    beta : (chains,)
    log_evidence : (chains,), log Z so far
    root : (chains, 2, dim, dim) or (chains, 2, dim), of the moves of either half of the particles
    log_step : (chains,)
    began : (chains, N, dim), where particles were when beta last changed
    distance : (chains, dim), mean squared distance from there
    growth : (chains,), the largest of these over what it was before the last move
    acceptance : (chains,), of the last move
    moves : (chains,), at this temperature
    order : (chains, N), in which particles are drawn, as relatives are next to each other
    reported : (chains,), draws since the warm-up
    poorest : (chains,), share of effective particles after a step for which there was no more time
    """

    x: Array
    logp: Array
    grad: Array
    points: Array
    log_densities: Array
    log_likelihood: Array
    beta: Array
    log_evidence: Array
    root: Array
    log_step: Array
    began: Array
    distance: Array
    growth: Array
    acceptance: Array
    moves: Array
    order: Array
    reported: Array
    poorest: Array


class Params(NamedTuple):
    """What an iteration has to know of the time.

    Attributes
    ----------
    left : iterations of the warm-up after it; after the last one beta has to be 1
    sampling : whether the warm-up is over
    """

    left: int
    sampling: bool


class Adaptation(NamedTuple):
    """Iterations of the warm-up that are left after the next one."""

    left: int


@dataclass(frozen=True)
class SequentialMonteCarlo(Sampler):
    """Adaptive sequential Monte Carlo from the prior to the posterior.

    Parameters
    ----------
    particles : int, optional
        Particles of each chain's population: an even number, 4 at least. By default 1000, and fewer
        of more than 1000 parameters.
    ess_share : float
        Share of effective particles at which the next temperature is chosen, between 0 and 1.
    target_accept : float
        Acceptance rate that the moves aim at, between 0 and 1.
    most_moves : int
        Moves at one temperature, at most.
    """

    particles: int | None = None
    ess_share: float = 0.5
    target_accept: float = 0.8
    most_moves: int = 20

    name: ClassVar[str] = "smc"
    summary: ClassVar[str] = "particles from the prior to the posterior; gives evidence"
    paper: ClassVar[str] = "Del Moral, Doucet and Jasra (2006)"
    needs: ClassVar[Need] = "prior"
    learns: ClassVar[str] = "temperatures; step size and dense mass matrix at each"
    cost: ClassVar[str] = "up to 17 gradients and O(d²) for each particle in the warm-up"
    coupling: ClassVar[Coupling] = "independent"
    takes_inits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole(self.name, "particles", self.particles, least=4, optional=True)
        if self.particles is not None and self.particles % 2:
            raise SamplerError(
                f"{self.name}: particles must be an even number, as each half learns from the "
                f"other; got {self.particles}.",
                setting="particles", value=self.particles,
            )  # fmt: skip
        check_number(self.name, "ess_share", self.ess_share, above=0.0, below=1.0)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_whole(self.name, "most_moves", self.most_moves, least=FEWEST_MOVES)

    @property
    def aim(self) -> None:
        """None: each temperature has a step size of its own, and draws are no moves."""
        return None

    def points_per_chain(self, dim: int) -> int:
        """N, the particles of a population."""
        fitting = min(PARTICLES, max(FEWEST, 2 * (NUMBERS // (2 * dim))))
        return fitting if self.particles is None else self.particles

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """Return populations from the prior, or at beta = 1 if given: (chains, N, dim).

        Raises
        ------
        SamplerError
            If no draw from the prior, or not all points that are given, have a likelihood.
        """
        prior: Any = density
        chains, dim = len(x), x.shape[-1]
        beta = np.full(chains, float(x.ndim == 3))
        if x.ndim == 2:
            n = self.points_per_chain(dim)
            points = prior.prior_sample(rng, chains * n).reshape(chains, n, dim)
        else:
            points = x
        found = evaluate(density, points, beta)
        self._check(found, x.ndim == 3)
        root = crossed_roots(found.score)
        step = np.full(chains, -0.25 * np.log(dim))
        zeros, none, nowhere = (
            np.zeros(chains),
            np.zeros(chains, dtype=int),
            np.zeros((chains, dim)),
        )
        state = State(
            points[:, 0], found.logp[:, 0], nowhere, points, found.logp, found.log_likelihood,
            beta, zeros, root, step, points, nowhere, zeros, zeros,
            np.full(chains, self.most_moves), np.tile(np.arange(points.shape[1]), (chains, 1)),
            none, np.ones(chains),
        )  # fmt: skip
        return state

    def _check(self, found: Points, given: bool) -> None:
        """Raise a `SamplerError` if there is nothing to begin with."""
        fine = np.isfinite(found.log_likelihood)
        if not (fine.all() if given else fine.any(axis=1).all()):
            share = f"{np.mean(fine):.1%}"
            raise SamplerError(
                f"{self.name} cannot begin: of the draws from the prior {share} have a finite "
                "log likelihood. Give priors under which the data are possible.",
                method=self.name, finite=float(np.mean(fine)),
            )  # fmt: skip

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """Move all particles, at the next temperature where it is time; or draw the next one."""
        chains = len(state.x)
        if params.sampling and np.all(state.beta == 1.0):
            return self._draw(rng, density, state)
        v = rng.random(chains)
        noise = _noise(rng, state)
        n_steps = drawn_steps(rng, np.exp(state.log_step))
        hurried = params.left == 0 or params.sampling
        on = np.full(chains, hurried) | ~self._finished(state)
        if not on.any():  # those that have arrived wait for other groups
            return state, _info(state, state, np.zeros(chains, dtype=int))
        part = State(*(each[on] for each in state))
        cooled, start = self._cooled(density, part, v[on], hurried)
        noise = Noise(*(each[on] for each in noise))
        moved = self._moved(density, cooled, start, noise, n_steps[on])
        new = moved if on.all() else placed(state, on, moved)
        n_grad = np.where(on, (1 + n_steps) * state.points.shape[1], 0)
        return new, _info(state, new, n_grad)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Nothing is learned but the time: what moves need is in the state."""
        return Adaptation(UNKNOWN)

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
        """Count."""
        return Adaptation(n_warmup - i - 2)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Say what is left of the warm-up."""
        return Params(adaptation.left, final)

    def ends_warmup(self, state: State) -> bool:
        """Whether all populations have come to the posterior and settled there."""
        return bool(np.all(self._finished(state)))

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Say whether a step of the temperature was too long, and moves were rejected."""
        found, poorest, acceptance = [], stats["poorest"].min(), stats["acceptance_rate"].min()
        if poorest < POOR:
            message = (
                f"A step of the temperature left {poorest:.1%} of the particles effective: draws "
                "are copies of few particles, and the evidence is too low. The warm-up ended "
                "before the posterior was reached. Raise warmup."
            )
            found.append(Remark("short_ladder", message))
        if acceptance < 0.5 * self.target_accept:
            message = (
                f"Only {acceptance:.0%} of the last moves of the particles were accepted, where "
                f"{self.target_accept:.0%} are aimed at: copies of particles may be left. Raise "
                "particles, or reparameterise."
            )
            found.append(Remark("low_acceptance", message))
        return found

    def _ready(self, state: State) -> Array:
        """Whether particles have forgotten where they were: (chains,)."""
        noise = 3.0 * np.sqrt(2.0 / state.points.shape[1])  # of a mean of so many squares
        settled = (state.moves >= FEWEST_MOVES) & (state.growth <= GROWTH + noise)
        enough = np.where(state.beta == 1.0, state.moves >= LAST_MOVES, True)
        return np.asarray(settled & enough | (state.moves >= self.most_moves))

    def _finished(self, state: State) -> Array:
        return np.asarray((state.beta == 1.0) & self._ready(state))

    def _cooled(
        self, density: LogDensity, state: State, v: Array, hurried: bool
    ) -> tuple[State, Points]:
        """Go to the next temperature where it is time: weigh, resample, learn how to move."""
        due = (state.beta < 1.0) & (self._ready(state) | hurried)
        if not due.any():
            return state, evaluate(density, state.points, state.beta)
        share = 0.0 if hurried else self.ess_share
        rise = np.where(due, next_rise(state.log_likelihood, 1.0 - state.beta, share), 0.0)
        with np.errstate(invalid="ignore"):
            log_w = np.where(due[:, None], rise[:, None] * state.log_likelihood, 0.0)
        weights, log_mean = normalised(log_w)
        rows, n = np.arange(len(v))[:, None], weights.shape[1]
        source = np.where(due[:, None], resampled(weights, v), np.arange(n))
        points = state.points[rows, source]
        beta = np.where(due & (rise >= 1.0 - state.beta), 1.0, state.beta + rise)
        start = evaluate(density, points, beta)
        wide = due[:, None]
        root = crossed_roots(start.score)
        poorest = np.minimum(state.poorest, effective(weights) / n)
        return state._replace(
            points=points, log_densities=start.logp, log_likelihood=start.log_likelihood, beta=beta,
            log_evidence=state.log_evidence + log_mean,
            root=np.where(wide.reshape(-1, *(1,) * (root.ndim - 1)), root, state.root),
            began=np.where(wide[:, :, None], points, state.began),
            distance=np.where(wide, 0.0, state.distance),
            growth=np.where(due, np.inf, state.growth),
            moves=np.where(due, 0, state.moves),
            poorest=np.where(due & hurried, poorest, state.poorest),
        ), start  # fmt: skip

    def _moved(
        self, density: LogDensity, state: State, start: Points, noise: Noise, n_steps: Array
    ) -> State:
        """Make one trajectory from each particle, and steer the step size."""
        step_size, beta, n_steps = (
            np.repeat(each, 2) for each in (np.exp(state.log_step), state.beta, n_steps)
        )
        start, noise = Points(*map(halves, start)), Noise(*map(halves, noise))
        root = state.root.reshape(-1, *state.root.shape[2:])
        end, probability = move(density, start, beta, root, step_size, n_steps, noise)
        moved = whitened(root, end.x - halves(state.began))
        end, moved = Points(*map(whole, end)), whole(moved)
        acceptance = whole(probability).mean(axis=1)
        distance = np.mean(moved**2, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = np.max(np.where(state.distance > 0.0, distance / state.distance, np.inf), 1)
        return state._replace(
            x=end.x[:, 0], logp=end.logp[:, 0], points=end.x, log_densities=end.logp,
            log_likelihood=end.log_likelihood,
            log_step=state.log_step + RATE * (acceptance - self.target_accept),
            distance=distance, growth=growth, acceptance=acceptance, moves=state.moves + 1,
        )  # fmt: skip

    def _draw(
        self, rng: np.random.Generator, density: LogDensity, state: State
    ) -> tuple[State, Info]:
        """Return the next particle; when all have been drawn, move the population first."""
        chains, n = state.points.shape[:2]
        new, n_grad = state, np.zeros(chains, dtype=int)
        if state.reported[0] % n == 0:
            new = new._replace(order=np.argsort(rng.random((chains, n)), axis=1))
        if state.reported[0] % n == 0 and state.reported[0] > 0:
            for _ in range(REFRESH):
                noise, n_steps = _noise(rng, new), drawn_steps(rng, np.exp(new.log_step))
                start = evaluate(density, new.points, new.beta)
                moved = self._moved(density, new, start, noise, n_steps)
                new = moved._replace(log_step=new.log_step)  # learned in the warm-up alone
                n_grad += (1 + n_steps) * n
        rows, slot = np.arange(chains), new.order[:, int(state.reported[0]) % n]
        new = new._replace(
            x=new.points[rows, slot], logp=new.log_densities[rows, slot],
            reported=state.reported + 1,
        )  # fmt: skip
        return new, _info(state, new, n_grad)


def _noise(rng: np.random.Generator, state: State) -> Noise:
    """Draw what is random in a move of all particles."""
    return Noise(rng.standard_normal(state.points.shape), rng.random(state.points.shape[:2]))


def _info(state: State, new: State, n_grad: Array) -> Info:
    """Return what happened to the chains."""
    moved = new.acceptance > 0.0
    stats = {"log_evidence": new.log_evidence, "beta": new.beta, "poorest": new.poorest}
    calm = np.zeros(len(n_grad), dtype=bool)
    return Info(new.acceptance, moved, calm, n_grad, state, new, stats)
