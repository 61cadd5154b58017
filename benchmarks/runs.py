"""One run of one sampler on one target, with the settings of the papers.

A single chain, 20,000 iterations of warm-up and as many kept, started from N(0, I); prior N(0, I),
inputs as they are with a column of ones. The initial step is the sampler's own choice.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from engine import compiled_density
from ess import ESTIMATORS
from targets import make_target

from probmodel.inference.groups import sample
from probmodel.samplers import make_sampler
from probmodel.types import LogDensity

ITERATIONS = 20_000
PAPER_SETTINGS: dict[str, dict[str, Any]] = {
    "mala": {"target_accept": 0.574},
    "fisher_mala": {
        "damping": 10.0,
        "target_accept": 0.574,
        "initial_steps": 500,
        "step_rate": 0.015,
        "robust": False,
    },
}


@dataclass(frozen=True)
class Job:
    """What to run.

    Attributes
    ----------
    target : a name in `targets.TARGETS`
    method : a name in `probmodel.samplers.SAMPLERS`
    signal : what the preconditioner learns from, for `fisher_mala`; None for other methods
    seed, repeat : together with the target they fix the random numbers and the starting point
    scale : multiplies the iterations of both phases
    engine : "numpy" for the hand-written target, "model" for the package's compiled one
    standardise : bring the inputs of a regression to mean 0 and variance 1
    estimator : a name in `ess.ESTIMATORS`
    """

    target: str
    method: str
    signal: str | None = None
    seed: int = 0
    repeat: int = 0
    scale: float = 1.0
    engine: str = "numpy"
    standardise: bool = False
    estimator: str = "tfp"

    @property
    def iterations(self) -> int:
        """Iterations of each phase."""
        return max(round(ITERATIONS * self.scale), 4)


Row = dict[str, Any]


def make_density(target: str, engine: str, standardise: bool) -> LogDensity:
    """Build the target by hand or through the package's model language."""
    if engine == "model":
        return compiled_density(target, standardise=standardise)
    return make_target(target, standardise=standardise)


def settings_of(method: str, signal: str | None, scale: float) -> dict[str, Any]:
    """Return the paper's settings of a method; the plain phase shrinks with the iterations."""
    settings = dict(PAPER_SETTINGS.get(method, {}))
    if signal is not None:
        settings["signal"] = signal
    if "initial_steps" in settings and scale < 1.0:
        settings["initial_steps"] = max(round(settings["initial_steps"] * scale), 1)
    return settings


def run_job(job: Job) -> Row:
    """Run one chain and summarise it.

    Returns
    -------
    dict
        The job's fields, the dimension, the largest, median and smallest effective sample size
        over coordinates, acceptance rate, step size, gradients and non-finite proposals.
    """
    density = make_density(job.target, job.engine, job.standardise)
    sampler = make_sampler(job.method, **settings_of(job.method, job.signal, job.scale))
    seeds = np.random.SeedSequence([job.seed, job.repeat, zlib.crc32(job.target.encode())])
    start_seed, sampling_seed = seeds.spawn(2)
    x0 = np.random.default_rng(start_seed).standard_normal((1, density.dim))
    run = sample(
        sampler,
        density,
        x0,
        sampling_seed,
        draws=job.iterations,
        warmup=job.iterations,
        pool=False,
    )
    sizes = ESTIMATORS[job.estimator](run.x[0])
    return {
        **asdict(job),
        "dim": density.dim,
        "iterations": job.iterations,
        "ess_max": float(np.max(sizes)),
        "ess_median": float(np.median(sizes)),
        "ess_min": float(np.min(sizes)),
        "acceptance_rate": float(run.stats["acceptance_rate"].mean()),
        "step_size": float(run.stats["step_size"][0, -1]),
        "gradients_warmup": int(run.n_grad_warmup),
        "gradients_sampling": int(run.n_grad_sampling),
        "nonfinite": int(run.nonfinite),
    }


def run_jobs(jobs: Sequence[Job], processes: int = 1) -> Iterator[Row]:
    """Run the jobs in order, in one or two processes, and yield their summaries."""
    if processes == 1:
        yield from map(run_job, jobs)
        return
    with ProcessPoolExecutor(processes) as executor:
        yield from executor.map(run_job, jobs)
