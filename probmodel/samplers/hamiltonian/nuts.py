"""The No-U-Turn sampler: Hamiltonian trajectories that are grown until they turn back.

    q, r      position, whitened momentum                                 (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'                see `numerics.roots`
    h         step size                                                   ()
    w         log weight of a point: energy at the start less its own     (chains,)
    S         sum of the momenta of a tree                                (chains, dim)
    alpha     mean of min(1, e^w) over a trajectory                       (chains,)

    Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15; with the multinomial draw, the
    generalised criterion and the biased progressive sampling of Betancourt (2017), "A conceptual
    introduction to Hamiltonian Monte Carlo", arXiv:1701.02434, appendix A, and the two further
    checks of each tree of the Stan reference manual. `trees` grows the trajectories and says what
    is checked; `windowed` is the warm-up.

Deviations. The recursion is flattened into a loop over leaves. A subtree whose left half turns with
the first leaf of its right half is given up at that leaf, and not when it is complete, as its draws
would be thrown away all the same: the draws follow the same law. The chains share the step size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar

import numpy as np

from probmodel.samplers.base import Info, Remark, State, Stretch
from probmodel.samplers.hamiltonian.several_transitions import Drawn, in_calls
from probmodel.samplers.hamiltonian.trees import grown
from probmodel.samplers.hamiltonian.windowed import Params, Record, WindowedSampler
from probmodel.samplers.metropolis import DIVERGENCE
from probmodel.samplers.settings import check_whole, must_be
from probmodel.samplers.streams import Streams
from probmodel.types import Array, Doublings, Grown, LogDensity

DEEPEST = 16  # doublings
SATURATED = 0.01  # share of transitions at max_depth that is worth a remark


class Transitions(Stretch):
    """Transitions in a row.

    Parameters
    ----------
    made : what they did
    step_size : of all, or (chains,)
    """

    has_trajectories = True

    def __init__(self, made: Grown, step_size: float | Array) -> None:
        self._made = made
        self._step_sizes = np.broadcast_to(step_size, made.energy.shape)
        self.last = State(made.x[-1], made.logp[-1], made.grad[-1])

    x = property(lambda self: self._made.x[1:])
    proposed = property(lambda self: self._made.logp[1:])

    def __len__(self) -> int:
        return len(self._made.energy)

    @cached_property
    def statistics(self) -> dict[str, Array]:
        """See `Stretch.statistics`."""
        made = self._made
        return {
            "lp": made.logp[1:], "acceptance_rate": made.accept_prob, "accepted": made.accepted,
            "n_grad": made.n_steps, "diverging": made.diverging, **self._own(slice(None)),
        }  # fmt: skip

    def _own(self, which: int | slice) -> dict[str, Array]:
        made = self._made
        return {
            "n_steps": made.n_steps[which], "tree_depth": made.depth[which],
            "reached_max_treedepth": made.reached[which], "energy": made.energy[which],
            "step_size": self._step_sizes[which],
        }  # fmt: skip

    def __iter__(self) -> Iterator[tuple[State, Info]]:
        made = self._made
        states = [*map(State, made.x, made.logp, made.grad)]
        for k, (previous, state) in enumerate(pairwise(states)):
            diverging, n_steps = made.diverging[k], made.n_steps[k]
            record = Record(np.where(diverging[:, None], made.broken[k], np.nan))
            yield state, Info(
                made.accept_prob[k], made.accepted[k], diverging, n_steps, previous, state,
                self._own(k), record,
            )  # fmt: skip


def _drawn(streams: Streams, shape: tuple[int, int], n: int) -> Drawn:
    """Draw what is random in n transitions: momenta from one generator, seeds from the other."""
    rng, seeds = streams.generators
    momenta = rng.standard_normal((n, *shape))
    return momenta, seeds.integers(1 << 64, size=(n, shape[0]), dtype=np.uint64)


@dataclass(frozen=True)
class NUTS(WindowedSampler):
    """No-U-Turn sampler, as Stan's.

    Parameters
    ----------
    step_size, metric, inv_metric : as in `WindowedSampler`
    target_accept : float, optional
        Mean acceptance along a trajectory that h aims at, between 0 and 1; higher values mean
        shorter steps, and fewer divergences.
    max_depth : int
        Largest number of doublings of a trajectory, from 1 to 16.
    """

    target_accept: float | None = 0.8
    max_depth: int = 10

    name: ClassVar[str] = "nuts"
    summary: ClassVar[str] = "Hamiltonian trajectories, grown until they turn back"
    paper: ClassVar[str] = "Hoffman and Gelman (2014); Betancourt (2017)"
    learns: ClassVar[str] = "step size, mass matrix"
    cost: ClassVar[str] = "up to 2^max_depth gradients"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "max_depth", self.max_depth, least=1)
        if self.max_depth > DEEPEST:
            allowed = f"at most {DEEPEST} (trajectories of {2**DEEPEST - 1} leapfrog steps)"
            raise must_be("nuts", "max_depth", self.max_depth, allowed)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One trajectory of every chain."""
        momenta = rng.standard_normal(state.x.shape)[None]
        seeds = rng.integers(1 << 64, size=len(state.x), dtype=np.uint64)[None]
        return next(iter(self._made(density, params, state, (momenta, seeds))))

    def streams(self, rng: np.random.Generator) -> Streams:
        """Return the generators of momenta and of seeds."""
        return Streams(rng, np.random.default_rng(rng.integers(1 << 63)))

    def stretches(
        self,
        streams: Streams,
        density: LogDensity,
        state: State,
        params: Params,
        left: Callable[[], int],
    ) -> Iterator[Stretch]:
        """Yield transitions, as many at a time as machine code makes in a moment."""
        draw = partial(_drawn, streams, state.x.shape)
        return in_calls(streams, draw, partial(self._made, density, params), state, left)

    def _made(self, density: LogDensity, params: Params, start: State, drawn: Drawn) -> Stretch:
        """Make transitions with what was drawn for them."""
        steps, root = params.step_size, params.root
        wanted = Doublings(*start, *drawn, root, steps, self.max_depth, DIVERGENCE)
        return Transitions(grown(density, wanted), steps)

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Say so if trajectories were cut off before they turned."""
        reached = stats["reached_max_treedepth"]
        if not np.size(reached) or np.mean(reached) <= SATURATED:
            return []
        message = (
            f"{np.sum(reached)} of {np.size(reached)} trajectories ({np.mean(reached):.0%}) were "
            f"cut off at max_depth={self.max_depth} before they turned: the draws are valid, but "
            "take many gradients and mix slowly. Give the parameters comparable scales, or try "
            'metric="dense" or "low_rank"; a larger max_depth allows longer trajectories.'
        )
        return [Remark("max_treedepth", message)]
