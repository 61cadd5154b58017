"""Hierarchies that are sampled as written: climbs and restarts leave chains in the mouth."""

import json

import numpy as np
import pytest

from probmodel import Model, data, infer, observed, param, potential
from probmodel.distributions import (
    Affine,
    BernoulliLogit,
    Flat,
    HalfNormal,
    Mixture,
    Normal,
    StudentT,
    Truncated,
)
from probmodel.functions import log_density
from probmodel.inference import restarts


class Plain(Model):
    """Success rates of groups; standardised by ``infer``, as the other models are not."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(Normal(mean, scale), dims="group")
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class WithBound(Model):
    """A bound in the distribution, so low that it does not matter; it is no number."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(Truncated(Normal(mean, scale), lower=mean - 20.0), dims="group")
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class InPotential(Model):
    """The prior of the effects as a term of the density."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(Flat(), dims="group")
    prior = potential(log_density(Normal(mean, scale), effect))
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class InMixture(Model):
    """Two components that are the same."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(Mixture([0.5, 0.5], [Normal(mean, scale), Normal(mean, scale)]), dims="group")
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class Students(Model):
    """Heavier tails."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(StudentT(3, mean, scale), dims="group")
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class StudentsMoved(Model):
    """The same, as a transformed distribution."""

    member = data("obs", dtype=int)
    mean = param(Normal(0, 1.5))
    scale = param(HalfNormal(1))
    effect = param(Affine(StudentT(3, 0, 1), mean, scale), dims="group")
    y = observed(BernoulliLogit(effect[member]), dims="obs")


class Funnel(Model):
    """Neal's funnel as written: the log scale has a normal prior."""

    v = param(Normal(0, 3))
    x = param(Normal(0, np.exp(0.5 * v)), shape=9, noncentered=False)


def rates(seed):
    """Three trials of each of 20 groups, without differences."""
    y = np.random.default_rng(seed).integers(0, 2, 60)
    return {"member": np.repeat(np.arange(20), 3), "y": y, "coords": {"group": range(20)}}


HIERARCHIES = [
    (WithBound, Plain), (InPotential, Plain), (InMixture, Plain), (StudentsMoved, Students),
]  # fmt: skip


def scale_of(model, seed, **options):
    """The posterior mean of the scale, and its standard error."""
    draws = infer(model(**rates(seed)), seed=seed, quiet=True, **options).posterior["scale"].values
    chain_means = draws.mean(axis=1)
    return draws.mean(), chain_means.std(ddof=1) / np.sqrt(len(chain_means))


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [4, 30])
@pytest.mark.parametrize(("as_written", "standardised"), HIERARCHIES)
def test_hierarchies_that_are_not_standardised_have_the_same_posterior(
    as_written, standardised, seed
):
    """Chains stay in the mouth of the funnel, though their densities there are far lower."""
    (found, error), (expected, of_expected) = (
        scale_of(as_written, seed),
        scale_of(standardised, seed),
    )
    assert abs(found - expected) < 4.0 * np.hypot(error, of_expected)
    assert error < 0.1 * expected


@pytest.mark.statistical
def test_chains_that_are_moved_into_the_neck_have_another_posterior(monkeypatch):
    """Negative control: by the variances alone, the volume in the neck is taken to be large."""
    bounds = restarts.Window.log_volumes.fget
    monkeypatch.setattr(
        restarts.Window, "log_volumes", property(lambda self: (bounds(self)[1], bounds(self)[1]))
    )
    found, error = scale_of(InMixture, 30)
    expected, of_expected = scale_of(Plain, 30)
    assert abs(found - expected) > 4.0 * np.hypot(error, of_expected)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_chains_do_not_stay_in_the_neck_of_a_funnel(seed, monkeypatch):
    v = infer(Funnel(), seed=seed, quiet=True).posterior["v"].values
    assert abs(v.mean()) < 1.5
    assert abs(v.std() - 3.0) < 1.0
    monkeypatch.setattr("probmodel.adaptation.ascent.LARGEST", 0)
    control = infer(Funnel(), seed=seed, quiet=True)
    assert control.posterior["v"].mean() < -4.0
    assert json.loads(control.attrs["warnings"])
