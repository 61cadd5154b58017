"""How fast samplers learn the covariance of a Gaussian: Titsias (2023), Figures 1 and 2.

The error is ``|A - S|_F`` of the preconditioner A = RR' in use and the covariance S, each divided
by the mean of its diagonal, after a number of updates of R (the plain steps before are not
counted).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from experiments import variants
from targets import GAUSSIANS

from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Info, State
from probmodel.types import Array

CHAINS = 10

Mode = Literal["alone", "pooled", "robust", "ada_mala"]
MODES: dict[Mode, str] = {
    "alone": "FisherMALA, ten chains, each learning alone",
    "pooled": "FisherMALA, ten chains learning together, Algorithm 1 as published",
    "robust": "FisherMALA, ten chains learning together, the package's default",
    "ada_mala": "AdaMALA, ten chains, each learning alone",
}


class Trajectory(NamedTuple):
    """Errors of one mode of learning.

    Attributes
    ----------
    updates : (n,), numbers of updates
    errors : (groups, n)
    covariance : (dim, dim), as the first group learned it, over the mean of its diagonal
    """

    updates: Array
    errors: Array
    covariance: Array


def relative(covariance: Array) -> Array:
    """Divide a matrix by the mean of its diagonal."""
    return covariance / np.diag(covariance).mean()


class ErrorCollector(Collector):
    """Compares the preconditioner with the truth after certain numbers of updates."""

    def __init__(self, truth: Array, offset: int, updates: Sequence[int]) -> None:
        self.truth = relative(truth)
        self.offset = offset
        self.wanted = frozenset(updates)
        self.errors: dict[int, float] = {}
        self.covariance = np.eye(len(truth))

    def record(
        self, phase: Literal["warmup", "draw"], i: int, state: State, info: Info, params: Any
    ) -> None:
        """Note the error; the parameters of transition ``i`` are made of ``i`` earlier ones."""
        updates = i - self.offset
        if phase == "warmup" and updates in self.wanted:
            root = np.eye(len(self.truth)) if params.root is None else params.root
            self.covariance = relative(root @ root.T)
            self.errors[updates] = float(np.linalg.norm(self.covariance - self.truth))


def checkpoints(last: int, count: int = 60) -> list[int]:
    """Whole numbers from 10 to ``last``, evenly spaced on the logarithmic scale."""
    return sorted(set(np.geomspace(min(10, last), last, count).round().astype(int).tolist()))


def learn(
    target: str, mode: Mode, *, updates: Sequence[int], seed: int, signal: str = "rb"
) -> Trajectory:
    """Follow the error of ten chains learning together, or of each of ten learning alone.

    Parameters
    ----------
    target : a Gaussian in `targets.GAUSSIANS`
    mode : a key of `MODES`
    updates : numbers of updates at which to look
    seed : of the starting points and chains
    signal : what FisherMALA learns from
    """
    density = GAUSSIANS[target]()
    variant = variants("t23", target)["ada_mala" if mode == "ada_mala" else "fisher_mala"]
    settings = variant.settings | ({"robust": True} if mode == "robust" else {})
    if mode != "ada_mala":
        settings |= {"signal": signal}
    sampler = make_sampler(variant.method, **settings)
    offset = settings["initial_steps"]
    groups, chains = (CHAINS, 1) if mode in ("alone", "ada_mala") else (1, CHAINS)
    seeds = np.random.SeedSequence([seed, zlib.crc32(target.encode()), list(MODES).index(mode)])
    rows, covariances = [], []
    for child in seeds.spawn(groups):
        rng = np.random.default_rng(child)
        x0 = rng.standard_normal((chains, density.dim))
        collector = ErrorCollector(density.covariance_matrix(), offset, updates)
        run(
            sampler, density, x0, rng,
            warmup=offset + max(updates) + 1, draws=0, collectors=(collector,),
        )  # fmt: skip
        rows.append([collector.errors[n] for n in sorted(updates)])
        covariances.append(collector.covariance)
    return Trajectory(np.sort(updates), np.array(rows), covariances[0])
