"""Multiple-try Metropolis: one try is a random walk, more leave skewed targets invariant."""

import numpy as np
import pytest
import scipy.stats

from probmodel.errors import SamplerError
from probmodel.samplers.random_walk.mtm import MultipleTry, _choose
from probmodel.samplers.random_walk.rwm import RandomWalk
from probmodel.samplers.step_size import Params


class Skewed:
    """The logarithm of a gamma variable of shape 2: a skewed density on the line."""

    dim = 1
    coordinate_names = ("x",)

    def __call__(self, x):
        raise AssertionError("no gradient is needed")

    def log_density(self, x):
        return 2.0 * x[:, 0] - np.exp(x[:, 0])

    def exact(self, rng, chains):
        return np.log(rng.gamma(2.0, size=(chains, 1)))


def moved(sampler, step_size, steps=20, chains=4000, seed=1):
    rng, target = np.random.default_rng(seed), Skewed()
    state = sampler.init(rng, target, target.exact(rng, chains))
    for _ in range(steps):
        state, info = sampler.step(rng, target, state, Params(step_size))
    return state.x[:, 0], info


def test_one_try_is_the_random_walk():
    a, _ = moved(MultipleTry(tries=1), 0.8, chains=20)
    b, _ = moved(RandomWalk(), 0.8, chains=20)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("tries", [2, 3, 7])
@pytest.mark.parametrize("step_size", [0.5, 2.5])
def test_skewed_density_is_left_invariant(tries, step_size):
    x, info = moved(MultipleTry(tries=tries), step_size)
    assert 0.05 < info.accepted.mean() < 1.0
    assert scipy.stats.kstest(np.exp(x), scipy.stats.gamma(2.0).cdf).pvalue > 1e-3


def test_forgetting_the_reference_points_is_noticed(monkeypatch):
    """Negative control: with the ratio of a plain random walk the density is not kept."""
    import probmodel.samplers.random_walk.mtm as module

    monkeypatch.setattr(module, "_difference", lambda a, b: np.zeros(len(a)))
    x, _ = moved(MultipleTry(tries=3), 2.5)
    assert scipy.stats.kstest(np.exp(x), scipy.stats.gamma(2.0).cdf).pvalue < 1e-6


def test_tries_are_chosen_by_their_weights():
    log_w = np.tile(np.log([0.1, 0.6, 0.3]) - 800.0, (30_000, 1))
    counts = np.bincount(_choose(np.random.default_rng(2), log_w), minlength=3)
    assert scipy.stats.chisquare(counts, 30_000 * np.array([0.1, 0.6, 0.3])).pvalue > 1e-3


def test_a_try_of_no_weight_is_never_chosen():
    log_w = np.array([[-np.inf, 0.0, -np.inf], [-np.inf, -np.inf, -np.inf]])
    rng = np.random.default_rng(3)
    for _ in range(50):
        chosen = _choose(rng, log_w)
        assert chosen[0] == 1
        assert 0 <= chosen[1] <= 2


def test_more_tries_are_accepted_more_often():
    rates = [moved(MultipleTry(tries=m), 2.5)[1].accepted.mean() for m in (1, 3, 10)]
    assert rates[0] < rates[1] < rates[2]


@pytest.mark.parametrize("tries", [0, -1, 2.5, True])
def test_tries_must_be_a_positive_whole_number(tries):
    with pytest.raises(SamplerError, match="tries must be"):
        MultipleTry(tries=tries)
