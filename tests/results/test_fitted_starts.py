"""Chains that start at draws of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import InitializationError, Model, deterministic, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import HalfNormal, Normal
from probmodel.results.arviz_object import group
from probmodel.results.fitted_starts import from_fit


class Level(Model):
    mu = param(Normal(0, 1), dims="site")
    tau = param(HalfNormal(1))
    twice = deterministic(2 * mu)
    y = observed(Normal(mu, tau), dims="site")


class Other(Model):
    mu = param(Normal(0, 1), shape=2)
    slope = param(Normal(0, 1))
    y = observed(Normal(mu[0] + slope, 1))


class Strange(Model):
    unknown = param(Normal(0, 1))


@pytest.fixture(scope="module")
def fit():
    sizes = {"draws": 30, "warmup": 50, "chains": 2, "seed": 1, "quiet": True}
    return infer(Level(y=[0.5, 1.0]), **sizes)


def test_chains_start_at_its_last_draws(fit):
    posterior = as_posterior(Level(y=[0.5, 1.0]))
    draws = group(fit, "posterior")
    found = from_fit(fit, posterior, 2)
    assert [set(chain) for chain in found] == [{"mu", "tau"}] * 2
    for chain in range(2):
        np.testing.assert_array_equal(found[chain]["mu"], draws["mu"].values[chain, -1])
    turned = from_fit(draws[["mu"]].transpose("site", "draw", "chain"), posterior, 2)
    np.testing.assert_array_equal(turned[1]["mu"], found[1]["mu"])


def test_other_numbers_of_chains_start_at_draws_of_all_of_it(fit):
    posterior = as_posterior(Level(y=[0.5, 1.0]))
    flat = group(fit, "posterior")["tau"].values.reshape(-1)
    found = from_fit(fit, posterior, 3)
    np.testing.assert_array_equal([c["tau"] for c in found], flat[[0, 30, 59]])


def test_what_is_no_fit_is_left_as_it_is(fit):
    posterior = as_posterior(Strange())
    for inits in (None, 0.5, "prior", {"unknown": 1.0}, [{"unknown": 1.0}]):
        assert from_fit(inits, posterior, 1) is inits
    with pytest.raises(InitializationError, match="none of the parameters of the model: unknown"):
        infer(Strange(), inits=fit, chains=2, quiet=True)


def test_runs_take_a_fit(fit):
    sizes = {"draws": 5, "warmup": 5, "chains": 2, "seed": 2, "quiet": True}
    last = group(fit, "posterior")["mu"].values[:, -1]
    known = [{"mu": last[chain]} for chain in range(2)]
    one, other = (infer(Other(y=0.3), inits=inits, **sizes) for inits in (fit, known))
    np.testing.assert_array_equal(one.posterior["mu"], other.posterior["mu"])
