"""Base class of samplers: settings, and pure functions that move chains or learn from their moves.

Separation is by method. `Sampler.step` moves the chains and cannot see what was learned except
through `Params`; `Sampler.adapt` learns and cannot move a chain. After warm-up the driver asks once
for the final parameters and hands the same object to every draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.samplers.streams import Place, Streams
from probmodel.types import Array, LogDensity

Coupling = Literal["independent", "pooled_warmup", "pooled", "ensemble"]
Need = Literal["log density", "gradient", "hvp", "metric", "prior"]


class State(NamedTuple):
    """State of the chains. Samplers may use a longer tuple with these fields first.

    Attributes
    ----------
    x : (chains, dim)
    logp : (chains,)
    grad : (chains, dim)
        Gradient of the log density; zeros for a method that uses none.
    """

    x: Array
    logp: Array
    grad: Array


class Info(NamedTuple):
    """One transition, as seen by adaptation, diagnostics and results; one entry per chain.

    Attributes
    ----------
    accept_prob : (chains,)
        Metropolis-Hastings probability of the proposal; the mean over the trajectory for NUTS.
    accepted : (chains,) bool
    diverging : (chains,) bool
        The proposal was not finite, or so unlikely that the step was out of proportion.
    n_grad : (chains,) int
        Gradients evaluated. A Hessian-vector product counts as 2, a Hessian as dim.
    previous
        The state before the transition.
    proposal
        The proposed state, also when rejected: the gradient-based methods learn from rejections.
    stats : dict of str to (chains,)
        The sampler's own statistics, saved with the draws. ``n_steps``, the leapfrog steps of a
        trajectory, replaces the default of 1; the ``diverging`` of a method that reports it are
        reported as divergences.
    record
        What the sampler's own adaptation needs besides: noise, trajectories. Its attribute
        ``divergence``, (chains, dim), NaN where none, says where trajectories broke down; nobody
        else reads the rest.
    """

    accept_prob: Array
    accepted: Array
    diverging: Array
    n_grad: Array
    previous: Any
    proposal: Any
    stats: dict[str, Array]
    record: Any = None


class Totals(NamedTuple):
    """What is told of transitions as a whole: sums over them and their chains.

    Attributes
    ----------
    transitions : how many, one for each chain
    acceptance, steps, gradients : acceptance probabilities, steps of trajectories, gradients
    step_size : step sizes, NaN where these are a parameter
    divergences : trajectories that broke down
    nonfinite : proposals whose log density is not finite
    """

    transitions: int = 0
    acceptance: float = 0.0
    steps: float = 0.0
    gradients: int = 0
    step_size: float = 0.0
    divergences: int = 0
    nonfinite: int = 0

    def plus(self, other: Totals) -> Totals:
        """Add up two."""
        pairs: Any = zip(self, other, strict=True)
        return Totals(*(a + b for a, b in pairs))


class Broken(NamedTuple):
    """Trajectories that broke down, in the order of transitions and chains.

    Attributes
    ----------
    transition, chain : (k,)
    start, end : (k, dim), where they began, and where they broke down
    """

    transition: Array
    chain: Array
    start: Array
    end: Array


class Stretch:
    """Transitions in a row, with the same parameters: of one, unless a subclass has more.

    Iterating yields the state after each, and its info.

    Parameters
    ----------
    state, info : after the transition, and of it

    Attributes
    ----------
    last : the state after the last one
    """

    def __init__(self, state: Any, info: Info) -> None:
        self.last, self._info = state, info

    def __iter__(self) -> Iterator[tuple[Any, Info]]:
        yield self.last, self._info

    def __len__(self) -> int:
        return 1

    @property
    def x(self) -> Array:
        """Positions, (n, chains, dim)."""
        return self.last.x[None]

    @property
    def proposed(self) -> Array:
        """Log densities of the proposals, (n, chains)."""
        return self._info.proposal.logp[None]

    @property
    def has_trajectories(self) -> bool:
        """Whether a transition is a trajectory, which may break down."""
        return "n_steps" in self._info.stats

    @cached_property
    def statistics(self) -> dict[str, Array]:
        """What is saved of the transitions, under ArviZ's names: (n, chains) each."""
        info = self._info
        columns = {
            "lp": self.last.logp, "acceptance_rate": info.accept_prob, "accepted": info.accepted,
            "n_grad": info.n_grad, "diverging": info.diverging, **info.stats,
        }  # fmt: skip
        return {name: np.asarray(column)[None] for name, column in columns.items()}

    def kept(self, begin: int, thin: int) -> tuple[Array, dict[str, Array]]:
        """Positions and statistics of every ``thin``-th transition from ``begin`` on."""
        columns = {name: column[begin::thin] for name, column in self.statistics.items()}
        return self.x[begin::thin], columns

    @cached_property
    def totals(self) -> Totals:
        """Sums over all transitions."""
        n, chains = self.proposed.shape
        seen, trajectories = self.statistics, self.has_trajectories

        def total(name: str) -> float:
            return float(np.broadcast_to(seen[name], (n, chains)).sum())

        return Totals(
            n * chains, total("acceptance_rate"), total("n_steps") if trajectories else 0.0,
            int(total("n_grad")), total("step_size") if "step_size" in seen else np.nan,
            int(total("diverging")) if trajectories else 0,
            n * chains - int(np.count_nonzero(np.isfinite(self.proposed))),
        )  # fmt: skip

    def broken(self) -> Broken:
        """Trajectories that broke down; of methods that have some."""
        if not self.totals.divergences:
            none = np.zeros(0, dtype=int)
            return Broken(none, none, *(np.empty((0, self.x.shape[2])) for _ in range(2)))
        transition, chain = np.nonzero(self.statistics["diverging"])
        both = [_ends(info) for _, info in self if info.diverging.any()]
        start, end = (np.concatenate(places) for places in zip(*both, strict=True))
        return Broken(transition, chain, start, end)


