"""Figures of `entropy_hmc` with a matrix, made by running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figure_parts import BLUE, GREEN, ORANGE, PURPLE, REFERENCE, Gaussian, panels, rotated, watch
from matplotlib.figure import Figure

from probmodel.types import Array

STEPS = 5  # leapfrog steps, the default


def entropy_hmc() -> Figure:
    """Draw how fast relative and published steps learn, and what each objective learns."""
    figure, left, right = panels("condition number of C'Σ⁻¹C", "what each objective learns")
    dim, warmup = 20, 1000
    truth = rotated(np.geomspace(0.1, 10.0, dim), seed=3)
    precision = np.linalg.inv(truth)
    every = 10
    for label, colour, settings in (
        ("the default", BLUE, {}),
        ("published, steps of 0.01", ORANGE, {"robust": False, "learning_rate": 0.01}),
        ("published, steps of 0.001", PURPLE, {"robust": False, "initial_scale": 0.05}),
    ):
        seen = watch(
            "entropy_hmc", Gaussian(truth), lambda s, i, p: p.root.copy(),
            warmup=warmup, start=10, **settings,
        )  # fmt: skip
        numbers = [np.linalg.cond(C.T @ precision @ C) for C in seen[::every]]
        left.plot(range(0, warmup, every), numbers, color=colour, label=label)
    left.axhline(1.0, **REFERENCE)
    left.set(yscale="log", xlabel="warm-up iteration", ylim=(0.5, 1e7))
    left.legend(loc="upper right")

    scales = np.geomspace(0.1, 10.0, dim)
    for objective, colour, mark in (
        ("gsm", BLUE, "o-"),
        ("l2hmc", GREEN, "s-"),
        ("esjd", ORANGE, "^-"),
    ):
        ratio = _learned(objective, scales) / scales
        right.plot(scales, ratio, mark, color=colour, ms=4, lw=1.0, label=objective)
    best = np.sqrt(2.0 / (STEPS**2 - 1.0))
    right.axhline(best, **REFERENCE)
    right.text(10.0, 0.93 * best, "largest entropy", ha="right", va="top", color="0.4", fontsize=9)
    right.set(xscale="log", yscale="log", xlabel="scale of a parameter", ylim=(0.05, 5.0))
    right.set_ylabel("its root c / its scale")
    right.legend(title="objective", alignment="left", loc="upper right")
    return figure


def _learned(objective: str, scales: Array) -> Array:
    """Return the diagonal root after a warm-up on independent normal coordinates."""
    seen: list[Any] = watch(
        "entropy_hmc", Gaussian(np.diag(scales**2)), lambda s, i, p: p.root, warmup=1000, draws=1,
        start=10, preconditioner="diag", objective=objective,
    )  # fmt: skip
    return np.asarray(seen[-1])


FIGURES: dict[str, Callable[[], Figure]] = {"entropy_hmc": entropy_hmc}
