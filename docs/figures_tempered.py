"""Figures of the methods that go from the prior to the posterior; see figures.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figure_parts import BLUE, COLOURS, GREEN, ORANGE, REFERENCE, panels, watch
from matplotlib.figure import Figure

from probmodel import Model, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Normal

WEIGHT = 0.7


class Modes(Model):
    """Two modes, 14 standard deviations apart, with weights of 0.3 and 0.7."""

    x = param(Normal(0, 10), shape=2)
    modes = potential(
        np.logaddexp(
            np.log(0.3) - 0.5 * np.sum((x + 5) ** 2), np.log(0.7) - 0.5 * np.sum((x - 5) ** 2)
        )
    )


def bump(dim: int) -> tuple[Any, float]:
    """Return a model with one mode, and its log evidence."""

    class Bump(Model):
        x = param(Normal(0, 10), shape=dim)
        mode = potential(-0.5 * np.sum((x - 5) ** 2))

    return as_posterior(Bump()), -0.5 * dim * (np.log(101) + 25 / 101)


def tempering() -> Figure:
    """Draw replicas by temperature, and the share of draws in one mode along a run."""
    figure, left, right = panels("replicas by temperature", "share of draws in the larger mode")
    density = as_posterior(Modes())
    seen = watch(
        "tempering", density, lambda state, info, params: (state.replicas[..., 0], state.x[:, 0]),
        warmup=1000, draws=4000, start=4,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    for replicas, _ in seen[-300:]:
        k = np.broadcast_to(np.arange(replicas.shape[1]), replicas.shape)
        left.scatter(replicas, k + rng.uniform(-0.3, 0.3, k.shape), s=1, color=BLUE, lw=0,
                     alpha=0.5)  # fmt: skip
    left.set(xlabel="first coordinate", ylabel="temperature, from prior to posterior",
             xlim=(-30, 30))  # fmt: skip
    inside = np.array([x > 0 for _, x in seen[1000:]])
    share = np.cumsum(inside, axis=0) / np.arange(1, 4001)[:, None]
    for chain, colour in enumerate(COLOURS[:4]):
        right.plot(share[:, chain], color=colour)
    right.axhline(WEIGHT, **REFERENCE)
    alone = watch(
        "fisher_hmc", density, lambda state, info, params: state.x[:, 0] > 0,
        warmup=500, draws=500, start=4,
    )  # fmt: skip
    for chain in range(4):
        right.plot([0, 4000], [np.mean([s[chain] for s in alone[500:]])] * 2, color="0.7", lw=4,
                   zorder=0)  # fmt: skip
    right.text(2000, 0.06, "chains of fisher_hmc", color="0.5", ha="center")
    right.set(xlabel="draws", ylim=(-0.05, 1.05))
    return figure


def smc() -> Figure:
    """Draw particles on their way, and how far log Z is off by the number of particles."""
    figure, left, right = panels("particles on their way", "error of log Z, 20 parameters")
    density = as_posterior(Modes())
    seen = watch(
        "smc", density, lambda state, info, params: (state.beta[0], state.points[0]),
        warmup=100, draws=1, start=1, seed=3,
    )  # fmt: skip
    stages = dict(seen)
    chosen = [list(stages)[i] for i in (0, len(stages) // 2, len(stages) - 1)]
    for beta, colour in zip(chosen, (BLUE, ORANGE, GREEN), strict=True):
        left.scatter(*stages[beta].T, s=3, lw=0, color=colour, label=f"beta = {beta:.2g}")
    left.set(xlabel="first coordinate", ylabel="second coordinate", xlim=(-25, 25), ylim=(-25, 25))
    left.legend(markerscale=3, loc="upper left")
    target, truth = bump(20)
    sizes = (100, 200, 400, 800, 1600, 3200)
    chains = 24
    for n in sizes:
        found = watch(
            "smc", target, lambda state, info, params: state.log_evidence, warmup=400, draws=1,
            start=chains, particles=n,
        )[-1]  # fmt: skip
        right.scatter(np.full(chains, n), found - truth, s=8, lw=0, color=BLUE)
        right.plot([0.88 * n, 1.14 * n], [np.mean(found - truth)] * 2, color=ORANGE)
    right.axhline(0.0, **REFERENCE)
    right.set(xscale="log", xlabel="particles of a population", ylabel="estimate minus truth")
    right.set_xticks(sizes, [str(n) for n in sizes])
    right.minorticks_off()
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"smc": smc, "tempering": tempering}
