"""Figures of what was measured, as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from chain_figures import Trace
from frobenius import Trajectory, relative
from illustrations import ENSEMBLES, FACTORS, Adapted, Diagonal, Field, Line
from published import FIGURE_1_BETA, FROBENIUS, FROBENIUS_UPDATES
from report import Summary
from stored_rows import Row
from targets import GAUSSIANS

from probmodel.types import Array

mpl.use("Agg")  # no screen needed
import matplotlib.pyplot as plt

BLUE, RED, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "0.6"
LEARNING = {
    "alone": (BLUE, "FisherMALA, one chain"),
    "pooled": (RED, "FisherMALA, ten chains together"),
    "robust": (GREEN, "FisherMALA, ten chains together, robust"),
    "ada_mala": (PURPLE, "AdaMALA, one chain"),
}


def frobenius_figure(path: Path, target: str, trajectories: Mapping[str, Trajectory]) -> None:
    """Draw the error of the preconditioner along its updates.

    Lines are means, bands the range over chains learning alone; circles are a second program.
    """
    figure, axes = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
    for mode, (updates, errors, _) in trajectories.items():
        colour, name = LEARNING[mode]
        axes.plot(updates, errors.mean(axis=0), color=colour, label=name)
        if len(errors) > 1:
            axes.fill_between(
                updates, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.2, lw=0
            )
        if mode != "robust" and target in FROBENIUS:
            axes.plot(FROBENIUS_UPDATES, FROBENIUS[target].of(mode), "o", mfc="none", color=colour)
    if target in FROBENIUS:
        axes.plot([], [], "o", mfc="none", color="0.3", label="second program")
    norm = np.linalg.norm(relative(GAUSSIANS[target]().covariance_matrix()))
    axes.axhline(norm, color=GREY, ls=":", label="norm of the target")
    axes.set(xscale="log", yscale="log", xlabel="updates of the preconditioner")
    axes.set_ylabel("Frobenius error of the scaled covariance")
    axes.set_title(f"FisherMALA learns the covariance of {target} sooner than AdaMALA")
    axes.legend(frameon=False, fontsize="small", loc="lower left")
    save(figure, path)


def covariance_figure(path: Path, target: str, trajectories: Mapping[str, Trajectory]) -> None:
    """Draw the covariance of a target beside those that were learned by single chains."""
    shown = {"the target": relative(GAUSSIANS[target]().covariance_matrix())} | {
        LEARNING[mode][1]: trajectories[mode].covariance for mode in ("alone", "ada_mala")
    }
    figure, panels = plt.subplots(1, len(shown), figsize=(11.0, 4.4), layout="constrained")
    truth = shown["the target"]
    for axes, (name, matrix) in zip(panels, shown.items(), strict=True):
        image = axes.imshow(matrix, vmin=truth.min(), vmax=truth.max())
        axes.set(title=name, xlabel="coordinate", ylabel="coordinate")
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(integer=True)
    figure.colorbar(image, ax=panels, shrink=0.8)
    figure.suptitle(f"Covariance of {target}, over the mean of its diagonal")
    save(figure, path)


def dimension_figure(
    path: Path, sizes: Mapping[str, Array], trajectories: Mapping[str, Trajectory]
) -> None:
    """Draw Figure 2 of Titsias (2023): sizes by coordinate, and standard deviations learned."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained")
    for (method, values), colour in zip(sizes.items(), (RED, PURPLE, GREEN, BLUE), strict=True):
        left.plot(np.arange(1, len(values) + 1), values, color=colour, label=method)
    left.set(yscale="log", xlabel="coordinate", ylabel="ESS")
    left.legend(frameon=False)
    covariance = relative(GAUSSIANS["inhomogeneous"]().covariance_matrix())
    truth = np.sqrt(np.diagonal(covariance))
    for mode in ("ada_mala", "alone"):
        learned = np.sqrt(np.diagonal(trajectories[mode].covariance))
        right.plot(truth, learned, ".", color=LEARNING[mode][0], label=LEARNING[mode][1])
    right.plot(truth, truth, color=GREY, lw=1.0)
    right.set(xlabel="standard deviation of the target", ylabel="learned")
    right.legend(frameon=False)
    figure.suptitle("Only FisherMALA serves all scales alike")
    save(figure, path)


