"""Potentials that add up all pairs of rows: advice where nobody asked for the pairs."""

import json

import numpy as np
import pytest

from probmodel import Model, data, deterministic, infer, observed, param, potential
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import ShapeError
from probmodel.functions import log_density
from probmodel.model.lints import lint, mistakes

RNG = np.random.default_rng(3)
X = RNG.normal(size=(20, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=20)


def column(X, W, b):
    return X @ W


def affine(X, W, b):
    return deterministic(np.tanh(X @ W) * 2.0 + b)


def transposed(X, W, b):
    return X @ W.T.T + b


def asked(X, W, b):
    return (X @ W)[:, 0][:, None]


def asked_of_weights(X, W, b):
    return X @ W[:, 0][:, None]


def kept(X, W, b):
    return np.sum(X, axis=1, keepdims=True) * b


def flat(X, W, b):
    return (X @ W)[:, 0]


def of_density(mu, s, y):
    return log_density(Normal(mu, s), y)


def of_sum(mu, s, y):
    return np.sum(-np.log(s) - 0.5 * ((y - mu) / s) ** 2)


def with_none(mu, s, y):
    return log_density(Normal(mu, s), y[None, :])


def bound(mean, term):
    body = {
        "X": data(("n", "d")),
        "y": data("n"),
        "W": param(Normal(0, 1), shape=(2, 1)),
        "b": param(Normal(0, 1), shape=(1,)),
        "s": param(HalfNormal(1)),
    }
    for name, declaration in body.items():
        declaration.name = name
    mu = mean(body["X"], body["W"], body["b"])
    if not hasattr(mu, "operation"):
        mu.name = "mu"
        body["mu"] = mu
    body["ll"] = potential(term(mu, body["s"], body["y"]))
    body["ll"].name = "ll"
    return type("Case", (Model,), body)(X=X, y=Y)


def pairs(model):
    return [(a.kind, a.declaration) for a in lint(model) if a.kind == "pairs"]


@pytest.mark.parametrize("mean", [column, affine, transposed])
@pytest.mark.parametrize("term", [of_density, of_sum])
def test_pairs_that_nobody_asked_for(mean, term):
    assert pairs(bound(mean, term)) == [("pairs", "ll")]


@pytest.mark.parametrize(
    ("mean", "term"),
    [
        (asked, of_density),
        (asked_of_weights, of_density),
        (kept, of_sum),
        (flat, of_density),
        (flat, of_sum),
        (column, with_none),
    ],
)
def test_silent_where_the_axis_was_written_or_nothing_is_paired(mean, term):
    assert pairs(bound(mean, term)) == []


def test_other_dims_of_one_column_are_no_pairs_of_rows():
    class Grid(Model):
        X = data(("n", "d"))
        points = data("grid")
        W = param(Normal(0, 1), shape=(2, 1))
        ll = potential(log_density(Normal(X @ W, 1.0), points))

    assert pairs(Grid(X=X, points=np.linspace(0, 1, 5))) == []


class Column(Model):
    X = data(("n", "d"))
    y = data("n")
    W = param(Normal(0, 1), shape=(2, 1))
    s = param(HalfNormal(1))
    ll = potential(log_density(Normal(X @ W, s), y))


def test_the_advice_says_what_to_write_and_infer_warns():
    (advice,) = mistakes(Column(X=X, y=Y))
    assert advice.kind == "pairs"
    assert "X @ W has the shape (20, 1) and y the shape (20,)" in advice.message
    assert "write (X @ W)[:, 0]; if all pairs are meant" in advice.message
    assert "y[None, :]" in advice.message
    fit = infer(Column(X=X, y=Y), chains=2, warmup=50, draws=20, seed=1, quiet=True)
    found = {f["kind"]: f for f in json.loads(fit.attrs["warnings"])}
    assert found["pairs"]["variables"] == ["ll"]


def test_long_formulas_are_gone_through_once():
    class Long(Model):
        X = data(("n", "d"))
        y = data("n")
        W = param(Normal(0, 1), shape=(2, 1))
        h = X @ W
        for _ in range(60):
            h = h * 0.5 + np.tanh(h)
        ll = potential(log_density(Normal(h, 1.0), y))

    assert pairs(Long(X=X, y=Y)) == [("pairs", "ll")]


def test_observed_quantities_refuse_pairs():
    class Refused(Model):
        X = data(("n", "d"))
        W = param(Normal(0, 1), shape=(2, 1))
        y = observed(Normal(X @ W, 1.0), dims="n")

    with pytest.raises(ShapeError, match="pair every element"):
        Refused(X=X, y=Y)
