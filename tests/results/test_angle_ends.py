"""Angles whose posterior goes on beyond the end of their interval, where no chain has been."""

import json

import numpy as np
import pytest

from probmodel import Model, infer, observed, param
from probmodel.distributions import HalfNormal, Normal, Uniform, VonMises

T = np.arange(12.0)
W = np.linspace(-np.pi, np.pi, 720, endpoint=False)
A = np.linspace(0.0, 8.0, 401)[1:]


class Phase(Model):
    A = param(HalfNormal(2))
    w = param(VonMises(0, 0.001))
    y = observed(Normal(A * np.cos(2 * np.pi * T / 3 + w), 1), dims="t")


class Two(Model):
    w = param(Uniform(0, 2 * np.pi), shape=2)
    y = observed(Normal(np.cos(T + w[0]) + 0.7 * np.cos(0.4 * T + w[1]), 0.5), dims="t")


class Line(Model):
    w = param(Uniform(-np.pi, np.pi))
    y = observed(Normal(w, 0.5), dims="t")


def data(phase, seed):
    return 1.5 * np.cos(2 * np.pi * T / 3 + phase) + np.random.default_rng(seed).normal(size=12)


def beyond(y):
    """Posterior probability of angles in the quarter turn after -pi, by quadrature."""
    mean = A[:, None, None] * np.cos(2 * np.pi * T / 3 + W[None, :, None])
    log = -0.5 * ((y - mean) ** 2).sum(axis=2) - A[:, None] ** 2 / 8
    p = np.exp(log - log.max()).sum(axis=0)
    return p[-np.pi / 2 > W].sum() / p.sum()


def findings(model, **settings):
    fit = infer(model, quiet=True, **settings)
    return {f["kind"]: f for f in json.loads(fit.attrs["warnings"])}, fit


def test_what_lies_beyond_the_end_is_measured():
    y = data(2.5, 1)
    found, fit = findings(Phase(y=y), chains=2, seed=1, inits=[{"A": 1.5, "w": 2.5}] * 2)
    assert (fit.posterior["w"] < -np.pi / 2).sum() == 0
    finding = found["angle_ends"]
    assert finding["variables"] == ["w"]
    assert "goes on beyond pi" in finding["message"]
    assert "lies next to -pi" in finding["message"]
    said = float(finding["message"].split("at least ")[1].split(" %")[0]) / 100
    assert 0.02 < beyond(y) < 0.06
    assert said == pytest.approx(beyond(y), abs=0.012)


@pytest.mark.parametrize(("phase", "seed"), [(0.0, 0), (0.0, 2), (1.0, 0), (1.0, 2)])
def test_no_alarm_for_angles_far_from_the_ends_or_all_around(phase, seed):
    found, _ = findings(Phase(y=data(phase, seed)), chains=2, seed=seed)
    assert "angle_ends" not in found


def test_elements_that_are_at_an_end_are_named():
    y = np.cos(T + 0.05) + 0.7 * np.cos(0.4 * T + 2.0)
    y += 0.5 * np.random.default_rng(4).normal(size=12)
    found, _ = findings(Two(y=y), chains=2, seed=3, inits=[{"w": [0.1, 2.0]}] * 2)
    assert found["angle_ends"]["variables"] == ["w[0]"]
    assert "goes on beyond 0" in found["angle_ends"]["message"]


def test_a_line_of_that_length_is_no_angle():
    y = 3.0 + 0.5 * np.random.default_rng(0).normal(size=12)
    found, _ = findings(Line(y=y), chains=2, seed=1)
    assert "angle_ends" not in found
