"""Warnings about sums and means that are not, at new data, what they were in the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, SamplingWarning, data, deterministic, infer, observed, param, predict
from probmodel.distributions import Normal
from probmodel.functions import logsumexp, softmax
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


class Summed(Model):
    """The same, by the letters of axes."""

    X = data(("obs", "feature"))
    b = param(Normal(0, 1), dims="feature")
    y = observed(Normal(np.einsum("ij,j->i", X, b), 0.1), dims="obs")


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
        Summed: infer(
            Summed(X=[[1, 2.0], [0, 1]], y=[0, 1], coords={"feature": ["p", "q"]}), **SHORT
        ),
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
    with pytest.warns(SamplingWarning, match="labels decrease, from 14 to 10"):
        turned = Jumps(coords={"t": [14, 13, 12, 11, 10]})
    (message,), _ = said(turned, fits)
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


@pytest.mark.parametrize("columns", [["q"], ["q", "r"]])
def test_columns_of_the_fit_that_are_left_out(fits, columns):
    """A matrix without a column predicts as if it were zero, and says so."""
    model = Weighted(X=np.ones((1, len(columns))), coords={"feature": columns})
    messages, done = said(model, fits, new_groups="zero")
    assert any("X @ b adds up the elements along 'feature'" in message for message in messages)
    assert all("Without 'p', it is what it would be if" in message for message in messages)
    b = fits[Weighted].posterior["b"].sel(feature="q")
    np.testing.assert_allclose(done.predictions["total"].values[..., 0], b)
    whole = Weighted(X=[[1.0, 0.0, 1.0]], coords={"feature": ["q", "p", "r"]})
    assert said(whole, fits, new_groups="zero")[0] == []


def test_sums_by_letters_that_lack_a_column_of_the_fit(fits):
    """They are told as sums of products are."""
    (message,) = said(Summed(X=np.ones((1, 1)), coords={"feature": ["q"]}), fits)[0]
    assert 'einsum(X, b, subscripts="ij,j->i") adds up the elements along' in message
    assert said(Summed(X=np.ones((1, 2)), coords={"feature": ["q", "p"]}), fits)[0] == []


class Contrasts(Model):
    """Effects less that of a reference group, the first."""

    place = data("obs", dtype=int)
    u = param(Normal(0, 3), dims="grp")
    y = observed(Normal(u[place] - u[0], 0.1), dims="obs")


class Ends(Model):
    """Effects less those of several places, each of them given as a number."""

    u = param(Normal(0, 3), dims="grp")
    less = u - u[0] - u[1] - u[2] - u[-1]
    y = observed(Normal(less, 0.1), dims="grp")


class Squares(Model):
    place = data("obs", dtype=int)
    u = param(Normal(0, 3), dims="grp")
    y = observed(Normal(u[place] / (1.0 + u @ u), 0.1), dims="obs")


@pytest.fixture(scope="module")
def references():
    four, y = {"grp": LABELS}, [0.0, 1, 2, 9]
    return {
        Contrasts: infer(Contrasts(place=range(4), y=y, coords=four), **SHORT),
        Ends: infer(Ends(y=y, coords=four), **SHORT),
        Squares: infer(Squares(place=range(4), y=y, coords=four), **SHORT),
    }


def test_elements_at_places_that_are_numbers(references):
    (message,), _ = said(Contrasts(place=[0, 1], coords={"grp": ["d", "b"]}), references)
    assert message.startswith("predict: the model takes u[0] by position, and other elements are")
    (message,), _ = said(Contrasts(place=[0, 1], coords={"grp": LABELS[::-1]}), references)
    assert "takes u[0] by position" in message
    (message,), _ = said(Ends(coords={"grp": ["d", "b", "c"]}), references)
    assert "takes u[-1], u[0] by position" in message
    (message,), _ = said(Ends(coords={"grp": LABELS[::-1]}), references)
    assert "takes u[-1], u[0], u[1] and 1 more by position" in message
    (message,), _ = said(Squares(place=[0, 1], coords={"grp": ["d", "b"]}), references)
    assert "predict: u @ u runs over the elements that are bound here" in message
    # The reference is at its place, whatever else is bound.
    assert said(Contrasts(place=[0, 1], coords={"grp": ["a", "c"]}), references)[0] == []


def since_first(x):
    return x - x[0]


def of_the_sum(x):
    return x / np.sum(x)


def of_the_length(x):
    return x / np.sqrt(np.sum(x**2))


def of_the_product(x):
    return x / (x @ x)


def since_smallest(x):
    return x - np.sort(x)[0]


def of_all(x):
    return x / np.exp(logsumexp(x))


@pytest.mark.parametrize(
    "made", [since_first, of_the_sum, of_the_length, of_the_product, since_smallest, of_all]
)
def test_sums_and_elements_of_data_that_are_used_element_by_element(made):
    class Made(Model):
        x = data("obs")
        b = param(Normal(0, 1))
        y = observed(Normal(b * made(x), 0.1), dims="obs")

    x = np.arange(1.0, 7.0)
    fit = {Made: infer(Made(x=x, y=x), **SHORT)}
    (message,), _ = said(Made(x=[20.0, 22.0]), fit)
    assert "is computed from the new data: " in message
    assert said(Made(x=x), fit)[0] == []


class Totals(Model):
    """A total, a first element and a column that are meant as such."""

    n = data("obs", dtype=int)
    dose = data("event")
    X = data(("row", "feature"))
    b = param(Normal(0, 1))
    total = deterministic(b * np.sum(n) + dose[0])
    rows = deterministic(b * X[:, 0] + np.sum(X, axis=1), dims="row")
    y = observed(Normal(b, 1))


def test_totals_and_elements_that_are_used_as_such_are_silent():
    fit = {Totals: infer(Totals(n=[1, 2], dose=[3.0, 1.0], X=np.eye(2), y=0.0), **SHORT)}
    new = Totals(n=[5, 9], dose=[1.0, 4.0], X=2.0 * np.ones((2, 2)))
    assert said(new, fit)[0] == []
