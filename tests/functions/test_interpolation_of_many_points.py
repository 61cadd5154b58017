"""Interpolants through so many points that places are looked up: SciPy's, without large arrays."""

import tracemalloc

import numpy as np
import pytest
from scipy import interpolate as scipy_interpolate
from scipy import stats

from probmodel import (
    Model,
    data,
    deterministic,
    infer,
    log_likelihood,
    observed,
    param,
    posterior_predictive,
    potential,
    to_stan,
)
from probmodel.density import as_posterior
from probmodel.distributions import Normal, Uniform
from probmodel.functions import interpolate

RNG = np.random.default_rng(4)
POINTS = np.cumsum(RNG.uniform(0.5, 1.5, 400))
HEIGHTS = np.sin(POINTS / 20) + 0.1 * RNG.standard_normal(400)
PLACES = np.r_[-3.0, POINTS[0], 30.2, 200.7, POINTS[-1], POINTS[-1] + 5.0, np.linspace(3, 350, 20)]


def by_scipy(kind, x, heights):
    inside = np.clip(x, POINTS[0], POINTS[-1])
    if kind == "linear":
        return np.interp(inside, POINTS, heights)
    return scipy_interpolate.CubicSpline(POINTS, heights, bc_type="natural")(inside)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_places_and_heights_may_be_parameters(kind, assert_derivatives):
    class Curves(Model):
        points = data("point")
        places = data("place")
        heights = data("point")
        shift = param(Normal(0, 1))
        factor = param(Normal(1, 0.1), shape=2)
        at = deterministic(interpolate(places + shift, points, heights, kind=kind))
        fixed = deterministic(interpolate(places, points, factor[0] * heights, kind=kind))
        both = deterministic(
            interpolate(places + shift, points, factor[0] + factor[1] * heights**2, kind=kind)
        )
        single = deterministic(interpolate(50.0 + shift, points, heights, kind=kind))
        y = observed(Normal(at + fixed * both + single, 1.0), dims="place")

    model = Curves(points=POINTS, places=PLACES, heights=HEIGHTS, y=0.01 * PLACES)
    x = np.array([[0.31, 1.0, 0.7], [-1.23, 0.4, -0.2], [2.17, -0.3, 1.1]])
    found = as_posterior(model).constrain(x)
    for i, (shift, *factor) in enumerate(x):
        expected = {
            "at": by_scipy(kind, PLACES + shift, HEIGHTS),
            "fixed": by_scipy(kind, PLACES, factor[0] * HEIGHTS),
            "both": by_scipy(kind, PLACES + shift, factor[0] + factor[1] * HEIGHTS**2),
            "single": by_scipy(kind, 50.0 + shift, HEIGHTS),
        }
        for name, values in expected.items():
            np.testing.assert_allclose(found[name][i], values, atol=1e-11)
    assert_derivatives(model, x)
    density = as_posterior(model)
    value, gradient = density(x)
    density.use_engine("llvm")
    np.testing.assert_allclose(density(x)[0], value, rtol=1e-12)
    np.testing.assert_allclose(density(x)[1], gradient, rtol=1e-9, atol=1e-9)


class Dates(Model):
    points = data("point")
    curve = data("point")
    error = data("point", lower=0)
    theta = param(Uniform(0, 3000), dims="date")
    at = interpolate(theta, points, curve)
    spline = interpolate(theta, points, error, kind="cubic")
    y = observed(Normal(at, np.sqrt(400.0 + spline**2)), dims="date")


CALENDAR = np.arange(3000.0)
CURVE, ERROR = 0.95 * CALENDAR + 60 * np.sin(CALENDAR / 150), 20 + 0.002 * CALENDAR
AGES = np.linspace(100, 2700, 50)


def test_no_array_has_all_points_for_each_place_or_point():
    tracemalloc.start()
    density = as_posterior(Dates(points=CALENDAR, curve=CURVE, error=ERROR, y=AGES))
    x = density.initial_points(np.random.default_rng(1), chains=4)
    assert np.isfinite(density(x)[0]).all()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6  # bytes; 4 chains, 50 dates and 3000 points make 4.8e6


def test_places_at_points_have_slopes():
    class Point(Model):
        theta = param(Normal(0, 1))
        pull = potential(interpolate(theta, np.arange(6000.0), 2 * np.arange(6000.0)))

    np.testing.assert_allclose(as_posterior(Point())(np.array([[7.0]])).grad, [[2.0 - 7.0]])


def test_dates_by_a_long_curve():
    model = Dates(points=CALENDAR, curve=CURVE, error=ERROR, y=AGES)
    fit = infer(model, draws=100, warmup=200, chains=4, seed=1, quiet=True)
    theta = fit["posterior"]["theta"].values
    at, error = np.interp(theta, CALENDAR, CURVE), np.hypot(20.0, 20 + 0.002 * theta)
    found = log_likelihood(model, fit)["log_likelihood"]["y"].values
    np.testing.assert_allclose(found, stats.norm.logpdf(AGES, at, error), atol=1e-9)
    again = posterior_predictive(model, fit, seed=2)["posterior_predictive"]["y"]
    mean = again.mean(("chain", "draw")).values
    np.testing.assert_allclose(mean, at.mean((0, 1)), atol=10)


def test_stan_programs_have_all_points():
    class Lines(Model):
        points = data("point")
        theta = param(Normal(0, 1), dims="date")
        y = observed(Normal(interpolate(theta, points, points**2), 1.0), dims="date")

    few, many = (Lines(points=np.arange(float(n)), y=AGES) for n in (100, 3000))
    short, long = (str(to_stan(model)).splitlines() for model in (few, many))
    assert len(short) == len(long)
    assert any("fmin(fmax((fmin(fmax(theta[i]" in line for line in long)
