"""Split chains into groups that adapt together, run them, and put their draws together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import child, seed_sequence
from probmodel.errors import SamplerError
from probmodel.inference.chains import Group
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.collectors import Columns, in_memory
from probmodel.inference.driver import EndRun, Outcome, drive
from probmodel.inference.parts import Parts
from probmodel.inference.pilot import Pilot
from probmodel.inference.progress import GroupLine, Progress
from probmodel.inference.sample_run import (
    Allocate,
    Record,
    RunInProgress,
    SampleRun,
    WarmupStart,
    array_in_memory,
    drawn_by,
)
from probmodel.samplers.base import Sampler
from probmodel.samplers.requirements import check_density
from probmodel.types import Array, LogDensity

_PILOT = 1 << 31  # number of the pilot among the groups, of which there are fewer


class Split(NamedTuple):
    """How chains sample in parts: on the workers of an executor, and in how many."""

    executor: Any
    parts: int


Drawn = tuple[Array, dict[str, Array]]
Missing = Callable[[Any, Array, int], int]


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
    checkpoint: Checkpoint | None = None,
    start: dict[str, Any] | None = None,
    drawn: Drawn | None = None,
    split: Split | None = None,
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
    checkpoint : where draws go, and from time to time a snapshot
    start : a snapshot of the same run, to go on from
    drawn : the draws until then, (chains, n, dim), and their statistics, (chains, n), if they are
        not in the checkpoint
    split : how to sample in parts, on workers

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
    try:
        root = seed_sequence(seed)
        own = np.random.default_rng(child(root, _PILOT))
        before, origin = (
            _resumed(density, start)
            if start is not None
            else _arrived(Pilot(density, x0, own, arrive, standardise, progress), max_time)
        )
        blocks = _split(sampler, origin.positions, pool)
        planned = draws if start is None else start["planned"]
        sizes = planned, warmup if save_warmup else 0, thin, len(blocks)
        columns = _columns(checkpoint, start, list(map(len, blocks)))
        records = [Record(x, *sizes, kept) for x, kept in zip(blocks, columns, strict=True)]
        rngs = [np.random.default_rng(child(root, g)) for g in range(len(blocks))]
        lines = _lines(progress, records, warmup, planned * thin)
        make = Group if split is None else partial(Parts, **split._asdict(), thin=thin)
        groups = [
            make(sampler, origin.density, block, rng, [*record.collectors, *line], restarts, early)
            for block, rng, record, line in zip(blocks, rngs, records, lines, strict=True)
        ]
        run = RunInProgress(origin, groups, records, before, start, drawn)
        outcome = before
        if not (before.interrupted or before.timed_out):
            outcome = drive(
                groups, warmup=warmup, iterations=planned * thin,
                max_time=max_time - (before.seconds_warmup if start is None else 0.0),
                further=lambda: thin * _further(run, lines, thin, missing),
                keep=partial(_keep, checkpoint, progress, run),
                blas_threads=None if start is None else before.blas_threads,
            )  # fmt: skip
        snapshot = run.snapshot(outcome)
        if checkpoint is not None and snapshot is not None:
            checkpoint(lambda: snapshot, last=True)
    finally:
        if progress is not None:
            progress.close()
    return run.assembled(outcome, save_warmup, snapshot, _arrays(checkpoint))


def _arrays(checkpoint: Checkpoint | None) -> Allocate:
    """Return what makes arrays for the draws of all groups: in memory, or in files."""
    if checkpoint is None:
        return array_in_memory
    return partial(checkpoint.allocate, folder="joined")


def _arrived(pilot: Pilot, max_time: float) -> tuple[Outcome, WarmupStart]:
    """Bring the chains to where the warm-up begins, if there is anything to do."""
    outcome = Outcome(False, False, 0.0, 0.0, 1)
    if pilot.steps:
        outcome = drive([pilot], warmup=pilot.steps, iterations=0, max_time=max_time)
    return outcome, WarmupStart(pilot.density, pilot.positions, pilot.work)


def resumed(density: Any, start: dict[str, Any]) -> tuple[Any, bool]:
    """Return a density on the scale that it had in a run, and whether it is the same there.

    It is compared with what the run recorded at the positions of its chains.
    """
    points = np.concatenate([group["state"].x for group in start["groups"]])
    logp = np.concatenate([group["state"].logp for group in start["groups"]])
    if hasattr(density, "resumed"):
        density, found = density.resumed(start["density"], points)
    else:
        found = density.log_density(points)
    return density, np.allclose(found, logp, rtol=1e-6, atol=1e-6)


def _resumed(density: Any, start: dict[str, Any]) -> tuple[Outcome, WarmupStart]:
    """Return what the run had taken, and where its warm-up began."""
    positions, work = start["origin"]
    density, same = resumed(density, start)
    if not same:
        raise SamplerError(
            "the log density has changed: at the positions of the chains it is not what the run "
            "recorded. The model, a module that it uses, or the data are not the same, so that the "
            "run cannot be continued."
        )
    return Outcome(False, False, *start["taken"]), WarmupStart(density, positions, work)


def _columns(
    checkpoint: Checkpoint | None, start: dict[str, Any] | None, sizes: Sequence[int]
) -> list[Columns]:
    """Return what keeps the draws of each group, of so many chains: memory, or files."""
    if checkpoint is None:
        return in_memory(sizes)
    records: list[Any] = [{}] * len(sizes) if start is None else start["records"]

    def of_group(g: int) -> Columns:
        stores = {phase: records[g].get(phase) for phase in ("warmup", "draw")}
        return lambda phase: checkpoint.column(g, phase, _count(stores[phase]))

    return [of_group(g) for g in range(len(sizes))]


def _count(store: dict[str, Any] | None) -> int:
    """Return how many draws a store has, by its snapshot."""
    return store["count"] if store else 0


def _keep(
    checkpoint: Checkpoint | None,
    progress: Progress | None,
    run: RunInProgress,
    so_far: Callable[[], Outcome],
) -> None:
    """Do what is due between two iterations: tell of the progress, write a snapshot."""
    if progress is not None:
        progress.tick()
    if checkpoint is not None and not checkpoint(lambda: run.snapshot(so_far(), True)):
        raise EndRun


def _further(
    run: RunInProgress, lines: Sequence[Sequence[GroupLine]], thin: int, missing: Missing
) -> int:
    """Return how many more draws a chain is to make, with room made for them."""
    more = missing(run.density, run.draws, len(lines))
    if more:
        run.grow(more)
    for line in itertools.chain(*lines):
        line.go_on(more * thin)
    return more


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


def _lines(
    progress: Progress | None, records: Sequence[Record], warmup: int, iterations: int
) -> list[list[GroupLine]]:
    """Progress collectors of each group."""
    if progress is None:
        return [[] for _ in records]
    lines = progress.lines([record.chains for record in records], warmup, iterations)
    progress.watch(lambda: drawn_by([record.draws for record in records]))
    return [[line] for line in lines]
