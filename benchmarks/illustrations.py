"""What the figures of the papers show, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from ess import effective_sizes
from experiments import Variant, variant_of
from frobenius import relative
from latent_targets import joint_cox
from runs import Job, execute, run_jobs
from stored_rows import Row
from targets import GAUSSIANS

from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.numerics.roots import times
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Info, State
from probmodel.samplers.random_walk.am import AdaptiveMetropolis, Params
from probmodel.types import Array

ACCEPTANCES = (0.25, 0.4)  # of Figure 1
BETA_ITERATIONS, COVARIANCE_ITERATIONS = 20_000, 200_000  # of Figure 1
POINTS = 400  # of a line
# of Figure 2; HMC, which learns no diagonal, shows its trace only
DIAGONAL_METHODS = ("am", "hmc:20", "gad_rwm", "gad_mala_exact", "gad_mala")
TARGET = "mnist_7v9"  # of both of Zhu's figures
ENSEMBLES = (40, 60, 80, 100, 150, 200, 250, 300)  # of Zhu's Figure 4
AM_SCALE = 0.7  # s of `am` with all covariances on that target
# of Figure 19 of Hirt et al. (2021): a metric that is known, and two that are learned
COX_METHODS = ("rm_const_hmc", "entropy_hmc:gsm:1", "entropy_hmc:gsm:5")
LINEAR_METHODS = ("rwm", "mtm", "am:diag", "sa_mcmc:diag", "nuts")  # of Zhu's Figure 3
FACTORS = (1e-3, 1e-2, 1e-1, 0.5, 1.0, 2.0, 10.0)  # of Zhu's Figure 5


class Line(NamedTuple):
    """Something followed along the iterations, and the root that was learned in the end.

    Attributes
    ----------
    iterations, values : (n,)
    root : (dim, dim)
    """

    iterations: Array
    values: Array
    root: Array


class Follower(Collector):
    """Notes beta, or the error of LL', at evenly spaced iterations of the warm-up."""

    def __init__(self, iterations: int, truth: Array | None) -> None:
        self.every = max(iterations // POINTS, 1)
        self.truth = None if truth is None else relative(truth)
        self.iterations: list[int] = []
        self.values: list[float] = []

    def record(
        self, phase: Literal["warmup", "draw"], i: int, state: State, info: Info, params: Any
    ) -> None:
        """Note the parameters of transition ``i`` if it is one of those wanted."""
        if phase == "draw" or i % self.every:
            return
        self.iterations.append(i)
        if self.truth is None:
            self.values.append(float(params.beta))
        else:
            difference = relative(params.root @ params.root.T) - self.truth
            self.values.append(float(np.linalg.norm(difference) / np.linalg.norm(self.truth)))


def _follow(target: str, method: str, iterations: int, seed: int, **settings: Any) -> Line:
    """Run one chain of a gradient-based adaptive sampler from zero."""
    density = GAUSSIANS[target]()
    truth = density.covariance_matrix() if target == "gauss51" else None
    follower = Follower(iterations, truth)
    rng = np.random.default_rng(seed)
    params = run(
        make_sampler(method, **settings), density, np.zeros((1, density.dim)), rng,
        warmup=iterations, draws=0, collectors=(follower,),
    )  # fmt: skip
    return Line(np.array(follower.iterations), np.array(follower.values), params.root)


def entropy_weights(scale: float, seed: int) -> dict[float, Line]:
    """Follow beta of `gad_rwm` on two correlated coordinates: acceptance aimed at -> line."""
    iterations = max(round(BETA_ITERATIONS * scale), 10)
    return {
        aim: _follow(
            "gauss2d_99", "gad_rwm", iterations, seed, target_accept=aim, learning_rate=5e-4
        )
        for aim in ACCEPTANCES
    }


def learned_covariance(scale: float, seed: int) -> Line:
    """Follow the relative error of the covariance that `gad_mala` learns in 51 dimensions."""
    iterations = max(round(COVARIANCE_ITERATIONS * scale), 10)
    return _follow("gauss51", "gad_mala", iterations, seed, target_accept=0.55, learning_rate=1e-3)


class Diagonal(NamedTuple):
    """One method on Neal's Gaussian.

    Attributes
    ----------
    trace : (draws,), the last coordinate
    diagonal : (dim,), of the root of the covariance of the moves; None if it is not learned
    """

    trace: Array
    diagonal: Array | None


def neal_diagonals(scale: float, seed: int) -> dict[str, Diagonal]:
    """Run the adaptive methods with the settings of Table 1: method -> what they learned."""
    found = {}
    for method in DIAGONAL_METHODS:
        finished = execute(Job("td19", "neal100", method, seed=seed, scale=scale))
        root, step = finished.params.root, getattr(finished.params, "step_size", 1.0)
        diagonal = None
        if root is not None:
            diagonal = step * (root if root.ndim == 1 else np.diagonal(root))
        found[method] = Diagonal(finished.recorder.x[0, :, -1], diagonal)
    return found


class Field(NamedTuple):
    """Posterior of the log intensity in the cells of a Cox process.

    Attributes
    ----------
    mean, sd : (n, n)
    ess : (n, n), effective sizes a thousand gradients
    """

    mean: Array
    sd: Array
    ess: Array


def cox_fields(scale: float, seed: int, n: int = 64) -> dict[str, Field]:
    """Run `ahmc` and `nuts` on the Cox process of Wang et al. (2013): method -> its field."""
    density, found = joint_cox(n), {}
    for method in ("ahmc", "nuts"):
        run = execute(Job("wang-figure3", f"cox_joint_{n}", method, seed=seed, scale=scale))
        fields = np.concatenate([density.log_intensity(x[None]) for x in run.recorder.x[0]])
        sizes = effective_sizes("geyer", fields.reshape(1, len(fields), -1))
        ess = 1000.0 * sizes.reshape(n, n) / run.work.grad
        found[method] = Field(fields.mean(axis=0), fields.std(axis=0), ess)
    return found


def sizes_by_coordinate(scale: float, seed: int) -> dict[str, Array]:
    """Run the four methods of Figure 2 of Titsias (2023): method -> sizes, (dim,)."""
    sizes = {}
    for method in ("mala", "ada_mala", "hmc", "fisher_mala"):
        finished = execute(Job("t23", "inhomogeneous", method, seed=seed, scale=scale))
        sizes[method] = effective_sizes("tfp", finished.recorder.x)
    return sizes


def inverse_masses(
    paper: str, target: str, methods: Sequence[str], scale: float, seed: int
) -> dict[str, Array]:
    """Learn mass matrices: method -> the inverse of its mass matrix, (dim, dim)."""
    found = {}
    for method in methods:
        job = Job(paper, target, method, seed=seed, scale=0.0, warmup_scale=scale)
        run = execute(job)
        columns = times(run.params.root, np.eye(run.dim))  # row i is C e_i
        found[method] = columns.T @ columns
    return found


def correlation(matrix: Array, lag: int) -> float:
    """Mean correlation of coordinates ``lag`` apart, by a covariance matrix."""
    scales = np.sqrt(np.diagonal(matrix))
    return float(np.mean(np.diagonal(matrix, lag) / (scales[lag:] * scales[: len(scales) - lag])))


def ensemble_sizes(processes: int = 1, **lengths: Any) -> list[Row]:
    """Run SA-MCMC with ensembles of several sizes on MNIST 7 against 9, one row each."""
    job = Job("zhu", TARGET, "sa_mcmc:full", **lengths)
    jobs = [replace(job, settings={"ensemble": n}) for n in ENSEMBLES]
    return list(run_jobs(jobs, processes))


@dataclass(frozen=True)
class ScaledMetropolis(AdaptiveMetropolis):
    """`am` whose scale is given, once it has a covariance.

    Parameters
    ----------
    scale : s
    """

    scale: float = AM_SCALE

    def params(self, adaptation: Any, final: bool = False) -> Any:
        """Root and scale of the next transition."""
        if adaptation.root is None:
            return super().params(adaptation, final)
        return Params(adaptation.root, self.scale)


def initial_scales(processes: int = 1, **lengths: Any) -> dict[str, list[Row]]:
    """Run SA-MCMC from ensembles, and `rwm` and `am` with steps, of h times the paper's scale.

    Returns
    -------
    dict
        Method -> one row for each h of `FACTORS`.
    """
    rows: dict[str, list[Row]] = {}
    for method, warmup in (("sa_mcmc:full", 500_000), ("am:full", 500_000), ("rwm", None)):
        job = Job("zhu", TARGET, method, warmup=warmup, **lengths)
        rows[method] = list(run_jobs([_scaled(job, h) for h in FACTORS], processes))
    return rows


def _scaled(job: Job, factor: float) -> Job:
    """Return the job with h times the scale of its start, or of the steps of `rwm` and `am`."""
    variant = variant_of(job.paper, job.target, job.method)
    if job.method == "am:full":
        q, s = variant.settings["step_size"], AM_SCALE * factor
        sampler = ScaledMetropolis(step_size=q, scale=s, variant="haario")
        return replace(job, variant=Variant(sampler, start_scale=variant.start_scale))
    steps = {"step_size": factor * variant.settings["step_size"]} if job.method == "rwm" else {}
    return replace(job, start_scale=factor * variant.start_scale, settings=steps)


class Adapted(NamedTuple):
    """One method on the linear regression: Zhu (2019), Figure 3.

    Attributes
    ----------
    per_1000, per_second : (dim,), effective sizes a thousand log densities, and a second
    spread : (dim,), mean standard deviation of the proposal of SA-MCMC; None of the others
    posterior : (dim,), standard deviation of the draws
    """

    per_1000: Array
    per_second: Array
    spread: Array | None
    posterior: Array


def linear_sizes(**lengths: Any) -> dict[str, Adapted]:
    """Run the methods of Figure 3 on the linear regression."""
    found = {}
    for method in LINEAR_METHODS:
        job = Job("zhu", "linear", method, **lengths)
        run, draws = execute(job), job.iterations[1]
        recorder = run.recorder
        series = recorder.x if recorder.means is None else recorder.means
        sizes = run.points * effective_sizes("stan", series)
        work = run.work.logp + run.work.grad
        found[method] = Adapted(
            1000.0 * sizes / work, sizes / (run.seconds_warmup + run.seconds),
            None if recorder.means is None else recorder.spread / draws,
            recorder.x.std(axis=(0, 1)),
        )  # fmt: skip
    return found
