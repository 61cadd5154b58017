"""Figures of Riemannian manifold Hamiltonian Monte Carlo; see `figures`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLACK, BLUE, ORANGE, REFERENCE, autocorrelation, panels, watch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel.samplers.hamiltonian.dynamics import leapfrog, with_momentum
from probmodel.samplers.metropolis import evaluate
from probmodel.samplers.riemannian.manifold import riemannian_start, simulate
from probmodel.samplers.riemannian.metrics import Metric
from probmodel.types import Array, Evaluation


class Funnel:
    """v ~ N(0, 1.5²) and x | v ~ N(0, exp(v)), with its expected Fisher information as metric."""

    coordinate_names = ()
    dim, variance = 2, 1.5**2

    def __call__(self, q: Array) -> Evaluation:
        """Log density and gradient."""
        v, x = q.T
        square = x * x * np.exp(-v)
        grad = np.stack([-v / self.variance - 0.5 + 0.5 * square, -x * np.exp(-v)], axis=1)
        return Evaluation(-0.5 * (v * v / self.variance + v + square), grad)

    def log_density(self, q: Array) -> Array:
        """Log density alone."""
        return self(q).logp

    def metric(self, q: Array) -> Array:
        """Return the metric, positive definite everywhere."""
        G = np.zeros((len(q), 2, 2))
        G[:, 0, 0] = 1.0 / self.variance + 0.5
        G[:, 1, 1] = np.exp(-q[:, 0])
        return G

    def metric_gradient(self, q: Array, vectors: Array, weights: Array) -> Array:
        """Gradient of the metric along the vectors."""
        slope = np.zeros(q.shape)
        slope[:, 0] = -np.exp(-q[:, 0]) * np.sum(weights * vectors[:, :, 1] ** 2, axis=1)
        return slope

    def start(self, chains: int) -> Array:
        """Exact draws: (chains, 2). Their seed is not that of any run."""
        z = np.random.default_rng(0).standard_normal((chains, 2))
        v = np.sqrt(self.variance) * z[:, 0]
        return np.stack([v, np.exp(0.5 * v) * z[:, 1]], axis=1)


def rmhmc() -> Figure:
    """Draw one way into a funnel and back in two metrics, and how long v is remembered."""
    density, lags = Funnel(), range(16)
    figure, left, right = panels("down the funnel and back", "the width, v")
    _draw_ways(left, density)
    start = density.start(200)
    for method, settings, colour in (
        ("rmhmc", {"n_steps": 10, "target_accept": 0.9}, BLUE),
        ("hmc", {"n_steps": 10, "target_accept": 0.9}, ORANGE),
    ):
        seen = watch(
            method, density, lambda s, i, p: s.x[:, 0], warmup=150, draws=150, start=start,
            **settings,
        )  # fmt: skip
        right.plot(lags, autocorrelation(np.array(seen[150:]), 0.0, lags), "o-", ms=3,
                   color=colour, label=f"{method}, 10 steps")  # fmt: skip
    right.axhline(0.0, **REFERENCE)
    right.set(xlabel="lag in trajectories", ylabel="autocorrelation", ylim=(-0.2, 1.05))
    right.legend()
    return figure


def _draw_ways(axes: Axes, density: Funnel) -> None:
    """Draw a trajectory in the metric of the funnel, and one in a constant metric."""
    v, x = np.meshgrid(np.linspace(-5.5, 4.5, 200), np.linspace(-7.0, 7.0, 200))
    logp = density(np.stack([v.ravel(), x.ravel()], axis=1)).logp.reshape(v.shape)
    axes.contour(v, x, logp, levels=[-6, -4, -2, -1, 0], colors="0.85",
                 linestyles="solid", zorder=0)  # fmt: skip
    start, z = np.array([[2.5, 3.0]]), np.array([[-2.3, 0.6]])
    metric, steps = Metric(), 60
    state = riemannian_start("rmhmc", metric, density, start)
    ends = [simulate(density, state, z, metric, 0.15, n, False)[0].x[0] for n in range(1, steps)]
    axes.plot(*np.transpose([start[0], *ends]), ".-", color=BLUE, lw=1, ms=4, label="Riemannian")
    phase = with_momentum(evaluate(density, start), z)
    path = [start[0]]
    for _ in range(steps - 1):
        phase = leapfrog(density, phase, None, 0.15)
        path.append(phase.x[0])
    axes.plot(*np.transpose(path), ".-", color=ORANGE, lw=1, ms=4, label="constant metric")
    axes.plot(*start[0], "o", color=BLACK, ms=6, zorder=3)
    axes.set(xlabel="v, log of the variance of x", ylabel="x", xlim=(-5.5, 4.5), ylim=(-7, 7))
    axes.legend(loc="upper left")


FIGURES: dict[str, Callable[[], Figure]] = {"rmhmc": rmhmc}
