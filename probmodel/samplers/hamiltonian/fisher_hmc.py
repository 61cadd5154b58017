"""Hamiltonian Monte Carlo with a mass matrix learned from scores and a learned trajectory length.

    x, y      position, proposal                                             (chains, dim)
    g         score, the gradient of the log density                         (chains, dim)
    C         root of the inverse mass matrix, learned from scores           see `fisher_learning`
    r         whitened momentum, standard normal                             (chains, dim)
    h         step size: of a step of the integrator, which takes two gradients
    T         length of a trajectory in time; t = T (1 + jitter u), u ~ U(-1, 1)
    rho       persistence of the momentum
    alpha     Metropolis-Hastings probability                                (chains,)

In whitened coordinates a posterior that is close to normal looks like independent standard normals.
Then a quarter of an oscillation, T = pi/2, takes every trajectory to an end that is
independent of its start, and the whole of it can be one step of the two-stage integrator of
Blanes, Casas and Sanz-Serna (2014): an almost independent draw for two gradients.

    Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", whose
    section 7 names this use of the learned Fisher matrix as future work.
    Hoffman, Radul and Sountsov (2021), "An adaptive MCMC scheme for setting trajectory lengths in
    Hamiltonian Monte Carlo": T, and one jittered length for all chains, so that none waits.
    Horowitz (1991), "A generalized guided Monte Carlo algorithm": partial refreshment.

The warm-up has two parts. In the first the chains take Langevin steps, and learn as `fisher_mala`
does to get to the bulk from wherever they start. In the second they follow trajectories: after
10, 25, 50, 100, 200, ... of them a new C is put to use, h follows alpha by dual averaging, and T
climbs the criterion of `adaptation.trajectory_length`. Early ones have few steps: with a C that is
not right yet long ones cost more than they are worth. The usual steps of a trajectory are of the
size h at most, and h is `LONGEST_STEP` at most, because C has the scale of the posterior: beyond
that the acceptance of a resonance would decide the step size. Where the posterior is narrower than
that a chain halves its steps, see `step_halving`. The acceptance adapts h, and counts half where
steps are halved; chains that are stuck, where most are not, are left out.

Coordinates in which the density jumps stay where they are in all this: see `within_gibbs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.dual_averaging import DualAveraging, average, start_averaging
from probmodel.adaptation.own_steps import OwnSteps
from probmodel.adaptation.trajectory_length import (
    START,
    Length,
    Trajectories,
    about_centres,
    climb,
    start_length,
)
from probmodel.numerics.roots import Root, held, inverse_transposed
from probmodel.samplers.base import Coupling, Info, Remark, Sampler, State, Stretch
from probmodel.samplers.hamiltonian.dynamics import Phase, with_momentum
from probmodel.samplers.hamiltonian.fisher_learning import (
    SampledShape,
    Shape,
    dense_shape,
    median,
    scaled,
)
from probmodel.samplers.hamiltonian.fisher_schedule import (
    LAST_END,
    is_renewal,
    langevin_steps,
    windows,
)
from probmodel.samplers.hamiltonian.fisher_transitions import Kernel
from probmodel.samplers.hamiltonian.several_transitions import in_calls
from probmodel.samplers.hamiltonian.within_gibbs import Gibbs, separated
from probmodel.samplers.langevin.fisher_warmup import Adaptation as Langevin
from probmodel.samplers.langevin.fisher_warmup import FisherWarmup
from probmodel.samplers.metropolis import check_start, evaluate
from probmodel.samplers.settings import check_number, check_share, check_types, check_whole
from probmodel.samplers.streams import Streams
from probmodel.types import Array, LogDensity

MetricName = Literal["auto", "dense", "low_rank", "diag"]

LARGEST_DENSE = 50  # parameters up to which "auto" is dense
LONGEST_STEP = 2.0  # h; up to there the integrator's error is small
PATIENCE = 10  # trajectories after which they may be twice as long, three times after twice as many
FIRST_STEPS, EACH = 8.0, 4.0  # steps of the first one at most, and trajectories to one step more
SHORT = 2.0  # steps of a trajectory up to which the warm-up may end early
RECENT = 0.1  # weight of an iteration in the means of chains' acceptances
MEMORY = 0.02  # weight of an iteration in the means of the draws, when there have been many
ARRIVED = 3.0  # median change of chains' mean log densities, in standard deviations of a normal one
CUT_OFF = 0.01  # share of trajectories cut short that is remarked on


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    step_size : h; in the first part of the warm-up it may differ between chains, (chains,)
    length : T; zero for one Langevin step
    root : C
    gibbs : coordinates in which the density jumps, which are moved by themselves; None if in none
    """

    step_size: float | Array
    length: float
    root: Root
    gibbs: Gibbs | None = None


