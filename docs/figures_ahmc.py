"""Figures of the methods that choose their settings by Bayesian optimisation; see `figures`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from figure_parts import BLUE, GREEN, ORANGE, REFERENCE, Gaussian, decimal_ticks, panels, watch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel.types import Array

Settings = tuple[float, int]


def ahmc() -> Figure:
    """Draw the settings that are tried on a narrow target, and how seldom they change later on."""
    block, warmup, draws, groups = 5, 500, 1500, 4
    target = Gaussian(np.array([[1.0, 0.99], [0.99, 1.0]]))
    runs = [
        watch(
            "ahmc", target, lambda s, i, p: (p.step_size, p.max_steps), seed=seed,
            warmup=warmup, draws=draws, start=target.start(2), step_range=(0.01, 0.5),
        )[::block]
        for seed in range(groups)
    ]  # fmt: skip
    figure, left, right = panels("one run on a narrow normal density", "changes, in four runs")
    tried, used = runs[0][: warmup // block], runs[0][warmup // block :]
    left.scatter(*np.transpose(tried), s=14, color=BLUE, label="tried in the warm-up")
    shares = {setting: used.count(setting) / len(used) for setting in used}
    left.scatter(
        *np.transpose(list(shares)), s=[15 + 600 * share for share in shares.values()],
        facecolor="none", edgecolor=ORANGE, label="used while sampling; area: how often",
    )  # fmt: skip
    left.axvline(0.2, **REFERENCE, label="limit of stability")
    left.set(xscale="log", xlabel="step size", ylabel="most leapfrog steps L", ylim=(-2, 150))
    decimal_ticks(left, (0.01, 0.03, 0.1, 0.3))
    left.legend(loc="upper left")
    _draw_changes(right, runs, block)
    return figure


def _draw_changes(axes: Axes, runs: list[list[Settings]], block: int) -> None:
    """Draw the share of blocks that are followed by another setting."""
    changed = np.array([[a != b for a, b in pairwise(r)] for r in runs])
    width = 25
    shares = [part.mean() for part in np.array_split(changed, changed.shape[1] // width, axis=1)]
    i = np.arange(1, changed.shape[1] + 1)
    p = np.maximum(i - 100 + 1, 1) ** -0.5
    middles = block * width * (np.arange(len(shares)) + 0.5)
    axes.plot(middles, shares, "o-", ms=4, color=GREEN, label="blocks that changed the setting")
    axes.plot(block * i, p, **REFERENCE | {"label": "probability of choosing anew"})
    axes.axvline(500, color="0.8", lw=1.0, zorder=0)
    axes.text(540, 0.5, "end of the warm-up", color="0.4", fontsize=9)
    axes.set(xlabel="iteration", ylabel="share of blocks", ylim=(0, 1.05))
    axes.legend(loc="upper right")


def armhmc() -> Figure:
    """Draw the settings that are chosen on targets of ever more different scales."""
    ratios = (1.0, 3.0, 10.0, 30.0, 100.0)
    figure, left, right = panels("step size", "leapfrog steps of an iteration")
    for method, colour in (("ahmc", BLUE), ("armhmc", ORANGE)):
        chosen = np.array([_chosen(method, ratio) for ratio in ratios])
        for axes, values in zip((left, right), chosen.T, strict=True):
            axes.plot(ratios, values, "o-", ms=4, color=colour, label=method)
    for axes, label in ((left, "step size chosen"), (right, "most leapfrog steps L chosen")):
        axes.set(xscale="log", yscale="log", xlabel="widest scale / narrowest scale", ylabel=label)
        decimal_ticks(axes, ratios)
        axes.legend()
    return figure


def _chosen(method: str, ratio: float) -> Settings:
    """Return the setting at which a run ends its warm-up."""
    target = Gaussian(np.diag([1.0, 1.0, ratio**-2.0]))
    seen = watch(
        method, _WithMetric(target), lambda s, i, p: (p.step_size, p.max_steps), seed=1,
        warmup=300, draws=1, start=target.start(2), freeze=True,
    )  # fmt: skip
    return seen[-1]


class _WithMetric:
    """A normal target with its precision matrix as a metric."""

    def __init__(self, target: Gaussian) -> None:
        self._target, self.dim, self.coordinate_names = target, target.dim, ()
        self.log_density = target.log_density

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Log density and gradient."""
        return self._target(x)

    def metric(self, x: Array) -> Array:
        """Return the precision matrix, the same everywhere."""
        return -self._target.hessian(x)

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Return the zeros that a constant metric has for a gradient."""
        return np.zeros_like(x)


FIGURES: dict[str, Callable[[], Figure]] = {"ahmc": ahmc, "armhmc": armhmc}
