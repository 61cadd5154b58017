"""Examples of the distributions that most models use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, ndtr

from examples.case import (
    BAD_SCALE,
    COUNTS,
    HALF,
    LINE,
    NEGATIVE,
    NOT_COUNTS,
    UNIT,
    Case,
    half,
    location_scale,
    scipy_case,
    zero_sum,
)
from probmodel import distributions as d


def truncated_reference(base: Any, lower: Any, upper: Any) -> Callable[..., float]:
    def reference(value: Any, *p: Any) -> float:
        family = base(*p[:2])
        a, b = p[2:] if len(p) > 2 else (lower, upper)
        return family.logpdf(value) - np.log(family.cdf(b) - family.cdf(a))

    return reference


def censored_reference(value: Any, loc: Any, scale: Any, lower: Any, upper: Any) -> float:
    family = stats.norm(loc, scale)
    if value == lower:
        return family.logcdf(lower)
    return family.logsf(upper) if value == upper else family.logpdf(value)


def censored_poisson(value: Any, rate: Any, upper: Any) -> float:
    family = stats.poisson(rate)
    return family.logsf(upper - 1) if value == upper else family.logpmf(value)


def truncated_poisson(value: Any, rate: Any, lower: Any, upper: Any) -> float:
    family = stats.poisson(rate)
    mass = np.log(family.cdf(upper) - family.cdf(lower - 1))
    return family.logpmf(value) - mass if lower <= value <= upper else -np.inf


def late_entry(value: Any, loc: Any, scale: Any, entry: Any, end: Any) -> float:
    """Of what is seen after ``entry`` only, and until ``end`` at the longest."""
    family = stats.norm(loc, scale)
    logp = family.logsf(end) if value == end else family.logpdf(value)
    return logp - family.logsf(entry)


def late_entry_counts(value: Any, rate: Any, entry: Any, end: Any) -> float:
    family = stats.poisson(rate)
    logp = family.logsf(end - 1) if value == end else family.logpmf(value)
    return logp - family.logsf(entry - 1)


def truncated_law(draws: Any, loc: Any, scale: Any, lower: Any, upper: Any) -> Any:
    low, high = (lower - loc) / scale, (upper - loc) / scale
    return stats.truncnorm(low, high, loc, scale).cdf(draws)


CASES: dict[str, Case] = {
    "Normal": location_scale(d.Normal(0, 1), stats.norm),
    "Cauchy": location_scale(d.Cauchy(0, 1), stats.cauchy),
    "Laplace": location_scale(d.Laplace(0, 1), stats.laplace),
    "Logistic": location_scale(d.Logistic(0, 1), stats.logistic),
    "StudentT": scipy_case(
        d.StudentT(4),
        stats.t,
        lambda n, m, s: (n, m, s),
        [(4.5, 0.2, 0.9), (1.3, -0.4, 1.5)],
        LINE,
        {0: BAD_SCALE, 2: BAD_SCALE},
    ),
    "HalfNormal": half(d.HalfNormal(1), stats.halfnorm),
    "HalfCauchy": half(d.HalfCauchy(1), stats.halfcauchy),
    "HalfStudentT": Case(
        d.HalfStudentT(3, 1),
        [(4.5, 0.9), (1.3, 1.5)],
        HALF,
        lambda y, n, s: np.log(2) + stats.t(n, 0, s).logpdf(y),
        {0: BAD_SCALE, 1: BAD_SCALE},
        [-0.1],
        law=lambda y, n, s: 2 * stats.t(n, 0, s).cdf(y) - 1,
    ),
    "LogNormal": scipy_case(
        d.LogNormal(0, 1),
        stats.lognorm,
        lambda m, s: (s, 0, np.exp(m)),
        [(0.3, 0.8), (-0.5, 1.6)],
        HALF,
        {1: BAD_SCALE},
        [-0.1, 0.0],
    ),
    "Exponential": scipy_case(
        d.Exponential(1),
        stats.expon,
        lambda r: (0, 1 / r),
        [(0.8,), (2.1,)],
        HALF,
        {0: BAD_SCALE},
        [-0.1],
    ),
    "Gamma": scipy_case(
        d.Gamma(1, 1),
        stats.gamma,
        lambda a, b: (a, 0, 1 / b),
        [(2.3, 1.4), (0.7, 0.5)],
        HALF,
        {0: [*BAD_SCALE, -0.5, -1.5], 1: BAD_SCALE},
        [-0.1],
    ),
    "InverseGamma": scipy_case(
        d.InverseGamma(1, 1),
        stats.invgamma,
        lambda a, b: (a, 0, b),
        [(2.3, 1.4), (0.7, 0.5)],
        HALF,
        {0: [*BAD_SCALE, -0.5, -1.5], 1: BAD_SCALE},
        [-0.1, 0.0],
    ),
    "ScaledInverseChi2": scipy_case(
        d.ScaledInverseChi2(1, 1),
        stats.invgamma,
        lambda n, s: (n / 2, 0, n * s**2 / 2),
        [(4.3, 1.4), (1.7, 0.5)],
        HALF,
        {0: BAD_SCALE, 1: BAD_SCALE},
        [-0.1, 0.0],
    ),
    "Beta": scipy_case(
        d.Beta(1, 1),
        stats.beta,
        lambda a, b: (a, b),
        [(2.3, 1.4), (0.7, 0.5)],
        UNIT,
        {0: [*BAD_SCALE, -0.5, -1.5], 1: [*BAD_SCALE, -0.5, -1.5]},
        [-0.1, 1.1],
    ),
    "Uniform": scipy_case(
        d.Uniform(0, 1),
        stats.uniform,
        lambda a, b: (a, b - a),
        [(-3.0, 2.5), (-2.6, 1.8)],
        LINE,
        {0: [2.5, 3.0, np.nan], 1: [-3.0, -4.0, np.nan]},
        [-3.1, 2.6],
    ),
    "Dirichlet": Case(
        d.Dirichlet([1, 1, 1]),
        [(np.array([2.3, 0.7, 1.4]),), (np.array([0.6, 1.0, 3.0]),)],
        np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3], [0.05, 0.9, 0.05]]),
        lambda y, a: stats.dirichlet(a).logpdf(y),
        {0: [np.array([1.0, -1.0, 2.0]), np.array([1.0, -0.5, 2.0]), np.array([0.0, 1.0, 1.0])]},
        [np.array([0.5, 0.5, 0.5]), np.array([-0.1, 0.6, 0.5])],
        tangent={0: zero_sum},
    ),
    "Bernoulli": scipy_case(
        d.Bernoulli(0.5),
        stats.bernoulli,
        lambda p: (p,),
        [(0.3,), (0.85,)],
        np.array([0, 1]),
        {0: [-0.1, 1.1, np.nan]},
        [*NOT_COUNTS, 2],
    ),
    "BernoulliLogit": scipy_case(
        d.BernoulliLogit(0),
        stats.bernoulli,
        lambda e: (expit(e),),
        [(-0.6,), (1.7,)],
        np.array([0, 1]),
        {0: [np.nan]},
        [*NOT_COUNTS, 2],
    ),
    "BernoulliProbit": scipy_case(
        d.Bernoulli.link_forms["p", "ndtr"](0),
        stats.bernoulli,
        lambda e: (ndtr(e),),
        [(-0.6,), (1.7,)],
        np.array([0, 1]),
        {0: [np.nan]},
        [*NOT_COUNTS, 2],
    ),
    "Binomial": scipy_case(
        d.Binomial(8, 0.5),
        stats.binom,
        lambda n, p: (n, p),
        [(9, 0.3), (12, 0.85)],
        COUNTS,
        {0: [-1, 2.5, np.nan], 1: [-0.1, 1.1, np.nan]},
        [*NOT_COUNTS, 13],
        fixed=(1,),
    ),
    "BinomialLogit": scipy_case(
        d.BinomialLogit(8, 0),
        stats.binom,
        lambda n, e: (n, expit(e)),
        [(9, -0.6), (12, 1.7)],
        COUNTS,
        {0: [-1, 2.5, np.nan], 1: [np.nan]},
        [*NOT_COUNTS, 13],
        fixed=(1,),
    ),
    "BinomialProbit": scipy_case(
        d.Binomial.link_forms["p", "ndtr"](8, 0),
        stats.binom,
        lambda n, e: (n, ndtr(e)),
        [(9, -0.6), (12, 0.9)],
        COUNTS,
        {0: [-1, 2.5, np.nan], 1: [np.nan]},
        [*NOT_COUNTS, 13],
        fixed=(1,),
    ),
    "Poisson": scipy_case(
        d.Poisson(1),
        stats.poisson,
        lambda r: (r,),
        [(2.6,), (0.7,)],
        COUNTS,
        {0: [-1.0, -0.1, np.nan]},
        NOT_COUNTS,
    ),
    "PoissonLog": scipy_case(
        d.PoissonLog(0),
        stats.poisson,
        lambda e: (np.exp(e),),
        [(0.9,), (-0.4,)],
        COUNTS,
        {0: [np.nan, np.inf]},
        NOT_COUNTS,
    ),
    "NegativeBinomial2": scipy_case(
        d.NegativeBinomial2(1, 1),
        stats.nbinom,
        lambda m, f: (f, f / (m + f)),
        [(2.6, 1.4), (0.7, 5.0)],
        COUNTS,
        {0: NEGATIVE, 1: [*BAD_SCALE, -0.5, -2.5]},
        NOT_COUNTS,
    ),
    "Categorical": Case(
        d.Categorical([0.2, 0.3, 0.5]),
        [(np.array([0.2, 0.3, 0.5]),), (np.array([0.6, 0.3, 0.1]),)],
        np.array([0, 1, 2]),
        lambda y, p: np.log(p[int(y)]),
        {0: [np.array([0.2, 0.3, 0.4]), np.array([-0.1, 0.6, 0.5]), np.full(3, np.nan)]},
        [*NOT_COUNTS, 3],
        tangent={1: zero_sum},
    ),
    "CategoricalLogit": Case(
        d.CategoricalLogit([0.0, 0.0, 0.0]),
        [(np.array([0.2, -0.3, 1.5]),), (np.array([0.6, 0.3, -1.1]),)],
        np.array([0, 1, 2]),
        lambda y, e: e[int(y)] - np.log(np.exp(e).sum()),
        {0: [np.array([0.2, np.nan, 0.4])]},
        [*NOT_COUNTS, 3],
    ),
    "Flat": Case(d.Flat(), [(), ()], LINE, lambda y: 0.0, {}),
    "Affine": Case(
        d.Affine(d.Beta(1, 1), loc=-1, scale=2),
        [(2.3, 1.4, -1.0, 2.0), (0.7, 0.5, -1.2, 2.5)],
        np.array([-0.95, -0.2, 0.4, 0.9]),
        lambda y, a, b, m, s: stats.beta(a, b, m, s).logpdf(y),
        {0: BAD_SCALE, 1: BAD_SCALE, 3: BAD_SCALE},
        [-1.3, 1.4],
        law=lambda y, a, b, m, s: stats.beta(a, b, m, s).cdf(y),
    ),
    "Truncated": Case(
        d.Truncated(d.Normal(0, 1), lower=-2.5, upper=2.0),
        [(0.3, 0.8, -2.5, 2.0), (-0.5, 1.6, -2.6, 1.9)],
        LINE,
        truncated_reference(stats.norm, -2.5, 2.0),
        {1: BAD_SCALE, 2: [2.0, 3.0, np.nan], 3: [-2.5, -3.0, np.nan]},
        [-2.7, 2.1],
        law=truncated_law,
    ),
    "Truncated below": Case(
        d.Truncated(d.Cauchy(0, 1), lower=-2.4),
        [(0.3, 0.8, -2.4), (-0.5, 1.6, -2.5)],
        LINE,
        lambda y, m, s, a: stats.cauchy(m, s).logpdf(y) - stats.cauchy(m, s).logsf(a),
        {1: BAD_SCALE, 2: [np.nan]},
        [-2.7],
        law=lambda y, m, s, a: 1 - stats.cauchy(m, s).sf(y) / stats.cauchy(m, s).sf(a),
    ),
    "Truncated above": Case(
        d.Truncated(d.HalfNormal(1), upper=5.0),
        [(1.8, 5.0), (2.6, 4.5)],
        HALF,
        lambda y, s, b: stats.halfnorm(0, s).logpdf(y) - stats.halfnorm(0, s).logcdf(b),
        {0: BAD_SCALE, 1: [np.nan, -1.0]},
        [-0.1, 5.1],
        law=lambda y, s, b: stats.halfnorm(0, s).cdf(y) / stats.halfnorm(0, s).cdf(b),
    ),
    "Truncated Poisson": Case(
        d.Truncated(d.Poisson(1), lower=1, upper=9),
        [(2.6, 1.0, 9.0), (0.7, 1.0, 8.0)],
        COUNTS[1:],
        truncated_poisson,
        {0: [-1.0, np.nan]},
        [0, 0.5, 10, np.nan],
        fixed=(2, 3),
    ),
    "Censored": Case(
        d.Censored(d.Normal(0, 1), lower=-2.3, upper=1.7),
        [(0.3, 0.8, -2.3, 1.7), (-0.5, 1.6, -2.3, 1.7)],
        LINE,
        censored_reference,
        {1: BAD_SCALE},
        [-2.4, 1.8],
        fixed=(0, 3, 4),
    ),
    "Censored Poisson": Case(
        d.Censored(d.Poisson(1), upper=7),
        [(2.6, 7.0), (0.7, 7.0)],
        COUNTS,
        censored_poisson,
        {0: [-1.0, np.nan]},
        [-1, 0.5, 8, np.nan],
        fixed=(2,),
    ),
    "Censored Truncated": Case(
        d.Censored(d.Truncated(d.Normal(0, 1), lower=-2.5), upper=1.7),
        [(0.3, 0.8, -2.5, 1.7), (-0.5, 1.6, -2.6, 1.7)],
        LINE,
        late_entry,
        {1: BAD_SCALE, 2: [np.nan]},
        [-2.7, 1.8],
        fixed=(0, 4),
    ),
    "Censored Truncated Poisson": Case(
        d.Censored(d.Truncated(d.Poisson(1), lower=1), upper=7),
        [(2.6, 1.0, 7.0), (0.7, 1.0, 7.0)],
        COUNTS[1:],
        late_entry_counts,
        {0: [-1.0, np.nan]},
        [0, 0.5, 8, np.nan],
        fixed=(2, 3),
    ),
}
NORMAL_LOG_SCALE = scipy_case(
    d.Normal.link_forms["scale", "exp"](0, 0),
    stats.norm,
    lambda m, e: (m, np.exp(e)),
    [(0.3, -0.2), (-0.5, 0.5)],
    LINE,
    {1: [np.nan, np.inf]},
)
NORMAL_LOG_VARIANCE = scipy_case(
    d.Normal.link_forms["scale", "exp of half"](0, 0),
    stats.norm,
    lambda m, v: (m, np.exp(v / 2)),
    [(0.3, -0.4), (-0.5, 1.0)],
    LINE,
    {1: [np.nan, np.inf]},
)
CASES["NormalLogScale"] = NORMAL_LOG_SCALE
CASES["NormalLogVariance"] = NORMAL_LOG_VARIANCE

# Distributions without a non-centred form.
NOT_NONCENTERED = {
    "Bernoulli",
    "BernoulliLogit",
    "BernoulliProbit",
    "Beta",
    "Binomial",
    "BinomialLogit",
    "BinomialProbit",
    "Categorical",
    "CategoricalLogit",
    "Censored",
    "Dirichlet",
    "Flat",
    "Gamma",
    "InverseGamma",
    "NegativeBinomial2",
    "Poisson",
    "PoissonLog",
    "ScaledInverseChi2",
    "Truncated",
}

# Parameters without a closed form; of what is not listed here all parameters have one.
NOT_INFORMED = {
    "Uniform": ["low", "high"],
    "NegativeBinomial2": ["phi"],
    "Binomial": ["n"],
    "BinomialLogit": ["n"],
    "BinomialProbit": ["n"],
    "Affine": ["loc", "scale"],
    "Truncated": ["dist.loc", "dist.scale", "lower", "upper"],
    "Truncated below": ["dist.loc", "dist.scale", "lower"],
    "Truncated above": ["dist.scale", "upper"],
    "Truncated Poisson": ["dist.rate", "lower", "upper"],
    "Censored": ["dist.loc", "dist.scale", "lower", "upper"],
    "Censored Poisson": ["dist.rate", "upper"],
    "Censored Truncated": ["dist.dist.loc", "dist.dist.scale", "dist.lower", "upper"],
    "Censored Truncated Poisson": ["dist.dist.rate", "dist.lower", "upper"],
}
