"""Figures of what chains do along their iterations: their numbers, printed and drawn."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from densities import Gaussian
from ess import effective_sizes
from figure_output import Settings, points, write_csv
from published.wang2013 import FIGURE_1
from report import markdown, number
from runs import Job, execute, make_density

from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.samplers import make_sampler
from probmodel.samplers.base import Info
from probmodel.types import Array

# Targets of Figures 3 and 7 to 14 of Titsias (2023); of MNIST, no mMALA, for its cost.
LOG_TARGETS = (
    "caravan", "gp100", "inhomogeneous", "pima", "mnist", "german", "heart", "australian", "ripley",
)  # fmt: skip
SHOWN = 1000  # iterations of a trace, evenly spaced
LAGS = (1, 5, 20, 50)
PATH = 60  # last samples, whose path is drawn

# Zhu's Figure 2: mean and standard deviation of the first proposal, and of the target about zero
CASES = {
    "too wide": (-10.0, 10.0, 1.0),
    "too narrow": (-4.0, 1.0, 3.0),
    "too far": (-5.0, 1.0, 1.0),
}
POINTS = 40  # of an ensemble; the paper does not say
ITERATIONS = 4000
LOOKS = (0, 40, 200, 1000, 4000)  # iterations


class Trace(NamedTuple):
    """Log densities of one chain after the warm-up.

    Attributes
    ----------
    iterations, values : (n,)
    size : effective size of all of them
    """

    iterations: Array
    values: Array
    size: float


def t23_3(settings: Settings) -> list[str]:
    """Follow the log density of the best four methods on nine targets."""
    from figures import traces_figure

    found = {
        target: {
            method: log_densities(target, method, settings)
            for method in ("ada_mala", "hmc", "mala" if target == "mnist" else "mmala",
                           "fisher_mala")
        }
        for target in LOG_TARGETS
    }  # fmt: skip
    print("\n## Titsias (2023), Figures 3 and 7 to 14: log densities along the iterations\n")
    shown, rows = [], []
    for target, traces in found.items():
        for method, (iterations, values, size) in traces.items():
            ends = (values[: len(values) // 2].mean(), values[len(values) // 2 :].mean())
            cells = (*ends, values.std(), size)
            shown.append((target, method, *(number(float(cell)) for cell in cells)))
            rows += points(f"{target} {method}", iterations, values)
    header = ("target", "method", "mean, first half", "second half", "sd", "ESS")
    print(markdown(header, shown))
    write_csv(settings.directory / "t23_figure3.csv", rows)
    traces_figure(settings.directory / "t23_figure3.png", found)
    return []


def log_densities(target: str, method: str, settings: Settings) -> Trace:
    """Run a method of Titsias (2023) and return the log densities of its draws."""
    job = Job("t23", target, method, seed=settings.seed, scale=settings.scale)
    draws = execute(job).recorder.x[0]
    density = make_density(target, job.engine, job.protocol.standardise)
    values = np.concatenate([density.log_density(block) for block in _blocks(draws)])
    every = max(len(values) // SHOWN, 1)
    size = effective_sizes("tfp", values[None, :, None])[0]
    return Trace(np.arange(0, len(values), every), values[::every], float(size))


def _blocks(draws: Array) -> list[Array]:
    """Cut draws into blocks that fit into memory with what their evaluation takes."""
    return np.array_split(draws, max(len(draws) // 200, 1))


def wang_1(settings: Settings) -> list[str]:
    """Draw paths of HMC on two coordinates, and how long they remember."""
    from figures import paths_figure

    found = {}
    for method in FIGURE_1:
        job = Job("wang-figure1", "gauss2d_99", method, seed=settings.seed, scale=settings.scale)
        found[method] = execute(job).recorder.x[0]
    print("\n## Wang, Mohamed and de Freitas (2013), Figure 1: autocorrelations of x1 + x2\n")
    lines = {method: autocorrelations(x.sum(axis=1), max(LAGS)) for method, x in found.items()}
    print(markdown(("method", *(f"lag {lag}" for lag in LAGS)), [
        (method, *(number(line[lag]) for lag in LAGS)) for method, line in lines.items()
    ]))  # fmt: skip
    rows = [row for m, line in lines.items() for row in points(m, np.arange(len(line)), line)]
    write_csv(settings.directory / "wang_figure1.csv", rows)
    paths = {method: (x, lines[method]) for method, x in found.items()}
    paths_figure(settings.directory / "wang_figure1.png", paths, PATH)
    return []


def autocorrelations(series: Array, last: int) -> Array:
    """Autocorrelations of lags 0 to ``last``, NaN from the length of the series on."""
    centred = series - series.mean()
    n = len(series)
    sums = [centred[: n - lag] @ centred[lag:] if lag < n else np.nan for lag in range(last + 1)]
    return np.array(sums) / sums[0]


class Fits(Collector):
    """Notes mean and standard deviation of an ensemble after every iteration."""

    def __init__(self, points: Array) -> None:
        self.fits = [(points.mean(), points.std(ddof=1))]

    def record(
        self, phase: Literal["warmup", "draw"], i: int, state: Any, info: Info, params: Any
    ) -> None:
        """Note those of the first chain."""
        self.fits.append((state.points[0].mean(), state.points[0].std(ddof=1)))


def zhu_2(settings: Settings) -> list[str]:
    """Let SA-MCMC find three normal targets from a wrong start."""
    from figures import proposals_figure

    found = {name: adapted(*case, seed=settings.seed) for name, case in CASES.items()}
    print("\n## Zhu (2019), Figure 2: mean and standard deviation of the proposal\n")
    shown = [
        (
            name,
            number(CASES[name][2]),
            *(f"{number(m)} ± {number(s)}" for m, s in fits[list(LOOKS)]),
        )
        for name, fits in found.items()
    ]
    print(markdown(("start", "target's sd", *(f"iteration {i}" for i in LOOKS)), shown))
    rows = [
        {"start": name, "iteration": i, "mean": f"{m:.6g}", "sd": f"{s:.6g}"}
        for name, fits in found.items() for i, (m, s) in enumerate(fits) if i % 10 == 0
    ]  # fmt: skip
    write_csv(settings.directory / "zhu_figure2.csv", rows)
    targets = {name: case[2] for name, case in CASES.items()}
    proposals_figure(settings.directory / "zhu_figure2.png", found, targets, LOOKS)
    return []


def adapted(mean: float, sd: float, target: float, *, seed: int) -> Array:
    """Mean and standard deviation of the proposal after each iteration: (iterations + 1, 2)."""
    rng = np.random.default_rng(seed)
    start = mean + sd * rng.standard_normal((1, POINTS, 1))
    collector = Fits(start[0])
    sampler = make_sampler("sa_mcmc", covariance="full", ensemble=POINTS, tails=0.0)
    density = Gaussian(np.zeros(1), np.array([target**2]))
    run(sampler, density, start, rng, warmup=ITERATIONS, draws=0, collectors=(collector,))
    return np.array(collector.fits)
