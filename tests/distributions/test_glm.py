"""Generalised linear models by Stan's names, against the same written out."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Model, data, observed, param
from probmodel import distributions as d
from probmodel.constraints import Ordered
from probmodel.density import as_posterior

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3))
COUNTS = RNG.integers(0, 4, 12)
TRIALS = COUNTS + RNG.integers(0, 3, 12)

# Name, form, the same written out, data.
FORMS = {
    "NormalIdGLM": (
        lambda x, a, b, s, c, n: d.NormalIdGLM(x, a, b, s),
        lambda x, a, b, s, c, n: d.Normal(x @ b + a, s),
        RNG.standard_normal(12),
    ),
    "BernoulliLogitGLM": (
        lambda x, a, b, s, c, n: d.BernoulliLogitGLM(x, a, b),
        lambda x, a, b, s, c, n: d.BernoulliLogit(x @ b + a),
        COUNTS % 2,
    ),
    "BinomialLogitGLM": (
        lambda x, a, b, s, c, n: d.BinomialLogitGLM(n, x, a, b),
        lambda x, a, b, s, c, n: d.BinomialLogit(n, x @ b + a),
        COUNTS,
    ),
    "PoissonLogGLM": (
        lambda x, a, b, s, c, n: d.PoissonLogGLM(x, a, b),
        lambda x, a, b, s, c, n: d.PoissonLog(x @ b + a),
        COUNTS,
    ),
    "NegBinomial2LogGLM": (
        lambda x, a, b, s, c, n: d.NegBinomial2LogGLM(x, a, b, s),
        lambda x, a, b, s, c, n: d.NegativeBinomial2Log(x @ b + a, s),
        COUNTS,
    ),
    "OrderedLogisticGLM": (
        lambda x, a, b, s, c, n: d.OrderedLogisticGLM(x, b, c),
        lambda x, a, b, s, c, n: d.OrderedLogistic(x @ b, c),
        COUNTS,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_regressions_are_those_written_out(name):
    form, written_out, y = FORMS[name]

    def density(make):
        class Regression(Model):
            x = data(("obs", "feature"))
            n = data("obs", dtype=int)
            a = param(d.Normal(0, 1))
            b = param(d.Normal(0, 1), dims="feature")
            s = param(d.HalfNormal(1))
            c = param(d.Normal(0, 1), constraint=Ordered(), shape=3)
            y = observed(make(x, a, b, s, c, n), dims="obs")

        return as_posterior(Regression(x=X, n=TRIALS, y=COUNTS if y is COUNTS else y))

    points = RNG.standard_normal((3, 8))
    found, expected = density(form)(points), density(written_out)(points)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_regression_of_categories():
    class Regression(Model):
        x = data(("obs", "feature"))
        a = param(d.Normal(0, 1), shape=4)
        b = param(d.Normal(0, 1), shape=(3, 4))
        y = observed(d.CategoricalLogitGLM(x, a, b), dims="obs")

    point = RNG.standard_normal(16)
    found = as_posterior(Regression(x=X, y=COUNTS)).log_density(point[None])[0]
    logits = point[:4] + X @ point[4:].reshape(3, 4)
    likelihood = logits[np.arange(12), COUNTS] - np.log(np.exp(logits).sum(axis=1))
    prior = -0.5 * point @ point - 8 * np.log(2 * np.pi)
    assert found == pytest.approx(likelihood.sum() + prior, rel=1e-12)


def test_errors_name_the_line_of_the_model():
    assert d.PoissonLogGLM(X, 0.0, np.zeros(3)).location.file == __file__
