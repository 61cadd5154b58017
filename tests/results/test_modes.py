"""Modes are named where chains seldom cross between them, and nowhere else."""

import json

import numpy as np
import pytest

from probmodel import Model, infer, observed, param
from probmodel.distributions import Mixture, Normal
from probmodel.results.modes import two_modes

CHAINS, DRAWS = 16, 1000


def switching(rng, leave, low=-5.0, high=5.0):
    """Draws from two modes of width 1 that chains leave with some probability each time."""
    flips = rng.random((CHAINS, DRAWS)) < leave
    upper = (np.cumsum(flips, axis=1) + rng.integers(2, size=(CHAINS, 1))) % 2 == 1
    return np.where(upper, high, low) + rng.standard_normal((CHAINS, DRAWS)), upper


def slow(rng, phi=0.995):
    """Autoregressive chains, standard normal in the long run."""
    x = rng.standard_normal((CHAINS, DRAWS))
    for t in range(1, DRAWS):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1.0 - phi**2) * x[:, t]
    return x


@pytest.mark.parametrize("leave", [0.001, 0.002, 0.02])
@pytest.mark.parametrize("seed", range(5))
def test_modes_that_chains_seldom_leave(seed, leave):
    draws, upper = switching(np.random.default_rng(seed), leave)
    found = two_modes(draws)
    assert abs(found.low + 5.0) < 0.5
    assert abs(found.high - 5.0) < 0.5
    assert found.upper == pytest.approx(upper.mean())
    crossed = np.count_nonzero(upper[:, 1:] != upper[:, :-1])
    assert 0.5 * crossed <= found.crossings <= crossed  # a short stay need not reach the middle


@pytest.mark.parametrize("draws", [200, 1000])
@pytest.mark.parametrize("phi", [0.995, 0.999, 0.9999])
def test_few_chains_that_hardly_move(phi, draws):
    """What lies between them is no valley."""
    for seed in range(30):
        x = slow(np.random.default_rng(seed), phi)[:4, :draws]
        assert two_modes(x) is None


@pytest.mark.parametrize("seed", range(5))
def test_modes_that_chains_leave_often_are_sampled_well(seed):
    draws, _ = switching(np.random.default_rng(seed), 0.2)
    assert two_modes(draws) is None


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("shape", [np.array, np.exp, np.sinh, np.arctan, np.abs, np.square])
def test_slow_chains_on_one_mode(seed, shape):
    """Whatever the shape: normal, skewed, with heavy tails, or flat."""
    assert two_modes(shape(slow(np.random.default_rng(seed)))) is None


def test_what_has_no_two_groups():
    assert two_modes(np.zeros((4, 100))) is None
    assert two_modes(np.full((4, 100), np.nan)) is None
    outlier = np.random.default_rng(1).standard_normal((4, 500))
    outlier[0, 0] = 1e6
    assert two_modes(outlier) is None


def test_three_modes():
    """Of two valleys, one is named; which one does not matter."""
    rng = np.random.default_rng(2)
    place = (np.cumsum(rng.random((CHAINS, DRAWS)) < 0.01, axis=1) + np.arange(CHAINS)[:, None]) % 3
    found = two_modes(np.array([-10.0, 0.0, 4.0])[place] + rng.standard_normal(place.shape))
    assert min(abs(found.low - place) for place in (-10.0, 0.0)) < 0.5
    assert min(abs(found.high - place) for place in (0.0, 4.0)) < 0.5


class TwoGroups(Model):
    """A mixture whose components can swap."""

    mu = param(Normal(0, 10), shape=2)
    y = observed(Mixture(np.array([0.5, 0.5]), Normal(mu, 1.0)), dims="obs")


def found_in(distance):
    """Warnings of a run on eight observations in groups so far apart, and the draws."""
    rng = np.random.default_rng(3)
    y = rng.standard_normal(8) + distance * (np.arange(8) % 2)
    run = infer(TwoGroups(y=y), seed=1, quiet=True)
    return {entry["kind"]: entry for entry in json.loads(run.attrs["warnings"])}, run


@pytest.mark.filterwarnings("ignore::probmodel.errors.SamplingWarning")
def test_labels_that_switch_now_and_then():
    found, run = found_in(3.6)
    assert "separated_chains" not in found
    modes = found["several_modes"]
    assert set(modes["variables"]) == {"mu[0]", "mu[1]"}
    assert "The posterior is the same when elements of mu swap" in modes["message"]
    assert "crossed" in modes["message"]
    upper = np.asarray(run.posterior["mu"]).argmax(axis=-1)
    assert 0 < np.count_nonzero(np.diff(upper, axis=1)) < 0.05 * upper.size


@pytest.mark.filterwarnings("ignore::probmodel.errors.SamplingWarning")
def test_labels_that_never_switch_are_separated_chains():
    found, _ = found_in(9.0)
    assert "separated_chains" in found
    assert "several_modes" not in found
