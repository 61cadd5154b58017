"""Restarts of lost chains leave the posterior what it is."""

import numpy as np
import pytest

from probmodel import Model, observed, param, sbc
from probmodel.distributions import ARMA, Beta, HalfNormal, Mixture, Normal
from probmodel.inference import groups, restarts
from probmodel.inference.chains import Group
from probmodel.inference.restarts import taken

SIZES = {
    "draws": 200, "warmup": 300, "chains": 8, "thin_to": 49, "seed": 1, "inits": 2.0,
}  # fmt: skip


class Series(Model):
    """Errors that stay for another day: starts at which they grow without bounds are lost.

    They do so where ``|theta|`` is above 1, as half of the starts are, and the prior hardly is:
    series that were made there have posteriors as narrow as a needle.
    """

    mu = param(Normal(0, 3))
    phi = param(Normal(0, 0.5), shape=1)
    theta = param(Normal(0, 0.25), shape=1)
    sigma = param(HalfNormal(1))
    y = observed(ARMA(phi, theta, sigma, mu), dims="day")


class TwoGroups(Model):
    """Two groups at a known distance.

    In a lower mode the larger group is taken for the upper one, and nothing is left to explain the
    other: chains that start below are lost there. So many observations leave it no weight.
    """

    share = param(Beta(8, 4))
    mu = param(Normal(0, 3))
    y = observed(
        Mixture(np.stack([share, 1 - share]), Normal(np.stack([mu, mu + 8.0]), 1.0)), dims="obs"
    )


class Mean(Model):
    """A mean and a standard deviation."""

    mu = param(Normal(0, 1))
    sigma = param(HalfNormal(1))
    y = observed(Normal(mu, sigma), dims="day")


class AlsoWhileSampling(Group):
    """Chains of low log densities begin again in every iteration, also while sampling."""

    def draw(self):
        super().draw()
        order = np.argsort(self._state.logp)
        rows = np.arange(len(order))
        rows[order[:4]] = order[4:]
        self._state = taken(self._state, rows)
        self._stretches = self._sampler.stretches(
            self._streams, self._density, self._state, self.params, lambda: 10_000
        )


CASES = {"series": (Series, {"day": range(60)}), "mixture": (TwoGroups, {"obs": range(40)})}


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES)
def test_calibration(monkeypatch, case):
    model, coords = CASES[case]
    lost = []

    def noted(window, dim, find=restarts.find_lost):
        found = find(window, dim)
        lost.append(found[0].sum())
        return found

    monkeypatch.setattr(restarts, "find_lost", noted)
    result = sbc(model, 80, coords=coords, **SIZES)
    assert result.ok, str(result)
    assert np.sum(lost) > 5


@pytest.mark.statistical
@pytest.mark.parametrize("group", [Group, AlsoWhileSampling])
def test_restarts_while_sampling_are_noticed(monkeypatch, group):
    """With short trajectories: a draw that is nearly independent forgets where it began."""
    monkeypatch.setattr(groups, "Group", group)
    result = sbc(Mean, 40, coords={"day": range(10)}, **SIZES, trajectory_length=0.5)
    assert result.ok == (group is Group), str(result)
