"""Figure of `autostep`: step sizes by place, and the neck of a funnel beside `fisher_mala`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLUE, ORANGE, REFERENCE, panels, watch
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from probmodel.types import Array, Evaluation

NECK = 0.15866  # P(v < -3)


class Funnel:
    """v ~ N(0, 3²), and four x_i | v ~ N(0, e^v)."""

    dim, coordinate_names = 5, ()

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient."""
        v, rest = x[:, 0], x[:, 1:]
        n = rest.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            precision, squares = np.exp(-v), np.sum(rest * rest, axis=1)
            logp = -v * v / 18.0 - 0.5 * squares * precision - 0.5 * n * v
            slope = -v / 9.0 + 0.5 * squares * precision - 0.5 * n
            return Evaluation(logp, np.column_stack([slope, -rest * precision[:, None]]))

    def log_density(self, x: Array) -> Array:
        """Log density alone."""
        return self(x).logp


def autostep() -> Figure:
    """Draw the step size against the scale of the place, and how often the neck is visited."""
    figure, left, right = panels("step sizes of autostep", "share of the narrow part, v < -3")
    start = np.random.default_rng(2).uniform(-2.0, 2.0, (8, 5))
    for method, draws, colour in (("fisher_mala", 24_000, ORANGE), ("autostep", 8000, BLUE)):
        seen = watch(
            method, Funnel(),
            lambda s, i, p: (i.previous.x[:, 0], i.stats.get("step_size"), i.n_grad.mean()),
            warmup=1000, draws=draws, start=start,
        )[1000:]  # fmt: skip
        v = np.array([each[0] for each in seen])
        gradients = np.cumsum([each[2] for each in seen])
        shares = np.cumsum((v < -3.0).mean(axis=1)) / np.arange(1, draws + 1)
        right.plot(gradients, shares, color=colour, label=method)
        if method == "autostep":
            steps = np.array([each[1] for each in seen])
            pick = np.random.default_rng(3).integers(v.size, size=1500)
            left.plot(v.ravel()[pick], steps.ravel()[pick], ".", ms=2, color=colour)
    scale = np.array([-9.0, 9.0])
    left.plot(scale, np.exp(0.5 * scale), **REFERENCE, label="scale of x")
    left.set(yscale="log", xlabel="v, the logarithm of a variance", ylabel="step size", xlim=scale)
    left.legend(loc="upper left")
    right.axhline(NECK, **REFERENCE, label="truth")
    right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    right.set(xlabel="gradients of each of 8 chains", ylim=(0.0, 0.3), xlim=(0, 24_000))
    right.legend()
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"autostep": autostep}
