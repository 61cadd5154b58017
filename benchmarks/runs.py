"""One run of one sampler on one target, with the settings of its paper."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from ess import effective_sizes, rhat, successive
from experiments import PROTOCOLS, Protocol, Settings, Variant, variant_of
from language_targets import compiled_density
from stored_rows import IDENTITY, Row, provenance
from targets import make_target

from probmodel.adaptation.mode import find_mode
from probmodel.inference.chains import Group
from probmodel.inference.counting import Work
from probmodel.inference.driver import Collector, drive
from probmodel.numerics.roots import times
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Info, Sampler
from probmodel.types import Array, LogDensity

LONGEST = 200_000  # draws of a chain that are kept; longer runs are thinned
MOST = 250_000_000  # numbers that are kept; of more, evenly spaced coordinates are
LARGEST = 1000  # dimension in which a condition number is worked out


@dataclass(frozen=True)
class Job:
    """What to run.

    Attributes
    ----------
    paper : a key of `experiments.PROTOCOLS`
    target : a name in `targets.TARGETS`
    method : a label in `experiments.variants`
    seed, repeat : together with the target they fix the random numbers and the starting point
    scale : multiplies the iterations of both phases
    warmup_scale : multiplies those of the warm-up instead, if given
    chains : replaces the paper's number
    engine : "numpy" for the hand-written target, "model" for the package's compiled one
    standardise : bring the inputs to mean 0 and variance 1 though the paper does not
    estimator : a name in `ess.ESTIMATORS`; by default the paper's
    settings : replace those of the paper
    start_scale : replaces that of the paper
    warmup : replaces that of the paper; it is multiplied too
    variant : replaces that of the paper
    limit : seconds after which the run is given up
    """

    paper: str
    target: str
    method: str
    seed: int = 0
    repeat: int = 0
    scale: float = 1.0
    engine: str = "numpy"
    standardise: bool = False
    estimator: str | None = None
    settings: Settings = field(default_factory=dict)
    start_scale: float | None = None
    warmup: int | None = None
    warmup_scale: float | None = None
    chains: int | None = None
    variant: Variant | None = None
    limit: float = math.inf

    @property
    def protocol(self) -> Protocol:
        """What the paper's runs share."""
        return PROTOCOLS[self.paper]

    @property
    def lengths(self) -> tuple[int, int]:
        """Iterations of the warm-up and after it at scale 1."""
        warmup, draws = full_lengths(self.paper, self.target, self.method)
        return self.warmup or warmup, draws

    @property
    def iterations(self) -> tuple[int, int]:
        """Iterations of the warm-up and after it."""
        warmup, draws = self.lengths
        scale = self.scale if self.warmup_scale is None else self.warmup_scale
        return max(round(warmup * scale), 8), max(round(draws * self.scale), 8)


def full_lengths(paper: str, target: str, method: str) -> tuple[int, int]:
    """Return the iterations of a method in its paper, of the warm-up and after it."""
    protocol = PROTOCOLS[paper]
    return variant_of(paper, target, method).lengths or (protocol.warmup, protocol.draws)


