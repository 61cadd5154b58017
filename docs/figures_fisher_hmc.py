"""Figure of Hamiltonian Monte Carlo with a learned Fisher matrix; see figures.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figure_parts import BLACK, BLUE, ORANGE, REFERENCE, Gaussian, panels, rotated, smooth, watch
from matplotlib.figure import Figure

from probmodel.samplers.hamiltonian.dynamics import (
    LEAPFROG,
    TWO_STAGE,
    Integrator,
    simulate,
    with_momentum,
)
from probmodel.samplers.hamiltonian.fisher_schedule import langevin_steps
from probmodel.samplers.hamiltonian.step_halving import FINEST, simulate_halving
from probmodel.samplers.metropolis import acceptance, evaluate
from probmodel.types import Array, Evaluation

CHAINS = 2000  # for means over exact starts
QUARTER = np.pi / 2.0
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
WIDEST = 10  # directions of the right panel


def accepted(integrator: Integrator, steps: int, time: float, dim: int = 100) -> float:
    """Mean acceptance of trajectories from exact draws of a standard normal density."""
    density, rng = Gaussian(np.eye(dim)), np.random.default_rng(1)
    state = evaluate(density, rng.standard_normal((CHAINS, dim)))
    start = with_momentum(state, rng.standard_normal((CHAINS, dim)))
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
    warmup = 500
    first = langevin_steps(warmup, 50)
    variances, directions = (part[..., -WIDEST:] for part in np.linalg.eigh(density.covariance))

    def progress(state: Any, info: Any, params: Any) -> float:
        moved = np.mean(((state.x - info.previous.x) @ directions) ** 2, axis=0)
        return float(np.mean(moved / variances) / info.n_grad.mean())

    seen = watch("fisher_hmc", density, progress, warmup=warmup, draws=140, start=16)
    right.plot(smooth(seen, 10), color=BLUE)
    right.axhline(1.0, **REFERENCE)
    right.text(340, 1.25, "independent: 1", ha="center", va="top", color="0.4", bbox=BEHIND)
    for end in (first, warmup):
        right.axvline(end, color=BLACK, lw=0.8)
    for place, label in ((first / 2, "Langevin"), (310, "trajectories"), (570, "draws")):
        right.text(place, 1.32, label, ha="center", bbox=BEHIND)
    right.set(xlabel="iteration", ylabel="squared jump per gradient, widest 10", ylim=(0.0, 1.4))
    return figure


class Horn:
    """x is normal, and y too, with the scale exp(x)."""

    def __call__(self, x: Array) -> Evaluation:
        """Log density and its gradient."""
        u, z = x[:, 0], x[:, 1] * np.exp(-x[:, 0])
        grad = np.stack([-u + z**2 - 1.0, -z * np.exp(-u)], axis=1)
        return Evaluation(-0.5 * (u**2 + z**2) - u, grad)

    def log_density(self, x: Array) -> Array:
        """Log density."""
        return self(x).logp

    @staticmethod
    def exact(rng: np.random.Generator, n: int) -> Array:
        """Draws."""
        u, z = rng.standard_normal((2, n))
        return np.stack([u, np.exp(u) * z], axis=1)


def step_halving() -> Figure:
    """Draw acceptance and costs along a horn, with steps of one size and with halved ones."""
    figure, left, right = panels("acceptance", "gradients of a trajectory")
    rng, step, n = np.random.default_rng(2), 0.6, 3
    x = Horn.exact(rng, 200_000)
    start = with_momentum(evaluate(Horn(), x), rng.standard_normal(x.shape))
    bins = np.linspace(-3.0, 3.0, 31)
    where = np.digitize(x[:, 0], bins)
    middle = 0.5 * (bins[1:] + bins[:-1])
    for finest, colour, label in ((0, ORANGE, "steps of one size"), (FINEST, BLUE, "halved")):
        u = rng.random((len(x), finest))
        made = simulate_halving(Horn(), start, None, step, n, u, TWO_STAGE)
        ratio = start.energy - made.after + made.log_weight
        rate = acceptance(np.where(made.failed, -np.inf, ratio))
        for panel, values in ((left, rate), (right, made.taken)):
            means = [values[where == i].mean() for i in range(1, len(bins))]
            panel.plot(middle, means, color=colour, label=label)
    left.set(xlabel="x, the logarithm of the scale", ylabel="mean acceptance", ylim=(0.0, 1.03))
    left.legend(loc="lower right")
    right.set(xlabel="x, the logarithm of the scale", ylabel="mean number", yscale="log")
    right.minorticks_off()
    right.set_yticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"fisher_hmc": fisher_hmc}
GUIDES: dict[str, Callable[[], Figure]] = {"step_halving": step_halving}