def ess_figure(path: Path, summaries: Sequence[Summary]) -> None:
    """Draw smallest and median sizes beside the published ones, one group a target and method."""
    per_density = summaries[0].paper == "zhu"
    unit = "ESS per 1000 log densities" if per_density else "ESS"
    shown = [s for s in summaries if s.published is not None]
    several = len({s.method for s in shown}) > 1
    names = [f"{s.target} {s.method}" if several else s.target for s in shown]
    place = np.arange(len(shown))
    width = max(6.0, 0.5 * len(shown))
    figure, panels = plt.subplots(2, figsize=(width, 6.5), layout="constrained", sharex=True)
    for axes, statistic in zip(panels, ("min", "median"), strict=True):
        key = f"{statistic}/1000" if per_density else statistic
        published = np.array([s.reported(key) for s in shown])
        ours = np.array([s.values.get(key, (np.nan, np.nan)) for s in shown])
        for shift, values, colour, name in (
            (-0.2, published, "0.7", "published"),
            (0.2, ours, BLUE, "ours"),
        ):
            axes.bar(
                place + shift, values[:, 0], 0.38, yerr=np.nan_to_num(values[:, 1]), capsize=2,
                color=colour, label=name,
            )  # fmt: skip
        axes.set(yscale="log", ylabel=f"{'smallest' if statistic == 'min' else 'median'} {unit}")
        axes.set_ylim(bottom=0.1 if per_density else 1.0)
        axes.set_xlim(-0.6, len(shown) - 0.4)
    figure.suptitle("Effective sample size over coordinates, beside the published figures")
    panels[0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    panels[1].set_xticks(place, names, rotation=45, ha="right", fontsize="small")
    save(figure, path)


def learning_figure(path: Path, weights: Mapping[float, Line], covariance: Line) -> None:
    """Draw Figure 1 of Titsias and Dellaportas (2019), with the course of what is learned."""
    figure, panels = plt.subplots(2, 3, figsize=(12.0, 7.4), layout="constrained")
    course, *contours = panels[0]
    for (aim, line), axes, colour in zip(weights.items(), contours, (BLUE, RED), strict=True):
        course.plot(line.iterations, line.values, color=colour, label=f"acceptance {aim:g}")
        course.axhline(FIGURE_1_BETA[aim], color=colour, ls=":", lw=1.5)
        _contours(axes, GAUSSIANS["gauss2d_99"]().covariance_matrix(), GREEN, "target")
        _contours(axes, line.root @ line.root.T, BLUE, "proposal")
        axes.set(xlabel="$x_1$", ylabel="$x_2$", title=f"Proposal learned at acceptance {aim:g}")
        axes.legend(frameon=False, loc="upper left")
    course.plot([], [], ":", color="0.3", label="published")
    course.set(xlabel="iteration", ylabel=r"weight of the entropy, $\beta$", yscale="log")
    course.set_title("gad_rwm: the entropy counts less\nif more is to be accepted")
    course.set_ylim(0.5, 500.0)
    course.legend(frameon=False, loc="upper right")
    error, true, learned = panels[1]
    error.plot(covariance.iterations, covariance.values, color=BLUE)
    error.set(xlabel="iteration", ylabel="relative Frobenius error", ylim=(0.0, 1.0))
    error.set_title("gad_mala: error of the\nlearned covariance")
    exact = GAUSSIANS["gauss51"]().covariance_matrix()
    found = covariance.root @ covariance.root.T
    found = found * np.trace(exact) / np.trace(found)
    for axes, matrix, title in (
        (true, exact, "Covariance of the target"),
        (learned, found, "Covariance learned, scaled"),
    ):
        image = axes.imshow(matrix, vmin=-0.1, vmax=1.1)
        axes.set(xlabel="coordinate", ylabel="coordinate", title=title)
    figure.colorbar(image, ax=(true, learned), shrink=0.8)
    save(figure, path)


def _contours(axes: plt.Axes, covariance: Array, colour: str, label: str) -> None:
    """Ellipses at one and two standard deviations."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.linalg.cholesky(covariance) @ np.stack([np.cos(angle), np.sin(angle)])
    for radius in (1.0, 2.0):
        axes.plot(*(radius * circle), color=colour, label=label if radius == 1.0 else None)


def diagonal_figure(path: Path, found: Mapping[str, Diagonal]) -> None:
    """Draw Figure 2 of Titsias and Dellaportas (2019): traces and learned diagonals."""
    figure, panels = plt.subplots(
        2, len(found), figsize=(3.4 * len(found), 6.0), layout="constrained", sharey="row"
    )
    true = 0.01 * np.arange(1, 101)
    for (method, run), (trace, diagonal) in zip(found.items(), panels.T, strict=True):
        trace.plot(run.trace, color=BLUE, lw=0.4)
        trace.set(title=method, xlabel="iteration")
        if run.diagonal is not None:
            learned = run.diagonal / run.diagonal.mean()
            diagonal.plot(true, learned, ".", color=BLUE, label="learned")
        diagonal.plot(true, true / true.mean(), color=RED, lw=1.0, label="target")
        diagonal.set(xlabel="standard deviation of the target", ylim=(0.0, 3.0))
    panels[0, 0].set_ylabel("trace of $x_{100}$")
    panels[1, 0].set_ylabel("diagonal of L over its mean")
    panels[1, 0].legend(frameon=False)
    figure.suptitle(
        "Neal's Gaussian: the better the scales are learned, the faster $x_{100}$ mixes"
    )
    save(figure, path)


def field_figure(path: Path, truth: Array, counts: Array, found: Mapping[str, Field]) -> None:
    """Draw Figure 4 of Wang et al. (2013): fields, and their standard deviations."""
    figure, panels = plt.subplots(2, 1 + len(found), figsize=(11.0, 6.6), layout="constrained")
    limits = {"vmin": truth.min(), "vmax": truth.max()}
    panels[0, 0].imshow(truth, **limits)
    panels[0, 0].set_title("True log intensity")
    panels[1, 0].imshow(np.minimum(counts, 3.0), cmap="Greys")
    panels[1, 0].set_title("Counts, 3 or more in black")
    widest = max(float(field.sd.max()) for field in found.values())
    for (method, field), (mean, sd) in zip(found.items(), panels[:, 1:].T, strict=True):
        image = mean.imshow(field.mean, **limits)
        mean.set_title(f"{method}: posterior mean")
        spread = sd.imshow(field.sd, vmin=0.0, vmax=widest, cmap="magma")
        sd.set_title(f"{method}: standard deviation")
    figure.colorbar(image, ax=panels[0], shrink=0.8)
    figure.colorbar(spread, ax=panels[1], shrink=0.8)
    for axes in panels.flat:
        axes.set(xticks=[], yticks=[])
    save(figure, path)


def linear_figure(path: Path, found: Mapping[str, Adapted]) -> None:
    """Draw Figure 3 of Zhu (2019): sizes by coefficient, and the proposal that SA-MCMC fits."""
    figure, (sizes, spread) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    colours = (RED, PURPLE, GREEN, BLUE, "0.3")
    for (method, run), colour in zip(found.items(), colours, strict=False):
        place = np.arange(len(run.per_1000))
        sizes.plot(place, run.per_1000, "o-", color=colour, label=method)
        if run.spread is not None:
            spread.bar(place, run.spread, color="#9ecae1", label=f"proposal of {method}")
            spread.plot(place, run.posterior, "k_", ms=18, label="posterior")
    sizes.set(yscale="log", xlabel="coefficient", ylabel="ESS per 1000 evaluations")
    spread.set(xlabel="coefficient", ylabel="standard deviation")
    sizes.legend(frameon=False, fontsize="small")
    spread.legend(frameon=False)
    figure.suptitle("Linear regression: a fitted proposal serves all coefficients alike")
    save(figure, path)


def signals_figure(path: Path, found: Mapping[str, Mapping[str, Trajectory]]) -> None:
    """Draw Figure 15 of Titsias (2023): errors with and without Rao-Blackwellisation."""
    names = {"rb": "Rao-Blackwellised", "increment": "plain increments"}
    figure, panels = plt.subplots(1, len(found), figsize=(11.0, 4.2), layout="constrained")
    for axes, (target, trajectories) in zip(panels, found.items(), strict=True):
        for (signal, (updates, errors, _)), colour in zip(
            trajectories.items(), (RED, BLUE), strict=True
        ):
            axes.plot(updates, errors.mean(axis=0), color=colour, label=names[signal])
            axes.fill_between(
                updates, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.2, lw=0
            )
        axes.set(xscale="log", yscale="log", xlabel="updates of the preconditioner", title=target)
    panels[0].set_ylabel("Frobenius error of the scaled covariance")
    panels[0].legend(frameon=False)
    figure.suptitle("FisherMALA, means and ranges over ten chains")
    save(figure, path)


def traces_figure(path: Path, found: Mapping[str, Mapping[str, Trace]]) -> None:
    """Draw Figures 3 and 7 to 14 of Titsias (2023): log densities, one row a target."""
    figure, rows = plt.subplots(
        len(found), 4, figsize=(12.0, 1.7 * len(found)), layout="constrained", sharey="row"
    )
    for panels, (target, traces) in zip(rows, found.items(), strict=True):
        for axes, (method, trace) in zip(panels, traces.items(), strict=True):
            axes.plot(trace.iterations, trace.values, color=BLUE, lw=0.5)
            axes.set_title(f"{target}: {method}", fontsize="small")
            axes.tick_params(labelsize="x-small")
            axes.locator_params(axis="x", nbins=4)
        settled = np.concatenate([t.values[len(t.values) // 2 :] for t in traces.values()])
        low, high = np.quantile(settled, [0.01, 0.999])
        panels[0].set_ylim(low - 0.5 * (high - low), high + 0.2 * (high - low))
    for axes in rows[-1]:
        axes.set_xlabel("iteration after the warm-up", fontsize="small")
    figure.suptitle("Log density along the iterations, same scale in a row")
    save(figure, path)


def paths_figure(path: Path, found: Mapping[str, tuple[Array, Array]], last: int) -> None:
    """Draw Figure 1 of Wang et al. (2013): samples, the path of the last, and autocorrelations."""
    figure, panels = plt.subplots(2, len(found), figsize=(11.0, 6.6), layout="constrained")
    for (above, below), (method, (samples, line)) in zip(panels.T, found.items(), strict=True):
        _, size, steps = method.split(":")
        above.plot(*samples.T, ".", color=GREY, ms=2)
        above.plot(*samples[-last:].T, "o-", color=BLUE, ms=3, lw=0.5)
        above.set(title=f"steps of {size}, {steps} of them", xlabel="$x_1$", ylabel="$x_2$")
        below.bar(np.arange(len(line)), line, color=BLUE, width=0.6)
        below.set(xlabel="lag", ylim=(-1.0, 1.05))
    panels[1, 0].set_ylabel("autocorrelation of $x_1 + x_2$")
    figure.suptitle("HMC on two coordinates with correlation 0.99: samples, and memory")
    save(figure, path)


def proposals_figure(
    path: Path, found: Mapping[str, Array], targets: Mapping[str, float], looks: Sequence[int]
) -> None:
    """Draw Figure 2 of Zhu (2019): proposals of SA-MCMC on their way to three targets."""
    figure, panels = plt.subplots(1, len(found), figsize=(12.0, 3.8), layout="constrained")
    shades = plt.get_cmap("viridis_r")(np.linspace(0.1, 0.9, len(looks)))
    for axes, (name, fits) in zip(panels, found.items(), strict=True):
        scale = targets[name]
        x = np.linspace(-16.0, max(10.0, 4.0 * scale), 600)
        for look, shade in zip(looks, shades, strict=True):
            mean, sd = fits[look]
            axes.plot(x, _normal(x, mean, sd), color=shade, label=f"iteration {look}")
        axes.plot(x, _normal(x, 0.0, scale), color=RED, ls="--", label="target")
        axes.set(title=f"start {name}", xlabel="$\\theta$")
    panels[0].set_ylabel("density")
    panels[0].legend(frameon=False, fontsize="small")
    figure.suptitle("SA-MCMC finds its proposal")
    save(figure, path)


def _normal(x: Array, mean: float, sd: float) -> Array:
    return np.asarray(np.exp(-0.5 * np.square((x - mean) / sd)) / (sd * np.sqrt(2.0 * np.pi)))


def matrices_figure(path: Path, title: str, matrices: Mapping[str, Array]) -> None:
    """Draw matrices side by side, each with its own colours, symmetric about zero."""
    figure, panels = plt.subplots(1, len(matrices), figsize=(12.0, 3.8), layout="constrained")
    for axes, (name, matrix) in zip(panels, matrices.items(), strict=True):
        limit = float(np.abs(matrix).max())
        image = axes.imshow(matrix, cmap="RdBu_r", vmin=-limit, vmax=limit)
        axes.set_title(name, fontsize="medium")
        figure.colorbar(image, ax=axes, shrink=0.8)
    figure.suptitle(title)
    save(figure, path)


def ensemble_figure(path: Path, rows: Sequence[Row]) -> None:
    """Draw Figure 4 of Zhu (2019): acceptance and effective size against the ensemble."""
    figure, panels = plt.subplots(1, 3, figsize=(12.0, 3.8), layout="constrained")
    for axes, column, name in zip(
        panels,
        ("acceptance_rate", "ess_median_per_1000", "ess_median_per_second"),
        ("acceptance rate", "median ESS per 1000 log densities", "median ESS a second"),
        strict=True,
    ):
        axes.plot(ENSEMBLES, [row.get(column, np.nan) for row in rows], "o-", color=BLUE)
        axes.set(xlabel="points of an ensemble, N", ylabel=name)
        if column != "acceptance_rate":
            axes.set_ylim(bottom=0.0)
    panels[0].axhline(1.0, color=GREY, ls=":")
    figure.suptitle("SA-MCMC on MNIST 7 against 9: what more points buy")
    save(figure, path)


def scale_figure(path: Path, ratios: Mapping[str, Sequence[float]]) -> None:
    """Draw Figure 5 of Zhu (2019): effective size against the scale, over that at scale one."""
    figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    names = {
        "sa_mcmc:full": "sa_mcmc, start $q_0 = h$", "am:full": "am, scale $s = 0.7 h$",
        "rwm": "rwm, step $q = 0.02 h$",
    }  # fmt: skip
    for (method, values), colour in zip(ratios.items(), (BLUE, GREEN, RED), strict=False):
        axes.plot(FACTORS, values, "o-", color=colour, label=names[method])
    axes.axhline(1.0, color=GREY, ls=":")
    axes.set(xscale="log", xlabel="h", ylabel="median ESS over that at h = 1")
    axes.set_ylim(bottom=0.0)
    axes.set_title("MNIST 7 against 9: SA-MCMC needs no tuned scale")
    axes.legend(frameon=False)
    save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """Write a figure as PNG and release it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
