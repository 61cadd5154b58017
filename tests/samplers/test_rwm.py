"""Random-walk Metropolis: the step size rule, and that it asks for no gradients."""

import numpy as np
import pytest

from probmodel.inference.groups import sample
from probmodel.samplers.random_walk.rwm import RandomWalk


class ValueOnly:
    """A standard normal density that refuses to be differentiated."""

    dim = 3
    coordinate_names = ()

    def __call__(self, x):
        raise AssertionError("no gradient is needed")

    def log_density(self, x):
        return -0.5 * np.sum(x * x, axis=1)


def test_acceptance_reaches_its_target_without_gradients():
    x0 = np.random.default_rng(1).uniform(-2.0, 2.0, (8, 3))
    run = sample(RandomWalk(), ValueOnly(), x0, 2, draws=1500, warmup=1500)
    # The rule leaves log delta with a standard deviation of about 0.2, the acceptance with 0.025.
    assert abs(run.stats["acceptance_rate"].mean() - 0.25) < 0.1
    assert run.work_warmup.grad == run.work_sampling.grad == 0


def test_one_chain_follows_the_papers_rule():
    rng, target = np.random.default_rng(3), ValueOnly()
    sampler = RandomWalk(step_size=0.5)
    state = sampler.init(rng, target, np.zeros((1, 3)))
    adaptation = sampler.adapt_init(rng, target, state)
    state, info = sampler.step(rng, target, state, sampler.params(adaptation))
    adaptation = sampler.adapt(rng, target, 0, 10, adaptation, state, info)
    a = float(info.accepted[0])
    expected = 0.25 * (1.0 + 0.01 * (a - 0.25) / 0.25)
    assert np.exp(adaptation.log_sigma2) == pytest.approx(expected, rel=1e-14)
