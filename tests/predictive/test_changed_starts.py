"""Recurrences that start anew where a model is bound to other rows than those of the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, SamplingWarning, data, deterministic, infer, observed, param, predict
from probmodel.distributions import Beta, HalfNormal, Normal
from probmodel.functions import linear_recurrence, matrix_recurrence, scan

SHORT = {"draws": 20, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}
T, MORE = 12, 4
WEEKS = pd.date_range("2024-01-07", periods=T + MORE, freq="W")
X = np.random.default_rng(1).gamma(2.0, 1.0, T + MORE)
SERIES = pd.Series(X, index=WEEKS)


class Carried(Model):
    x = data("week")
    alpha = param(Beta(3, 3))
    level = deterministic(linear_recurrence(alpha, x), dims="week")
    y = observed(Normal(level, 0.1), dims="week")


class Stepped(Model):
    x = data("week")
    alpha = param(Beta(3, 3))
    level = deterministic(scan(lambda s, u, a: a * s + u, 0.0, x, args=(alpha,)), dims="week")
    y = observed(Normal(level, 0.1), dims="week")


class Pairs(Model):
    X = data(("week", "part"))
    alpha = param(Beta(3, 3))
    level = deterministic(matrix_recurrence(alpha * np.eye(2), X), dims=("week", "part"))
    y = observed(Normal(np.sum(level, axis=1), 0.1), dims="week")


class Summed(Model):
    x = data("week")
    b = param(HalfNormal(1))
    level = deterministic(np.cumsum(b * x), dims="week")
    y = observed(Normal(level, 0.1), dims="week")


class Grown(Model):
    x = data("week")
    b = param(HalfNormal(1))
    level = deterministic(b * np.cumprod(x), dims="week")
    y = observed(Normal(level, 0.1), dims="week")


class Changes(Model):
    x = data("week")
    b = param(HalfNormal(1))
    change = deterministic(b * np.diff(x))
    y = observed(Normal(b * x, 0.1), dims="week")


MODELS = (Carried, Stepped, Pairs, Summed, Grown, Changes)


def bound(model, values, **options):
    if model is Pairs:
        joined = pd.DataFrame({"u": values, "v": 2.0 * values})
        return Pairs(X=joined if isinstance(values, pd.Series) else joined.to_numpy(), **options)
    return model(x=values, **options)


@pytest.fixture(scope="module")
def fits():
    found = {}
    for model in MODELS:
        for past in (SERIES[:T], X[:T]):
            fit = infer(bound(model, past, y=np.ones(T)), **SHORT)
            found[model, type(past)] = fit
    return found


def said(model, fit, **options):
    """What is said of restarts, and the predictions of the level."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = predict(model, fit, seed=1, **options)
    messages = [str(w.message) for w in caught if w.category is SamplingWarning]
    return [m for m in messages if "starts anew" in m], done.predictions


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_the_future_alone(fits, model):
    fit = fits[model, pd.Series]
    (message,), alone = said(bound(model, SERIES[T:]), fit)
    assert "starts anew at '2024-03-31', " in message
    assert "the first 'week' that is bound here" in message
    assert "it starts at '2024-01-07'." in message
    # The truth: all rows together go on, and say nothing.
    none, together = said(bound(model, SERIES), fit)
    assert none == []
    if model is not Changes:
        ends = (p["level"].values[:, :, -MORE:] for p in (alone, together))
        assert not np.allclose(*ends)


@pytest.mark.parametrize("model", MODELS)
def test_rows_from_the_first_on_are_silent(fits, model):
    fit = fits[model, pd.Series]
    assert said(bound(model, SERIES[:T]), fit)[0] == []
    assert said(bound(model, 3.0 * SERIES[:T]), fit)[0] == []  # other values at the same rows
    assert said(bound(model, SERIES[: T - 3]), fit)[0] == []


@pytest.mark.parametrize("model", MODELS)
def test_rows_without_labels_are_compared_by_their_data(fits, model):
    fit = fits[model, np.ndarray]
    assert said(bound(model, X[:T]), fit)[0] == []
    assert said(bound(model, X), fit)[0] == []
    (message,), _ = said(bound(model, X[T:]), fit)
    assert "starts anew at the first row that is bound here" in message
    (message,), _ = (
        said(bound(model, X[T : T + 1]), fit) if model is not Changes else ([message], 0)
    )
    assert "labels of 'week' in both" in message
    labels = {"week": range(T)}
    assert said(bound(model, 3.0 * X[:T], coords=labels), fit)[0] == []


class Walk(Model):
    step = param(Normal(0, 1), dims="day")
    level = deterministic(linear_recurrence(0.9, step), dims="day")
    y = observed(Normal(level, 0.1), dims="day")


def test_recurrences_over_parameters():
    fit = infer(Walk(y=np.ones(5), coords={"day": range(10, 15)}), **SHORT)
    days = [range(15, 18), range(10, 18), range(10, 15)]
    alone, together, same = (
        said(Walk(coords={"day": labels}), fit, new_groups="draw")[0] for labels in days
    )
    assert "starts anew at '15'" in alone[0]
    assert together == same == []


class Rows(Model):
    """The sums run along the parts, in each row by itself."""

    X = data(("obs", "part"))
    b = param(HalfNormal(1), dims="part")
    y = observed(Normal(np.sum(np.cumsum(b * X, axis=1), axis=1), 0.1), dims="obs")


def test_other_rows_that_do_not_follow_each_other():
    parts = {"part": ["u", "v", "w"]}
    fit = infer(Rows(X=X[:T].reshape(4, 3), y=np.ones(4), coords=parts), **SHORT)
    assert said(Rows(X=[[9.0, 8.0, 7.0]], coords={**parts, "obs": ["new"]}), fit)[0] == []


class Channels(Model):
    spend = data(("week", "channel"))
    alpha = param(Beta(3, 3), dims="channel")
    level = linear_recurrence(alpha, spend)
    y = observed(Normal(np.sum(level, axis=1), 0.1), dims="week")


def test_columns_in_another_order_start_where_they_did():
    spend = pd.DataFrame({"tv": X, "web": X[::-1]}, index=WEEKS)
    fit = infer(Channels(spend=spend[:T], y=np.ones(T)), **SHORT)
    (none, turned), (_, known) = (
        said(Channels(spend=spend[:T][columns]), fit) for columns in (["web", "tv"], ["tv", "web"])
    )
    assert none == []
    np.testing.assert_allclose(turned["y"], known["y"])
    (message,), _ = said(Channels(spend=spend[T:]), fit)
    assert "level = linear_recurrence(alpha, spend, 0) starts anew" in message
