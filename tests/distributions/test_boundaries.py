"""Discrete distributions whose parameters lie on the boundary, as structural zeros put them."""

from __future__ import annotations

import derivatives
import numpy as np
import pytest
from derivatives import moving

from probmodel import Model, infer, observed, param
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.errors import ModelError

INF = np.inf
KNOWN = np.array([0.0, 0.4, 0.8])
COUNTS = np.array([0, 1, 3])

# Distribution, value, parameters, log probability, and slopes from one side by position: those of
# log P, written down by hand.
LIMITS = [
    (d.Poisson(1), 0, (0.0,), 0.0, {1: -1.0}),
    (d.Poisson(1), 2, (0.0,), -INF, {}),
    (d.PoissonLog(0), 0, (-INF,), 0.0, {1: 0.0}),
    (d.PoissonLog(0), 2, (-INF,), -INF, {}),
    (d.Bernoulli(0.5), 0, (0.0,), 0.0, {1: -1.0}),
    (d.Bernoulli(0.5), 1, (1.0,), 0.0, {1: 1.0}),
    (d.Bernoulli(0.5), 1, (0.0,), -INF, {}),
    (d.Binomial(1, 0.5), 0, (3, 0.0), 0.0, {2: -3.0}),
    (d.Binomial(1, 0.5), 3, (3, 1.0), 0.0, {2: 3.0}),
    (d.Binomial(1, 0.5), 1, (3, 0.0), -INF, {}),
    (d.Binomial(1, 0.5), 0, (0, 0.0), 0.0, {2: 0.0}),
    (d.BinomialLogit(1, 0.5), 0, (3, -INF), 0.0, {2: 0.0}),
    (d.BinomialLogit(1, 0.5), 3, (3, INF), 0.0, {2: 0.0}),
    (d.BinomialLogit(1, 0.5), 1, (3, -INF), -INF, {}),
    (d.BernoulliLogit(1), 0, (-INF,), 0.0, {1: 0.0}),
    (d.Geometric(0.5), 0, (1.0,), 0.0, {1: 1.0}),
    (d.Geometric(0.5), 2, (1.0,), -INF, {}),
    (d.Geometric(0.5), 2, (0.0,), -INF, {}),
    (d.NegativeBinomial(1, 1), 0, (0.0, 2.0), 0.0, {1: -np.log(1.5), 2: 0.0}),
    (d.NegativeBinomial(1, 1), 2, (0.0, 2.0), -INF, {}),
    (d.NegativeBinomial2(1, 1), 0, (0.0, 2.0), 0.0, {1: -1.0, 2: 0.0}),
    (d.NegativeBinomial2(1, 1), 2, (0.0, 2.0), -INF, {}),
    (d.NegativeBinomial2Log(1, 1), 0, (-INF, 2.0), 0.0, {1: 0.0, 2: 0.0}),
    (d.NegativeBinomial2Log(1, 1), 2, (-INF, 2.0), -INF, {}),
    (d.BetaBinomial(1, 1, 1), 0, (2, 0.0, 3.0), 0.0, {2: -1 / 3 - 1 / 4, 3: 0.0}),
    (d.BetaBinomial(1, 1, 1), 2, (2, 3.0, 0.0), 0.0, {2: 0.0, 3: -1 / 3 - 1 / 4}),
    (d.BetaBinomial(1, 1, 1), 1, (2, 0.0, 3.0), -INF, {}),
    (d.BetaBinomial(1, 1, 1), 0, (2, 0.0, 0.0), np.nan, {}),
    (d.BetaNegativeBinomial(1, 1, 1), 0, (0.0, 2.0, 3.0), 0.0, {2: 0.0, 3: 0.0}),
    # P(0) falls like B(2 + 1, beta) / B(2, beta) = 2 / (2 + beta).
    (d.BetaNegativeBinomial(1, 1, 1), 0, (1.0, 2.0, 0.0), 0.0, {3: -0.5}),
    (d.BetaNegativeBinomial(1, 1, 1), 1, (1.0, 2.0, 0.0), -INF, {}),
    (d.Categorical([0.5, 0.5]), 1, ([0.0, 1.0],), 0.0, {1: [0.0, 1.0]}),
    (d.Categorical([0.5, 0.5]), 0, ([0.0, 1.0],), -INF, {}),
    (d.Multinomial(2, [0.5, 0.5]), [0, 2], (2, [0.0, 1.0]), 0.0, {2: [0.0, 2.0]}),
    (d.Multinomial(2, [0.5, 0.5]), [0, 0], (0, [0.0, 1.0]), 0.0, {2: [0.0, 0.0]}),
    (
        d.DirichletMultinomial(2, [1.0, 1.0]),
        [0, 2],
        (2, [0.0, 3.0]),
        0.0,
        {2: [-1 / 3 - 1 / 4, 0.0]},
    ),
    (d.DirichletMultinomial(2, [1.0, 1.0]), [1, 1], (2, [0.0, 3.0]), -INF, {}),
    (d.ZeroInflated(0.5, d.Poisson(1)), 0, (0.0, 0.2), 0.0, {1: -0.8, 2: 0.0}),
    (d.ZeroInflated(0.5, d.Bernoulli(0.5)), 0, (1.0, 0.2), np.log(0.2), {2: 5.0}),
    (d.Hurdle(0.5, d.Poisson(1)), 0, (0.0, 0.2), np.log(0.2), {1: 0.0, 2: 5.0}),
    (d.Hurdle(0.5, d.Poisson(1)), 2, (0.0, 0.2), -INF, {}),
    (d.Hurdle(0.5, d.Poisson(1)), 0, (2.0, 1.0), 0.0, {1: 0.0, 2: 1.0}),
    (d.Truncated(d.Poisson(1), upper=3), 0, (0.0, 3.0), 0.0, {1: -1.0}),
    (d.Truncated(d.Poisson(1), lower=0), 0, (0.0, 0.0), 0.0, {1: -1.0}),
    (d.Censored(d.Poisson(1), upper=3), 0, (0.0, 3.0), 0.0, {1: -1.0}),
    (d.Censored(d.Poisson(1), lower=0), 0, (0.0, 0.0), 0.0, {1: -1.0}),
    (d.Censored(d.Poisson(1), lower=1), 1, (0.0, 1.0), 0.0, {1: 0.0}),
    (d.Truncated(d.Geometric(0.5), upper=3), 0, (1.0, 3.0), 0.0, {1: 1.0}),
    (d.Truncated(d.Geometric(0.5), upper=0), 0, (1.0, 0.0), 0.0, {1: 0.0}),
    (d.Censored(d.Geometric(0.5), lower=0), 0, (1.0, 0.0), 0.0, {1: 1.0}),
    (d.Censored(d.Geometric(0.5), lower=2), 2, (1.0, 2.0), 0.0, {1: 0.0}),
]  # fmt: skip


