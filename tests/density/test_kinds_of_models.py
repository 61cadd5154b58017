"""Models of many kinds, written as people would: each passes every check of `check_model`."""

import numpy as np
import pytest

from probmodel import Model, check_model, data, observed, param, potential
from probmodel.constraints import Lower, Ordered, PositiveOrdered
from probmodel.density import as_posterior
from probmodel.distributions import (
    Bernoulli,
    BinomialLogit,
    CategoricalLogit,
    Censored,
    Dirichlet,
    Exponential,
    Gamma,
    GaussianProcess,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Laplace,
    Logistic,
    LogNormal,
    MvNormal,
    NegativeBinomial2,
    Normal,
    Poisson,
    ScaledInverseChi2,
    StudentT,
    Truncated,
    Uniform,
    kernels,
)

RNG = np.random.default_rng(0)


class TruncatedData(Model):
    mu = param(Normal(0, 1))
    edge = param(Normal(-2, 0.3))
    y = observed(Truncated(Normal(mu, 1), lower=-1, upper=3), dims="obs")
    z = param(Truncated(Normal(mu, 1), lower=edge))


class CensoredData(Model):
    mu = param(Normal(0, 1))
    sigma = param(HalfNormal(1))
    y = observed(Censored(Normal(mu, sigma), lower=0.0), dims="obs")


class VaryingIntercepts(Model):
    county = data(dims="obs", dtype=int, lower=0)
    floor = data(dims="obs")
    uranium = data(dims="area")
    gamma = param(Normal(0, 2), shape=2)
    tau = param(HalfNormal(1))
    alpha = param(Normal(gamma[0] + gamma[1] * uranium, tau), dims="area", noncentered=True)
    beta = param(Normal(0, 1))
    sigma = param(HalfCauchy(2))
    y = observed(Normal(alpha[county] + beta * floor, sigma), dims="obs")


class LatentProcess(Model):
    x = data(dims="obs")
    length = param(InverseGamma(5, 5))
    amplitude = param(HalfNormal(1))
    sigma = param(HalfNormal(1))
    f = param(
        GaussianProcess(kernels.ExpQuad(amplitude, length), x, jitter=1e-3),
        dims="obs",
        noncentered=True,
    )
    y = observed(Normal(f, sigma), dims="obs")


class MarginalProcess(Model):
    x = data(dims="obs")
    length = param(InverseGamma(5, 5))
    amplitude = param(HalfNormal(1))
    sigma = param(HalfNormal(1))
    distance = (x[:, None] - x[None, :]) / length
    K = amplitude**2 * np.exp(-0.5 * distance**2) + sigma**2 * np.eye(15)
    y = observed(MvNormal(np.zeros(15), covariance=K), dims="obs")


class Mixture(Model):
    y = data(dims="obs")
    weight = param(Dirichlet(np.ones(2)))
    mu = param(Normal(0, 2), shape=2, constraint=Ordered())
    sigma = param(HalfNormal(1))
    terms = np.log(weight) - 0.5 * ((y[:, None] - mu) / sigma) ** 2 - np.log(sigma)
    likelihood = potential(np.logaddexp(terms[:, 0], terms[:, 1]))


class Softmax(Model):
    X = data(dims=("obs", "feature"))
    B = param(Normal(0, 1), dims=("feature", "kind"))
    y = observed(CategoricalLogit(X @ B), dims="obs")


class GrowthCurves(Model):
    day = data(dims="time")
    a0, b0 = param(Normal(250, 50)), param(Normal(6, 5))
    tau_a, tau_b = param(HalfCauchy(10)), param(HalfCauchy(2))
    variance = param(ScaledInverseChi2(4, 1.0))
    a = param(Normal(a0, tau_a), dims="rat")
    b = param(Normal(b0, tau_b), dims="rat")
    line = a[:, None] + b[:, None] * (day - 22)
    y = observed(Normal(line, np.sqrt(variance)), dims=("rat", "time"))


class Overdispersed(Model):
    n = data(dims="plate", dtype=int)
    x = data(dims="plate")
    a, b = param(Normal(0, 2)), param(StudentT(3, 0, 2))
    tau = param(Exponential(1.0))
    e = param(Normal(0, tau), dims="plate", noncentered=True)
    y = observed(BinomialLogit(n, a + b * x + e), dims="plate")


