"""Figures of the page on what `infer` does by itself: starts, and hierarchies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLUE, ORANGE, panels
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel import Model, data, infer, observed, param, read_data
from probmodel.adaptation.ascent import climb
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import HalfCauchy, HalfNormal, Normal, PoissonLog
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.inference.pilot import MOST, SMALL
from probmodel.samplers import make_sampler
from probmodel.types import Array

CHAINS, EVALUATIONS = 16, 60


class Trend(Model):
    """Counts that grow with time."""

    t = data(dims="year")
    alpha = param(Normal(0, 20))
    beta = param(Normal(0, 20))
    sigma = param(HalfNormal(1))
    noise = param(Normal(0, 1), dims="year")
    count = observed(PoissonLog(alpha + beta * t + sigma * noise), dims="year")


class Schools(Model):
    """Effects of coaching in eight schools."""

    sigma = data(dims="school", lower=0)
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school")
    y = observed(Normal(theta, sigma), dims="school")


class Centred(Schools):
    """The same, sampled as it is written."""

    theta = param(Normal(Schools.mu, Schools.tau), dims="school", noncentered=False)
    y = observed(Normal(theta, Schools.sigma), dims="school")


def trend() -> ModelDensity:
    """Forty years of counts, between 1 and 500 or so."""
    t = np.arange(40.0) - 20.0
    counts = np.random.default_rng(3).poisson(np.exp(3.0 + 0.15 * t))
    return ModelDensity(Trend(t=t, count=counts))


class Levels(Collector):
    """Collects log densities."""

    def __init__(self) -> None:
        self.logp: list[Array] = []

    def record(self, phase: object, i: int, state: object, info: object, params: object) -> None:
        """Take an iteration."""
        self.logp.append(state.logp)  # type: ignore[attr-defined]


def starts() -> Figure:
    """Draw how far from the bulk chains are, after so many gradients."""
    density = trend()
    x0 = density.initial_points(np.random.default_rng(1), CHAINS, inits=2.0)
    rng = np.random.default_rng(2)
    climbed = [density(x).logp for x in climb(density, x0, rng, MOST, SMALL)]
    langevin = Levels()
    run(
        make_sampler("fisher_mala"), density, x0, rng,
        warmup=EVALUATIONS, draws=1, collectors=[langevin],
    )  # fmt: skip
    best = max(np.max(climbed), np.max(langevin.logp))
    figure, left, right = panels("Langevin steps", "a climb")
    for panel, levels in ((left, langevin.logp), (right, climbed)):
        panel.plot(best + 10.0 - np.array(levels)[:EVALUATIONS], color=BLUE, lw=0.7, alpha=0.8)
        panel.set(
            xlabel="gradients a chain", ylabel="log density below the best", yscale="log",
            xlim=(0, EVALUATIONS), ylim=(5.0, 1e17),
        )  # fmt: skip
    return figure


def show(panel: Axes, across: Array, tau: Array, diverging: Array, label: str) -> None:
    """Draw pairs of a school's coordinate and the logarithm of tau."""
    panel.plot(across, np.log(tau), ".", ms=1.5, alpha=0.4, color=BLUE)
    bad = diverging.astype(bool)
    panel.plot(across[bad], np.log(tau[bad]), ".", ms=5, color=ORANGE)
    panel.set(xlabel=label, ylabel="log tau", ylim=(-6.0, 5.0))


def hierarchies() -> Figure:
    """Draw a funnel, and the same posterior as it is sampled."""
    values = read_data("gallery:eight_schools.json")
    sizes = {"draws": 500, "seed": 1, "quiet": True, "progressbar": False}
    figure, left, right = panels("as written", "standardised by prior and data")
    centred = infer(Centred(**values), "nuts", chains=16, **sizes)
    flat = {name: centred.posterior[name].values for name in ("tau", "theta")}
    show(
        left, flat["theta"][..., 0].ravel(), flat["tau"].ravel(),
        centred.sample_stats["diverging"].values.ravel(), "theta of the first school",
    )  # fmt: skip
    found = infer(Schools(**values), **sizes)
    tau, theta = (found.posterior[name].values for name in ("tau", "theta"))
    mu = found.posterior["mu"].values
    gain = tau**2 / values["sigma"][0] ** 2
    z = (theta[..., 0] - (mu + gain * values["y"][0]) / (1.0 + gain)) * np.sqrt(1.0 + gain) / tau
    bad = found.sample_stats["diverging"].values
    show(right, z.ravel(), tau.ravel(), bad.ravel(), "its standardised value")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"starts": starts, "hierarchies": hierarchies}
