"""Probabilities of zero and one whose outcome agrees: finite values and slopes, by both engines."""

from __future__ import annotations

import types

import numpy as np
import pytest
from scipy.special import expit

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.compiler.machine import Machine
from probmodel.density import as_posterior

INF = np.inf
POISSON = np.exp(-2.0)
# Distribution of a flat vector, outcome, point, log density, slopes from inside the allowed values.
CASES = {
    "Bernoulli one": (lambda x: d.Bernoulli(x[0]), 1, [1.0], 0.0, [1.0]),
    "Bernoulli zero": (lambda x: d.Bernoulli(x[0]), 0, [0.0], 0.0, [-1.0]),
    "Bernoulli saturated": (lambda x: d.Bernoulli(1.0 * expit(x[0])), 1, [800.0], 0.0, [0.0]),
    "Bernoulli product": (lambda x: d.Bernoulli(x[0] * x[1]), 1, [1.0, 1.0], 0.0, [1.0, 1.0]),
    "BernoulliLogit": (lambda x: d.BernoulliLogit(x[0]), 1, [INF], 0.0, [0.0]),
    "Binomial one": (lambda x: d.Binomial(5, x[0]), 5, [1.0], 0.0, [5.0]),
    "Binomial zero": (lambda x: d.Binomial(5, x[0]), 0, [0.0], 0.0, [-5.0]),
    "Binomial of none": (lambda x: d.Binomial(0, x[0]), 0, [0.0], 0.0, [0.0]),
    "BinomialLogit": (lambda x: d.BinomialLogit(4, x[0]), 4, [INF], 0.0, [0.0]),
    "Categorical": (d.Categorical, 1, [0.0, 1.0, 0.0], 0.0, [0.0, 1.0, 0.0]),
    "Categorical zero elsewhere": (d.Categorical, 0, [0.5, 0.5, 0.0], np.log(0.5), [2.0, 0.0, 0.0]),
    "CategoricalLogit": (d.CategoricalLogit, 1, [-INF, 0.0, -INF], 0.0, [0.0, 0.0, 0.0]),
    "Multinomial": (lambda x: d.Multinomial(3, x), [0, 3], [0.0, 1.0], 0.0, [0.0, 3.0]),
    "MultinomialLogit": (lambda x: d.MultinomialLogit(3, x), [0, 3], [-INF, 0.0], 0.0, [0.0, 0.0]),
    "Geometric": (lambda x: d.Geometric(x[0]), 0, [1.0], 0.0, [1.0]),
    "NegativeBinomial": (lambda x: d.NegativeBinomial(x[0], 1), 0, [0.0], 0.0, [-np.log(2.0)]),
    "NegativeBinomial2": (lambda x: d.NegativeBinomial2(x[0], x[1]), 0, [0.0, 2.0], 0.0, [-1, 0]),
    "Poisson": (lambda x: d.Poisson(x[0]), 0, [0.0], 0.0, [-1.0]),
    "ZeroInflated never": (
        lambda x: d.ZeroInflated(x[0], d.Poisson(2.0)), 0, [0.0], -2.0, [1 / POISSON - 1]),
    "ZeroInflated never, not zero": (
        lambda x: d.ZeroInflated(x[0], d.Poisson(2.0)), 1, [0.0], np.log(2 * POISSON), [-1.0]),
    "ZeroInflated always": (
        lambda x: d.ZeroInflated(x[0], d.Poisson(2.0)), 0, [1.0], 0.0, [1 - POISSON]),
    "ZeroInflated of zeros": (
        lambda x: d.ZeroInflated(x[0], d.Poisson(x[1])), 0, [0.0, 0.0], 0.0, [0.0, -1.0]),
    "Hurdle": (lambda x: d.Hurdle(x[0], d.Poisson(2.0)), 0, [1.0], 0.0, [1.0]),
    "Mixture of what cannot be": (
        lambda x: d.Mixture([0.3, 0.7], [d.Bernoulli(x[0]), d.Bernoulli(x[1])]), 1, [0.0, 1.0],
        np.log(0.7), [0.0, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_certain_outcomes(name):
    make, outcome, point, logp, slopes = CASES[name]
    outcome, x = np.asarray(outcome), np.array([point], dtype=float)

    def fill(names):
        u = names["u"] = param(shape=x.shape[1])
        names["y"] = observed(make(u), dims=("row",)[: outcome.ndim])

    density = as_posterior(types.new_class("Certain", (Model,), {}, fill)(y=outcome))
    programs = density._programs
    for engine in (programs.by_numpy, Machine(programs.gradient)):
        value, gradient = engine(x)
        np.testing.assert_allclose(value, [logp], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(gradient, [slopes], rtol=1e-13, atol=1e-15)
    assert np.isfinite(density.hessian(x)).all()


@pytest.mark.parametrize("p", [0.0, 1e-300, 1e-9, 0.3, 1 - 1e-12, 1.0])
def test_zeros_of_any_probability(p):
    """The probability that is written out, and its slope, near the ends and at them."""
    rates = np.array([1e-12, 0.5, 30.0, 650.0])
    found = d.ZeroInflated(p, d.Poisson(rates))
    value = found.log_density(np, np.zeros(4), rates, np.asarray(p))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(value, np.logaddexp(np.log(p), np.log1p(-p) - rates), rtol=1e-14)
