"""The figure of the page on what `infer` does by itself: chains that begin again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLUE, ORANGE, panels
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel import Model, observed, param
from probmodel.constraints import Ordered
from probmodel.density import as_posterior
from probmodel.distributions import Dirichlet, HalfNormal, Mixture, Normal
from probmodel.inference.groups import sample
from probmodel.inference.sample_run import SampleRun
from probmodel.samplers import make_sampler

CHAINS, WARMUP, DRAWS = 16, 500, 50


class Groups(Model):
    """Three normal groups; which observation is of which group is not known."""

    weight = param(Dirichlet(np.ones(3)))
    mu = param(Normal(0, 5), constraint=Ordered(), shape=3)
    sigma = param(HalfNormal(2), shape=3)
    y = observed(Mixture(weight, Normal(mu, sigma)), dims="obs")


def run(restarts: bool) -> SampleRun:
    """Warm up on 300 observations."""
    rng = np.random.default_rng(20)
    group = rng.choice(3, 300, p=[0.3, 0.3, 0.4])
    y = rng.normal(np.array([-6.0, -2.0, 4.0])[group], np.array([0.9, 0.9, 1.0])[group])
    density = as_posterior(Groups(y=y))
    starts = density.initial_points(np.random.default_rng(1), CHAINS, inits=2.0)
    return sample(
        make_sampler("fisher_hmc"), density, starts, 1, draws=DRAWS, warmup=WARMUP,
        restarts=restarts, save_warmup=True,
    )  # fmt: skip


def show(panel: Axes, made: SampleRun) -> None:
    """Draw the log densities of all chains, restarts, and what an iteration took at the end."""
    assert made.warmup_stats is not None
    lp, steps = made.warmup_stats["lp"], made.warmup_stats["n_steps"]
    panel.plot(lp.T, color=BLUE, lw=0.7, alpha=0.8)
    for restart in made.restarted:
        at = restart.iteration + 1
        panel.plot(at, lp[restart.chain, at - 1], marker="v", ms=5, color=ORANGE)
    panel.set(xlabel="iteration of the warm-up", ylabel="log density", ylim=(-900.0, -735.0))
    panel.text(
        0.98, 0.25, f"{steps[:, -100:].mean():.0f} steps an iteration\nat the end",
        ha="right", transform=panel.transAxes,
    )  # fmt: skip


def restarts() -> Figure:
    """Draw the warm-up of a mixture, without restarts and with them."""
    figure, left, right = panels("restarts=False", "lost chains begin again")
    show(left, run(restarts=False))
    show(right, run(restarts=True))
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"restarts": restarts}
