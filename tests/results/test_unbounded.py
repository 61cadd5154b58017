"""Log densities that grow without bound as a scale goes to zero."""

import json

import numpy as np
import pytest

from probmodel import Model, data, infer, observed, param
from probmodel.distributions import Gamma, HalfNormal, LogNormal, Normal


class Level(Model):
    a = param(Normal(0, 5))
    s = param(HalfNormal(1))
    y = observed(Normal(a, s), dims="day")


class KeptAway(Model):
    a = param(Normal(0, 5))
    s = param(LogNormal(0, 1))
    y = observed(Normal(a, s), dims="day")


class Groups(Model):
    s = param(HalfNormal(1), shape=2)
    y = observed(Normal(0, s), dims=("day", "group"))


class NearZero(Model):
    """A proper prior with most of its mass below all numbers that are written."""

    v = param(Gamma(0.001, 0.001))
    y = observed(Normal(0, 1 + v), dims="day")


class Line(Model):
    x = data(dims="day")
    a = param(Normal(0, 10))
    b = param(Normal(0, 10))
    s = param(HalfNormal(1))
    y = observed(Normal(a + b * x, s), dims="day")


class SmallUnits(Model):
    x = data(dims="day")
    b = param(Normal(0, 1e-18))
    s = param(HalfNormal(1e-18))
    y = observed(Normal(b * x, s), dims="day")


def findings(model, seed=1):
    fit = infer(model, seed=seed, chains=4, draws=500, warmup=500, quiet=True)
    return {f["kind"]: f for f in json.loads(fit.attrs["warnings"])}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_data_that_are_all_alike(seed):
    found = findings(Level(y=[1.0, 1.0, 1.0]), seed)
    assert found["unbounded"]["variables"] == ["s"]
    assert "grow without bound as s goes to 0" in found["unbounded"]["message"]
    assert not {"jumps", "improper", "separated_chains", "several_modes"} & set(found)


@pytest.mark.parametrize("seed", [1, 2])
def test_data_that_are_all_zero(seed):
    """They have no digits, and what the mean depends on falls with the scale."""
    x = np.random.default_rng(1).standard_normal(50)
    found = findings(Line(x=x, y=np.zeros(50)), seed)
    assert found["unbounded"]["variables"] == ["s"]
    assert not {"jumps", "improper", "separated_chains", "several_modes"} & set(found)


def test_zeros_under_a_prior_that_is_advised():
    assert "unbounded" not in findings(KeptAway(y=np.zeros(50)))


def test_elements_are_named():
    y = np.array([[0.0, 0.3], [0.0, -1.0], [0.0, 0.4], [0.0, -0.2]])
    assert findings(Groups(y=y))["unbounded"]["variables"] == ["s[0]"]


def test_the_prior_that_is_advised_keeps_it_away():
    assert not {"unbounded", "jumps", "improper"} & set(findings(KeptAway(y=[1.0, 1.0, 1.0])))


@pytest.mark.parametrize("model", [Level(y=[1.0, 1.0, 1.01]), NearZero(y=[0.1, -0.4, 1.2])])
def test_no_alarm_where_the_density_is_bounded_or_the_prior_is_wide(model):
    assert "unbounded" not in findings(model)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_line_without_any_error(seed):
    """Rounding keeps the scale near the last digit of the data."""
    x = np.linspace(0, 5, 20)
    found = findings(Line(x=x, y=2 + 3 * x), seed)
    assert found["unbounded"]["variables"] == ["s"]
    assert not {"jumps", "improper", "separated_chains", "several_modes"} & set(found)


@pytest.mark.parametrize("error", [1e-8, 1e-3])
def test_a_line_with_little_error_has_a_scale(error):
    x = np.linspace(0, 5, 20)
    y = 2 + 3 * x + error * np.random.default_rng(1).standard_normal(20)
    assert "unbounded" not in findings(Line(x=x, y=y))


def test_small_units_are_no_small_scale():
    x = np.linspace(0, 5, 20)
    y = 1e-18 * (3 * x + np.random.default_rng(1).standard_normal(20))
    assert "unbounded" not in findings(SmallUnits(x=x, y=y))