def _ends(info: Info) -> tuple[Array, Array]:
    """Where trajectories that broke down began and ended, (k, dim) each."""
    end = getattr(info.record, "divergence", info.proposal.x)
    return info.previous.x[info.diverging], np.asarray(end)[info.diverging]


class Remark(NamedTuple):
    """A reason, found by the sampler itself, not to trust its draws as they stand.

    Attributes
    ----------
    kind : a short name that programs can look for
    message : what was found and what to do, in plain words
    """

    kind: str
    message: str


class Sampler(ABC):
    """A Markov kernel and the adaptation of its parameters.

    Subclasses are frozen dataclasses of settings, validated in ``__post_init__``: one out of its
    range is a `SamplerError`. All methods are pure: they return new objects and leave their
    arguments alone. ``Params`` and the adaptation are named tuples of the sampler's own; ``Params``
    has a field ``step_size`` where the method has one.

    Attributes
    ----------
    name : the method's name, as `infer` takes it
    summary : what it is, in one line
    paper : short citation
    needs : what the target has to offer: its log density alone, also its ``"gradient"``, besides
        that Hessian-vector products (``"hvp"``), or a ``"metric"``; or a ``"prior"`` to draw from
        and gradients at any inverse temperature
    learns : what the warm-up learns, in a few words
    cost : work of one iteration and chain, after the warm-up
    coupling : how the chains of one group depend on each other. ``"independent"``: not at all.
        ``"pooled_warmup"``: they share one adaptation and are independent given the frozen
        parameters. ``"pooled"``: they share one adaptation that goes on while sampling, so that
        they are independent in the limit. ``"ensemble"``: a group is one Markov chain on the
        product space, so that R-hat and effective sizes are to be computed over groups.
    adapts_forever : whether `adapt` goes on while sampling, as its author has shown that the
        changes vanish fast enough for the draws to keep their limit; ``i`` then goes on from
        ``n_warmup``, and `params` is never asked for the final ones
    takes_inits : whether it matters where the chains start
    target_is_floor : whether `aim` is the least acceptance that is aimed at, so that more of it is
        no sign of a step size gone wrong
    evidence_is_ratio : whether the estimates of the evidence are ratios of means, whose logarithms
        are to be averaged over chains, and not unbiased themselves
    default_warmup, default_draws, default_chains : what `infer` uses unless told otherwise
    most_draws : up to how many draws it goes on, unless told how many, where the default does not
        suffice; 0 if it never does
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[Need] = "gradient"
    learns: ClassVar[str]
    cost: ClassVar[str]
    coupling: ClassVar[Coupling]
    adapts_forever: ClassVar[bool] = False
    takes_inits: ClassVar[bool] = True
    target_is_floor: ClassVar[bool] = False
    evidence_is_ratio: ClassVar[bool] = False
    default_warmup: ClassVar[int] = 1000
    default_draws: ClassVar[int] = 1000
    most_draws: ClassVar[int] = 0
    default_chains: ClassVar[int] = 4

    @property
    def aim(self) -> float | None:
        """Acceptance rate that the step size is steered to; None where it is steered to none.

        By default the setting ``target_accept``, of a method that has it.
        """
        return getattr(self, "target_accept", None)

    @property
    def standardises(self) -> bool:
        """Whether hierarchies may be standardised, which changes what the coordinates mean."""
        return self.needs in ("gradient", "hvp")

    @property
    def restarts(self) -> bool:
        """Whether chains that are lost in the warm-up may begin again where others are.

        By default where they share an adaptation, which a lost chain spoils for all.
        """
        return self.coupling in ("pooled_warmup", "pooled")

    def min_chains(self, dim: int) -> int:
        """Fewest chains that a group needs for ``dim`` unconstrained parameters."""
        return 1

    def points_per_chain(self, dim: int) -> int:
        """Points of which one chain's state consists, for ``dim`` unconstrained parameters.

        A sampler that needs more than one takes starting points of shape (chains, points, dim) in
        `init` too, and from (chains, dim) makes them up itself. Its state holds them in a field
        ``points`` of that shape.
        """
        return 1

    def remarks(self, params: Any, stats: dict[str, Array]) -> list[Remark]:
        """Return what speaks against a finished run.

        Parameters
        ----------
        params : the frozen parameters
        stats : name -> (chains, draws), the statistics of the group's draws
        """
        return []

    @abstractmethod
    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Any:
        """State at the starting points ``x``: (chains, dim).

        Raises
        ------
        SamplerError
            If the log density is not finite at one of them.
        """

    @abstractmethod
    def step(
        self, rng: np.random.Generator, density: LogDensity, state: Any, params: Any
    ) -> tuple[Any, Info]:
        """One transition of every chain with fixed ``params``; it never adapts."""

    def streams(self, rng: np.random.Generator) -> Streams:
        """Return the generators of the sampling, the first of which is ``rng``."""
        return Streams(rng)

    def stretches(
        self,
        streams: Streams,
        density: LogDensity,
        state: Any,
        params: Any,
        left: Callable[[], int],
    ) -> Iterator[Stretch]:
        """Yield transitions with frozen parameters, as many at a time as are made at once.

        ``left()`` tells how many more are wanted: 0 when there are enough, for now. It is asked
        when those that were yielded have been counted. From the place that ``streams`` has come to
        and the state after a stretch, the transitions that follow can be made again.
        """
        while left():
            state, info = self.step(streams.generators[0], density, state, params)
            streams.place = Place(streams.states())
            yield Stretch(state, info)

    def windows(self, n_warmup: int, dim: int) -> Sequence[tuple[int, int]]:
        """Return parts of the warm-up after which it may end, if the chains have settled by then.

        Each is from an iteration to the one before another, in which the kernel hardly changes: it
        is the draws of these that are judged. None, unless a sampler learns so fast that some
        posteriors need no more.
        """
        return ()

    def is_learned(self, adaptation: Any) -> bool:
        """Whether there is little to gain by learning on, at the end of one of the `windows`."""
        return True

    def ends_warmup(self, state: Any) -> bool:
        """Whether the warm-up has come to its end by itself, as chains need no more of it."""
        return False

    @abstractmethod
    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: Any) -> Any:
        """Adaptation before the first transition."""

    @abstractmethod
    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Any,
        state: Any,
        info: Info,
    ) -> Any:
        """Learn from warm-up transition ``i`` of ``n_warmup``; it never moves a chain.

        ``state`` is the state after the transition, ``info.previous`` the one before it.
        """

    def restarted(self, adaptation: Any, rows: Array) -> Any:
        """Return the adaptation after chains were moved: chain c goes on from where ``rows[c]`` is.

        What it holds of each chain, if anything, is to be taken in those rows.
        """
        return adaptation

    @abstractmethod
    def params(self, adaptation: Any, final: bool = False) -> Any:
        """Parameters of the next transition; ``final`` gives those that are frozen for good."""
