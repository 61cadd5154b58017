"""Examples of distributions of lifetimes, extremes and sums of squares, and of the Kumaraswamy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, HALF, LINE, UNIT, Case, location_scale, scipy_case
from probmodel import distributions as d

NOT_POSITIVE = [-0.1, 0.0]
NOT_SHAPES = [*BAD_SCALE, -0.5, -3.0]


def of_two(dist: Any, family: Any, arguments: Any) -> Case:
    """Case of a distribution of positive numbers with two positive parameters."""
    params = [(2.3, 1.4), (0.7, 0.5)]
    invalid = {0: NOT_SHAPES, 1: NOT_SHAPES}
    return scipy_case(dist, family, arguments, params, HALF, invalid, NOT_POSITIVE)


def of_one(dist: Any, family: Any, arguments: Any) -> Case:
    """Case of a distribution of positive numbers with one positive parameter."""
    params = [(2.3,), (0.7,)]
    return scipy_case(dist, family, arguments, params, HALF, {0: NOT_SHAPES}, NOT_POSITIVE)


def truncated(dist: Any, family: Any, params: Any, values: Any) -> Case:
    """Case of a truncated distribution, with SciPy's frozen family as a function of ours."""

    def mass(value: Any, *p: Any) -> Any:
        *inner, lower, upper = p
        frozen = family(*inner)
        return (frozen.cdf(value) - frozen.cdf(lower)) / (frozen.cdf(upper) - frozen.cdf(lower))

    def reference(value: Any, *p: Any) -> float:
        *inner, lower, upper = p
        frozen = family(*inner)
        return frozen.logpdf(value) - np.log(frozen.cdf(upper) - frozen.cdf(lower))

    *_, lower, upper = params[0]
    return Case(
        dist,
        params,
        values,
        reference,
        {
            0: [np.nan],
            1: NOT_SHAPES,
            2: [upper, upper + 1.0, np.nan],
            3: [lower, lower - 1.0, np.nan],
        },
        [lower - 0.01, upper + 0.01],
        law=mass,
    )


class kumaraswamy(stats.rv_continuous):  # noqa: N801 (SciPy's name for a frozen distribution)
    """Its power a is a beta variable with shapes 1 and b."""

    def __init__(self, a: Any, b: Any) -> None:
        super().__init__()
        self.power, self.family = a, stats.beta(1, b)

    def logpdf(self, y: Any) -> Any:
        with np.errstate(all="ignore"):
            slope = np.log(self.power) + (self.power - 1.0) * np.log(y)
            return self.family.logpdf(np.power(y, self.power)) + slope

    def cdf(self, y: Any) -> Any:
        return self.family.cdf(np.power(y, self.power))


CASES: dict[str, Case] = {
    "ChiSquare": of_one(d.ChiSquare(2), stats.chi2, lambda n: (n,)),
    "InvChiSquare": of_one(d.InvChiSquare(2), stats.invgamma, lambda n: (n / 2, 0, 0.5)),
    "Weibull": of_two(d.Weibull(1, 1), stats.weibull_min, lambda a, s: (a, 0, s)),
    "Frechet": Case(
        d.Frechet(1, 1),
        [(2.3, 1.4), (0.7, 0.5)],
        HALF,
        lambda y, a, s: stats.weibull_min(a, 0, 1 / s).logpdf(1 / y) - 2 * np.log(y),
        {0: NOT_SHAPES, 1: NOT_SHAPES},
        NOT_POSITIVE,
        law=lambda y, a, s: stats.invweibull(a, 0, s).cdf(y),
    ),
    "Rayleigh": of_one(d.Rayleigh(1), stats.rayleigh, lambda s: (0, s)),
    "LogLogistic": of_two(d.LogLogistic(1, 1), stats.fisk, lambda a, b: (b, 0, a)),
    "Gumbel": location_scale(d.Gumbel(0, 1), stats.gumbel_r),
    "Kumaraswamy": Case(
        d.Kumaraswamy(1, 1),
        [(2.3, 1.4), (0.7, 0.5)],
        UNIT,
        lambda y, a, b: kumaraswamy(a, b).logpdf(y),
        {0: NOT_SHAPES, 1: NOT_SHAPES},
        [-0.1, 1.1],
        law=lambda y, a, b: kumaraswamy(a, b).cdf(y),
        edges=lambda a, b: [1.0],
    ),
    "Truncated Weibull": truncated(
        d.Truncated(d.Weibull(1, 1), lower=0.04, upper=4.5),
        lambda a, s: stats.weibull_min(a, 0, s),
        [(2.3, 1.4, 0.04, 4.5), (0.7, 0.5, 0.03, 4.4)],
        HALF,
    ),
    "Truncated LogLogistic": truncated(
        d.Truncated(d.LogLogistic(1, 1), lower=0.04, upper=4.5),
        lambda a, b: stats.fisk(b, 0, a),
        [(2.3, 1.4, 0.04, 4.5), (0.7, 0.5, 0.03, 4.4)],
        HALF,
    ),
    "Truncated Gumbel": truncated(
        d.Truncated(d.Gumbel(0, 1), lower=-2.5, upper=2.0),
        stats.gumbel_r,
        [(0.3, 0.8, -2.5, 2.0), (-0.5, 1.6, -2.6, 1.9)],
        LINE,
    ),
    "Truncated Kumaraswamy": truncated(
        d.Truncated(d.Kumaraswamy(1, 1), lower=0.01, upper=0.985),
        kumaraswamy,
        [(2.3, 1.4, 0.01, 0.985), (0.7, 0.5, 0.015, 0.98)],
        UNIT,
    ),
}

NOT_NONCENTERED = {"ChiSquare", "InvChiSquare"}

NOT_INFORMED: dict[str, list[str]] = {
    name: list(case.dist.parameters) for name, case in CASES.items() if name.startswith("Truncated")
}
