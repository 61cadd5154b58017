"""Common base of samplers that choose step size and trajectory length by Bayesian optimisation.

    gamma     setting in force: step size epsilon, most leapfrog steps L
    L_r       leapfrog steps of one iteration, uniform on 1..L, the same for all chains
    B         warm-up iterations
    m         iterations of a block, all with one gamma: B / k, 1 at least
    r_i       reward of block i
    x, x'     position, proposal                                              (chains, dim)
    alpha_t   Metropolis-Hastings probability of x'                           (chains,)
    M         region that the chains are confined to, if any

    Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
    samplers", Algorithm 2. The reward of a block is the mean over iterations and chains of

        alpha_t |x' - x|^2 / sqrt(L),

whose expectation is that of the squared jump |x_(t+1) - x_t|^2 / sqrt(L) and whose variance is
lower; it counts proposals, accepted or not, as the authors' code does.
"""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.bayes_opt import AnnealedSearch, Search, Spacing, make_grid
from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.surrogate import Kernel
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Remark, Sampler
from probmodel.samplers.hamiltonian.confined import Bounds, Confined, Region, read_bounds
from probmodel.samplers.settings import check_number, check_types, check_whole, must_be
from probmodel.types import Array, LogDensity

Reward = Callable[[Array, float, int], float]

FIRST_ACCEPTANCE = 0.8  # of one leapfrog step, at the step size that the default range surrounds
SHORTEST, LONGEST = 0.05, 2.0  # limits of the default range, over that step size
AT_LIMIT = 0.5  # share of draws at the end of the range that is worth a remark


class Params(NamedTuple):
    """What one transition uses, and what `remarks` wants to know.

    Attributes
    ----------
    step_size : epsilon
    max_steps : L
    step_range : smallest and largest epsilon that may be chosen
    failed : rewards so far that were not finite
    """

    step_size: float
    max_steps: int
    step_range: tuple[float, float]
    failed: int


class Block(NamedTuple):
    """Iterations with the setting in force.

    Attributes
    ----------
    n : how many there were
    total : sum of their rewards
    draws : positions after each, (chains, dim), where a reward is given that asks for them
    """

    n: int = 0
    total: float = 0.0
    draws: tuple[Array, ...] = ()


class Adaptation(NamedTuple):
    """State of the adaptation: the search, the block under way, and rewards that were no number."""

    search: Search
    block: Block
    failed: int


