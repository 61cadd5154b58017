"""Adaptive Langevin: its covariance recursion, its phases, and what it learns."""

import numpy as np
import pytest

from probmodel.adaptation.welford import Moments
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.inference.groups import sample
from probmodel.samplers.langevin.ada_mala import AdaMALA
from probmodel.samplers.langevin.mala import MALA


def history(sampler, targets, warmup, chains=1, seed=1):
    """Positions and parameters of every warm-up iteration."""
    seen = []

    class Record(Collector):
        def record(self, phase, i, state, info, params):
            if phase == "warmup":
                seen.append((state.x.copy(), params))

    rng = np.random.default_rng(seed)
    target = targets.Gaussian(np.zeros(3), targets.random_covariance(rng, 3))
    x0 = rng.standard_normal((chains, 3))
    final = run(sampler, target, x0, rng, warmup=warmup, draws=1, collectors=[Record()])
    return seen, final


def scaled(matrix):
    return matrix * len(matrix) / np.trace(matrix)


def test_root_is_that_of_the_papers_recursion(targets):
    """Equation (17), one chain, started as the paper starts it."""
    n0 = 20
    seen, _ = history(AdaMALA(initial_steps=n0), targets, warmup=91)
    positions = [x[0] for x, _ in seen[n0:91]]
    mean, sigma = positions[0], None
    for n, x in enumerate(positions[1:], start=2):
        step = np.outer(x - mean, x - mean)
        first = n == 2
        sigma = step / 2 + 10.0 * np.eye(3) if first else (n - 2) / (n - 1) * sigma + step / n
        mean = ((n - 1) * mean + x) / n
    _, final = history(AdaMALA(initial_steps=n0), targets, warmup=91)
    np.testing.assert_allclose(final.root @ final.root.T, scaled(sigma), rtol=1e-10, atol=1e-12)


def test_phases(targets):
    seen, _ = history(AdaMALA(initial_steps=30), targets, warmup=100, chains=4)
    assert all(params.root is None for _, params in seen[:60])
    assert all(params.root is not None for _, params in seen[60:])


def test_short_warmups_have_short_phases(targets):
    seen, _ = history(AdaMALA(), targets, warmup=40)
    assert [params.root is None for _, params in seen].count(True) == 20


def test_first_phase_is_plain_mala(targets):
    ours, _ = history(AdaMALA(initial_steps=30), targets, warmup=60)
    plain, _ = history(MALA(), targets, warmup=60)
    for (x, _), (y, _) in zip(ours, plain, strict=True):
        np.testing.assert_array_equal(x, y)


def test_several_chains_learn_from_all_positions(targets):
    n0 = 20
    seen, final = history(AdaMALA(initial_steps=n0), targets, warmup=91, chains=5)
    x = np.concatenate([x for x, _ in seen[n0:91]])
    sigma = np.cov(x.T, bias=True) * len(x) + 10.0 * np.eye(3)
    np.testing.assert_allclose(final.root @ final.root.T, scaled(sigma), rtol=1e-10, atol=1e-12)


def test_covariance_is_learned(targets):
    rng = np.random.default_rng(4)
    cov = np.diag([1e-4, 1.0, 1e2])
    target = targets.Gaussian(np.zeros(3), cov)
    result = sample(AdaMALA(), target, rng.standard_normal((8, 3)), 5, draws=500, warmup=3000)
    learned = result.params[0].root @ result.params[0].root.T
    relative = np.sqrt(np.diag(learned) / np.diag(scaled(cov)))
    # 8 chains x 2250 iterations: a standard deviation is known to a few per cent; the smallest
    # one is blurred by the damping, 10 / 18000 against 1e-4 of variance.
    np.testing.assert_allclose(relative[1:], 1.0, atol=0.2)
    assert 1.0 < relative[0] < 4.0


def test_a_matrix_without_a_root_keeps_the_last_one():
    sampler = AdaMALA()
    known = np.eye(2)
    for scatter in (np.full((2, 2), np.nan), -100.0 * np.eye(2)):
        assert sampler._root(Moments(3, np.zeros(2), scatter), known) is known


@pytest.mark.parametrize(
    "setting", [{"damping": 0.0}, {"initial_steps": 0}, {"step_rate": 1.0}, {"step_size": -1.0}]
)
def test_bad_settings(setting):
    with pytest.raises(SamplerError, match=next(iter(setting))):
        AdaMALA(**setting)
