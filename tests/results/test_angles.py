"""Angles whose interval ends where the posterior is."""

import json

import numpy as np
import pytest

from probmodel import Model, infer, observed, param
from probmodel.constraints import UnitVector
from probmodel.density import as_posterior
from probmodel.distributions import Normal, Uniform, VonMises
from probmodel.results.angles import across_the_end

T = np.linspace(0.0, 12.0, 25)
NOISE = 0.8 * np.random.default_rng(3).standard_normal(25)


class Centred(Model):
    w = param(VonMises(0, 0.001))
    y = observed(Normal(np.cos(T + w), 0.8), dims="time")


class Turn(Model):
    w = param(Uniform(0, 2 * np.pi), shape=2)
    y = observed(Normal(np.cos(T + w[1]) + 0.5 * np.cos(T - w[0]), 0.8), dims="time")


class Line(Model):
    w = param(Uniform(-np.pi, np.pi))
    y = observed(Normal(np.cos(T + w) + 0.1 * w, 0.8), dims="time")


class Direction(Model):
    u = param(constraint=UnitVector(), shape=2)
    y = observed(Normal(np.cos(T + np.arctan2(u[1], u[0])), 0.8), dims="time")


def said(model, rows, name, apart=6.0):
    posterior = as_posterior(model)
    draws = {"w": np.array(rows)}
    k = int(name[2]) if "[" in name else 0
    row = draws["w"].reshape(*draws["w"].shape[:2], -1)[:, :, k]
    return across_the_end(posterior, draws, name, row, apart)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_chains_on_both_sides_of_the_end_are_told_apart_from_modes(seed):
    model = Centred(y=np.cos(T + np.pi) + NOISE)
    settings = {"draws": 400, "chains": 12, "quiet": True}
    fit = infer(model, seed=seed, **settings)
    messages = [f["message"] for f in json.loads(fit.attrs["warnings"])]
    assert any("w is an angle: -pi and pi are one direction" in m for m in messages)
    assert not any("may have several modes" in m for m in messages)
    vector = infer(Direction(y=np.cos(T + np.pi) + NOISE), seed=seed, **settings)
    assert json.loads(vector.attrs["warnings"]) == []


def test_elements_and_other_intervals():
    turn = Turn(y=np.cos(T) + NOISE)
    rows = [[[1.0, 0.1], [1.2, 0.2]], [[1.1, 6.1], [0.9, 6.2]]]
    assert "w[1] is an angle: 0 and 2 pi are one direction" in said(turn, rows, "w[1]")
    assert said(turn, rows, "w[1]", apart=4.0) == ""


def test_what_is_not_the_same_at_both_ends_is_no_angle():
    line = Line(y=np.cos(T) + NOISE)
    assert said(line, [[-3.0, -2.9], [3.0, 3.1]], "w") == ""
    assert said(line, [[-4.0, -2.9], [3.0, 3.1]], "w") == ""