@dataclass(frozen=True)
class BayesAdaptiveSampler(Sampler):
    """Base of the samplers that choose step size and number of steps by Bayesian optimisation.

    Parameters
    ----------
    step_range : (float, float), optional
        Smallest and largest step size to choose from. By default from 0.05 to 2 times the step size
        at which a single leapfrog step from the starting points is accepted with probability 0.8.
    steps_range : (int, int)
        Smallest and largest number of leapfrog steps to choose from, at least 1; equal numbers fix
        it. Each trajectory has a random number of steps, from 1 up to the chosen one.
    k : int
        Number of blocks before the adaptation begins to vanish, at the end of the warm-up at the
        latest; block k + i is followed by a new choice with probability (i + 1)^-1/2. A block takes
        a k-th of the warm-up.
    alpha : float
        Value of the best reward in units of the surrogate, above 0.
    kappa : float
        Length scale of the surrogate, as a share of the ranges, above 0.
    delta : float
        Between 0 and 1; the search explores more with smaller values.
    sigma_f : float
        Standard deviation of the surrogate before any reward, above 0.
    noise : float
        Variance of one reward about its mean, in units of the surrogate, above 0.
    spacing : {"log", "linear"}
        Scale on which the step sizes to choose from are evenly spaced.
    freeze : bool
        Whether the adaptation ends with the warm-up, at the setting that then seems best.
    bounds : float or (array, array), optional
        Radius of a ball around the origin, or lower and upper limits of a box, on the unconstrained
        scale: proposals outside are rejected. By default there is none.
    reward : callable, optional
        ``reward(draws, step_size, n_steps)`` returns the reward of a block, in place of the squared
        jumps: larger is better, and a useless setting has 0. ``draws`` are the unconstrained
        positions of the block, (chains, block, dim); ``n_steps`` is L.
    budget : int, optional
        Leapfrog steps of a block, draws times L, for a given ``reward``: blocks of few steps then
        have more draws. By default all blocks have equally many draws.
    """

    step_range: tuple[float, float] | None = None
    steps_range: tuple[int, int] = (1, 100)
    k: int = 100
    alpha: float = 4.0
    kappa: float = 0.2
    delta: float = 0.1
    sigma_f: float = 5.0
    noise: float = 0.1
    spacing: Spacing = "log"
    freeze: bool = False
    bounds: Bounds | None = None
    reward: Reward | None = None
    budget: int | None = None

    paper: ClassVar[str] = "Wang, Mohamed and de Freitas (2013)"
    learns: ClassVar[str] = "step size, number of steps"

    def __post_init__(self) -> None:
        check_types(self.name, self)
        _check_range(self.name, "step_range", self.step_range, check_number)
        _check_range(self.name, "steps_range", self.steps_range, check_whole)
        check_whole(self.name, "k", self.k, least=1)
        for name in ("alpha", "kappa", "sigma_f", "noise"):
            check_number(self.name, name, getattr(self, name), above=0.0)
        check_number(self.name, "delta", self.delta, above=0.0, below=1.0)
        called = "a callable, reward(draws, step_size, n_steps), or None"
        if self.reward is not None and not callable(self.reward):
            raise must_be(self.name, "reward", self.reward, called)
        check_whole(self.name, "budget", self.budget, least=1, optional=True)
        if self.budget is not None and self.reward is None:
            raise SamplerError(
                f"{self.name}: budget is for a given reward; the squared jumps are those of blocks "
                f"of as many draws each. Give reward= too, or leave budget={self.budget} out.",
                setting="budget", value=self.budget,
            )  # fmt: skip
        if self.bounds is not None:
            read_bounds(self.name, self.bounds)

    @property
    def coupling(self) -> Coupling:  # type: ignore[override]
        """The chains share one search, which goes on while sampling; ``freeze`` ends it."""
        return "pooled_warmup" if self.freeze else "pooled"

    @property
    def adapts_forever(self) -> bool:  # type: ignore[override]
        """Whether the adaptation goes on while sampling; ``freeze`` ends it."""
        return not self.freeze

    @abstractmethod
    def start(self, density: LogDensity, x: Array) -> Any:
        """State at the starting points ``x``: (chains, dim), all of them finite."""

    @abstractmethod
    def move(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: Any,
        step_size: float,
        n_steps: int,
    ) -> tuple[Any, Info]:
        """One transition of every chain by a trajectory of ``n_steps`` leapfrog steps."""

    @property
    def standardises(self) -> bool:
        """Whether hierarchies may be standardised: bounds are those of parameters as declared."""
        return super().standardises and self.bounds is None

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Any:
        """State at the starting points."""
        if self._region is not None:
            self._region.check_starts(self.name, x)
        return self.start(density, x)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: Any, params: Params
    ) -> tuple[Any, Info]:
        """One transition with a random number of leapfrog steps (Algorithm 1)."""
        n_steps = int(rng.integers(1, params.max_steps + 1))
        new, info = self.move(rng, self._confined(density), state, params.step_size, n_steps)
        most = np.full(len(new.logp), params.max_steps)
        return new, info._replace(stats={**info.stats, "max_steps": most})

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: Any) -> Adaptation:
        """Start at the smallest step size and the fewest steps."""
        limits = self.step_range or self._find_range(rng, self._confined(density), state)
        grid = make_grid(limits, self.steps_range, self.spacing)
        return Adaptation(self._search.start(grid), Block(), 0)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: Any,
        info: Info,
    ) -> Adaptation:
        """Add to the block; at its end, learn its reward and choose what comes next."""
        search, block, failed = adaptation
        step_size, L = search.setting(search.cell)
        block = self._longer(block, L, state, info)
        if block.n < self._block_length(L, n_warmup):
            return Adaptation(search, block, failed)
        reward = self._reward(density, block, step_size, L)
        valid = bool(np.isfinite(reward))
        search = self._search.choose(rng, search, reward if valid else 0.0, i < n_warmup)
        return Adaptation(search, Block(), failed + (not valid))

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Return the setting in force, or for good the best that was tried."""
        search, _, failed = adaptation
        step_size, L = search.setting(self._search.best(search) if final else search.cell)
        limits = (float(search.grid.step_sizes[0]), float(search.grid.step_sizes[-1]))
        return Params(step_size, L, limits, failed)

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Look for rewards that were not finite, and for a range that seems too narrow."""
        found = []
        if params.failed:
            message = (
                f"{params.failed} rewards of {self.name} were not finite and counted 0. Look at "
                "reward=: it is to return a number for any draws of a block."
            )
            found.append(Remark("rewards_not_finite", message))
        for limit, word in zip(params.step_range, ("smallest", "largest"), strict=True):
            share = float(np.mean(np.isclose(stats["step_size"], limit)))
            if share > AT_LIMIT:
                message = (
                    f"{share:.0%} of the draws of {self.name} were made with the {word} step size "
                    f"that it may choose, {limit:.3g}: a better one may lie beyond. Widen "
                    "step_range, or raise warmup if the chains were still on their way."
                )
                found.append(Remark("step_at_limit", message))
        return found

    @cached_property
    def _region(self) -> Region | None:
        return None if self.bounds is None else read_bounds(self.name, self.bounds)

    @cached_property
    def _search(self) -> AnnealedSearch:
        kernel = Kernel(self.sigma_f, self.kappa, self.noise)
        return AnnealedSearch(self.k, self.alpha, self.delta, kernel)

    def _confined(self, density: LogDensity) -> LogDensity:
        return density if self._region is None else Confined(density, self._region)

    def _find_range(
        self, rng: np.random.Generator, density: LogDensity, state: Any
    ) -> tuple[float, float]:
        """Limits around the step size of which a single leapfrog step is mostly accepted."""

        def acceptance_at(step_size: float) -> float:
            return float(np.mean(self.move(rng, density, state, step_size, 1)[1].accept_prob))

        found = initial_step(acceptance_at, crossing=FIRST_ACCEPTANCE)
        return SHORTEST * found, LONGEST * found

    def _block_length(self, L: int, n_warmup: int) -> int:
        """Return m; with a budget, as many iterations as it allows for."""
        return max(1, n_warmup // self.k if self.budget is None else self.budget // L)

    def _longer(self, block: Block, L: int, state: Any, info: Info) -> Block:
        """Return the block with another iteration."""
        if self.reward is not None:
            return Block(block.n + 1, 0.0, (*block.draws, state.x))
        return Block(block.n + 1, block.total + _squared_jump(info) / np.sqrt(L))

    def _reward(self, density: LogDensity, block: Block, step_size: float, L: int) -> float:
        """Return r_i; a given reward is told of positions on the scale of the model as declared."""
        if self.reward is None:
            return block.total / block.n
        as_declared = getattr(density, "as_declared", np.asarray)
        draws = as_declared(np.stack(block.draws, axis=1))
        value: Any = self.reward(draws, step_size, L)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise SamplerError(
                f"{self.name}: reward must return a number, returned {value!r}.",
                setting="reward", value=value,
            )  # fmt: skip
        return float(value)


def _squared_jump(info: Info) -> float:
    """Mean over chains of alpha |x' - x|^2; a chain where it is not finite counts 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        jumps = np.square(info.proposal.x - info.previous.x).sum(axis=1)
        gains = info.accept_prob * jumps
    return float(np.mean(np.where(np.isfinite(gains), gains, 0.0)))


def _check_range(sampler: str, name: str, value: Any, check: Callable[..., None]) -> None:
    """Raise SamplerError unless ``value`` is a pair of limits that a grid can lie between."""
    if value is None and name == "step_range":
        return
    whole = check is check_whole
    if isinstance(value, tuple | list) and len(value) == 2:
        for limit in value:
            check(sampler, name, limit, **({"least": 1} if whole else {"above": 0.0}))
        if value[0] < value[1] or (whole and value[0] == value[1]):
            return
    kind = "whole numbers, the first at most the second" if whole else "numbers, increasing"
    raise must_be(sampler, name, value, f"a pair of {kind}")
