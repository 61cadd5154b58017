"""Improper posteriors are told of; others that have not converged are not called so."""

import json
import warnings

import numpy as np
import pytest

from probmodel import LogDensity, Model, data, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import BernoulliLogit, Cauchy, Flat, Mixture, Normal

SIZES = {"seed": 1, "quiet": True, "draws": 300}
Y = np.random.default_rng(1).normal(size=20)


class Unused(Model):
    mu = param(Normal(0, 1))
    z = param(Flat())
    y = observed(Normal(mu, 1), dims="day")


class Ridge(Model):
    a = param(Flat())
    b = param(Flat())
    y = observed(Normal(a + b, 1), dims="day")


class Separable(Model):
    """Every steeper curve fits better."""

    x = data(dims="day")
    a = param(Flat())
    b = param(Flat())
    y = observed(BernoulliLogit(a + b * x), dims="day")


class Runaway(Model):
    """A scale that the density only grows with."""

    s = param(lower=0)
    m = param(Normal(0, 1))
    y = observed(Normal(m, 1), dims="day")


class TwoModes(Model):
    mu = param(Normal(0, 10), shape=2)
    y = observed(Mixture([0.5, 0.5], Normal(mu, 1)), dims="day")


class HeavyTails(Model):
    b = param(Cauchy(0, 1), shape=5)


class Broad(Model):
    b = param(Normal(0, 1), shape=50)


class Funnel(Model):
    v = param(Normal(0, 3))
    x = param(Normal(0, np.exp(0.5 * v)), shape=50, noncentered=False)


def findings(model, **settings):
    result = infer(model, **{**SIZES, **settings})
    return {found["kind"]: found for found in json.loads(result.attrs["warnings"])}


@pytest.mark.parametrize("method", ["fisher_hmc", "nuts", "fisher_mala"])
def test_a_parameter_on_which_nothing_depends(method):
    found = findings(Unused(y=Y), method=method)["improper"]
    assert found["variables"] == ["z"]
    assert "does not fall off along z, as far as the chains went" in found["message"]


def test_two_levels_that_nothing_tells_apart():
    found = findings(Ridge(y=Y))["improper"]
    assert sorted(found["variables"]) == ["a", "b"]
    assert "move together" in found["message"]


class Dummies(Model):
    X = data(dims=("day", "group"))
    a = param()
    b = param(dims="group")
    y = observed(Normal(a + X @ b, 1), dims="day")


def test_elements_are_named_by_their_labels():
    X = np.eye(2)[np.arange(20) % 2]
    found = findings(Dummies(X=X, y=Y, coords={"group": ["old", "new"]}))["improper"]
    assert sorted(found["variables"]) == ["a", "b[new]", "b[old]"]


class Trend(Model):
    """A proper posterior that is very far from where chains begin."""

    year = data(dims="year_")
    a = param()
    b = param()
    s = param(lower=0)
    y = observed(Normal(a + b * year, s), dims="year_")


@pytest.mark.parametrize("settings", [{"inits": 2.0}, {"method": "rwm", "warmup": 1000}])
def test_a_proper_posterior_that_is_far_away(settings):
    """Chains do not climb there by themselves."""
    year = 2000.0 + np.arange(50)
    y = 1e9 * (np.arange(50) + np.random.default_rng(1).standard_normal(50))
    found = findings(Trend(year=year, y=y), draws=1000, **settings)
    assert "improper" not in found
    assert "Standardise data that are large" in found["far_away"]["message"]


def test_no_machine_code_is_made_for_it():
    density = as_posterior(Ridge(y=Y))
    assert "improper" in findings(density, chains=4, engine="llvm")
    assert list(density._programs.codes) == [4]  # for chains that move at the same time


def test_a_regression_whose_data_are_separable():
    x = np.arange(20.0) - 9.5
    found = findings(Separable(x=x, y=(x > 0).astype(int)))["improper"]
    assert found["variables"][0] == "b"


def test_a_parameter_that_becomes_infinite():
    message = findings(Runaway(y=Y), draws=50, warmup=400)["not_finite_draws"]["message"]
    assert "s in 100.0 %" in message
    assert "no proper posterior" in message


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (TwoModes(y=np.concatenate([Y - 5.0, Y + 5.0])), {}),
        (HeavyTails(), {"method": "rwm"}),
        (Broad(), {"method": "rwm", "draws": 100}),
        (Broad(), {"method": "rwm", "draws": 100, "inits": 0.1, "warmup": 5}),
        (Funnel(), {"warmup": 60}),
    ],
    ids=["modes", "heavy tails", "slow", "starts that are alike", "funnel"],
)
def test_chains_that_disagree_for_other_reasons(model, settings):
    found = findings(model, **settings)
    assert "rhat" in found
    assert "improper" not in found


def test_densities_without_gradients_are_not_asked():
    density = LogDensity.from_function(lambda x: 0.0 * x[:, 0], dim=2, gradient=False)
    assert "improper" not in findings(density, method="rwm", warmup=50)


class Changes(Model):
    """Segments of a series, whose ends nothing keeps within it."""

    time = data(dims="day")
    level = param(Normal(0, 1), shape=2)
    end = param()
    y = observed(Normal(np.where(time < end, level[0], level[1]), 1), dims="day")


class Bounded(Model):
    time = data(dims="day")
    level = param(Normal(0, 1), shape=2)
    end = param(lower=0)
    y = observed(Normal(np.where(time < end, level[0], level[1]), 1), dims="day")


class Held(Model):
    time = data(dims="day")
    level = param(Normal(0, 1), shape=2)
    end = param(Cauchy(10, 3))
    y = observed(Normal(np.where(time < end, level[0], level[1]), 1), dims="day")


@pytest.mark.parametrize("kind", [Changes, Bounded])
def test_change_points_that_nothing_bounds(kind):
    found = findings(kind(time=np.arange(20.0), y=Y))
    assert found["improper"]["variables"] == ["end"]
    assert "jumps" not in found


def test_change_points_with_heavy_tails_are_proper():
    assert "improper" not in findings(Held(time=np.arange(20.0), y=Y))


def test_overflow_is_not_told_twice():
    """A posterior without bounds has warnings of its own; NumPy's say nothing more."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = infer(Runaway(y=Y), "nuts", **SIZES, warmup=300)
    assert json.loads(fit.attrs["warnings"])
