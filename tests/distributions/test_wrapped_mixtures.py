"""Distributions made of mixtures: parameters with event axes inside numbers, in a model."""

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, observed, param
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.density import as_posterior
from probmodel.distributions import (
    Censored,
    Dirichlet,
    Hurdle,
    Mixture,
    Normal,
    PoissonLog,
    Truncated,
    ZeroInflated,
)

COUNTS = [0, 3, 1, 0, 2]
REALS = [-0.5, 0.3, 1.1, -0.5, 0.9]


def counts(kind):
    class Counts(Model):
        w = param(Dirichlet(np.ones(2)))
        m = param(Normal(0, 1), shape=2)
        p = param(lower=0, upper=1)
        y = observed(kind(p, Mixture(w, PoissonLog(m))), dims="obs")

    return Counts


def bounded(kind, lower):
    class Reals(Model):
        w = param(Dirichlet(np.ones(2)))
        m = param(Normal(0, 1), shape=2)
        y = observed(
            kind(
                Mixture(w, [Normal(m[0], 1), Normal(m[1], 2)]), lower=lower, upper=3.0 + m[0] ** 2
            ),
            dims="obs",
        )

    return Reals


CASES = {
    "ZeroInflated": (counts(ZeroInflated), COUNTS),
    "Hurdle": (counts(Hurdle), COUNTS),
    "Censored": (bounded(Censored, -0.5), REALS),
    "Truncated": (bounded(Truncated, -0.7), REALS),
}


def disagreement(name, size, chains):
    """Largest difference of the gradient and its numerical value."""
    model, values = CASES[name]
    density = as_posterior(model(y=values[:size]))
    x = 0.5 * np.random.default_rng(1).standard_normal((chains, density.dim))
    steps = 1e-5 * np.eye(density.dim)
    numeric = [(density.log_density(x + h) - density.log_density(x - h)) / 2e-5 for h in steps]
    alone = np.concatenate([density(row[None]).grad for row in x])
    grad = density(x).grad
    np.testing.assert_allclose(alone, grad, rtol=1e-10, atol=1e-12)
    return np.abs(grad - np.stack(numeric, axis=1)).max()


@pytest.mark.parametrize("chains", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, size, chains):
    assert disagreement(name, size, chains) < 1e-7


def test_wrong_axes_would_be_found(monkeypatch):
    own = NumpyProgram.__call__

    def turned(self, *inputs):
        logp, *slopes = own(self, *inputs)
        return logp, *(np.roll(s, 1, axis=1) for s in slopes)

    monkeypatch.setattr(NumpyProgram, "__call__", turned)
    assert disagreement("ZeroInflated", 2, 1) > 1e-3


def test_the_density_of_a_truncated_mixture():
    model, values = CASES["Truncated"]
    density = as_posterior(model(y=values))
    x = np.array([[0.3, 0.2, -0.4]])
    v = {name: value[0] for name, value in density.constrain(x).items()}
    parts = [stats.norm(v["m"][0], 1), stats.norm(v["m"][1], 2)]
    upper = 3.0 + v["m"][0] ** 2
    mass = sum(w * (p.cdf(upper) - p.cdf(-0.7)) for w, p in zip(v["w"], parts, strict=True))
    each = sum(w * p.pdf(values) for w, p in zip(v["w"], parts, strict=True))
    expected = np.log(each / mass).sum()
    np.testing.assert_allclose(density.terms(x)["likelihood of y"], [expected], rtol=1e-12)
