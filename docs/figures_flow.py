"""A figure of `entropy_hmc` with a RealNVP: what its map does to a banana."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from figure_parts import BLACK, BLUE, ORANGE, Banana, panels, watch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from probmodel.adaptation.realnvp import RealNVP
from probmodel.samplers.entropy_hmc import EntropyHMC
from probmodel.types import Array

LEVELS = (-8.0, -4.5, -2.0, -0.5)  # of the log density, below its mode


class CurvedBanana(Banana):
    """The banana with the Hessian of its log density."""

    def hessian(self, x: Array) -> Array:
        """Return the Hessian at ``x``: (chains, 2, 2)."""
        e, slope = x[:, 1] - x[:, 0] ** 2, 2.0 * x[:, 0]
        out = np.empty((len(x), 2, 2))
        out[:, 0, 0] = -1.0 + (2.0 * e - slope**2) / self.sd**2
        out[:, 0, 1] = out[:, 1, 0] = slope / self.sd**2
        out[:, 1, 1] = -1.0 / self.sd**2
        return out


def entropy_flow() -> Figure:
    """Draw a banana, and the density that the leapfrog steps see once the map is learned."""
    target, warmup = CurvedBanana(), 1500
    sampler = EntropyHMC(preconditioner="realnvp", penalty_start=0.95, least_terms=2)
    seen = watch(
        sampler, target, lambda s, i, p: (s.x, p, i.record),
        warmup=warmup, draws=100, start=target.start(10),
    )  # fmt: skip
    params, record = seen[-1][1:]
    flow = RealNVP(2)
    weights = flow.weights(params.theta)
    draws = np.concatenate([x for x, _, _ in seen[warmup:]])
    figure, left, right = panels("the target, x = f(z)", "where the leapfrog steps are taken, z")
    there = flow.inverse(weights, draws)

    def pulled_back(z: Array) -> Array:
        point = flow.forward(weights, z)
        return target.log_density(point.x) + point.log_det

    for axes, points, log_density in (
        (left, draws, target.log_density),
        (right, there.z, pulled_back),
    ):
        _contours(axes, points, log_density)
        axes.plot(*points.T, ".", ms=2.5, color=BLUE, alpha=0.5)
    for chain in range(3):
        for axes, name in ((left, "x"), (right, "z")):
            path = np.array([getattr(phase, name)[chain] for phase in record])
            axes.plot(*path.T, "o-", ms=3.5, color=ORANGE)
    left.set(xlabel="x0", ylabel="x1")
    right.set(xlabel="z0", ylabel="z1")
    return figure


def _contours(axes: Axes, points: Array, log_density: Callable[[Array], Array]) -> None:
    """Draw lines of equal density around some points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.15 * (high - low)
    grid = np.meshgrid(*np.linspace(low - margin, high + margin, 200).T)
    value = log_density(np.stack([g.ravel() for g in grid], axis=1)).reshape(grid[0].shape)
    axes.contour(*grid, value - value.max(), LEVELS, colors=BLACK, linewidths=0.8, linestyles="-")