class Beginning(NamedTuple):
    """What the first part of the warm-up knows: see `FisherWarmup` and `Gibbs`."""

    langevin: Langevin
    gibbs: Gibbs | None


class Learning(NamedTuple):
    """What the second part of the warm-up knows.

    Attributes
    ----------
    shape : what C is made from
    root, dual : C in use, and the root whose `transposed_times` is C^-1
    means : (chains, dim), of each chain's recent draws
    acceptance : (chains,), mean of each chain's recent `Record.weighted_acceptance`
    averaging, length : what steers h and T
    n : trajectories so far
    gibbs : coordinates that are moved by themselves
    levels : log densities of the present window, one array of all chains for each iteration
    level : (chains,), mean log densities in the window before; None at first
    """

    shape: Shape
    root: Root
    dual: Root
    means: Array
    acceptance: Array
    averaging: DualAveraging
    length: Length
    n: int
    gibbs: Gibbs | None = None
    levels: tuple[Array, ...] = ()
    level: Array | None = None


def _langevin(sampler: str, iterations: int, dense: bool, gibbs: Gibbs | None) -> FisherWarmup:
    """Return the first part of a warm-up, of so many iterations."""
    fixed = () if gibbs is None else tuple(gibbs.coordinates.tolist())
    return FisherWarmup(sampler, initial_steps=iterations // 2, diagonal=not dense, fixed=fixed)


@dataclass(frozen=True)
class FisherHMC(Sampler):
    """Hamiltonian Monte Carlo preconditioned by a learned Fisher matrix.

    Parameters
    ----------
    target_accept : float
        Target acceptance rate for h, between 0 and 1, where trajectories take several steps;
        shorter ones are accepted more often. Trajectories of halved steps count half.
    trajectory_length : float, optional
        T, above 0, in units of the whitened posterior; learned if not given.
    jitter : float
        Relative variation of the trajectory length, from 0 to below 1.
    persistence : float
        rho, from 0 to below 1: share of the momentum that is kept from one trajectory to the next.
    metric : {"auto", "dense", "low_rank", "diag"}
        Form of the inverse mass matrix: dense, a diagonal and a few directions, or a diagonal. By
        default dense up to 50 parameters, and low-rank beyond, which few draws estimate better.
    max_steps : int
        Largest number of steps of a trajectory, at least 1.
    """

    target_accept: float = 0.8
    trajectory_length: float | None = None
    jitter: float = 0.2
    persistence: float = 0.0
    metric: MetricName = "auto"
    max_steps: int = 500

    name: ClassVar[str] = "fisher_hmc"
    summary: ClassVar[str] = "Hamiltonian with a learned mass matrix and trajectory length"
    paper: ClassVar[str] = "after Titsias (2023) and Hoffman et al. (2021)"
    learns: ClassVar[str] = "step size, trajectory length, mass matrix"
    cost: ClassVar[str] = "2 gradients or more, 2 O(d²) each"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    target_is_floor: ClassVar[bool] = True
    default_warmup: ClassVar[int] = 500
    default_draws: ClassVar[int] = 2000
    most_draws: ClassVar[int] = 8000
    default_chains: ClassVar[int] = 16

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(
            self.name, "trajectory_length", self.trajectory_length, above=0.0, optional=True
        )
        check_share(self.name, "jitter", self.jitter)
        check_share(self.name, "persistence", self.persistence)
        check_whole(self.name, "max_steps", self.max_steps, least=1)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Phase:
        """State at the starting points, with fresh momenta."""
        state = check_start(self.name, evaluate(density, x))
        return with_momentum(state, rng.standard_normal(x.shape))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: Phase, params: Params
    ) -> tuple[Phase, Info]:
        """One trajectory of every chain, all of one length; or one Langevin step."""
        kernel = self._kernel(params)
        return next(iter(kernel.made(density, state, kernel.drawn_once(rng, state.x.shape))))

    def streams(self, rng: np.random.Generator) -> Streams:
        """Return the generators of momenta and of uniform numbers."""
        return Streams(rng, np.random.default_rng(rng.integers(1 << 63)))

    def stretches(
        self,
        streams: Streams,
        density: LogDensity,
        state: Phase,
        params: Params,
        left: Callable[[], int],
    ) -> Iterator[Stretch]:
        """Yield transitions, several of which are made at once where the density can."""
        kernel = self._kernel(params)
        draw = partial(kernel.drawn, streams, state.x.shape)
        return in_calls(streams, draw, partial(kernel.made, density), state, left)

    def _kernel(self, params: Params) -> Kernel:
        return Kernel(*params, self.jitter, self.persistence, self.max_steps)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: Phase) -> Beginning:
        """Look for jumps, and start with plain Langevin steps."""
        gibbs = separated(density, state.state)
        warmup = _langevin(self.name, 0, self._is_dense(state.x.shape[1]), gibbs)
        return Beginning(warmup.start(rng, density, state.state), gibbs)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Beginning | Learning,
        state: Phase,
        info: Info,
    ) -> Beginning | Learning:
        """Learn as `fisher_mala` does, then from trajectories."""
        first = langevin_steps(n_warmup, state.x.shape[1])
        gibbs = adaptation.gibbs
        if gibbs is not None:
            gibbs = gibbs.learned(info.record.single)
        if isinstance(adaptation, Learning):
            return self._learn(adaptation._replace(gibbs=gibbs), n_warmup - first, state, info)
        position = state.state
        warmup = _langevin(self.name, first, self._is_dense(state.x.shape[1]), gibbs)
        langevin = warmup.adapt(rng, density, i, first, adaptation.langevin, position, info)
        if i + 1 < first:
            return Beginning(langevin, gibbs)
        return self._begin(langevin, position, separated(density, position, gibbs))

    def windows(self, n_warmup: int, dim: int) -> list[tuple[int, int]]:
        """Parts of the warm-up that have one C and end after `FIRST_END` trajectories or more."""
        return windows(n_warmup, dim)

    def is_learned(self, adaptation: Beginning | Learning) -> bool:
        """Whether trajectories are short, or enough of them have been followed."""
        params = self.params(adaptation, final=True)
        short = params.length <= SHORT * float(params.step_size)
        return short or (isinstance(adaptation, Learning) and adaptation.n == LAST_END - 1)

    def _is_dense(self, dim: int) -> bool:
        return self.metric == "dense" or (self.metric == "auto" and dim <= LARGEST_DENSE)

    def _begin(self, langevin: Langevin, state: State, gibbs: Gibbs | None) -> Learning:
        """Go over to trajectories, with the preconditioner and the step size so far."""
        R = langevin.fisher.R
        root = scaled(R, state)
        sigma = float(np.exp(0.5 * langevin.log_sigma2) * np.median(langevin.own.factor))
        moving = np.sum(np.square(_held(root, gibbs, state.x.shape[1])))
        h = sigma * np.sqrt(len(R) / moving) if moving else 1.0  # sigma has tr(C C') = dim
        shape: Shape = SampledShape(self.metric != "diag")
        if R.ndim == 2:
            shape = dense_shape(R, langevin.fisher.n, len(state.x))
        length = start_length(self.trajectory_length or START)
        return Learning(
            shape, root, inverse_transposed(root), state.x.copy(), np.ones(len(state.x)),
            start_averaging(min(h, LONGEST_STEP)), length, 0, gibbs,
        )  # fmt: skip

    def _learn(self, known: Learning, total: int, state: Phase, info: Info) -> Learning:
        """Learn from one of ``total`` trajectories."""
        n, position = known.n + 1, state.state
        shape = known.shape.learn(position, info, known.n)
        known = known._replace(shape=shape, n=n, levels=(*known.levels, state.logp))
        known = self._steered(known, state, info)
        return self._renewed(known, position) if is_renewal(n, total) else known

    def _steered(self, known: Learning, state: Phase, info: Info) -> Learning:
        """Steer h and T."""
        weight = max(MEMORY, 1.0 / (known.n + 1))
        means = known.means + weight * (state.x - known.means)
        weight = max(RECENT, 1.0 / (known.n + 1))
        alpha = info.record.weighted_acceptance
        acceptance = known.acceptance + weight * (alpha - known.acceptance)
        alike = acceptance >= 0.5 * median(acceptance)
        averaging = average(known.averaging, alpha[alike], self.target_accept)
        averaging = averaging.capped(LONGEST_STEP)
        length = known.length
        if self.trajectory_length is None:
            h = averaging.step_size()
            most = min(self.max_steps, FIRST_STEPS + known.n / EACH)
            longest = min(most * h, START * (1.0 + known.n / PATIENCE))
            length = climb(length, self._whitened(known, info), h, longest)
        return known._replace(
            means=means, acceptance=acceptance, averaging=averaging, length=length
        )

    def _whitened(self, known: Learning, info: Info) -> Trajectories:
        """Trajectories of all chains in whitened coordinates about where they are centred."""
        variance = max(0.5 * MEMORY, 1.0 / (known.n + 1))
        z, end = about_centres(known.dual, info.previous.x, info.proposal.x, known.means, variance)
        return Trajectories(z, end, info.proposal.momentum, info.accept_prob, info.record.time)

    def _renewed(self, known: Learning, state: State) -> Learning:
        """Put a new C to use, and start anew with what depends on it.

        T, too, where most chains have only now come to where they are.
        """
        shape = known.shape.learned()
        root = shape.root(state, known.root)
        level = np.mean(known.levels, axis=0)
        length = known.length
        if known.level is not None and self.trajectory_length is None:
            rise = np.abs(level - known.level)
            if float(np.median(rise)) > ARRIVED * np.sqrt(0.5 * state.x.shape[1]):
                length = start_length(START)
        return known._replace(
            levels=(),
            level=level,
            length=length,
            shape=shape.next_window(),
            root=root,
            dual=inverse_transposed(root),
            averaging=start_averaging(known.averaging.step_size(True)),
        )

    def restarted(self, adaptation: Beginning | Learning, rows: Array) -> Beginning | Learning:
        """Take the step sizes, or means, of the chains that others go on from."""
        if isinstance(adaptation, Learning):
            length = start_length(self.trajectory_length or START)
            means, acceptance = adaptation.means[rows], adaptation.acceptance[rows]
            shape = adaptation.shape.restarted(rows)
            return adaptation._replace(
                shape=shape, means=means, acceptance=acceptance, length=length
            )
        langevin = adaptation.langevin
        own = OwnSteps(*(a[rows] for a in langevin.own))
        return adaptation._replace(langevin=langevin._replace(own=own))

    def params(self, adaptation: Beginning | Learning, final: bool = False) -> Params:
        """Step size, length and mass matrix of the next transition."""
        gibbs = adaptation.gibbs
        if isinstance(adaptation, Learning):
            h, dim = adaptation.averaging.step_size(final), adaptation.means.shape[1]
            root = _held(adaptation.root, gibbs, dim)
            return Params(h, adaptation.length.length(final), root, gibbs)
        langevin = adaptation.langevin
        warmup = _langevin(self.name, 0, langevin.fisher.R.ndim == 2, gibbs)
        plain = warmup.params(langevin, final)
        return Params(plain.step_size, 0.0, plain.root, gibbs)

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Say so if trajectories were cut short."""
        share = float(np.mean(stats["cut_off"])) if np.size(stats["cut_off"]) else 0.0
        if share <= CUT_OFF:
            return []
        message = (
            f"{share:.1%} of the trajectories were cut off after max_steps={self.max_steps} steps, "
            "before they had gone as far as pays. The draws are valid but dependent: raise "
            "max_steps, or reparameterise so that fewer directions are far narrower than others."
        )
        return [Remark("trajectories_cut_off", message)]


def _held(root: Root, gibbs: Gibbs | None, dim: int) -> Any:
    """Return a root with which the coordinates stay that are moved by themselves."""
    return root if gibbs is None else held(root, gibbs.coordinates, dim)
