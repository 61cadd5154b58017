"""Split chains into groups that adapt together, run them, and put their draws together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from probmodel.errors import SamplerError
from probmodel.inference.collectors import (
    Counter,
    Divergences,
    DivergenceStore,
    DrawStore,
    join_divergences,
)
from probmodel.inference.counting import Work
from probmodel.inference.driver import Collector, Group, Outcome, drive
from probmodel.inference.pilot import Pilot
from probmodel.inference.progress import GroupLine, Progress
from probmodel.inference.restarts import Restart
from probmodel.samplers.base import Sampler
from probmodel.samplers.requirements import check_density
from probmodel.types import Array, LogDensity

_MOST_DIVERGENCES = 1000  # kept of a run, over all chains
_PILOT = 1 << 31  # number of the pilot among the groups, of which there are fewer
_MOST_NUMBERS = 1 << 22  # in the positions of those that are kept: 32 MB for their starts

Missing = Callable[[Any, Array, int], int]


@dataclass(frozen=True)
class SampleRun:
    """What a run produced. Chains are in the order of the starting points.

    Attributes
    ----------
    x : (chains, draws_done, dim)
    stats : name -> (chains, draws_done): lp, acceptance_rate, accepted, step_size, n_steps, n_grad,
        diverging, and the sampler's own
    warmup_x, warmup_stats : the same for the warm-up, or None if it was not to be saved
    warmup_done, draws_done : iterations of warm-up, and kept draws, of every chain
    draws : kept draws of every chain that there were to be in the end
    interrupted, timed_out : whether Ctrl-C or the time limit ended the run early
    work_warmup, work_sampling : evaluations of each phase, over all chains; the warm-up includes
        those of the pilot, the starting points and the adaptation
    seconds_warmup, seconds_sampling : time each phase took
    blas_threads : that matrix products were split between
    nonfinite : proposals with a density that is not finite while sampling, over all chains
    divergences : trajectories that diverged while sampling
    params : parameters of each group at the end
    groups : number of groups
    positions : (chains, dim), where the chains were at the end
    restarted : chains that were lost in the warm-up and began again from another's place
    density : the target on the scale of the draws
    """

    x: Array
    stats: dict[str, Array]
    warmup_x: Array | None
    warmup_stats: dict[str, Array] | None
    warmup_done: int
    draws_done: int
    draws: int
    interrupted: bool
    timed_out: bool
    work_warmup: Work
    work_sampling: Work
    seconds_warmup: float
    seconds_sampling: float
    blas_threads: int
    nonfinite: int
    divergences: Divergences
    params: tuple[Any, ...]
    groups: int
    positions: Array
    restarted: tuple[Restart, ...]
    density: Any

    @property
    def n_grad_warmup(self) -> int:
        """Gradients of the warm-up."""
        return self.work_warmup.grad

    @property
    def n_grad_sampling(self) -> int:
        """Gradients of the sampling."""
        return self.work_sampling.grad


def sample(
    sampler: Sampler,
    density: LogDensity,
    x0: Array,
    seed: int | np.random.SeedSequence,
    *,
    draws: int,
    warmup: int,
    thin: int = 1,
    pool: bool = True,
    restarts: bool = True,
    arrive: bool = False,
    standardise: bool = False,
    early: bool = False,
    save_warmup: bool = False,
    max_time: float = math.inf,
    missing: Missing = lambda density, x, groups: 0,
    progress: Progress | None = None,
) -> SampleRun:
    """Warm up and draw, in one group of all chains or in several.

    Parameters
    ----------
    sampler : the method with its settings
    density : the target
    x0 : (chains, dim), starting points
    seed : one generator per group is derived from it; it is left as it is
    draws : draws per chain to keep; ``draws * thin`` iterations are run
    warmup : iterations that adapt, per chain; at most, if it may end ``early``
    thin : iterations per kept draw
    pool : one group of all chains, or as many groups as the method allows: one per chain, or one
        per ensemble
    restarts : whether chains of a group that are lost in the warm-up begin again from others
    arrive : whether chains climb to the bulk before the warm-up
    standardise : whether hierarchies are standardised by what the data tell, before the warm-up
    early : whether the warm-up may end as soon as the chains of all groups have settled
    save_warmup : keep the warm-up too, every iteration of it
    max_time : seconds after which no further iteration is begun
    missing : how many more draws a chain is to make, told by the density on the scale of the draws,
        those so far, (chains, draws, dim), and the number of groups
    progress : shows a line per group

    Returns
    -------
    SampleRun
        Groups take turns, so that after an early end all chains have the same number of draws;
        draws that only some groups had made are left out.

    Raises
    ------
    SamplerError
        If the target lacks what the method needs, there are too few chains for it, or a starting
        point has no finite log density.
    """
    check_density(sampler, density)
    x0 = np.asarray(x0, dtype=float)
    _split(sampler, x0, pool)  # too few chains are an error before anything is computed
    pilot = Pilot(density, x0, _pilot_rng(seed), arrive, standardise, progress)
    try:
        before = _run_pilot(pilot, max_time)
        blocks = _split(sampler, pilot.positions, pool)
        records = [
            _Record(block, draws, warmup if save_warmup else 0, thin, len(blocks))
            for block in blocks
        ]
        rngs = [np.random.default_rng(child) for child in _children(seed, len(blocks))]
        lines = _lines(progress, blocks, warmup, draws * thin)
        groups = [
            Group(sampler, pilot.density, block, rng, [*record.collectors, *line], restarts, early)
            for block, rng, record, line in zip(blocks, rngs, records, lines, strict=True)
        ]
        outcome = before
        if not (before.interrupted or before.timed_out):
            left = max_time - before.seconds_warmup
            outcome = drive(
                groups, warmup=warmup, iterations=draws * thin, max_time=left,
                further=lambda: thin * _further(pilot.density, records, lines, thin, missing),
            )  # fmt: skip
            spent = before.seconds_warmup + outcome.seconds_warmup
            outcome = outcome._replace(seconds_warmup=spent)
    finally:
        if progress is not None:
            progress.close()
    return _assemble(records, outcome, groups, save_warmup, pilot)


def _further(
    density: LogDensity,
    records: Sequence[_Record],
    lines: Sequence[Sequence[GroupLine]],
    thin: int,
    missing: Missing,
) -> int:
    """Return how many more draws a chain is to make, with room made for them."""
    more = missing(density, _join([record.draws for record in records])[0], len(records))
    for record in records if more else ():
        record.grow(more)
    for line in itertools.chain(*lines):
        line.go_on(more * thin)
    return more


def _run_pilot(pilot: Pilot, max_time: float) -> Outcome:
    """Bring the chains to where the warm-up begins, if there is anything to do."""
    if not pilot.steps:
        return Outcome(False, False, 0.0, 0.0, 1)
    return drive([pilot], warmup=pilot.steps, iterations=0, max_time=max_time)


def _split(sampler: Sampler, x0: Array, pool: bool) -> list[Array]:
    """Split the starting points into groups whose sizes differ by one at most."""
    least = sampler.min_chains(x0.shape[1])
    if len(x0) < least:
        raise SamplerError(
            f"{sampler.name} needs at least {least} chains for {x0.shape[1]} unconstrained "
            f"parameters, got {len(x0)}.",
            chains=len(x0), least=least,
        )  # fmt: skip
    return np.array_split(x0, 1 if pool else len(x0) // least)


def _pilot_rng(seed: int | np.random.SeedSequence) -> np.random.Generator:
    """Randomness of the pilot, beside that of the groups."""
    return np.random.default_rng(_children(seed, 1, first=_PILOT)[0])


def _children(
    seed: int | np.random.SeedSequence, n: int, first: int = 0
) -> list[np.random.SeedSequence]:
    """Seeds of n groups. `SeedSequence.spawn` would count them in the caller's object."""
    parent = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return [
        np.random.SeedSequence(
            parent.entropy, spawn_key=(*parent.spawn_key, g), pool_size=parent.pool_size
        )
        for g in range(first, first + n)
    ]


