"""Plain models of data in raw units: large and small outcomes, years, dates in seconds."""

import json

import numpy as np
import pytest
from scipy.special import gammaln

from probmodel import Model, data, infer, observed, param
from probmodel.distributions import BernoulliLogit, Exponential, HalfNormal, Normal, PoissonLog

pytestmark = pytest.mark.statistical


class Line(Model):
    x = data(dims="obs")
    a = param()
    b = param()
    sigma = param(lower=0)
    y = observed(Normal(a + b * x, sigma), dims="obs")


class WeakLine(Model):
    x = data(dims="obs")
    a = param(Normal(0, 1e12))
    b = param(Normal(0, 1e12))
    sigma = param(HalfNormal(1e12))
    y = observed(Normal(a + b * x, sigma), dims="obs")


class Inputs(Model):
    X = data(dims=("obs", "input"))
    a = param()
    b = param(dims="input")
    sigma = param(lower=0)
    y = observed(Normal(a + X @ b, sigma), dims="obs")


class Incomes(Model):
    group = data(dims="obs", dtype=int)
    mu = param()
    tau = param(lower=0)
    theta = param(Normal(mu, tau), dims="group_")
    sigma = param(lower=0)
    y = observed(Normal(theta[group], sigma), dims="obs")


class Counts(Model):
    x = data(dims="obs")
    a = param()
    b = param()
    y = observed(PoissonLog(a + b * x), dims="obs")


class Answers(Model):
    x = data(dims="obs")
    a = param()
    b = param()
    y = observed(BernoulliLogit(a + b * x), dims="obs")


class Times(Model):
    rate = param(lower=0)
    y = observed(Exponential(rate), dims="obs")


def fit(model, most=60_000):
    """Sample, without a warning, and with few gradients up to the first draw."""
    found = infer(model, seed=1, draws=1000, quiet=True)
    assert json.loads(found.attrs["warnings"]) == []
    assert found.attrs["n_grad_warmup"] < most
    return found.posterior


def exact(A, y):
    """Means and deviations of coefficients, and those of sigma, under flat priors."""
    n, k = A.shape
    b, (rss,), *_ = np.linalg.lstsq(A, y, rcond=None)
    nu = n - k - 1
    deviations = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * rss / (nu - 2))
    mean = np.sqrt(rss / 2) * np.exp(gammaln((nu - 1) / 2) - gammaln(nu / 2))
    return b, deviations, mean, np.sqrt(rss / (nu - 2) - mean**2)


def agree(draws, mean, deviation):
    assert abs(draws.mean() - mean) < 0.06 * deviation
    assert abs(draws.std() / deviation - 1.0) < 0.06


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e3, 1e6, 1e7, 1e9, 1e12])
@pytest.mark.parametrize(
    ("first", "apart"), [(2000.0, 1.0), (1.7e9, 1.0), (1.7e9, 1728.0), (1.7e9, 2.6e6)]
)
def test_a_trend(first, apart, scale):
    t = np.arange(50.0)
    y = t + np.random.default_rng(1).normal(size=50)
    found = fit(Line(x=first + apart * t, y=scale * y))
    b, deviations, mean, deviation = exact(np.column_stack([np.ones(50), t]), y)
    agree(found.b.values * apart / scale, b[1], deviations[1])
    agree(found.sigma.values / scale, mean, deviation)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_a_trend_with_weak_priors(scale):
    t = np.arange(50.0)
    y = t + np.random.default_rng(1).normal(size=50)
    found = fit(WeakLine(x=2000.0 + t, y=scale * y))
    b, deviations, mean, deviation = exact(np.column_stack([np.ones(50), t]), y)
    agree(found.b.values / scale, b[1], deviations[1])
    agree(found.sigma.values / scale, mean, deviation)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("mean", [0.0, 5.0])
def test_inputs_of_different_units(mean, scale):
    rng, units = np.random.default_rng(3), np.array([1e-6, 1.0, 1e6])
    Z = mean + rng.normal(size=(100, 3))
    y = 3.0 + Z @ [1.0, 2.0, 3.0] + rng.normal(size=100)
    found = fit(Inputs(X=Z * units, y=scale * y))
    b, deviations, *_ = exact(np.column_stack([np.ones(100), Z]), y)
    for k in range(3):
        agree(found.b.values[..., k] * units[k] / scale, b[1 + k], deviations[1 + k])


@pytest.mark.parametrize("scale", [1e-9, 1e6, 1e9])
def test_means_of_groups(scale):
    rng, group = np.random.default_rng(3), np.repeat(np.arange(10), 8)
    y = 40.0 + 5.0 * rng.normal(size=10)[group] + 8.0 * rng.normal(size=80)
    coords = {"group_": range(10)}
    found = fit(Incomes(group=group, y=scale * y, coords=coords), most=150_000)
    expected = fit(Incomes(group=group, y=y, coords=coords))
    for name in ("mu", "tau", "sigma"):
        of = expected[name].values
        assert abs(found[name].values.mean() / scale - of.mean()) < 0.1 * of.std()
        assert abs(found[name].values.std() / scale / of.std() - 1.0) < 0.15


@pytest.mark.parametrize("model", [Counts, Answers])
@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1e6), (5e6, 1e6), (1.7e9, 3e7)])
def test_counts_and_answers(model, mean, deviation):
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    if model is Counts:
        y = rng.poisson(np.exp(1.0 + 0.5 * z))
    else:
        y = (rng.uniform(size=200) < 1.0 / (1.0 + np.exp(-0.5 - z))).astype(int)
    found, expected = fit(model(x=mean + deviation * z, y=y)), fit(model(x=z, y=y))
    agree(found.b.values * deviation, expected.b.values.mean(), expected.b.values.std())


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_waiting_times(scale):
    """Their rate is Gamma(101, sum) under a flat prior. It is small, not the end of a fall."""
    y = scale * np.random.default_rng(5).exponential(size=100)
    found = fit(Times(y=y))
    agree(found.rate.values * y.sum(), 101.0, np.sqrt(101.0))