class Recorder(Collector):
    """Keeps the draws of a run, and the means of the points of each chain that has several.

    Attributes
    ----------
    thin : the last of every so many draws is kept
    every : the first of every so many coordinates is kept
    x, means : (chains, kept, dim / every); ``means`` is None for a sampler with one point a chain
    acceptance_rate, accepted : means over chains and draws, of the probability and of the fact
    step_size : the last one, NaN for a sampler without
    nonfinite : proposals after the warm-up without a finite density
    spread : standard deviations of the points, summed over draws, averaged over chains: (dim,)
    warmed : processor time at the end of the warm-up
    """

    def __init__(self, chains: int, dim: int, draws: int, ensemble: bool) -> None:
        self.draws = draws
        self.thin = -(-draws // LONGEST)
        kept = draws // self.thin
        self.every = max(-(-chains * kept * dim // MOST), 1)
        self.x = np.empty((chains, kept, -(-dim // self.every)))
        self.means = np.empty_like(self.x) if ensemble else None
        self._probability, self._accepted = 0.0, 0
        self.step_size = np.nan
        self.nonfinite = 0
        self.spread = np.zeros(dim)
        self.warmed = time.process_time()

    def record(
        self, phase: Literal["warmup", "draw"], i: int, state: Any, info: Info, params: Any
    ) -> None:
        """Keep iteration ``i`` if it is one to keep."""
        if phase == "warmup":
            self.warmed = time.process_time()
            return
        self._probability += float(info.accept_prob.sum())
        self._accepted += int(info.accepted.sum())
        self.step_size = float(getattr(params, "step_size", np.nan))
        self.nonfinite += int(np.sum(~np.isfinite(info.proposal.logp)))
        if self.means is not None:
            self.spread += state.points.std(axis=1).mean(axis=0)
        kept, rest = divmod(i + 1, self.thin)
        if rest == 0:
            self.x[:, kept - 1] = state.x[:, :: self.every]
            if self.means is not None:
                self.means[:, kept - 1] = state.points.mean(axis=1)[:, :: self.every]

    @property
    def acceptance_rate(self) -> float:
        """Mean probability of acceptance."""
        return self._probability / (self.draws * len(self.x))

    @property
    def accepted(self) -> float:
        """Share of the proposals that were accepted."""
        return self._accepted / (self.draws * len(self.x))


def make_density(target: str, engine: str, standardise: bool) -> LogDensity:
    """Build the target by hand or through the package's model language."""
    if engine == "model":
        return compiled_density(target, standardise=standardise)
    return make_target(target, standardise=standardise)


def settings_of(job: Job, variant: Variant) -> Settings:
    """Return the sampler's settings; the plain phase shrinks with the iterations."""
    settings = variant.settings | job.settings
    scale = job.iterations[0] / job.lengths[0]
    if "initial_steps" in settings and scale < 1.0:
        settings["initial_steps"] = max(round(settings["initial_steps"] * scale), 1)
    return settings


def starting_points(
    job: Job, variant: Variant, sampler: Sampler, density: Any, rng: np.random.Generator
) -> Array:
    """Draw points about zero or the mode: (chains, dim), or (chains, points, dim)."""
    points = sampler.points_per_chain(density.dim)
    chains = job.chains or job.protocol.chains
    shape = (chains, density.dim)
    if points > 1:
        shape = (chains, points, density.dim)
    scale = variant.start_scale if job.start_scale is None else job.start_scale
    zero = np.zeros((1, density.dim))
    centre = find_mode(density, zero).x if job.target in job.protocol.from_mode else zero
    return centre + scale * rng.standard_normal(shape)


class Finished(NamedTuple):
    """A run that has come to its end.

    Attributes
    ----------
    dim, points : of the target, and of a chain
    recorder : the draws
    work_warmup, work : evaluations of the warm-up and after it
    seconds_warmup, seconds : processor time of both, of all threads together
    params : the sampler's in the end
    condition : see `condition_number`
    """

    dim: int
    points: int
    recorder: Recorder
    work_warmup: Work
    work: Work
    seconds_warmup: float
    seconds: float
    params: Any
    condition: float


def execute(job: Job) -> Finished:
    """Run the chains of a job.

    Raises
    ------
    TimeoutError
        If that takes longer than the job allows.
    """
    protocol = job.protocol
    density = make_density(job.target, job.engine, job.standardise or protocol.standardise)
    variant = job.variant or variant_of(job.paper, job.target, job.method)
    sampler = make_sampler(variant.method, **settings_of(job, variant))
    seeds = np.random.SeedSequence([job.seed, job.repeat, zlib.crc32(job.target.encode())])
    start_seed, sampling_seed = seeds.spawn(2)
    x0 = starting_points(job, variant, sampler, density, np.random.default_rng(start_seed))
    warmup, draws = job.iterations
    points = sampler.points_per_chain(density.dim)
    recorder = Recorder(len(x0), density.dim, draws, points > 1)
    rng = np.random.default_rng(sampling_seed.spawn(1)[0])
    group = Group(sampler, density, x0, rng, [recorder])
    begin = time.process_time()
    outcome = drive([group], warmup=warmup, iterations=draws, max_time=job.limit)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.timed_out:
        raise TimeoutError(
            f"given up after {job.limit:g} s, with {group.warmed} of {warmup} iterations of the "
            f"warm-up and {group.drawn} of {draws} draws made"
        )
    seconds = recorder.warmed - begin, time.process_time() - recorder.warmed
    by_hand = make_target(job.target) if job.engine == "model" else density
    condition = condition_number(by_hand, group.params)
    return Finished(
        density.dim, points, recorder, *group.work, *seconds, group.params, condition
    )  # fmt: skip


def condition_number(density: Any, params: Any) -> float:
    """Return that of the precision a sampler sees, C'PC for the root C that it learned.

    ``density`` is the target by hand. NaN where that is not known to be a Gaussian, the sampler has
    no such root, or the matrix is too large.
    """
    known = hasattr(density, "covariance_matrix") and hasattr(params, "root")
    if not known or density.dim > LARGEST:
        return np.nan
    unit = np.eye(density.dim)
    columns = times(params.root, unit)  # row i is C e_i
    return float(np.linalg.cond(columns @ np.linalg.solve(density.covariance_matrix(), columns.T)))


def run_job(job: Job) -> Row:
    """Run the chains of a job and summarise them.

    Returns
    -------
    dict
        One entry for each of `COLUMNS`. The sizes "of means" are N times that of the mean of the N
        points of a chain, for a sampler that has several; rates of such a sampler are by them.
        ``eigenvalue`` is that of D, largest in size, as `entropy_hmc` last estimated it.
        Of chains that alternate about the mean ``correlation`` of successive draws is negative, in
        the median, and the size of the squares about the mean smaller than that of the draws.
        Rates are by all evaluations after the warm-up (an HVP counts as two gradients, a Hessian as
        one a dimension), and by the seconds of the whole run, of processor time.
    """
    run, protocol = execute(job), job.protocol
    recorder, estimator = run.recorder, job.estimator or protocol.estimator
    row = {name: getattr(job, name) for name in IDENTITY} | {
        "standardise": job.standardise or protocol.standardise, "estimator": estimator,
        "dim": run.dim, "chains": len(recorder.x), "warmup": job.iterations[0],
        "draws": job.iterations[1], "thin": recorder.thin, "points": run.points,
        "acceptance_rate": recorder.acceptance_rate, "accepted": recorder.accepted,
        "step_size": recorder.step_size, "nonfinite": recorder.nonfinite,
        "seconds_warmup": run.seconds_warmup, "seconds_sampling": run.seconds,
        "condition": run.condition, "eigenvalue": getattr(run.params, "mu", np.nan), "error": "",
    } | provenance()  # fmt: skip
    by_coordinate = effective_sizes(estimator, recorder.x)
    sizes = three_sizes(by_coordinate)
    row |= {f"ess_{name}": size for name, size in sizes.items()}
    row["ess_mean"] = float(np.mean(by_coordinate))
    row |= {f"rhat_{name}": value for name, value in three_sizes(rhat(recorder.x)).items()}
    del row["rhat_min"]
    if recorder.means is not None:
        sizes = three_sizes(run.points * effective_sizes(estimator, recorder.means))
        row |= {f"ess_of_means_{name}": size for name, size in sizes.items()}
    row |= work_columns("warmup", run.work_warmup) | work_columns("sampling", run.work)
    x = recorder.x
    x -= x.mean(axis=(0, 1))  # in place, as x may be large
    row["correlation"] = float(np.median(successive(x)))
    row["ess_of_squares_min"] = float(np.min(effective_sizes(estimator, np.square(x, out=x))))
    return row | rates(sizes, run.work, run.dim, run.seconds_warmup + run.seconds)


def three_sizes(sizes: Array) -> dict[str, float]:
    """Largest, median and smallest over coordinates."""
    return {name: float(getattr(np, name)(sizes)) for name in ("max", "median", "min")}


def work_columns(phase: str, work: Work) -> Row:
    """Name the evaluations of a phase as columns."""
    names = ("densities", "gradients", "hvps", "hessians")
    return {f"{name}_{phase}": count for name, count in zip(names, work, strict=True)}


def rates(sizes: dict[str, float], work: Work, dim: int, seconds: float) -> Row:
    """Effective sizes by evaluations and by seconds."""
    gradients = work.grad + 2 * work.hvp + dim * work.hessian
    thousands = (work.logp + gradients) / 1000.0
    return {
        "ess_min_per_1000": sizes["min"] / thousands,
        "ess_median_per_1000": sizes["median"] / thousands,
        "ess_min_per_gradient": sizes["min"] / gradients if gradients else np.nan,
        "ess_min_per_second": sizes["min"] / seconds,
        "ess_median_per_second": sizes["median"] / seconds,
    }


def failed_row(job: Job, error: BaseException) -> Row:
    """Row of a job that raised."""
    row = {name: getattr(job, name) for name in IDENTITY}
    return row | {"error": f"{type(error).__name__}: {error}"} | provenance()


def run_jobs(jobs: Sequence[Job], processes: int = 1) -> Iterator[Row]:
    """Run the jobs in order, in one or two processes, and yield their rows as they come.

    A job that raises gives a row whose ``error`` says what happened; the others go on.
    """
    if processes == 1:
        for job in jobs:
            yield _result(job, partial(run_job, job))
        return
    with ProcessPoolExecutor(processes) as executor:
        futures: list[Future[Row]] = [executor.submit(run_job, job) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            yield _result(job, future.result)


def _result(job: Job, call: Any) -> Row:
    try:
        return call()
    except Exception as error:
        return failed_row(job, error)


def is_full(row: Row) -> bool:
    """Whether a run was as long as the paper's, with the inputs as there."""
    protocol = PROTOCOLS[row["paper"]]
    warmup, draws = full_lengths(row["paper"], row["target"], row["method"])
    return (
        not row["error"]
        and row["warmup"] >= warmup
        and row["draws"] >= draws
        and row["chains"] >= protocol.chains
        and row["standardise"] == protocol.standardise
    )