def _lines(
    progress: Progress | None, blocks: Sequence[Array], warmup: int, iterations: int
) -> list[list[GroupLine]]:
    """Progress collectors of each group."""
    if progress is None:
        return [[] for _ in blocks]
    return [[line] for line in progress.lines([len(b) for b in blocks], warmup, iterations)]


class _Record:
    """The collectors of one of ``groups`` groups, whose starting points are ``x0``."""

    def __init__(self, x0: Array, draws: int, warmup: int, thin: int, groups: int) -> None:
        chains, dim = x0.shape
        self.chains, self.planned = chains, draws
        most = max(1, min(_MOST_DIVERGENCES, _MOST_NUMBERS // dim) // groups)
        self.divergences = DivergenceStore(chains, draws, dim, thin, most)
        self.draws = DrawStore("draw", chains, draws, dim, thin)
        self.warmup = DrawStore("warmup", chains, warmup, dim) if warmup else None
        self.counter = Counter()

    def grow(self, draws: int) -> None:
        """Make room for so many more draws."""
        self.planned += draws
        self.divergences.grow(draws)
        self.draws.grow(draws)

    @property
    def collectors(self) -> list[Collector]:
        stores: list[Collector] = [self.divergences, self.draws, self.counter]
        return stores if self.warmup is None else [*stores, self.warmup]


def _assemble(
    records: Sequence[_Record],
    outcome: Outcome,
    groups: Sequence[Group],
    save_warmup: bool,
    pilot: Pilot,
) -> SampleRun:
    """Put the groups' draws together, as many as every group has."""
    x, stats, draws_done = _join([record.draws for record in records])
    warmup_x = warmup_stats = None
    stores = [record.warmup for record in records if record.warmup is not None]
    if save_warmup and stores:
        warmup_x, warmup_stats, _ = _join(stores)
    return SampleRun(
        x=x,
        stats=stats,
        warmup_x=warmup_x,
        warmup_stats=warmup_stats,
        warmup_done=min(record.counter.iterations["warmup"] for record in records),
        draws_done=draws_done,
        draws=records[0].planned,
        interrupted=outcome.interrupted,
        timed_out=outcome.timed_out,
        work_warmup=reduce(Work.plus, (group.work[0] for group in groups), pilot.work),
        work_sampling=reduce(Work.plus, (group.work[1] for group in groups)),
        seconds_warmup=outcome.seconds_warmup,
        seconds_sampling=outcome.seconds_sampling,
        blas_threads=outcome.blas_threads,
        nonfinite=sum(record.counter.nonfinite["draw"] for record in records),
        divergences=join_divergences([r.divergences.divergences(draws_done) for r in records]),
        params=tuple(group.params for group in groups),
        groups=len(records),
        positions=np.concatenate([group.positions for group in groups]),
        restarted=tuple(_numbered(groups, records)),
        density=pilot.density,
    )


def _numbered(groups: Sequence[Group], records: Sequence[_Record]) -> Iterator[Restart]:
    """Yield the restarts of all groups, with the numbers that chains have in the run."""
    first = 0
    for group, record in zip(groups, records, strict=True):
        for restart in group.restarted:
            chain, source = first + restart.chain, first + restart.source
            yield restart._replace(chain=chain, source=source)
        first += record.chains


def _join(stores: Sequence[DrawStore]) -> tuple[Array, dict[str, Array], int]:
    """Draws and statistics of all groups: (chains, count, dim), name -> (chains, count), count."""
    count = min(store.count for store in stores)
    parts = [store.stats(count) for store in stores]
    names = parts[0] if all(parts) else ()
    stats = {name: _concatenated([part[name] for part in parts]) for name in names}
    return _concatenated([store.x(count) for store in stores]), stats, count


def _concatenated(arrays: Sequence[Array]) -> Array:
    """Put arrays together; a single one is not copied, since draws may fill half the memory."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
