"""Warnings about data of known elements that are others than in the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, SamplingWarning, data, infer, observed, param, predict
from probmodel.distributions import Normal

SHORT = {"draws": 20, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}
FRAME = pd.DataFrame({
    "at": ["a", "b", "c"], "region": ["x", "x", "y"], "size": [1.0, 2.0, 3.0], "y": 0.0,
})  # fmt: skip


class Stores(Model):
    size = data("store")
    region = data("store", dtype=int)
    at = data("row", dtype=int)
    level = param(Normal(0, 1), dims="area")
    slope = param(Normal(0, 1))
    effect = param(Normal(level[region] + slope * size, 1), dims="store")
    y = observed(Normal(effect[at], 1), dims="row")


class Rows(Model):
    """An effect of each row, whose labels nobody gave."""

    x = data("row")
    effect = param(Normal(x, 1), dims="row")
    y = observed(Normal(effect, 1), dims="row")


class Beside(Model):
    x = data("row")
    effect = param(Normal(0, 1), dims="row")
    y = observed(Normal(effect + x, 1), dims="row")


@pytest.fixture(scope="module")
def fit():
    return infer(Stores.from_frame(FRAME), **SHORT)


def said(model, fit, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict(model, fit, seed=1, **options)
    return [str(w.message) for w in caught if w.category is SamplingWarning]


@pytest.mark.parametrize(
    ("changed", "value"),
    [("size", [1.0, 2.5, 3.0]), ("region", ["x", "y", "y"]), ("region", ["x", "z", "y"])],
)
def test_data_of_known_groups_that_are_others(fit, changed, value):
    model = Stores.from_frame(FRAME.assign(**{changed: value}))
    (message,) = said(model, fit, new_groups="draw")
    assert f"the prior of 'effect' depends on {changed!r}, which is not what it was" in message
    assert "along 'store'" in message


def test_groups_in_another_order_and_new_ones_are_silent(fit):
    coords = {"store": ["c", "new", "a", "b"], "area": ["y", "x"]}
    new = pd.DataFrame({"at": ["new"], "region": ["y"], "size": [9.0], "y": 0.0})
    frame = pd.concat([FRAME[::-1], new])
    model = Stores.from_frame(frame.reset_index(drop=True), coords=coords)
    np.testing.assert_array_equal(model._binding.data["region"], [0, 0, 1, 1])
    assert said(model, fit, new_groups="draw") == []
    some = {"store": ["b"], "area": ["x"]}
    assert said(Stores.from_frame(FRAME[1:2].reset_index(drop=True), coords=some), fit) == []


def test_rows_without_labels():
    """As many rows as in the fit are matched by position, whatever their predictors are."""
    rows = infer(Rows(x=[1.0, 2.0], y=[1.0, 2.0]), **SHORT)
    (message,) = said(Rows(x=[2.0, 1.0]), rows)
    assert "the prior of 'effect' depends on 'x'" in message
    assert said(Rows(x=[1.0, 2.0]), rows) == []
    beside = infer(Beside(x=[1.0, 2.0], y=[1.0, 2.0]), **SHORT)
    assert said(Beside(x=[2.0, 1.0]), beside) == []
