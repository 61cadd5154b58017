"""Units of measurement: gradients are the same whatever the scale of the numbers."""

import numpy as np
import pytest

from probmodel import Model, data, observed, param, potential
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import Cauchy, Gumbel, HalfNormal, Laplace, Logistic, Normal

X = np.random.default_rng(1).uniform(-1.0, 1.0, (9, 2))
Z = np.linspace(-1.3, 2.0, 8)


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("family", [Cauchy, Gumbel, Laplace, Logistic, Normal])
def test_location_and_scale_in_any_unit(family, unit, engine):
    class Measured(Model):
        one = data()
        loc = param(Normal(0, 1))
        scale = param(HalfNormal(1))
        y = observed(family(loc * one, scale * one), dims="obs")

    logp, grad = ModelDensity(Measured(one=unit, y=unit * Z), engine=engine)(X)
    plain = ModelDensity(Measured(one=1.0, y=Z), engine="numpy")(X)
    np.testing.assert_allclose(logp, plain.logp - len(Z) * np.log(unit), rtol=1e-12)
    np.testing.assert_allclose(grad, plain.grad, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_shares_of_tiny_numbers(engine):
    class Shares(Model):
        a = param(Normal(0, 1))
        b = param(Normal(0, 1))
        first, second = 1e-200 * np.exp(a), 1e-200 * np.exp(b)
        term = potential(first / (first + second))

    logp, grad = ModelDensity(Shares(), engine=engine)(X)
    share = 1.0 / (1.0 + np.exp(X[:, 1] - X[:, 0]))
    slope = share * (1.0 - share)
    prior = -0.5 * np.sum(X**2, axis=1) - np.log(2.0 * np.pi)
    np.testing.assert_allclose(logp, prior + share, rtol=1e-12)
    np.testing.assert_allclose(grad, np.stack([slope, -slope], axis=1) - X, rtol=1e-10)
