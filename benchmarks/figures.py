"""Figures of what was measured: error of the preconditioner, and effective sample sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from frobenius import Trajectory
from published import FROBENIUS, FROBENIUS_UPDATES
from report import Summary

mpl.use("Agg")  # no screen needed
import matplotlib.pyplot as plt

COLOURS = {"alone": "#0072b2", "pooled": "#d55e00", "robust": "#009e73"}
NAMES = {
    "alone": "one chain",
    "pooled": "ten chains together",
    "robust": "ten chains together, robust",
}


def frobenius_figure(path: Path, target: str, trajectories: dict[str, Trajectory]) -> None:
    """Draw the error of the preconditioner along its updates.

    Lines are means, bands the range over chains learning alone; circles are the reference.
    """
    figure, axes = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
    for mode, (updates, errors) in trajectories.items():
        colour = COLOURS[mode]
        axes.plot(updates, errors.mean(axis=0), color=colour, label=NAMES[mode])
        if len(errors) > 1:
            axes.fill_between(
                updates, errors.min(axis=0), errors.max(axis=0), color=colour, alpha=0.2, lw=0
            )
        if mode != "robust":
            axes.plot(FROBENIUS_UPDATES, FROBENIUS[target].of(mode), "o", mfc="none", color=colour)
    axes.plot([], [], "o", mfc="none", color="0.3", label="reference")
    axes.axhline(FROBENIUS[target].target_norm, color="0.6", ls=":", label="norm of the target")
    axes.set(xscale="log", yscale="log", xlabel="updates of the preconditioner")
    axes.set(ylabel="Frobenius error of the scaled covariance", title=f"FisherMALA on {target}")
    axes.legend(frameon=False, fontsize="small")
    save(figure, path)


def ess_figure(path: Path, summaries: Sequence[Summary]) -> None:
    """Draw the smallest and median sizes beside the published ones, one group a target."""
    shown = [s for s in summaries if s.published is not None]
    several = len({s.label for s in shown}) > 1
    names = [f"{s.target} {s.label.split(':')[-1]}" if several else s.target for s in shown]
    place = np.arange(len(shown))
    width = max(6.0, 0.5 * len(shown))
    figure, panels = plt.subplots(2, figsize=(width, 6.0), layout="constrained", sharex=True)
    for axes, statistic, field in zip(
        panels, ("min", "median"), ("smallest", "median"), strict=True
    ):
        published = np.array([getattr(s.published, field) for s in shown])
        ours = np.array([s.ess[statistic] for s in shown])
        for shift, values, colour, name in (
            (-0.2, published, "0.7", "published"),
            (0.2, ours, COLOURS["alone"], "ours"),
        ):
            axes.bar(
                place + shift, values[:, 0], 0.38, yerr=np.nan_to_num(values[:, 1]), capsize=2,
                color=colour, label=name,
            )  # fmt: skip
        axes.set(yscale="log", ylabel=f"{field} ESS over coordinates")
        axes.set_ylim(bottom=1.0)
        axes.set_xlim(-0.6, len(shown) - 0.4)
    panels[0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    panels[1].set_xticks(place, names, rotation=45, ha="right", fontsize="small")
    save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """Write a figure as PNG and release it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
