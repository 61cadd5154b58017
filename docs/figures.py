"""Figures of the methods' own behaviour, and of the guides, made by running what they show.

One function a figure, each with fixed seeds and a run of seconds. ``generate.py --figures`` writes
what they return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import figures_ahmc
import figures_autostep
import figures_barker
import figures_checking
import figures_const
import figures_entropy
import figures_fisher_hmc
import figures_kernel
import figures_mams
import figures_nuts
import figures_pilot
import figures_restarts
import figures_rmhmc
import figures_stretch
import figures_tempered
import numpy as np
from figure_parts import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    ORANGE,
    PURPLE,
    REFERENCE,
    Banana,
    Gaussian,
    autocorrelation,
    decimal_ticks,
    ellipse,
    panels,
    relative_error,
    rotated,
    save,
    shape_error,
    smooth,
    watch,
)
from matplotlib.figure import Figure

from probmodel.types import Array


def draw(names: Iterable[str], folder: Path) -> None:
    """Write the figures of some methods or guides."""
    known = {**FIGURES, **GUIDES}
    for name in names:
        save(known[name], folder / f"{name}.png")


# -- random walks ------------------------------------------------------------------------------


def rwm() -> Figure:
    """Draw how two first step sizes, too short and too long, come to the same one."""
    dim = 20
    figure, left, right = panels("step size", "share of accepted proposals")
    for first, colour in ((0.03, BLUE), (3.0, ORANGE)):
        seen = watch(
            "rwm", Gaussian(np.eye(dim)), lambda s, i, p: (p.step_size, i.accepted.mean()),
            warmup=1000, step_size=first,
        )  # fmt: skip
        step, accepted = np.array(seen).T
        left.plot(step, color=colour, label=f"first step size {first:g}")
        right.plot(smooth(accepted), color=colour)
    left.axhline(2.38 / np.sqrt(dim), **REFERENCE, label="2.38 / √d, the best for large d")
    right.axhline(0.25, **REFERENCE, label="target")
    left.set(yscale="log", xlabel="warm-up iteration", ylabel="step size sigma")
    right.set(xlabel="warm-up iteration", ylabel="acceptance, mean of 50 iterations", ylim=(0, 1))
    left.legend()
    right.legend()
    return figure


def am() -> Figure:
    """Draw the covariance that is learned on the way from a start far away, and its error."""
    truth = np.array([[1.0, 2.85], [2.85, 9.0]])
    start = np.array([-4.0, 4.0]) + np.random.default_rng(0).standard_normal((8, 2))
    warmup, repeats = 2000, 10

    def follow(forget: bool, seed: int) -> list[tuple[Array, Array]]:
        return watch(
            "am", Gaussian(truth), lambda s, i, p: (s.x, np.eye(2) if p.root is None else p.root),
            start=start, seed=seed, warmup=warmup, initial_steps=50, forget=forget,
        )  # fmt: skip

    figure, left, right = panels(
        "learned covariance, one run", f"its error, mean of {repeats} runs"
    )
    for forget, colour in ((False, ORANGE), (True, BLUE)):
        errors = [
            [relative_error(root @ root.T, truth) for _, root in follow(forget, seed)]
            for seed in range(repeats)
        ]
        right.plot(np.mean(errors, axis=0), color=colour, label=f"forget={forget}")
    seen = follow(True, 2)
    path = np.concatenate([x for x, _ in seen[::8]])
    left.plot(*path.T, ".", color="0.8", ms=2, zorder=0, label="positions")
    for i, colour in ((60, ORANGE), (100, PURPLE), (warmup - 1, BLUE)):
        ellipse(left, np.zeros(2), seen[i][1], color=colour, label=f"iteration {i}")
    ellipse(left, np.zeros(2), np.linalg.cholesky(truth), color=BLACK, ls=":", label="truth")
    left.set(xlabel="first parameter", ylabel="second parameter", xlim=(-8, 13))
    left.legend(loc="lower right")
    right.set(yscale="log", xlabel="warm-up iteration", ylabel="relative error of L L'")
    right.legend()
    return figure


def mtm() -> Figure:
    """Draw acceptance, and squared jump per log density, against the step size."""
    density, steps = Gaussian(np.eye(10)), np.geomspace(0.25, 2.5, 12)
    start = density.start(64)

    def jump(state: Any, info: Any, params: Any) -> tuple[float, float]:
        moved = np.sum((state.x - info.previous.x) ** 2, axis=1)
        return info.accept_prob.mean(), moved.mean()

    def means(tries: int, step: float) -> Array:
        seen = watch("mtm", density, jump, draws=150, start=start, step_size=step, tries=tries)
        return np.mean(seen, axis=0)

    figure, left, right = panels("acceptance", "progress for the same work")
    for tries, colour in zip((1, 2, 3, 5, 10), COLOURS, strict=True):
        accepted, jumped = np.array([means(tries, step) for step in steps]).T
        left.plot(steps, accepted, color=colour, label=f"{tries} tr{'y' if tries < 2 else 'ies'}")
        right.plot(steps, jumped / (2 * tries - 1), color=colour)
    left.axhline(0.48, **REFERENCE)
    left.text(2.5, 0.49, "target", ha="right", va="bottom", color="0.4", fontsize=9)
    left.set(xscale="log", xlabel="step size q", ylabel="mean acceptance probability", ylim=(0, 1))
    right.set(xscale="log", xlabel="step size q", ylabel="squared jump per log density")
    right.set_ylim(bottom=0.0)
    for axes in (left, right):
        decimal_ticks(axes, (0.25, 0.5, 1.0, 2.0))
    left.legend(loc="lower left")
    return figure


def gad_rwm() -> Figure:
    """Draw how beta meets two targets of the acceptance rate."""
    density = Gaussian(np.array([[1.0, 0.99], [0.99, 1.0]]))
    figure, left, right = panels("weight of the entropy", "share of accepted proposals")
    for target, colour in ((0.25, BLUE), (0.4, ORANGE)):
        seen = watch(
            "gad_rwm", density, lambda s, i, p: (p.beta, i.accepted.mean()), warmup=20_000,
            learning_rate=5e-4, target_accept=target,
        )  # fmt: skip
        beta, accepted = np.array(seen).T
        left.plot(beta, color=colour, lw=1.0, label=f"target {target:g}")
        right.plot(smooth(accepted, 200), color=colour)
        right.axhline(target, **REFERENCE)
    left.set(xlabel="warm-up iteration", ylabel="beta", yscale="log")
    right.set(xlabel="warm-up iteration", ylabel="acceptance, mean of 200 iterations", ylim=(0, 1))
    left.legend()
    return figure


# -- Langevin methods --------------------------------------------------------------------------


def mala() -> Figure:
    """Draw what the ratio of the scales does to the step size and to the widest direction."""
    dim, steps, lags = 20, np.geomspace(0.1, 3.0, 15), range(0, 201, 4)
    figure, left, right = panels("acceptance", "widest direction, after the warm-up")
    for ratio, colour in zip((1, 3, 10, 30), COLOURS, strict=False):
        density = Gaussian(np.diag(np.repeat([1.0, ratio**2], dim // 2)))
        start = density.start(32)
        accepted = [
            np.mean(watch("mala", density, lambda s, i, p: i.accept_prob.mean(), draws=60,
                          start=start, step_size=step))
            for step in steps
        ]  # fmt: skip
        left.plot(steps, accepted, color=colour, label=f"{ratio}")
        seen = watch(
            "mala", density, lambda s, i, p: s.x[:, dim // 2 :], warmup=500, draws=2000, start=start
        )
        wide = np.array(seen[500:]).reshape(2000, -1)
        right.plot(lags, autocorrelation(wide, 0.0, lags), color=colour)
    left.axhline(0.574, **REFERENCE)
    left.text(0.1, 0.56, "target", va="top", color="0.4", fontsize=9)
    left.set(xscale="log", xlabel="step size / narrowest scale", ylim=(0, 1.03))
    left.set_ylabel("mean acceptance probability")
    decimal_ticks(left, (0.1, 0.3, 1.0, 3.0))
    left.legend(title="widest / narrowest scale", loc="lower left", alignment="left")
    right.set(xlabel="iterations apart", ylabel="autocorrelation", ylim=(-0.05, 1.03))
    return figure


def ada_mala() -> Figure:
    """Draw the three phases of the warm-up: error of the preconditioner, and step size."""
    dim, warmup = 20, 3000
    figure, left, right = panels("error of the preconditioner", "step size")
    for ratio, colour in ((3, BLUE), (10, ORANGE), (100, PURPLE)):
        truth = rotated(np.geomspace(1.0, ratio, dim), seed=3)
        seen = watch(
            "ada_mala", Gaussian(truth),
            lambda s, i, p, truth=truth: (shape_error(p.root, truth), p.step_size), warmup=warmup,
        )  # fmt: skip
        error, step = np.array(seen).T
        left.plot(error, color=colour)
        right.plot(step, color=colour, label=f"{ratio}")
    for axes in (left, right):
        for i in (500, 1000):
            axes.axvline(i, **REFERENCE)
        axes.set(yscale="log", xlabel="warm-up iteration", xlim=(0, warmup))
    for place, word in ((250, "plain"), (750, "learns"), (2000, "uses what it learns")):
        left.text(place, 1.3, word, ha="center", color="0.4", fontsize=9)
    left.set(ylabel="relative error of A", ylim=(0.05, 1.7))
    right.set(ylabel="step size sigma", ylim=(0.2, 60.0))
    right.legend(title="widest / narrowest scale", loc="lower right", alignment="left")
    return figure


def fisher_mala() -> Figure:
    """Draw how fast the preconditioner is learned, and in which directions."""
    dim, warmup = 20, 2000
    scales = np.geomspace(1.0, 100.0, dim)
    truth = rotated(scales, seed=3)
    directions = np.linalg.eigh(truth)[1]
    runs = {
        "ada_mala, 8 chains": ("ada_mala", 8, {}, ORANGE),
        "1 chain, as published": ("fisher_mala", 1, {}, PURPLE),
        "8 chains, as published": ("fisher_mala", 8, {"robust": False}, GREEN),
        "8 chains, the default": ("fisher_mala", 8, {}, BLUE),
    }
    figure, left, right = panels("error of the preconditioner", "learned variances, the default")
    for label, (method, chains, settings, colour) in runs.items():
        roots = watch(
            method, Gaussian(truth), lambda s, i, p: p.root,
            start=chains, warmup=warmup, **settings,
        )  # fmt: skip
        errors = [shape_error(root, truth) for root in roots]
        left.plot(errors, color=colour, lw=1.2, label=label)
    left.set(yscale="log", xlabel="warm-up iteration", ylabel="relative error of A")
    left.set_ylim(0.0015, 1.3)
    left.legend(loc="lower left")
    right.plot(scales**2, scales**2, **REFERENCE, label="truth")
    for i, colour in ((60, PURPLE), (150, ORANGE), (1000, BLUE)):
        learned = np.sum((directions.T @ roots[i]) ** 2, axis=1)
        learned *= np.exp(np.mean(np.log(scales**2 / learned)))  # A is known up to a factor
        right.plot(scales**2, learned, "o", ms=4, color=colour, label=f"iteration {i}")
    right.set(xscale="log", yscale="log", xlabel="true variance along each principal direction")
    right.set_ylabel("learned variance")
    right.legend()
    return figure


def gad_mala() -> Figure:
    """Draw the true covariance of a smooth process beside what is learned."""
    place = np.linspace(0.0, 1.0, 24)
    truth = np.exp(-0.5 * ((place[:, None] - place) / 0.15) ** 2) + 0.05 * np.eye(24)
    root = watch(
        "gad_mala", Gaussian(truth), lambda s, i, p: p.root, warmup=20_000, learning_rate=1e-3
    )[-1]
    learned = root @ root.T
    scale = np.trace(learned) / np.trace(truth)
    error = relative_error(learned / scale, truth)
    figure, left, right = panels(
        "true covariance", f"learned L L' / {scale:.2f}, relative error {error:.2f}"
    )
    for axes, matrix in ((left, truth), (right, learned / scale)):
        image = axes.imshow(matrix, cmap="cividis", vmin=0.0, vmax=1.1)
        axes.set(xlabel="parameter", ylabel="parameter")
    figure.colorbar(image, ax=[left, right], label="covariance", shrink=0.85)
    return figure


def gad_mala_exact() -> Figure:
    """Draw what the fast and the exact gradient learn, along the warm-up."""
    scales = np.linspace(0.05, 1.0, 20)
    truth = np.diag(scales**2)
    figure, left, right = panels("error of the preconditioner", "learned scales at the end")
    right.plot(scales, scales, **REFERENCE, label="in proportion to the truth")
    for method, colour, marker in (("gad_mala", ORANGE, "s"), ("gad_mala_exact", BLUE, "o")):
        seen = watch(
            method, Gaussian(truth), lambda s, i, p: (shape_error(p.root, truth), p.root),
            warmup=20_000,
        )  # fmt: skip
        left.plot([error for error, _ in seen], color=colour, label=method)
        learned = np.sqrt(np.diagonal(seen[-1][1] @ seen[-1][1].T))
        factor = np.exp(np.mean(np.log(scales / learned)))
        right.plot(scales, factor * learned, marker, mfc="none", color=colour, label=method)
    left.set(
        yscale="log", xlabel="warm-up iteration", ylabel="relative error of L L'", ylim=(0.01, 1)
    )
    right.set(xlabel="true standard deviation", ylabel="learned standard deviation, scaled")
    left.legend()
    right.legend()
    return figure


def mmala() -> Figure:
    """Draw where proposals from points along a banana fall, and how fast its length is crossed."""
    density, lags = Banana(), range(0, 101, 2)
    start, places = density.start(200), np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    points = np.stack([places, places**2], axis=1)
    runs = {
        "mmala": ("mmala", {}, BLUE),
        "mmala, full drift": ("mmala", {"drift": "full"}, GREEN),
        "fisher_mala": ("fisher_mala", {}, ORANGE),
    }
    figure, left, right = panels("moves from five places", "second parameter, after the warm-up")
    grid = np.meshgrid(np.linspace(-3.2, 3.2, 280), np.linspace(-2.5, 8.5, 280))
    height = density.log_density(np.stack([g.ravel() for g in grid], axis=1)).reshape(280, 280)
    left.contourf(*grid, height, levels=(-4.0, -2.0, -0.5, 0.0), colors=("0.92", "0.83", "0.74"))
    for label, (method, settings, colour) in runs.items():
        seen = watch(
            method, density, lambda s, i, p: (s.x[:, 1], p),
            warmup=1000, draws=1000, start=start, **settings,
        )  # fmt: skip
        x, params = np.array([row for row, _ in seen[1000:]]), seen[-1][1]
        right.plot(lags, autocorrelation(x, 1.0, lags), color=colour, label=label)
        if method == "mmala":
            roots = np.linalg.inv(np.linalg.cholesky(density.metric(points))).swapaxes(1, 2)
        else:
            roots = np.broadcast_to(params.root, (len(points), 2, 2))
        if not settings:
            for point, root in zip(points, params.step_size * roots, strict=True):
                ellipse(left, point, root, 1.0, color=colour)
            left.plot([], [], color=colour, label=method)
    left.set(xlabel="first parameter", ylabel="second parameter")
    right.set(xlabel="iterations apart", ylabel="autocorrelation", ylim=(-0.05, 1.03))
    left.legend(loc="upper center")
    right.legend()
    return figure


def sa_mcmc() -> Figure:
    """Draw an ensemble on its way to the target, and how its first width decides the time."""
    density = Gaussian(np.array([[1.0, 0.9], [0.9, 1.0]]))
    noise = np.random.default_rng(1).standard_normal((8, 40, 2))

    def look(state: Any, info: Any, params: Any) -> tuple[Array, float]:
        distances = np.einsum("cni,ij,cnj->cn", state.points, density.precision, state.points)
        return state.points[0], distances.mean() / density.dim

    figure, left, right = panels("one ensemble, initial_scale 5", "8 ensembles of 40 points")
    for scale, shade in ((1.0, PURPLE), (2.0, ORANGE), (5.0, BLUE)):
        start = np.array([-6.0, 6.0]) + scale * noise
        seen = watch("sa_mcmc", density, look, warmup=8000, start=start, ensemble=40)
        iterations = np.arange(1, len(seen) + 1)
        label = f"initial_scale {scale:g}"
        right.plot(iterations, [distance for _, distance in seen], color=shade, label=label)
    for i, colour in ((1, PURPLE), (40, ORANGE), (80, GREEN), (400, BLUE)):
        left.plot(*seen[i - 1][0].T, "o", ms=3, color=colour, label=f"iteration {i}")
    root = np.linalg.cholesky(density.covariance)
    ellipse(left, np.zeros(2), root, color=BLACK, ls=":", label="target")
    left.set(xlabel="first parameter", ylabel="second parameter", xlim=(-16, 19))
    left.legend(loc="upper right")
    right.axhline(1.0, **REFERENCE, label="expected under the target")
    right.set(xscale="log", yscale="log", xlabel="iteration", ylim=(0.5, 20_000))
    right.set_ylabel("mean squared distance from the centre / d")
    right.legend(loc="upper right")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "ada_mala": ada_mala,
    "am": am,
    "fisher_mala": fisher_mala,
    "gad_mala": gad_mala,
    "gad_mala_exact": gad_mala_exact,
    "gad_rwm": gad_rwm,
    "mala": mala,
    "mmala": mmala,
    "mtm": mtm,
    "rwm": rwm,
    "sa_mcmc": sa_mcmc,
    **figures_ahmc.FIGURES,
    **figures_autostep.FIGURES,
    **figures_barker.FIGURES,
    **figures_const.FIGURES,
    **figures_entropy.FIGURES,
    **figures_fisher_hmc.FIGURES,
    **figures_mams.FIGURES,
    **figures_nuts.FIGURES,
    **figures_rmhmc.FIGURES,
    **figures_stretch.FIGURES,
    **figures_tempered.FIGURES,
}

GUIDES: dict[str, Callable[[], Figure]] = {
    **figures_checking.FIGURES,
    **figures_fisher_hmc.GUIDES,
    **figures_kernel.FIGURES,
    **figures_pilot.FIGURES,
    **figures_restarts.FIGURES,
}