def name(entry):
    return f"{entry[0].name}({entry[1]} | {entry[2]})"


def evaluated(dist, value, params, wanted):
    """Mean of two equal elements; slopes in parameters that vary are wanted."""
    moved = wanted or moving(dist)
    args = [np.stack([np.asarray(a, dtype=float)] * 2) for a in (value, *params)]
    logp, slopes = derivatives.evaluated(dist, moved, *args)
    return 0.5 * logp, [s[0] for s in slopes[: len(wanted)]]


@pytest.mark.parametrize("entry", LIMITS, ids=map(name, LIMITS))
def test_log_probabilities_are_limits_and_slopes_are_from_one_side(entry):
    dist, value, params, expected, slopes = entry
    logp, found = evaluated(dist, value, params, list(slopes))
    assert logp == pytest.approx(expected, abs=1e-14, nan_ok=True)
    for slope, truth in zip(found, slopes.values(), strict=True):
        np.testing.assert_allclose(slope, truth, rtol=1e-13, atol=1e-14)


def test_limits_that_are_not_zero_are_noticed():
    entry = (d.Poisson(1), 0, (0.1,), 0.0, {1: -1.0})
    with pytest.raises(AssertionError):
        test_log_probabilities_are_limits_and_slopes_are_from_one_side(entry)


