"""Warnings about sums and means that are not, at new data, what they were in the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, SamplingWarning, data, deterministic, infer, observed, param, predict
from probmodel.distributions import Normal
from probmodel.functions import softmax
from probmodel.results.arviz_object import group

SHORT = {"draws": 20, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}
LABELS = ["a", "b", "c", "d"]


class Centred(Model):
    place = data("obs", dtype=int)
    u = param(Normal(0, 3), dims="grp")
    uc = u - np.mean(u)
    y = observed(Normal(uc[place], 0.1), dims="obs")


class Jumps(Model):
    jump = param(Normal(0, 1), dims="t")
    level = np.cumsum(jump)
    y = observed(Normal(level, 0.1), dims="t")


class Shares(Model):
    theta = param(Normal(0, 1), dims="grp")
    share = deterministic(softmax(theta), dims="grp")
    y = observed(Normal(theta, 0.1), dims="grp")


class Scaled(Model):
    x = data("obs")
    b = param(Normal(0, 1))
    y = observed(Normal(b * (x - np.mean(x)) / np.std(x), 0.1), dims="obs")


class ScaledDraws(Model):
    """The predictor has a distribution of its own."""

    x = observed(Normal(0, 3), dims="obs")
    b = param(Normal(0, 1))
    y = observed(Normal(b * (x - np.mean(x)), 0.1), dims="obs")


class Weighted(Model):
    X = data(("obs", "feature"))
    b = param(Normal(0, 1), dims="feature")
    total = deterministic(np.sum(X * b, axis=1), dims="obs")
    y = observed(Normal(X @ b, 0.1), dims="obs")


@pytest.fixture(scope="module")
def fits():
    rng = np.random.default_rng(1)
    four, x = {"grp": LABELS}, np.arange(6.0)
    return {
        Centred: infer(Centred(place=range(4), y=[0.0, 1, 2, 9], coords=four), **SHORT),
        Jumps: infer(Jumps(y=np.arange(5.0), coords={"t": range(10, 15)}), **SHORT),
        Shares: infer(Shares(y=np.zeros(4), coords=four), **SHORT),
        Scaled: infer(Scaled(x=x, y=x), **SHORT),
        ScaledDraws: infer(ScaledDraws(x=x, y=x), **SHORT),
        Weighted: infer(
            Weighted(X=rng.normal(size=(6, 2)), y=x, coords={"feature": ["p", "q"]}), **SHORT
        ),
    }


def said(model, fits, **options):
    """Messages of a prediction, without those about other things."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = predict(model, fits[type(model)], seed=1, **options)
    return [str(w.message) for w in caught if w.category is SamplingWarning], done


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (Centred(place=[0, 1], coords={"grp": ["d", "b"]}), "mean(u)"),
        (Jumps(coords={"t": [13, 14]}), "level = cumsum(jump)"),
        (Shares(coords={"grp": ["b", "c"]}), "softmax(theta)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Model) else "",
)
def test_elements_of_the_fit_that_are_left_out(fits, model, what):
    (message,), _ = said(model, fits)
    assert f"predict: {what} runs over the elements that are bound here" in message


def test_elements_that_are_new_or_in_another_order(fits):
    more = {"grp": [*LABELS, "e"]}
    (message,), _ = said(Centred(place=[0, 4], coords=more), fits, new_groups="draw")
    assert "mean(u)" in message
    (message,), _ = said(Jumps(coords={"t": [14, 13, 12, 11, 10]}), fits)
    assert "cumsum(jump)" in message
    # A mean is the same in any order, and so is a softmax, element by element.
    assert said(Centred(place=[0, 1], coords={"grp": LABELS[::-1]}), fits)[0] == []
    assert said(Shares(coords={"grp": LABELS[::-1]}), fits)[0] == []


def test_statistics_of_new_data(fits):
    messages, done = said(Scaled(x=[20.0, 22.0]), fits)
    mean, std = sorted(messages)
    assert "predict: mean(x) is computed from the new data: 21, and 2.5 in the fit" in mean
    assert "std(x)" in std
    assert group(done, "predictions")["y"].sizes["obs"] == 2
    assert said(Scaled(x=np.arange(6.0)), fits)[0] == []
    (message,), _ = said(ScaledDraws(x=[20.0, 22.0]), fits)
    assert "mean(x) is computed from the new data: 21, and 2.5 in the fit" in message
    assert said(ScaledDraws(coords={"obs": range(2)}), fits)[0] == []  # it is drawn


class Columns(Model):
    X = data(("obs", "feature"))
    b = param(Normal(0, 1), dims="feature")
    y = observed(Normal((X - np.mean(X, axis=0)) @ b + np.sum(b - np.mean(b)), 0.1), dims="obs")


def test_columns_and_rows_in_another_order():
    """Statistics are compared by label, and up to rounding, of numbers that add up to zero."""
    X = np.random.default_rng(1).normal(size=(9, 4))
    frame = pd.DataFrame(X - X.mean(axis=0), columns=list("pqrs"))
    fits = {Columns: infer(Columns(X=frame, y=X[:, 0]), **SHORT)}
    turned = frame[list("rpsq")]
    known, again = (said(Columns(X=X), fits) for X in (frame, turned))
    assert known[0] == again[0] == []
    np.testing.assert_allclose(*(done.predictions["y"] for _, done in (known, again)))
    assert said(Columns(X=turned[::-1]), fits)[0] == []
    moved = turned.assign(q=turned["q"] + 1.0)
    (message,) = said(Columns(X=moved), fits)[0]
    assert "mean(X, axis=0) is computed from the new data" in message
    swapped = frame.assign(p=frame["p"] + 1.0).set_axis(
        list("qprs"), axis=1
    )  # not the same columns
    assert "mean(X, axis=0)" in said(Columns(X=swapped), fits)[0][0]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (Centred(place=[3, 3, 0], coords={"grp": LABELS}), {}),
        (Centred(place=[0, 1], coords={"grp": ["d", "b"]}), {"var_names": "u"}),
        (Jumps(coords={"t": range(10, 15)}), {}),
        (Shares(coords={"grp": ["b", "c"]}), {"var_names": "y"}),
        (Weighted(X=[[0.0, 1.0]], coords={"feature": ["q", "p"]}), {}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Model) else "",
)
def test_other_predictions_are_silent(fits, model, options):
    """All elements, nothing that depends on the others, or sums over elements of one row."""
    assert said(model, fits, **options)[0] == []
