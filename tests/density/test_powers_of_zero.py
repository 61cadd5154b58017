"""Powers and roots of what is zero whatever the parameters are have the slope zero there."""

import numpy as np
import pytest

from probmodel import Model, data, infer, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Beta, Binomial, HalfNormal, LogNormal, MvNormal, Normal
from probmodel.functions import eye, scan

rng = np.random.default_rng(3)


class Retention(Model):
    lag = data("test", lower=0)
    tau = param(LogNormal(1, 0.5))
    shape = param(LogNormal(-0.5, 0.5))
    kept = observed(Binomial(20, 0.9 * np.exp(-((lag / tau) ** shape))), dims="test")


class Roots(Model):
    t = data("time", lower=0)
    tau = param(LogNormal(0, 1))
    b = param(Normal(0, 1))
    y = observed(Normal(np.sqrt(t / tau), 1), dims="time")
    term = potential(-np.sqrt(np.maximum(b - 9, 0)) - np.maximum(b - 9, 0) ** 0.5 + (t * b) ** 1)


class Distances(Model):
    x = data(("point", "axis"))
    length = param(LogNormal(0, 1), dims="axis")
    gap = (x[:, None, :] - x) / length
    distance = np.sqrt(np.sum(gap**2, axis=-1))
    y = observed(MvNormal(np.zeros(4), np.exp(-distance) + 0.1 * eye(4)), dims="point")


def step(state, x, rate, power):
    return np.exp(-rate) * state + (x * rate) ** power


class Learning(Model):
    x = data("trial")
    rate = param(HalfNormal(1))
    power = param(Beta(2, 2))
    y = observed(Normal(scan(step, 0.0, x, args=(rate, power)), 1), dims="trial")


BOUND = {
    "power": Retention(lag=[0, 1, 2, 5, 10], kept=[18, 15, 14, 9, 4]),
    "root": Roots(t=[0, 1, 4], y=[0, 1, 2]),
    "distance": Distances(x=rng.normal(size=(4, 2)), y=rng.normal(size=4)),
    "scan": Learning(x=[0, 1, 0, 2], y=[0, 1, 2, 1]),
}


@pytest.mark.parametrize("name", BOUND)
def test_gradients_and_hessians_are_those_of_differences(name):
    density = as_posterior(BOUND[name])
    x, h = rng.normal(0, 0.5, (3, density.dim)), 1e-5
    gradient, hessian = density(x).grad, density.hessian(x)
    for j, e in enumerate(h * np.eye(density.dim)):
        slope = (density.log_density(x + e) - density.log_density(x - e)) / (2 * h)
        bend = (density(x + e).grad - density(x - e).grad) / (2 * h)
        np.testing.assert_allclose(gradient[:, j], slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(hessian[:, j], bend, rtol=1e-6, atol=1e-7)
    assert np.all(np.isfinite(density(x).logp))


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_shapes_below_one_are_sampled(engine):
    """The posterior of the shape, by a sum on a grid, is the one that is sampled."""
    model = BOUND["power"]
    lag, kept = np.array([0, 1, 2, 5, 10.0]), np.array([18, 15, 14, 9, 4])
    tau, shape = np.exp(np.linspace(-1, 3.5, 200))[:, None], np.exp(np.linspace(-2.5, 1.2, 200))
    log_p = np.log(0.9) - (lag[:, None, None] / tau) ** shape
    lost = np.log1p(-np.exp(log_p))
    log = np.einsum("i,ijk->jk", kept, log_p) + np.einsum("i,ijk->jk", 20 - kept, lost)
    log -= 0.5 * ((np.log(tau) - 1) / 0.5) ** 2 + 0.5 * ((np.log(shape) + 0.5) / 0.5) ** 2
    weight = np.exp(log - log.max())
    mean = np.sum(weight * shape) / np.sum(weight)
    fit = infer(model, seed=1, engine=engine, draws=1000, chains=4, quiet=True)
    assert fit.attrs["nonfinite"] == 0
    assert abs(float(fit["posterior"]["shape"].mean()) - mean) < 0.02
