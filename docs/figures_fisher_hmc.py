"""Figure of Hamiltonian Monte Carlo with a learned Fisher matrix; see figures.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figure_parts import (
    BLACK,
    BLUE,
    ORANGE,
    REFERENCE,
    Gaussian,
    panels,
    rotated,
    smooth,
    watch,
)
from matplotlib.figure import Figure

from probmodel.samplers.hamiltonian import (
    LEAPFROG,
    TWO_STAGE,
    Integrator,
    simulate,
    with_momentum,
)
from probmodel.samplers.metropolis import acceptance, evaluate

CHAINS = 2000  # for means over exact starts
QUARTER = np.pi / 2.0
WIDEST = 10  # directions of the right panel


def accepted(integrator: Integrator, steps: int, time: float, dim: int = 100) -> float:
    """Mean acceptance of trajectories from exact draws of a standard normal density."""
    density, rng = Gaussian(np.eye(dim)), np.random.default_rng(1)
    state = evaluate(density, rng.standard_normal((CHAINS, dim)))
    start = with_momentum(state, None, rng.standard_normal((CHAINS, dim)))
    end, _ = simulate(density, start, None, time / steps, steps, integrator)
    return float(np.mean(acceptance(start.energy - end.energy)))


def fisher_hmc() -> Figure:
    """Draw the acceptance of two integrators, and how trajectories develop in the warm-up."""
    figure, left, right = panels("whitened, 100 parameters", "scales from 0.001 to 1000")
    times = np.linspace(0.1, 2.6, 40)
    for integrator, steps, colour, label in (
        (TWO_STAGE, 1, BLUE, "one two-stage step"),
        (LEAPFROG, 2, ORANGE, "two leapfrog steps"),
    ):
        rates = [accepted(integrator, steps, time) for time in times]
        left.plot(times, rates, color=colour, label=label)
    left.axvline(QUARTER, **REFERENCE)
    left.text(QUARTER - 0.05, 0.05, "quarter of a turn", ha="right", color="0.4")
    left.set(xlabel="length of a trajectory of two gradients", ylabel="acceptance", ylim=(0, 1.03))
    left.legend(loc=(0.0, 0.2))
    density = Gaussian(rotated(np.geomspace(1e-3, 1e3, 50), 0))
    warmup, half = 500, 250
    variances, directions = (part[..., -WIDEST:] for part in np.linalg.eigh(density.covariance))

    def progress(state: Any, info: Any, params: Any) -> float:
        moved = np.mean(((state.x - info.previous.x) @ directions) ** 2, axis=0)
        return float(np.mean(moved / variances) / info.n_grad.mean())

    seen = watch("fisher_hmc", density, progress, warmup=warmup, draws=140, start=16)
    right.plot(smooth(seen, 10), color=BLUE)
    right.axhline(1.0, **REFERENCE)
    right.text(5, 1.02, "independent", va="bottom", color="0.4")
    for end in (half, warmup):
        right.axvline(end, color=BLACK, lw=0.8)
    for place, label in ((125, "Langevin steps"), (375, "trajectories"), (570, "draws")):
        right.text(place, 1.32, label, ha="center")
    right.set(xlabel="iteration", ylabel="squared jump per gradient, widest 10", ylim=(0.0, 1.4))
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"fisher_hmc": fisher_hmc}
