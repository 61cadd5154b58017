"""Examples of first-passage times."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from examples.case import BAD_SCALE, Case
from probmodel import distributions as d


def density(y: Any, alpha: Any, tau: Any, beta: Any, delta: Any) -> Any:
    """Density by the series of sines with very many terms, as in Navarro and Fuss (2009)."""
    y = np.asarray(y, dtype=float)
    t = np.abs(y) - tau
    w, v = np.where(y > 0, 1 - beta, beta), np.where(y > 0, -delta, delta)
    k = np.arange(1, 400)
    waves = k * np.exp(-(k**2) * np.pi**2 * t[..., None] / (2 * alpha**2))
    series = np.sum(waves * np.sin(k * np.pi * w[..., None]), axis=-1)
    return np.pi / alpha**2 * np.exp(-v * alpha * w - v**2 * t / 2) * series


def law(draws: Any, alpha: Any, tau: Any, beta: Any, delta: Any) -> Any:
    """Distribution function on a fine grid."""
    grid = tau + np.concatenate([np.linspace(2e-3, 3, 4000), np.linspace(3.01, 30, 1000)])
    params = alpha, tau, beta, delta
    lower = integrate.cumulative_trapezoid(density(-grid, *params), grid, initial=0)
    upper = integrate.cumulative_trapezoid(density(grid, *params), grid, initial=0)
    below = lower[-1] - np.interp(-draws, grid, lower)
    return np.where(draws < 0, below, lower[-1] + np.interp(draws, grid, upper))


CASES: dict[str, Case] = {
    "Wiener": Case(
        d.Wiener(1.0, 0.1, 0.5, 0.0),
        [(1.4, 0.2, 0.4, 0.7), (0.9, 0.1, 0.55, -1.1)],
        np.array([-1.3, -0.4, 0.45, 2.1]),
        lambda *args: float(np.log(density(*args))),
        {0: BAD_SCALE, 1: [-0.1, 3.0, np.nan], 2: [0.0, 1.0, -0.2, 1.2, np.nan], 3: [np.nan]},
        law=law,
        edges=lambda alpha, tau, beta, delta: (-tau, tau),
    )
}
NOT_NONCENTERED = {"Wiener"}
NOT_INFORMED = {"Wiener": ["alpha", "tau", "beta", "delta"]}
