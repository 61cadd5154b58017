"""Figure of `mams`: its trajectories beside Hamiltonian ones, and acceptance by dimension."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLACK, BLUE, GREEN, ORANGE, Gaussian, ellipse, panels
from matplotlib.figure import Figure

from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian.dynamics import TWO_STAGE, simulate, with_momentum
from probmodel.samplers.hamiltonian.mams import follow
from probmodel.samplers.metropolis import acceptance

STEPS = np.geomspace(0.3, 4.0, 25)  # h


def mams() -> Figure:
    """Draw trajectories of both kinds from one start, and how often one step is accepted."""
    figure, left, right = panels("trajectories from one start", "acceptance of one step")
    density = Gaussian(np.diag([9.0, 1.0]))
    x = np.array([[-4.0, 0.6]])
    state, u = State(x, *density(x)), np.array([[0.8, 0.6]])
    phase = with_momentum(state, np.sqrt(2.0) * u)
    paths: list[list[np.ndarray]] = [[x[0]], [x[0]]]
    for _ in range(240):
        phase, _ = simulate(density, phase, None, 0.02, 1)
        state, u, _ = follow(density, state, u, None, np.full((1, 1), 0.02), 1)
        paths[0].append(phase.x[0])
        paths[1].append(state.x[0])
    for path, colour, label in zip(paths, (ORANGE, BLUE), ("Hamiltonian", "mams"), strict=True):
        points = np.array(path)
        left.plot(*points.T, color=colour, lw=1.2, label=label)
        left.plot(*points[::20].T, "o", ms=4, color=colour)
    left.plot(*x[0], "o", color=BLACK, zorder=3)
    ellipse(left, np.zeros(2), np.diag([3.0, 1.0]), color=BLACK, ls=":", lw=1.0)
    left.set(xlabel="first parameter", ylabel="second parameter", ylim=(-3.0, 4.2))
    left.legend(loc="upper right")
    rng = np.random.default_rng(1)
    for dim, colour in ((5, GREEN), (50, BLUE), (500, ORANGE)):
        normal = Gaussian(np.eye(dim))
        x = normal.start(2000)
        state, noise = State(x, *normal(x)), rng.standard_normal(x.shape)
        u = noise / np.linalg.norm(noise, axis=1, keepdims=True)
        start, rates = with_momentum(state, noise), []
        for h in STEPS:
            end, _, kinetic = follow(normal, state, u, None, np.full((1, 1), h), 1)
            other, _ = simulate(normal, start, None, h, 1, TWO_STAGE)
            ratios = end.logp - state.logp - kinetic, start.energy - other.energy
            rates.append([acceptance(ratio).mean() for ratio in ratios])
        own, hamiltonian = np.array(rates).T
        right.plot(STEPS, own, color=colour, label=f"{dim}")
        right.plot(STEPS, hamiltonian, ":", color=colour)
    right.plot([], [], ":", color=BLACK, label="Hamiltonian")
    right.set(xlabel="step size h", ylabel="mean acceptance probability", ylim=(0.0, 1.03))
    right.legend(title="parameters", loc="lower left", alignment="left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"mams": mams}