class ThreeLikelihoods(Model):
    a = param(Normal(0, 1))
    phi = param(Gamma(2, 0.1))
    rate = param(LogNormal(0, 1))
    y = observed(NegativeBinomial2(np.exp(a), phi), dims="obs")
    z = observed(Poisson(rate), dims="obs")
    w = observed(Bernoulli(1 / (1 + np.exp(-a))), dims="obs")


class OwnCholesky(Model):
    L = param(Normal(0, 1), shape=(2, 2))
    mu = param(Normal(0, 1), dims="k")
    factor = np.tril(L, -1) + np.diag(np.exp(np.diag(L)))
    y = observed(MvNormal(mu, cholesky=factor), dims=("obs", "k"))


class Bounds(Model):
    a = param(Uniform(0, 5))
    b = param(lower=a)
    c = param(upper=-1.0)
    d = param(Laplace(0, 1), lower=0)
    e = param(Logistic(0, 1), lower=a, upper=a + 2)
    s = param(Dirichlet(np.ones(3)), shape=(2, 3))
    o = param(constraint=PositiveOrdered(), shape=3)
    proper = potential(-0.5 * (b - a) ** 2 - 0.5 * (c + 1) ** 2 - 0.5 * np.sum(o**2))


MODELS = [
    TruncatedData(y=RNG.uniform(-1, 3, 20)),
    CensoredData(y=np.maximum(RNG.normal(size=30), 0)),
    VaryingIntercepts(
        county=RNG.integers(0, 5, 60),
        floor=RNG.integers(0, 2, 60),
        uranium=RNG.normal(size=5),
        y=RNG.normal(size=60),
    ),
    LatentProcess(x=np.linspace(0, 3, 15), y=RNG.normal(size=15)),
    MarginalProcess(x=np.linspace(0, 3, 15), y=RNG.normal(size=15)),
    Mixture(y=np.concatenate([RNG.normal(-2, 1, 20), RNG.normal(2, 1, 20)])),
    Softmax(X=RNG.normal(size=(30, 2)), y=RNG.integers(0, 3, 30), coords={"kind": ["a", "b", "c"]}),
    GrowthCurves(day=[8.0, 15, 22, 29, 36], y=250 + RNG.normal(size=(6, 5))),
    Overdispersed(n=[10, 20, 30], x=[0, 1, 0], y=[3, 4, 29]),
    ThreeLikelihoods(y=[1, 5, 0], z=[2, 2, 3], w=[0, 1, 1]),
    OwnCholesky(y=RNG.normal(size=(7, 2))),
    Bounds(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_check_passes(model):
    report = check_model(model)
    assert report.ok, str(report)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_second_derivatives(model):
    density = as_posterior(model)
    x = density.initial_points(np.random.default_rng(1), 2, inits=0.5)
    v = np.random.default_rng(2).normal(size=x.shape)
    step = 1e-6
    numeric = (density(x + step * v).grad - density(x - step * v).grad) / (2 * step)
    product = density.hvp(x, v)
    size = 1 + np.abs(product).max()
    np.testing.assert_allclose(product / size, numeric / size, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_printed_forms_are_complete(model):
    assert "?" not in repr(model)
    latex = model._repr_latex_()
    assert latex.count("{") == latex.count("}")


def test_wrappers_show_what_is_inside():
    text = repr(TruncatedData(y=[0.0]))
    assert "y[obs] ~ Truncated(Normal(mu, 1), lower=-1, upper=3)" in text
    process = repr(LatentProcess(x=np.arange(3.0), y=np.zeros(3)))
    assert "GaussianProcess(ExpQuad, mean=0, amplitude=amplitude, length_scale=length" in process


def test_limits_of_a_constraint_may_be_parameters():
    """They are expressions, which are not compared as if they were numbers."""

    class Above(Model):
        low = param(Normal(0, 1))
        high = param(Normal(0, 1), constraint=Lower(low))

    values = as_posterior(Above()).constrain(np.array([[0.5, 0.0], [-1.0, 2.0]]))
    np.testing.assert_allclose(values["high"], [1.5, -1.0 + np.exp(2.0)])
