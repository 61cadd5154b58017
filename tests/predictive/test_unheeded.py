"""Warnings about what a prediction does not look at."""

import warnings

import numpy as np
import pytest

from probmodel import (
    DataError,
    Model,
    SamplingWarning,
    data,
    infer,
    loo,
    observed,
    param,
    potential,
    predict,
)
from probmodel.distributions import AR, HalfNormal, Normal
from probmodel.functions import log_density

SHORT = {"draws": 30, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}


class Series(Model):
    phi = param(Normal(0, 0.5), shape=1)
    sigma = param(HalfNormal(1))
    y = observed(AR(phi, sigma), dims="day")


class Measured(Model):
    x = param(Normal(0, 10), dims="obs")
    slope = param(Normal(0, 1))
    measured = observed(Normal(x, 0.5), dims="obs")
    y = observed(Normal(slope * x, 1), dims="obs")


@pytest.fixture(scope="module")
def series():
    y = np.random.default_rng(0).standard_normal(12)
    return infer(Series(y=y), **SHORT)


@pytest.fixture(scope="module")
def measured():
    values = np.array([1.0, 2.0, 3.0])
    return infer(Measured(measured=values, y=values, coords={"obs": ["a", "b", "c"]}), **SHORT)


def test_a_longer_observed_series_is_no_forecast(series):
    with pytest.warns(SamplingWarning, match=r"'y' is a new series of 20 values .* 'y_missing'"):
        predict(Series(coords={"day": range(20)}), series, seed=1)


def test_an_observed_series_at_new_times_is_no_forecast(series):
    with pytest.warns(SamplingWarning, match=r"'y' is a new series of 5 values"):
        predict(Series(coords={"day": range(12, 17)}), series, seed=1)


def test_a_series_of_the_same_length_is_a_replicate(series):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(Series(coords={"day": range(12)}), series, seed=1)


def test_data_of_new_elements_are_not_looked_at(measured):
    new = Measured(measured=[1.0, 5.0], coords={"obs": ["a", "d"]})
    with pytest.warns(SamplingWarning, match=r"data of 'measured' tell of new elements of 'x'"):
        predict(new, measured, seed=1, new_groups="draw")


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ({}, ["a", "d"]),
        ({"measured": [1.0, 5.0]}, ["a", "b"]),
        ({"measured": [1.0, 5.0], "y": [1.0, 5.0]}, ["a", "d"]),
    ],
)
def test_other_predictions_are_silent(measured, values, labels):
    """No data, no new elements, or a test set with all of its data."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(Measured(coords={"obs": labels}, **values), measured, seed=1, new_groups="draw")


class Smooth(Model):
    level = param(Normal(0, 20), dims="t")
    steps = level[1:] - level[:-1]
    smooth = potential(log_density(Normal(0, 1), steps))
    y = observed(Normal(level, 0.5), dims="t")


def test_potentials_of_new_elements_are_not_looked_at():
    fit = infer(Smooth(y=np.arange(4.0), coords={"t": range(4)}), **SHORT)
    with pytest.warns(SamplingWarning, match="alone, without 'smooth': a potential"):
        predict(Smooth(coords={"t": range(5)}), fit, seed=1, new_groups="draw")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(Smooth(coords={"t": range(1, 4)}), fit, seed=1, new_groups="draw")


def test_one_density_of_all_values_leaves_nothing_out(series):
    y = np.random.default_rng(0).standard_normal(12)
    with pytest.raises(DataError, match="'y' has one log density for all of its values together"):
        loo(Series(y=y), series)


def test_loo_of_independent_values():
    class Mean(Model):
        x = data("obs")
        mu = param(Normal(0, 1))
        y = observed(Normal(mu + x, 1), dims="obs")

    model = Mean(x=np.zeros(8), y=np.linspace(-1, 1, 8))
    fit = infer(model, draws=200, warmup=100, chains=4, seed=1, quiet=True)
    assert np.isfinite(loo(model, fit).se)
