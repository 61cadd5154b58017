"""The No-U-Turn sampler: Hamiltonian trajectories that are grown until they turn back.

    q, r      position, whitened momentum                                 (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'                see `roots`
    h         step size                                                   ()
    w         log weight of a point: energy at the start less its own     (chains,)
    S         sum of the momenta of a tree                                (chains, dim)
    alpha     mean of min(1, e^w) over a trajectory                       (chains,)

    Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15; with the multinomial draw, the
    generalised criterion and the biased progressive sampling of Betancourt (2017), "A conceptual
    introduction to Hamiltonian Monte Carlo", arXiv:1701.02434, appendix A, and the two further
    checks of each tree of the Stan reference manual. `trees` grows the trajectories and says what
    is checked; `windowed` is the warm-up.

Deviations. The recursion is flattened into one loop over leapfrog steps, in which every chain is at
a leaf of its own; while sampling no chain waits for another. Leaves are made in blocks of four,
the start being one of the first: ``n_steps`` is 3, 7, 11, ... A subtree whose left half turns with
the first leaf of its right half is given up at the end of that block, and not when it is complete,
as its draws would be thrown away all the same: the draws follow the same law. In the warm-up
chains meet only where all change at once (`meetings`): each transition teaches the step size when
it is over, and the next of that chain has the one that is best by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.errors import SamplerError
from probmodel.samplers.base import Info, Remark, State
from probmodel.samplers.settings import check_whole
from probmodel.samplers.trees import Trees
from probmodel.samplers.windowed import Params, WindowedSampler, meetings
from probmodel.types import Array, LogDensity

DEEPEST = 16  # doublings; each chain draws a number for every leaf that there might be
SATURATED = 0.01  # share of transitions at max_depth that is worth a remark


@dataclass(frozen=True)
class NUTS(WindowedSampler):
    """No-U-Turn sampler, as Stan's.

    Parameters
    ----------
    step_size : float, optional
        Where the step size h starts; found by trying if not given.
    target_accept : float
        Mean acceptance along a trajectory that h aims at, between 0 and 1; higher values mean
        shorter steps, and fewer divergences.
    metric : {"identity", "diag", "dense", "low_rank"}
        What is learned of the posterior covariance: nothing, its diagonal, all of it, or scales
        and a few directions.
    inv_metric : array, optional
        The covariance, (dim, dim), or its diagonal, (dim,); given, it is not learned.
    max_depth : int
        Doublings of a trajectory, at most; from 1 to 16.

    Raises
    ------
    SamplerError
        If a setting is out of its range.
    """

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
            raise SamplerError(
                f"nuts: max_depth must be at most {DEEPEST} (trajectories of {2**DEEPEST - 1} "
                f"leapfrog steps), got {self.max_depth!r}.",
                setting="max_depth", value=self.max_depth,
            )  # fmt: skip

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One trajectory of every chain; those that end early wait."""
        return next(self.stream(rng, density, state, params, 1))

    def stream(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params, n: int
    ) -> Iterator[tuple[State, Info]]:
        """``n`` trajectories of every chain, each begun when the chain's last one has ended."""
        return Trees(density, state, params, self.max_depth).run(rng, n)

    def renewed_after(self, i: int, n_warmup: int) -> int:
        """Return how many iterations are left until all chains have to meet."""
        return next(end for end in meetings(n_warmup) if end >= i) + 1 - i

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
