"""Examples of the largest of many values and of what exceeds a threshold."""

from __future__ import annotations

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, LINE, Case, scipy_case
from probmodel import distributions as d

CASES: dict[str, Case] = {
    "GeneralizedExtremeValue": scipy_case(
        d.GeneralizedExtremeValue(0, 1, 0.1),
        stats.genextreme,
        lambda m, s, x: (-x, m, s),
        [(0.3, 1.8, 0.4), (-0.5, 1.6, -0.3)],
        LINE,
        {0: [np.nan], 1: BAD_SCALE, 2: [np.nan]},
        edges=lambda m, s, x: [m - s / x],
    ),
    "GeneralizedExtremeValue light": scipy_case(
        d.GeneralizedExtremeValue(0, 1, 0.1),
        stats.genextreme,
        lambda m, s, x: (-x, m, s),
        [(0.3, 0.8, 0.0), (-0.5, 1.6, -0.02)],
        LINE,
        {1: BAD_SCALE, 2: [np.nan]},
        edges=lambda m, s, x: [] if x == 0.0 else [m - s / x],
    ),
    "GeneralizedPareto": scipy_case(
        d.GeneralizedPareto(-2.5, 1, 0.1),
        stats.genpareto,
        lambda m, s, x: (x, m, s),
        [(-2.5, 0.8, 0.6), (-2.5, 1.9, -0.3)],
        LINE,
        {0: [1.8, np.nan], 1: BAD_SCALE, 2: [np.nan]},
        [-2.6, -4.0],
        edges=lambda m, s, x: [m] if x >= 0.0 else [m, m - s / x],
    ),
    "GeneralizedPareto light": scipy_case(
        d.GeneralizedPareto(-2.5, 1, 0.1),
        stats.genpareto,
        lambda m, s, x: (x, m, s),
        [(-2.5, 0.8, 0.0), (-2.5, 1.9, 0.03)],
        LINE,
        {1: BAD_SCALE, 2: [np.nan]},
        [-2.6, -4.0],
        edges=lambda m, s, x: [m],
    ),
}
NOT_NONCENTERED = {"GeneralizedExtremeValue", "GeneralizedPareto"}
NOT_INFORMED = {name: ["mu", "sigma", "xi"] for name in CASES}
