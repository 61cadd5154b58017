"""Figure of `barker`: acceptance and progress against the step size, beside Langevin moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLUE, GREEN, ORANGE, Gaussian, decimal_ticks, panels, watch
from matplotlib.figure import Figure

WIDE, STEPS = 19, np.geomspace(0.3, 100.0, 22)  # coordinates, and sigma over the narrow scale
NARROW = 0.01


def barker() -> Figure:
    """Draw what one narrow coordinate among wide ones does to acceptance and to progress."""
    density = Gaussian(np.diag([NARROW**2, *np.ones(WIDE)]))
    start = density.start(4000)
    figure, left, right = panels("acceptance", "progress of the wide coordinates")
    for label, method, settings, colour in (
        ("mala", "mala", {}, ORANGE),
        ("barker, two modes", "barker", {}, BLUE),
        ('barker, noise="normal"', "barker", {"noise": "normal"}, GREEN),
    ):
        found = []
        for step in STEPS:
            seen = watch(
                method, density,
                lambda s, i, p: (i.accept_prob.mean(), np.mean((s.x - i.previous.x)[:, 1:] ** 2)),
                warmup=2, start=start, step_size=step * NARROW, **settings,
            )  # fmt: skip
            found.append(seen[0])
        accepted, jumped = np.array(found).T
        left.plot(STEPS, accepted, color=colour, label=label)
        right.plot(STEPS, np.where(jumped > 0.0, jumped, np.nan), color=colour)
    left.set(xscale="log", xlabel="step size / narrow scale", ylim=(0, 1.03))
    left.set_ylabel("mean acceptance probability")
    right.set(xscale="log", yscale="log", xlabel="step size / narrow scale", ylim=(1e-6, 0.1))
    right.set_ylabel("mean squared jump")
    for axes in (left, right):
        decimal_ticks(axes, (0.3, 1.0, 3.0, 10.0, 30.0, 100.0))
    left.legend(loc="lower left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"barker": barker}
