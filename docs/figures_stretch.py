"""Figure of `stretch`: an ensemble on its way, and how long it remembers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    Gaussian,
    autocorrelation,
    ellipse,
    panels,
    watch,
)
from matplotlib.figure import Figure


def stretch() -> Figure:
    """Draw an ensemble that finds a narrow density, and autocorrelations by dimension."""
    figure, left, right = panels("32 chains on their way", "autocorrelation of the chains")
    density = Gaussian(np.array([[4.0, 3.9], [3.9, 4.0]]))
    start = np.array([-4.0, 4.0]) + np.random.default_rng(1).standard_normal((32, 2))
    seen = watch("stretch", density, lambda s, i, p: s.x, warmup=200, start=start)
    for i, colour in ((1, PURPLE), (10, ORANGE), (30, GREEN), (200, BLUE)):
        left.plot(*seen[i - 1].T, "o", ms=3, color=colour, label=f"iteration {i}")
    ellipse(left, np.zeros(2), np.linalg.cholesky(density.covariance), color=BLACK, ls=":")
    left.set(xlabel="first parameter", ylabel="second parameter", xlim=(-7, 7), ylim=(-6, 9))
    left.legend(loc="upper right")
    lags = range(0, 201, 4)
    for dim, colour in ((2, BLUE), (10, GREEN), (30, ORANGE)):
        normal = Gaussian(np.eye(dim))
        for share, style in ((0.8, "-"), (0.0, ":")):
            seen = watch(
                "stretch", normal, lambda s, i, p: s.x, draws=3000, start=normal.start(64),
                difference=share,
            )  # fmt: skip
            x = np.array(seen).reshape(3000, -1)
            label = f"{dim}" if share else None
            right.plot(lags, autocorrelation(x, 0.0, lags), ls=style, color=colour, label=label)
    right.plot([], [], ":", color=BLACK, label="difference=0")
    right.set(xlabel="iterations apart", ylabel="autocorrelation", ylim=(-0.05, 1.03))
    right.legend(title="parameters", alignment="left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"stretch": stretch}
