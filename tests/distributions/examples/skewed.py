"""Examples of skewed distributions, power laws, and angles."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, HALF, LINE, UNIT, Case, scipy_case
from probmodel import distributions as d

BAD_SHARE = [-0.2, 0.0, 1.0, 1.3, np.nan]


def angle_law(draws: Any, mu: float, kappa: float) -> Any:
    """Distribution function from -pi on; SciPy's counts whole turns on both sides."""
    circle = stats.vonmises(kappa, mu)
    return circle.cdf(draws) - circle.cdf(-np.pi)


def asymmetric_laplace(mu: float, sigma: float, tau: float) -> tuple[float, ...]:
    return np.sqrt(tau / (1 - tau)), mu, sigma / (2 * np.sqrt(tau * (1 - tau)))


CASES: dict[str, Case] = {
    "ExpModNormal": scipy_case(
        d.ExpModNormal(0, 1, 1),
        stats.exponnorm,
        lambda m, s, r: (1 / (s * r), m, s),
        [(0.3, 0.8, 1.4), (-0.5, 1.6, 0.6)],
        LINE,
        {1: BAD_SCALE, 2: BAD_SCALE},
    ),
    "SkewNormal": scipy_case(
        d.SkewNormal(0, 1, 1.7),
        stats.skewnorm,
        lambda m, s, a: (a, m, s),
        [(0.3, 1.2, 1.7), (-0.5, 1.6, -2.4)],
        LINE,
        {1: BAD_SCALE, 2: [np.nan]},
    ),
    "SkewDoubleExponential": scipy_case(
        d.SkewDoubleExponential(0, 1, 0.3),
        stats.laplace_asymmetric,
        asymmetric_laplace,
        [(0.3, 0.8, 0.3), (-0.5, 1.6, 0.75)],
        LINE,
        {1: BAD_SCALE, 2: BAD_SHARE},
    ),
    "Pareto": scipy_case(
        d.Pareto(0.04, 1),
        stats.pareto,
        lambda m, a: (a, 0, m),
        [(0.04, 2.3), (0.04, 0.7)],
        HALF,
        {0: [*BAD_SCALE, 5.0], 1: BAD_SCALE},
        [0.03, 0.0, -0.1],
        edges=lambda m, a: [m],
    ),
    "ParetoType2": scipy_case(
        d.ParetoType2(-2.5, 1, 1),
        stats.lomax,
        lambda m, s, a: (a, m, s),
        [(-2.5, 0.8, 2.3), (-2.5, 1.9, 0.9)],
        LINE,
        {0: [1.8, np.nan], 1: BAD_SCALE, 2: BAD_SCALE},
        [-2.6, -4.0],
        edges=lambda m, s, a: [m],
    ),
    "BetaProportion": scipy_case(
        d.BetaProportion(0.5, 2),
        stats.beta,
        lambda m, k: (m * k, (1 - m) * k),
        [(0.6, 3.7), (0.3, 1.4)],
        UNIT,
        {0: BAD_SHARE, 1: [*BAD_SCALE, -0.5, -2.5]},
        [-0.1, 1.1],
        edges=lambda m, k: [1.0],
    ),
    "VonMises": Case(
        d.VonMises(0, 1),
        [(0.3, 1.8), (2.6, 0.7)],
        LINE,
        lambda y, m, k: stats.vonmises(k, m).logpdf(y),
        {1: BAD_SCALE},
        [-3.2, 3.2, np.nan],
        law=angle_law,
        edges=lambda m, k: [-np.pi, np.pi],
    ),
}

NOT_NONCENTERED = {"ExpModNormal", "BetaProportion", "VonMises"}

NOT_INFORMED = {
    "ExpModNormal": ["mu", "sigma", "rate"],
    "SkewNormal": ["loc", "scale", "alpha"],
    "Pareto": ["y_min"],
    "ParetoType2": ["mu"],
}
