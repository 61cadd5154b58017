"""Samplers whose chains are ensembles of points: all points of a chain are judged."""

import pytest

from probmodel import testing
from probmodel.samplers.random_walk.sa_mcmc import SampleAdaptive


class Flattened:
    """A density that is flatter than it should be."""

    def __init__(self, density):
        self.density = density

    def log_density(self, x):
        return 0.5 * self.density.log_density(x)


class WideEnsembles(SampleAdaptive):
    """Admits points by another density than that of the points it has."""

    def step(self, rng, density, state, params):
        return super().step(rng, Flattened(density), state, params)


def test_all_points_of_ensembles_are_judged():
    testing.check_invariance(SampleAdaptive(ensemble=12))
    with pytest.raises(AssertionError, match="Of 12000 points"):
        testing.check_invariance(WideEnsembles(ensemble=12))
