"""Figures of the methods that move in one constant metric."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figure_parts import BLUE, COLOURS, ORANGE, REFERENCE, autocorrelation, panels, watch
from matplotlib.figure import Figure

from probmodel import load_model
from probmodel.density import ModelDensity, as_posterior
from probmodel.types import Array

MODELS = Path(__file__).parents[1] / "models"


def cox() -> ModelDensity:
    """Return a Cox process on 10 by 10 cells, whose neighbours have a correlation of 0.83.

    Its data are simulated, with 126 counts on average over the prior.
    """
    Cox = load_model(MODELS / "log_gaussian_cox.py")
    axes = {name: np.linspace(0.0, 0.5, 10) for name in ("northing", "easting")}
    given = {**axes, "share": 0.01}
    rng = np.random.default_rng(1)
    empty = as_posterior(Cox(**given, y=np.zeros((10, 10), dtype=int)))
    x = empty.prior_draws(rng, 1).reshape(10, 10)
    return as_posterior(Cox(**given, y=rng.poisson(given["share"] * np.exp(x))))


def positions(method: str, density: Any, **run: Any) -> Array:
    """Positions after a warm-up of 500 iterations: (draws, chains, dim)."""
    seen = watch(method, density, lambda s, i, p: s.x, warmup=500, **run)
    return np.array(seen[500:])


def rm_const_hmc() -> Figure:
    """Draw the posterior's variances in four metrics, and how far trajectories should go."""
    density = cox()
    x = positions("rm_const_hmc", density, draws=2000)
    centre = x.mean(axis=(0, 1))
    covariance = np.cov(x.reshape(-1, density.dim).T)
    figure, left, right = panels("variances of 100 directions", "how far a trajectory goes")
    rank = np.arange(1, density.dim + 1)
    identity = np.linalg.eigvalsh(covariance)
    identity /= np.exp(np.log(identity).mean())
    left.plot(rank, identity[::-1], color="0.6", label="identity, scaled")
    for latent_mean, colour in zip(("paper", "exact", "mode"), COLOURS, strict=False):
        root = watch("rm_const_hmc", density, lambda s, i, p: p.root, draws=1,
                     latent_mean=latent_mean)[0]  # fmt: skip
        inverse = np.linalg.inv(root)
        variances = np.linalg.eigvalsh(inverse @ covariance @ inverse.T)
        left.plot(rank, variances[::-1], color=colour, label=f'latent_mean="{latent_mean}"')
    left.axhline(1.0, **REFERENCE)
    left.set(yscale="log", xlabel="direction, the widest first", ylabel="variance in the metric")
    left.legend()
    lengths = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20])
    for random, colour in ((False, ORANGE), (True, BLUE)):
        lag_one = []
        for n_steps in lengths:
            path = positions("rm_const_hmc", density, draws=400, n_steps=int(n_steps),
                             random_steps=random, start=x[-1], step_size=0.4)  # fmt: skip
            lag_one.append(autocorrelation((path - centre).reshape(400, -1), 0.0, [1])[0])
        right.plot(lengths, lag_one, "o-", ms=3, color=colour, label=f"random_steps={random}")
    right.axhline(0.0, **REFERENCE)
    right.set(xlabel="n_steps", ylabel="autocorrelation of successive draws", ylim=(-0.3, 1.03))
    right.legend()
    return figure


def rm_const_mala() -> Figure:
    """Draw the step size, which is all that is learned, and how fast draws are forgotten."""
    density, lags = cox(), range(0, 61, 2)
    start = np.random.default_rng(0).uniform(-2.0, 2.0, (8, density.dim))
    runs: list[tuple[str, dict[str, str]]] = [
        *(("rm_const_mala", {"latent_mean": where}) for where in ("paper", "exact", "mode")),
        ("fisher_mala", {}),
    ]
    figure, left, right = panels("step size", "after the warm-up, all parameters")
    for (method, settings), colour in zip(runs, COLOURS, strict=False):
        label = ", ".join([method, *(f'"{value}"' for value in settings.values())])
        seen = watch(
            method, density, lambda s, i, p: (p.step_size, s.x), warmup=2000, draws=3000,
            start=start, **settings,
        )  # fmt: skip
        if settings:
            left.plot(np.arange(1, 2001), [step for step, _ in seen[:2000]], color=colour, lw=1.0)
            left.axhline(seen[-1][0], color=colour, ls="--", lw=1.0)
        x = np.array([x for _, x in seen[2000:]])
        rows = (x - x.mean(axis=(0, 1))) / x.std(axis=(0, 1))
        right.plot(
            lags, autocorrelation(rows.reshape(len(x), -1), 0.0, lags), color=colour, label=label
        )
    left.set(xscale="log", yscale="log", xlabel="warm-up iteration", ylabel="step size epsilon")
    right.set(xlabel="iterations apart", ylabel="autocorrelation", ylim=(-0.05, 1.03))
    right.legend()
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "rm_const_hmc": rm_const_hmc,
    "rm_const_mala": rm_const_mala,
}
