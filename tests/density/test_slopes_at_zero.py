"""Powers and roots of zeros, and functions that are level far out: slopes, not NaN."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from probmodel import Model, data, infer, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal, Normal

DOSE = np.repeat([0.0, 0.3, 1.0, 3.0, 10.0, 30.0], 3)


class DoseResponse(Model):
    dose = data("well", lower=0)
    low = param(Normal(1, 1))
    high = param(Normal(5, 1))
    middle = param(LogNormal(0, 0.5))
    slope = param(LogNormal(-0.5, 0.3))
    y = observed(Normal(low + (high - low) / (1 + (dose / middle) ** slope), 0.2), dims="well")


class FallingDoseResponse(Model):
    dose = data("well", lower=0)
    middle = param(LogNormal(0, 0.5))
    slope = param(LogNormal(-0.5, 0.3))
    y = observed(Normal(1 / (1 + (dose / middle) ** (-slope)), 0.2), dims="well")


class HazardRate(Model):
    distance = data("animal", lower=0)
    scale = param(LogNormal(0, 0.5))
    shape = param(LogNormal(1, 0.5))
    seen = potential(1 - np.exp(-((distance / scale) ** (-shape))))


class Growing(Model):
    warmth = data("day")
    threshold = param(Normal(10, 1))
    power = param(LogNormal(-0.5, 0.3))
    y = observed(Normal(np.maximum(warmth - threshold, 0) ** power, 1), dims="day")


class Apart(Model):
    place = param(Normal(0, 1), shape=(4, 2))
    distance = np.sqrt(np.sum((place[:, None, :] - place) ** 2, axis=-1))
    y = observed(Normal(distance, 1), dims=("one", "other"))


class RootOfShare(Model):
    dose = data("well", lower=0)
    middle = param(LogNormal(0, 0.5))
    y = observed(Normal((dose / middle) ** 0.5, 0.2), dims="well")


class Arrhenius(Model):
    dose = data("well", lower=0)
    rate = param(LogNormal(0, 0.5))
    size = param(LogNormal(0, 0.5))
    y = observed(Normal(np.exp(-rate / (dose * size)), 0.2), dims="well")


class Saturating(Model):
    dose = data("well", lower=0)
    rate = param(LogNormal(0, 0.5))
    size = param(LogNormal(0, 0.5))
    y = observed(Normal(1 / (1 + rate / (dose * size)), 0.2), dims="well")


class OnLogScale(Model):
    dose = data("well", lower=0)
    slope = param(LogNormal(0, 0.5))
    middle = param(Normal(0, 1))
    y = observed(Normal(expit(slope * (np.log(dose) - middle)), 0.2), dims="well")


class OnLogScaleOfShares(Model):
    dose = data("well", lower=0)
    slope = param(LogNormal(0, 0.5))
    middle = param(LogNormal(0, 0.5))
    y = observed(Normal(expit(slope * np.log(dose / middle)), 0.2), dims="well")


class Chosen(Model):
    """A branch that is not taken, and infinite by its form."""

    dose = data("well", lower=0)
    rate = param(LogNormal(0, 0.5))
    y = observed(Normal(np.where(dose > 0, rate / dose, rate), 0.2), dims="well")


def response(low, high, middle, slope):
    return low + (high - low) / (1 + (DOSE / middle) ** slope)


MODELS = [
    DoseResponse(dose=DOSE, y=response(1, 5, 1, 0.6)),
    FallingDoseResponse(dose=DOSE, y=np.cos(DOSE)),
    HazardRate(distance=[0.0, 0.4, 1.1]),
    Growing(warmth=[3.0, 9.0, 14.0, 15.0], y=[0.0, 0.1, 2.0, 2.2]),
    Apart(y=np.ones((4, 4)) - np.eye(4)),
    RootOfShare(dose=DOSE, y=np.cos(DOSE)),
    Arrhenius(dose=DOSE, y=np.cos(DOSE)),
    Saturating(dose=DOSE, y=np.cos(DOSE)),
    OnLogScale(dose=DOSE, y=np.cos(DOSE)),
    OnLogScaleOfShares(dose=DOSE, y=np.cos(DOSE)),
    Chosen(dose=DOSE[:9], y=np.cos(DOSE[:9])),
]
BY_NAME = [pytest.param(model, id=type(model).__name__) for model in MODELS]


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("model", BY_NAME)
def test_gradients_and_hessians_are_differences(model, engine):
    density = as_posterior(model)
    density.use_engine(engine)
    x = density.initial_points(np.random.default_rng(1), 4)
    logp, grad = density(x)
    assert np.all(np.isfinite(logp))
    step = 1e-5 * np.eye(density.dim)
    slopes = [density.log_density(x + e) - density.log_density(x - e) for e in step]
    np.testing.assert_allclose(grad, np.stack(slopes, 1) / 2e-5, rtol=1e-5, atol=1e-5)
    bends = [(density(x + e).grad - density(x - e).grad) / 2e-5 for e in step]
    np.testing.assert_allclose(density.hessian(x), np.stack(bends, 1), rtol=1e-5, atol=1e-4)


def test_controls_without_a_dose_do_not_cut_shapes_below_one():
    """The slope of a power below one is infinite at zero: such shapes had no density."""
    rng = np.random.default_rng(3)
    y = response(1, 5, 1, 0.6) + 0.2 * rng.standard_normal(len(DOSE))
    density = as_posterior(DoseResponse(dose=DOSE, y=y))
    x = density.unconstrain({"low": 1.0, "high": 5.0, "middle": 1.0, "slope": 0.6}, np.zeros(4))
    likelihood = density.terms(x[None])["likelihood of y"]
    np.testing.assert_allclose(likelihood, np.sum(norm.logpdf(y, response(1, 5, 1, 0.6), 0.2)))
    assert np.isfinite(density(x[None]).logp[0])
    fit = infer(DoseResponse(dose=DOSE, y=y), draws=300, chains=4, seed=1, quiet=True)
    assert 0.4 < float(fit.posterior["slope"].mean()) < 0.8


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_bends_of_tanh_are_those_of_a_constant_far_out(engine):
    """Its slope is one over a square that overflows."""

    class Level(Model):
        a = param(Normal(0, 1))
        far = data("place")
        y = observed(Normal(np.tanh(np.exp(a) * far), 0.5), dims="place")

    density = as_posterior(Level(far=[-1e300, -800.0, -3.0, 0.0, 0.4, 360.0, 1e5], y=np.ones(7)))
    density.use_engine(engine)
    x = np.linspace(-0.5, 0.5, 5)[:, None]
    h = 1e-5
    slope = (density.log_density(x + h) - density.log_density(x - h)) / (2 * h)
    bend = (density(x + h).grad - density(x - h).grad) / (2 * h)
    np.testing.assert_allclose(density(x).grad[:, 0], slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(density.hessian(x)[:, :, 0], bend, rtol=1e-6, atol=1e-6)
