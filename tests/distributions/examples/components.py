"""Examples of distributions composed of component distributions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from examples.case import (
    BAD_SCALE,
    COUNTS,
    HALF,
    LINE,
    NEGATIVE,
    NOT_COUNTS,
    Case,
    symmetric,
    zero_sum,
)
from examples.gaussian import NOT_PD
from probmodel import distributions as d

BAD_WEIGHTS = [np.array([0.3, 0.6]), np.array([-0.1, 1.1]), np.full(2, np.nan)]
WEIGHTS = (np.array([0.3, 0.7]), np.array([0.8, 0.2]))
LOCS = (np.array([-1.2, 1.5]), np.array([-0.4, 2.5]))
SCALES = (np.array([0.8, 0.5]), np.array([1.4, 0.9]))
RATES = (np.array([0.7, 4.0]), np.array([2.6, 9.0]))
BAD_SCALES = [np.array([0.8, bad]) for bad in BAD_SCALE]


def mixed(densities: Callable[..., Any]) -> Callable[..., float]:
    """Log density by hand, of ``densities(value, *params)`` for each component."""

    def reference(value: Any, *params: Any) -> float:
        return logsumexp(np.log(params[-1]) + densities(value, *params[:-1]))

    return reference


def normal_mixture_law(draws: Any, loc: Any, scale: Any, weights: Any) -> Any:
    return stats.norm(loc, scale).cdf(draws[:, None]) @ weights


def unlike_densities(value: Any, shape: Any, rate: Any, mu: Any, sigma: Any) -> Any:
    return np.array(
        [
            stats.gamma(shape, 0, 1 / rate).logpdf(value),
            stats.lognorm(sigma, 0, np.exp(mu)).logpdf(value),
        ]
    )


def unlike_law(draws: Any, shape: Any, rate: Any, mu: Any, sigma: Any, weights: Any) -> Any:
    first = stats.gamma(shape, 0, 1 / rate).cdf(draws)
    return weights[0] * first + weights[1] * stats.lognorm(sigma, 0, np.exp(mu)).cdf(draws)


VECTORS = np.array([[0.3, -1.1], [1.2, 0.4], [-0.6, -0.2], [2.0, 2.2]])
CENTERS = (np.array([[-1.0, 0.2], [1.5, -0.3]]), np.array([[0.4, 0.6], [1.1, 2.5]]))
SHAPES = (
    np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.6, -0.2], [-0.2, 1.4]]]),
    np.array([[[2.0, -0.5], [-0.5, 0.7]], [[0.9, 0.1], [0.1, 0.4]]]),
)


def vector_densities(value: Any, loc: Any, covariance: Any) -> Any:
    return np.array(
        [
            stats.multivariate_normal(m, c).logpdf(value)
            for m, c in zip(loc, covariance, strict=True)
        ]
    )


def vector_law(draws: Any, loc: Any, covariance: Any, weights: Any) -> Any:
    """One coordinate after the other, each by its distribution function given those before."""
    first = stats.norm(loc[:, 0], np.sqrt(covariance[:, 0, 0]))
    share = weights * first.pdf(draws[:, :1])
    share /= share.sum(axis=1, keepdims=True)
    slope = covariance[:, 0, 1] / covariance[:, 0, 0]
    mean = loc[:, 1] + slope * (draws[:, :1] - loc[:, 0])
    spread = np.sqrt(covariance[:, 1, 1] - slope * covariance[:, 0, 1])
    second = np.sum(share * stats.norm(mean, spread).cdf(draws[:, 1:]), axis=1)
    return stats.norm.ppf(np.stack([first.cdf(draws[:, :1]) @ weights, second], axis=1))


TRANSITIONS = (np.array([[0.9, 0.1], [0.25, 0.75]]), np.array([[0.35, 0.65], [0.5, 0.5]]))
BAD_TRANSITIONS = [
    np.array([[0.9, 0.2], [0.25, 0.75]]),
    np.array([[-0.1, 1.1], [0.25, 0.75]]),
    np.full((2, 2), np.nan),
]
SERIES = np.array([[0.3, -1.1, 1.2, 1.0], [1.3, 0.4, -2.0, -0.8], [0.0, 0.1, 1.9, 2.2]])


def enumerated(densities: Callable[..., Any]) -> Callable[..., float]:
    """Log likelihood of a hidden Markov model, by the sum over all paths of its states.

    ``densities(value, *params)`` are the log densities of the emission, (T, K).
    """

    def reference(value: Any, *params: Any) -> float:
        *inner, initial, transition = params
        logs = densities(value, *inner)
        length, states = logs.shape
        terms = [
            np.log(initial[path[0]])
            + sum(np.log(transition[i, j]) for i, j in itertools.pairwise(path))
            + sum(logs[t, s] for t, s in enumerate(path))
            for path in itertools.product(range(states), repeat=length)
        ]
        return logsumexp(terms)

    return reference


def hidden_law(draws: Any, loc: Any, scale: Any, initial: Any, transition: Any) -> Any:
    """Each value by its distribution function given those before it."""
    ahead, found = np.tile(initial, (len(draws), 1)), []
    for t in range(draws.shape[1]):
        family = stats.norm(loc[t % len(loc)], scale[t % len(scale)])
        found.append(np.sum(ahead * family.cdf(draws[:, t, None]), axis=1))
        now = ahead * family.pdf(draws[:, t, None])
        ahead = now / now.sum(axis=1, keepdims=True) @ transition
    return stats.norm.ppf(np.stack(found, axis=1))


def binary_series(*_: Any) -> Any:
    return np.array(list(itertools.product((0, 1), repeat=3)))


def inflated(value: Any, rate: Any, p: Any) -> float:
    return np.log(p * (value == 0) + (1 - p) * stats.poisson(rate).pmf(value))


def hurdle_counts(value: Any, rate: Any, p: Any) -> float:
    family = stats.poisson(rate)
    return np.log(p if value == 0 else (1 - p) * family.pmf(value) / family.sf(0))


def hurdle_amounts(value: Any, shape: Any, rate: Any, p: Any) -> float:
    family = stats.gamma(shape, 0, 1 / rate)
    return np.log(p) if value == 0 else np.log1p(-p) + family.logpdf(value)


def hurdle_law(draws: Any, shape: Any, rate: Any, p: Any) -> Any:
    """Distribution function; zeros, which have a probability, are spread out over it."""
    spread = p * np.random.default_rng(8).random(len(draws))
    return np.where(draws == 0, spread, p + (1 - p) * stats.gamma(shape, 0, 1 / rate).cdf(draws))


BAD_P = [-0.1, 1.1, np.nan]
# At zero the gamma density vanishes everywhere, which leaves that of the others.

CASES: dict[str, Case] = {
    "Mixture": Case(
        d.Mixture(WEIGHTS[0], d.Normal(LOCS[0], SCALES[0])),
        [*zip(LOCS, SCALES, WEIGHTS, strict=True)],
        LINE,
        mixed(lambda y, m, s: stats.norm(m, s).logpdf(y)),
        {1: BAD_SCALES, 2: BAD_WEIGHTS},
        law=normal_mixture_law,
        tangent={3: zero_sum},
    ),
    "Mixture that shares": Case(
        d.Mixture(WEIGHTS[0], d.Normal(LOCS[0], 1.0)),
        [(LOCS[0], np.array([0.8]), WEIGHTS[0]), (LOCS[1], np.array([1.4]), WEIGHTS[1])],
        LINE,
        mixed(lambda y, m, s: stats.norm(m, s).logpdf(y)),
        {1: [np.array([bad]) for bad in BAD_SCALE], 2: BAD_WEIGHTS},
        law=normal_mixture_law,
        tangent={3: zero_sum},
    ),
    "Mixture of a list": Case(
        d.Mixture(WEIGHTS[0], [d.Gamma(1, 1), d.LogNormal(0, 1)]),
        [(2.3, 1.4, 0.3, 0.8, WEIGHTS[0]), (0.7, 0.5, 1.5, 0.4, WEIGHTS[1])],
        HALF,
        mixed(unlike_densities),
        {0: NEGATIVE, 1: NEGATIVE, 3: BAD_SCALE, 4: BAD_WEIGHTS},
        [-0.1],
        law=unlike_law,
        tangent={5: zero_sum},
    ),
    "Mixture of counts": Case(
        d.Mixture(WEIGHTS[0], d.Poisson(RATES[0])),
        [*zip(RATES, WEIGHTS, strict=True)],
        COUNTS,
        mixed(lambda y, r: stats.poisson(r).logpmf(y)),
        {0: [np.array([0.7, bad]) for bad in (-1.0, np.nan)], 1: BAD_WEIGHTS},
        NOT_COUNTS,
        tangent={2: zero_sum},
    ),
    "Mixture of unlike counts": Case(
        d.Mixture(WEIGHTS[0], [d.Geometric(0.5), d.NegativeBinomial2(1, 1)]),
        [(0.3, 2.6, 1.4, WEIGHTS[0]), (0.8, 0.7, 5.0, WEIGHTS[1])],
        COUNTS,
        mixed(
            lambda y, p, m, f: np.array(
                [stats.geom(p, -1).logpmf(y), stats.nbinom(f, f / (m + f)).logpmf(y)]
            )
        ),
        {0: BAD_P, 1: NEGATIVE, 2: BAD_SCALE, 3: BAD_WEIGHTS},
        NOT_COUNTS,
        tangent={4: zero_sum},
    ),
    "Mixture of vectors": Case(
        d.Mixture(WEIGHTS[0], d.MvNormal(CENTERS[0], covariance=SHAPES[0])),
        [*zip(CENTERS, SHAPES, WEIGHTS, strict=True)],
        VECTORS,
        mixed(vector_densities),
        {1: [np.stack([SHAPES[0][0], NOT_PD[:2, :2]])], 2: BAD_WEIGHTS},
        law=vector_law,
        tangent={2: symmetric, 3: zero_sum},
    ),
    "HiddenMarkov": Case(
        d.HiddenMarkov(WEIGHTS[0], TRANSITIONS[0], d.Normal(LOCS[0], SCALES[0])),
        [(LOCS[i][None], SCALES[i][None], WEIGHTS[i], TRANSITIONS[i]) for i in range(2)],
        SERIES,
        enumerated(lambda y, m, s: stats.norm(m, s).logpdf(y[:, None])),
        {1: [bad[None] for bad in BAD_SCALES], 2: BAD_WEIGHTS, 3: BAD_TRANSITIONS},
        law=hidden_law,
        tangent={3: zero_sum, 4: zero_sum},
    ),
    "HiddenMarkov in time": Case(
        d.HiddenMarkov(WEIGHTS[0], TRANSITIONS[0], [d.Normal(SERIES[0], 1), d.Normal(1, 2)]),
        [
            (SERIES[i], SCALES[i][:1], LOCS[i][1:], SCALES[i][1:], WEIGHTS[i], TRANSITIONS[i])
            for i in range(2)
        ],
        SERIES,
        enumerated(
            lambda y, m, s, n, t: np.stack(
                [stats.norm(m, s).logpdf(y), stats.norm(n, t).logpdf(y)], 1
            )
        ),
        {
            1: [np.array([bad]) for bad in BAD_SCALE],
            3: [np.array([bad]) for bad in BAD_SCALE],
            4: BAD_WEIGHTS,
            5: BAD_TRANSITIONS,
        },
        law=lambda y, m, s, n, t, p, a: hidden_law(
            y, np.stack([m, 0 * m + n], 1), np.stack([s, t], 1), p, a
        ),
        tangent={5: zero_sum, 6: zero_sum},
    ),
    "HiddenMarkov counts": Case(
        d.HiddenMarkov(WEIGHTS[0], TRANSITIONS[0], d.Bernoulli([0.1, 0.8])),
        [
            (np.array([p]), WEIGHTS[i], TRANSITIONS[i])
            for i, p in enumerate([(0.15, 0.9), (0.3, 0.2)])
        ],
        binary_series()[1:5],
        enumerated(lambda y, p: stats.bernoulli(p).logpmf(y[:, None])),
        {0: [np.array([[0.2, bad]]) for bad in BAD_P], 1: BAD_WEIGHTS, 2: BAD_TRANSITIONS},
        [np.array([0, 1, 2]), np.array([0.5, 0, 1]), np.array([1, np.nan, 0])],
        outcomes=binary_series,
        tangent={2: zero_sum, 3: zero_sum},
    ),
    "ZeroInflated": Case(
        d.ZeroInflated(0.3, d.Poisson(1)),
        [(2.6, 0.3), (0.7, 0.6)],
        COUNTS,
        inflated,
        {0: [-1.0, np.nan], 1: BAD_P},
        NOT_COUNTS,
    ),
    "Hurdle": Case(
        d.Hurdle(0.3, d.Poisson(1)),
        [(2.6, 0.3), (0.7, 0.6)],
        COUNTS,
        hurdle_counts,
        {0: [-1.0, np.nan], 1: BAD_P},
        NOT_COUNTS,
    ),
    "Hurdle of amounts": Case(
        d.Hurdle(0.3, d.Gamma(1, 1)),
        [(2.3, 1.4, 0.3), (0.7, 0.5, 0.6)],
        np.array([0.6, 0.0, 1.3, 4.2]),
        hurdle_amounts,
        {0: NEGATIVE, 1: NEGATIVE, 2: BAD_P},
        [-0.1],
        fixed=(0,),
        law=hurdle_law,
        atoms=(0.0,),
    ),
}
NOT_NONCENTERED = {"HiddenMarkov", "Hurdle", "Mixture", "ZeroInflated"}
NOT_INFORMED = {name: list(case.dist.parameters) for name, case in CASES.items()}