@pytest.mark.parametrize(
    ("dist", "params", "drawn"),
    [
        (d.Poisson(1), (0.0,), 0),
        (d.Bernoulli(0.5), (0.0,), 0),
        (d.Bernoulli(0.5), (1.0,), 1),
        (d.Binomial(1, 0.5), (3, 1.0), 3),
        (d.Geometric(0.5), (1.0,), 0),
        (d.NegativeBinomial(1, 1), (0.0, 2.0), 0),
        (d.NegativeBinomial2(1, 1), (0.0, 2.0), 0),
        (d.PoissonLog(0), (-INF,), 0),
        (d.BetaBinomial(1, 1, 1), (3, 0.0, 2.0), 0),
        (d.BetaBinomial(1, 1, 1), (3, 2.0, 0.0), 3),
        (d.BetaNegativeBinomial(1, 1, 1), (0.0, 2.0, 2.0), 0),
        (d.BetaNegativeBinomial(1, 1, 1), (2.0, 2.0, 0.0), 0),
        (d.Categorical([0.5, 0.5]), ([0.0, 1.0],), 1),
        (d.Multinomial(2, [0.5, 0.5]), (2, [0.0, 1.0]), [0, 2]),
        (d.DirichletMultinomial(2, [1.0, 1.0]), (2, [0.0, 3.0]), [0, 2]),
        (d.ZeroInflated(0.5, d.Poisson(1)), (0.0, 0.2), 0),
    ],
)
def test_draws_are_what_alone_is_possible(dist, params, drawn):
    shape = (20, *np.shape(drawn))
    draws = dist.sample(np.random.default_rng(1), shape, *map(np.array, params))
    np.testing.assert_array_equal(draws, np.broadcast_to(drawn, shape))


# Distributions of one parameter `a` whose first element is certain whatever `a` is, and data.


def some(a):
    return KNOWN / (1.0 + np.exp(-a))


def simplex(a):
    p = 0.8 / (1.0 + np.exp(-a))
    return np.stack([0.0 * a, p, 1.0 - p])


def offset(a):
    with np.errstate(divide="ignore"):
        return np.log(KNOWN) + a


STRUCTURAL = {
    "Poisson": (lambda a: d.Poisson(KNOWN * np.exp(a)), COUNTS),
    "Poisson of an exponential": (lambda a: d.Poisson(np.exp(offset(a))), COUNTS),
    "Bernoulli 0": (lambda a: d.Bernoulli(some(a)), [0, 1, 0]),
    "Bernoulli 1": (lambda a: d.Bernoulli(1.0 - some(a)), [1, 1, 0]),
    "Binomial": (lambda a: d.Binomial(3, some(a)), COUNTS),
    "Geometric": (lambda a: d.Geometric(1.0 - some(a)), COUNTS),
    "NegativeBinomial": (lambda a: d.NegativeBinomial(KNOWN * np.exp(a), 2.0), COUNTS),
    "NegativeBinomial2": (lambda a: d.NegativeBinomial2(KNOWN * np.exp(a), 2.0), COUNTS),
    "its logarithm": (lambda a: d.NegativeBinomial2(np.exp(offset(a)), 2.0), COUNTS),
    "BetaBinomial": (lambda a: d.BetaBinomial(3, KNOWN * np.exp(a), 2.0), COUNTS),
    "BetaNegativeBinomial": (
        lambda a: d.BetaNegativeBinomial(KNOWN * np.exp(a), 2.0, 3.0), COUNTS,
    ),
    "Categorical": (lambda a: d.Categorical(simplex(a)), [1, 2, 1]),
    "Multinomial": (lambda a: d.Multinomial(3, simplex(a)), [[0, 1, 2]]),
    "DirichletMultinomial": (
        lambda a: d.DirichletMultinomial(3, KNOWN * np.exp(a)), [[0, 1, 2]],
    ),
    "ZeroInflated": (lambda a: d.ZeroInflated(0.3, d.Poisson(KNOWN * np.exp(a))), COUNTS),
    "ZeroInflated, certain": (lambda a: d.ZeroInflated(0.3, d.Bernoulli(1.0 - some(a))), [0, 1, 0]),
    "Hurdle": (lambda a: d.Hurdle(0.3, d.Poisson(KNOWN * np.exp(a))), COUNTS),
    "Hurdle of a certain zero": (lambda a: d.Hurdle(1.0 - some(a), d.Poisson(2.0)), [0, 1, 2]),
    "Truncated": (lambda a: d.Truncated(d.Poisson(KNOWN * np.exp(a)), 0, 5), COUNTS),
    "Truncated in part": (
        lambda a: d.Truncated(d.Poisson(KNOWN * np.exp(a)), lower=np.array([0, 1, 1])), COUNTS,
    ),
    "Censored": (lambda a: d.Censored(d.Poisson(KNOWN * np.exp(a)), upper=3), COUNTS),
    "Censored Geometric": (lambda a: d.Censored(d.Geometric(1.0 - some(a)), upper=3), COUNTS),
    "Mixture": (
        lambda a: d.Mixture([0.3, 0.7], [d.Poisson(KNOWN * np.exp(a)), d.Poisson(2.0)]), COUNTS + 1,
    ),
    "HiddenMarkov": (
        lambda a: d.HiddenMarkov(
            [0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], d.Poisson(KNOWN[:2] * np.exp(a))
        ),
        COUNTS,
    ),
}  # fmt: skip


