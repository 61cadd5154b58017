"""Adaptive Metropolis: both ways to a covariance, against their definitions and known targets."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.inference.groups import sample
from probmodel.samplers.random_walk.am import AdaptiveMetropolis
from probmodel.samplers.random_walk.rwm import RandomWalk


def history(sampler, targets, warmup, chains=1, seed=1):
    """Positions and parameters of every warm-up iteration, and the frozen parameters."""
    seen = []

    class Record(Collector):
        def record(self, phase, i, state, info, params):
            if phase == "warmup":
                seen.append((state.x.copy(), params))

    rng = np.random.default_rng(seed)
    target = targets.Gaussian(np.zeros(3), targets.random_covariance(rng, 3))
    x0 = rng.standard_normal((chains, 3))
    final = run(sampler, target, x0, rng, warmup=warmup, draws=1, collectors=[Record()])
    return x0, seen, final


@pytest.mark.parametrize(("forget", "first"), [(False, 0), (True, 80)])
@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("diagonal", [False, True])
def test_haario_uses_the_covariance_of_positions(targets, chains, diagonal, forget, first):
    """Of all of them, or of those since iteration 80 = 4 times 20."""
    sampler = AdaptiveMetropolis(initial_steps=20, diagonal=diagonal, forget=forget)
    _, seen, final = history(sampler, targets, warmup=101, chains=chains)
    assert all(params.root is None for _, params in seen[:20])
    covariance = np.cov(np.concatenate([x for x, _ in seen[first:]]).T)
    if diagonal:
        covariance = np.diag(np.diagonal(covariance))
    np.testing.assert_allclose(final.root @ final.root.T, covariance, rtol=1e-8, atol=1e-9)


def test_a_fresh_start_keeps_the_root_until_it_knows_enough(targets):
    _, seen, _ = history(AdaptiveMetropolis(initial_steps=20), targets, warmup=101)
    roots = [params.root for _, params in seen]
    assert all(root is roots[41] for root in roots[41:50])
    assert roots[51] is not roots[41]


def test_haario_begins_as_a_random_walk(targets):
    _, ours, _ = history(AdaptiveMetropolis(initial_steps=30), targets, warmup=60)
    _, plain, _ = history(RandomWalk(), targets, warmup=60)
    for (x, _), (y, _) in zip(ours[:30], plain[:30], strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("diagonal", [False, True])
def test_cholesky_follows_the_papers_recursion(targets, diagonal):
    """One chain, step by step with explicit inverses."""
    sampler = AdaptiveMetropolis(variant="cholesky", diagonal=diagonal)
    x0, seen, final = history(sampler, targets, warmup=60)
    mu, L = x0[0].copy(), 0.1 / np.sqrt(3) * np.eye(3)
    for t, (x, params) in enumerate(seen):
        np.testing.assert_allclose(params.root, L, rtol=1e-10, atol=1e-12)
        mu = mu + 0.01 * (x[0] - mu)
        z = np.linalg.inv(L) @ (x[0] - mu)
        gradient = np.tril(L @ (np.outer(z, z) - np.eye(3)))
        if diagonal:
            gradient = np.diag(np.diagonal(gradient))
        L = L + 0.001 / (1 + t / 4000) * gradient
        L[np.diag_indices(3)] = np.maximum(np.diagonal(L), 1e-3)
    np.testing.assert_allclose(final.root, L, rtol=1e-10, atol=1e-12)


def test_the_presets_of_the_stochastic_gradient(targets):
    target, x = targets.Gaussian(np.zeros(4), np.eye(4)), np.zeros((1, 4))
    for preset, L, delta in (("paper", 0.05, 1.0), ("code", 1.0, 0.05)):
        sampler = AdaptiveMetropolis(variant="cholesky", preset=preset)
        params = sampler.params(sampler.adapt_init(None, target, sampler.init(None, target, x)))
        np.testing.assert_allclose(params.root, L * np.eye(4))
        assert params.step_size == pytest.approx(delta**0.5)
    chosen = AdaptiveMetropolis(variant="cholesky", step_size=0.3)
    start = chosen.adapt_init(None, target, chosen.init(None, target, x))
    assert chosen.params(start).step_size == pytest.approx(0.3)


def test_a_root_far_too_small_stays_finite(targets):
    """The plain step overflows here: positions a hundred roots away, in a hundred dimensions."""
    target = targets.Gaussian(np.zeros(100), np.diag((0.01 * np.arange(1, 101)) ** 2))
    x0 = np.random.default_rng(7).standard_normal((2, 100))
    result = sample(AdaptiveMetropolis(variant="cholesky"), target, x0, 8, draws=10, warmup=3000)
    assert np.isfinite(result.params[0].root).all()


@pytest.mark.statistical
@pytest.mark.parametrize("variant", ["haario", "cholesky"])
def test_correlated_target_is_sampled(targets, variant):
    rng = np.random.default_rng(3)
    cov = np.array([[1.0, 0.95], [0.95, 1.0]])
    target = targets.Gaussian(np.array([1.0, -1.0]), cov)
    result = sample(
        AdaptiveMetropolis(variant=variant), target, rng.standard_normal((16, 2)), 4,
        draws=4000, warmup=3000,
    )  # fmt: skip
    chain_means = result.x.mean(axis=1)
    error = chain_means.std(axis=0, ddof=1) / 4.0
    assert np.all(np.abs(chain_means.mean(axis=0) - target.mean) < 5.0 * error)
    products = ((result.x - target.mean)[..., 0] * (result.x - target.mean)[..., 1]).mean(axis=1)
    assert abs(products.mean() - 0.95) < 5.0 * products.std(ddof=1) / 4.0
    # The rule steers the last iterations; a frozen scale leaves a few hundredths of error.
    assert abs(result.stats["acceptance_rate"].mean() - 0.25) < 0.1


@pytest.mark.statistical
def test_scales_of_eight_orders_are_learned(targets):
    target = targets.Gaussian(np.zeros(3), np.diag([1e-8, 1.0, 1e4]))
    x0 = np.random.default_rng(5).standard_normal((16, 3)) * [1e-4, 1.0, 10.0]
    result = sample(AdaptiveMetropolis(), target, x0, 6, draws=3000, warmup=8000)
    sd = result.x.std(axis=(0, 1))
    np.testing.assert_allclose(sd[0], 1e-4, rtol=0.1)


def test_a_covariance_without_a_root_keeps_the_last_one():
    from probmodel.adaptation.welford import Moments

    known = np.eye(2)
    for scatter in (np.full((2, 2), np.nan), -np.eye(2)):
        moments = Moments(3, np.zeros(2), scatter)
        assert AdaptiveMetropolis()._factor(moments, known) is known


@pytest.mark.parametrize(
    "setting",
    [
        {"variant": "qr"},
        {"preset": "matlab"},
        {"initial_steps": 1},
        {"diagonal": 3},
        {"step_size": 0.0},
    ],
)
def test_bad_settings(setting):
    with pytest.raises(SamplerError, match=next(iter(setting))):
        AdaptiveMetropolis(**setting)
