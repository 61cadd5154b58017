"""Standardising hierarchies by prior and data leaves the posterior what it is."""

import json

import numpy as np
import pytest

from probmodel import Model, data, infer, observed, param, sbc
from probmodel.distributions import (
    HalfNormal,
    LKJCholesky,
    LogNormal,
    MvNormal,
    Normal,
    Poisson,
    RandomWalk,
    StudentT,
)
from probmodel.distributions.scalar.location_scale import LocationScale

SIZES = {"draws": 100, "warmup": 200, "chains": 8, "thin_to": 49, "seed": 1}
GROUP = np.repeat(np.arange(6), [1, 1, 2, 4, 8, 16])


class Groups(Model):
    """Groups of one to sixteen observations, as people write them."""

    group = data(dims="obs", dtype=int)
    mu = param(Normal(0, 1))
    tau = param(HalfNormal(1))
    sigma = param(HalfNormal(1))
    theta = param(Normal(mu, tau), shape=6)
    y = observed(Normal(theta[group], sigma), dims="obs")


class GroupsThatDiffer(Model):
    """Groups with a scale that keeps away from zero.

    Without the Jacobian the density has a factor ``tau ** -6`` too many, which a half-normal prior
    cannot make integrable and this one can.
    """

    group = data(dims="obs", dtype=int)
    mu = param(Normal(0, 1))
    tau = param(LogNormal(0, 0.5))
    theta = param(Normal(mu, tau), shape=6)
    y = observed(Normal(theta[group], 1.0), dims="obs")


class Counts(Model):
    """Two levels with heavy tails, seen through counts."""

    tau = param(HalfNormal(1))
    omega = param(HalfNormal(0.5))
    region = param(StudentT(4, 0, tau), shape=3)
    area = param(Normal(region[np.repeat(np.arange(3), 3)], omega), shape=9)
    y = observed(Poisson(np.exp(area)), dims="place")


class Lines(Model):
    """Lines whose coefficients vary together."""

    t = data(dims="time")
    mu = param(Normal(0, 1), shape=2)
    tau = param(HalfNormal(1), shape=2)
    root = param(LKJCholesky(2), shape=(2, 2))
    line = param(MvNormal(mu, cholesky=tau[:, None] * root), shape=(5, 2))
    y = observed(Normal(line[:, :1] + line[:, 1:] * t, 0.5), dims=("child", "time"))


class Walk(Model):
    """A level that drifts, seen with noise."""

    sigma = param(HalfNormal(1))
    level = param(RandomWalk(sigma, 2.0), dims="time")
    y = observed(Normal(level, 0.5), dims="time")


CASES = {
    "groups": (Groups, {"data": {"group": GROUP}, "coords": {"obs": range(len(GROUP))}}),
    "counts": (Counts, {"coords": {"place": range(9)}}),
    "lines": (Lines, {"data": {"t": [-1.0, 0.0, 2.0]}, "coords": {"child": range(5)}}),
    "walk": (Walk, {"coords": {"time": range(12)}}),
}
SIMULATIONS = 40  # so few tell of a missing Jacobian


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES)
def test_calibration(case):
    model, given = CASES[case]
    result = sbc(model, SIMULATIONS, **given, **SIZES)
    assert result.ok, str(result)


@pytest.mark.statistical
def test_a_missing_jacobian_is_noticed(monkeypatch):
    monkeypatch.setattr(LocationScale, "noncentered_log_det", lambda self, xp, event, *params: 0.0)
    assert not sbc(GroupsThatDiffer, SIMULATIONS, **CASES["groups"][1], **SIZES).ok


@pytest.mark.statistical
def test_the_same_with_its_jacobian_is_calibrated():
    result = sbc(GroupsThatDiffer, SIMULATIONS, **CASES["groups"][1], **SIZES)
    assert result.ok, str(result)


def test_all_cases_are_standardised():
    for model, given in CASES.values():
        values = dict(given.get("data", {}))
        sizes = {dim: len(labels) for dim, labels in given["coords"].items()}
        shape = [sizes.get(dim, 3) for dim in model._declarations["y"].dims]
        values["y"] = np.random.default_rng(1).poisson(2.0, shape)
        found = infer(model(**values), draws=2, warmup=20, chains=4, seed=1, quiet=True)
        assert json.loads(found.attrs["standardised"])