def model_of(distribution, y):
    class Zeros(Model):
        a = param(d.Normal(0, 1))
        seen = observed(distribution(a))

    return Zeros(seen=np.array(y))


@pytest.mark.parametrize("case", STRUCTURAL.values(), ids=STRUCTURAL)
def test_models_with_structural_zeros(case):
    density = as_posterior(model_of(*case))
    x, h = np.array([[0.3], [-1.1], [0.8]]), 1e-4
    logp, slope = density(x)
    at = [density.log_density(x + step * h) for step in (-2, -1, 1, 2)]
    by_differences = (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * h)
    assert np.isfinite(logp).all()
    np.testing.assert_allclose(slope[:, 0], by_differences, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(logp, density.log_density(x))


@pytest.mark.parametrize("name", ["Poisson", "Bernoulli 1", "Binomial", "NegativeBinomial2"])
def test_they_do_not_matter_to_the_posterior(name):
    distribution, y = STRUCTURAL[name]
    result = infer(model_of(distribution, y), chains=4, draws=200, seed=1, quiet=True)
    draws = np.asarray(result.posterior["a"])
    grid = np.linspace(-8, 8, 4001)[:, None]
    weights = np.exp(as_posterior(model_of(distribution, y)).log_density(grid))
    weights /= weights.sum()
    mean = weights @ grid[:, 0]
    sd = np.sqrt(weights @ (grid[:, 0] - mean) ** 2)
    # Five standard errors, if four draws are worth one independent draw.
    assert abs(draws.mean() - mean) < 5 * sd / np.sqrt(draws.size / 4)


@pytest.mark.parametrize(
    ("dist", "y"),
    [
        (d.Poisson(KNOWN), COUNTS),
        (d.Bernoulli([0.0, 1.0]), [0, 1]),
        (d.Binomial(3, [0.0, 1.0]), [0, 3]),
        (d.Geometric(1.0), [0]),
        (d.NegativeBinomial(KNOWN, 1.0), COUNTS),
        (d.NegativeBinomial2(KNOWN, 1.0), COUNTS),
        (d.BetaBinomial(3, KNOWN, 1.0), COUNTS),
        (d.Categorical([0.0, 1.0]), [1]),
    ],
)
def test_constants_on_the_boundary_are_parameters_like_others(dist, y):
    assert np.isfinite(as_posterior(model_of(lambda a: dist, y)).log_density(np.zeros((1, 1))))


@pytest.mark.parametrize(
    "dist", [d.Poisson(-0.1), d.Bernoulli(1.1), d.NegativeBinomial2(-1.0, 1.0)]
)
def test_constants_beyond_it_are_refused(dist):
    with pytest.raises(ModelError, match=r"must be .*; got"):
        model_of(lambda a: dist, [0])


@pytest.mark.parametrize(
    ("dist", "params"),
    [
        (d.Poisson(1), (KNOWN,)),
        (d.Bernoulli(0.5), (KNOWN,)),
        (d.Binomial(1, 0.5), (3, KNOWN)),
        (d.Geometric(0.5), (1.0 - KNOWN,)),
        (d.NegativeBinomial2(1, 1), (KNOWN, 2.0)),
    ],
)
def test_a_certain_outcome_has_no_information(dist, params):
    matrix = dist.information_matrix(*map(np.asarray, params))
    for entry in matrix.values():
        assert entry()[0] == 0.0
        assert (entry()[1:] > 0.0).all()
