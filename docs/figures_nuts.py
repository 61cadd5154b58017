"""Figures of the No-U-Turn sampler and of Hamiltonian Monte Carlo; see figures.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figure_parts import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    ORANGE,
    REFERENCE,
    Banana,
    Gaussian,
    autocorrelation,
    panels,
    rotated,
    watch,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel.types import Array, Evaluation


class Watched:
    """A density that keeps the points at which it is asked for one chain."""

    coordinate_names = ()

    def __init__(self, density: Any) -> None:
        self.dim, self._density = density.dim, density
        self.points: list[Array] = []

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient."""
        self.points.append(x[0].copy())
        return self._density(x)

    def log_density(self, x: Array) -> Array:
        """Log density alone."""
        return self._density.log_density(x)


def contours(axes: Axes, density: Any) -> None:
    """Draw contours of a density in two dimensions."""
    a, b = np.meshgrid(np.linspace(-2.6, 2.6, 120), np.linspace(-1.8, 6.2, 120))
    logp = density.log_density(np.stack([a.ravel(), b.ravel()], axis=1)).reshape(a.shape)
    axes.contour(a, b, logp, levels=[-6.0, -4.5, -3.0, -1.5, -0.4], colors="0.8", linewidths=0.8,
                 linestyles="solid")  # fmt: skip


def nuts() -> Figure:
    """Draw trajectories on a banana, and how many steps transitions take along the warm-up."""
    figure, left, right = panels("three trajectories", "scales from 0.01 to 1, 20 parameters")
    contours(left, Banana())
    starts = ((-1.6, 2.5), (0.1, -0.4), (1.7, 3.4))
    for start, seed, colour in zip(starts, (11, 3, 15), (BLUE, ORANGE, GREEN), strict=True):
        density = Watched(Banana())
        (end,) = watch(
            "nuts", density, lambda s, i, p: s.x[0], draws=1, start=np.array([start]), seed=seed,
            step_size=0.08,
        )  # fmt: skip
        left.plot(*np.array(density.points[1:]).T, "o", ms=3, color=colour)
        left.plot(*start, "s", ms=6, color=colour)
        left.plot(*end, "*", ms=13, color=colour, mec=BLACK, mew=0.6)
    for marker, label in (("s", "start"), ("o", "leapfrog step"), ("*", "draw")):
        left.plot([], [], marker, color="0.4", label=label)
    left.set(xlabel="first parameter", ylabel="second parameter")
    left.legend(loc="upper center")
    density = Gaussian(np.diag(np.geomspace(0.01, 1.0, 20) ** 2))
    for metric, colour in (("identity", ORANGE), ("diag", BLUE)):
        seen = watch(
            "nuts", density, lambda s, i, p: i.n_grad.mean(), warmup=300, draws=50, start=4,
            metric=metric,
        )  # fmt: skip
        right.plot(seen, color=colour, lw=1.0, label=f'metric="{metric}"')
    for end in (74, 99, 149, 249):
        right.axvline(end, **REFERENCE)
    right.axvline(299, color=BLACK, lw=0.8, label="end of the warm-up")
    right.set(yscale="log", xlabel="iteration", ylabel="gradients, mean of 4 chains")
    right.legend(loc="center right")
    return figure


def hmc() -> Figure:
    """Draw progress against the number of steps, and what happens at half and whole turns."""
    density, h = Gaussian(rotated(np.ones(20), 0)), 0.25
    start, counts = density.start(200), [*range(1, 13), 14, 16, 19, 22, 25, 28, 31]
    figure, left, right = panels("progress for the same work", "one coordinate, fixed steps")

    def jump(state: Any, info: Any, params: Any) -> tuple[float, float]:
        moved = np.sum((state.x - info.previous.x) ** 2, axis=1)
        return moved.mean(), info.n_grad.mean()

    for random, colour in ((False, ORANGE), (True, BLUE)):
        progress = []
        for n_steps in counts:
            seen = watch(
                "hmc", density, jump, draws=60, start=start, step_size=h, n_steps=n_steps,
                random_steps=random,
            )  # fmt: skip
            moved, work = np.sum(seen, axis=0)
            progress.append(moved / work)
        label = "random, up to L" if random else "fixed, L"
        left.plot(counts, progress, "o-", ms=3, color=colour, label=label)
    lags = range(13)
    for n_steps, colour in zip((3, 6, 12, 25), COLOURS, strict=False):
        seen = watch(
            "hmc", density, lambda s, i, p: s.x[:, 0], draws=200, start=start, step_size=h,
            n_steps=n_steps, random_steps=False,
        )  # fmt: skip
        x = np.array(seen)
        right.plot(
            lags, autocorrelation(x, 0.0, lags), "o-", ms=3, color=colour, label=f"L = {n_steps}"
        )
    left.set(xlabel="leapfrog steps L", ylabel="squared jump per gradient", ylim=(0, None))
    right.axhline(0.0, **REFERENCE)
    right.set(xlabel="iterations apart", ylabel="autocorrelation", ylim=(-1.05, 1.05))
    left.legend()
    right.legend(loc="lower right", ncols=2)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"hmc": hmc, "nuts": nuts}
