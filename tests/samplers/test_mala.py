"""Metropolis-adjusted Langevin: the step size rule."""

import numpy as np
import pytest

from probmodel.inference.groups import sample
from probmodel.samplers.langevin.mala import MALA
from probmodel.samplers.step_size import Adaptation


def test_one_chain_follows_the_papers_rule(targets):
    target, rng = targets.Gaussian(np.zeros(2), np.eye(2)), np.random.default_rng(1)
    sampler = MALA(step_size=1.0)
    state = sampler.init(rng, target, np.zeros((1, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    assert sampler.params(adaptation).step_size == 1.0
    state, info = sampler.step(rng, target, state, sampler.params(adaptation))
    adaptation = sampler.adapt(rng, target, 0, 10, adaptation, state, info)
    expected = 1.0 + 0.015 * (info.accept_prob[0] - 0.574)
    assert np.exp(adaptation.log_sigma2) == pytest.approx(expected, rel=1e-14)


def test_acceptance_reaches_its_target(targets):
    target = targets.Gaussian(np.zeros(10), 1e-6 * np.eye(10))
    x0 = np.random.default_rng(2).uniform(-2.0, 2.0, (8, 10))
    run = sample(MALA(target_accept=0.7), target, x0, 3, draws=500, warmup=1500)
    assert abs(run.stats["acceptance_rate"].mean() - 0.7) < 0.04


def test_non_finite_proposals_leave_the_step_size_to_the_others(targets):
    target, rng = targets.HalfSpace(2), np.random.default_rng(4)
    sampler = MALA(step_size=1.0)
    state = sampler.init(rng, target, np.array([[1e-9, 0.0], [50.0, 0.0]]))
    for _ in range(20):
        new, info = sampler.step(rng, target, state, sampler.params(Adaptation(0.0)))
        if np.isfinite(info.proposal.logp).tolist() == [False, True]:
            break
    after = sampler.adapt(rng, target, 0, 10, Adaptation(0.0), new, info)
    expected = np.log1p(0.015 * (info.accept_prob[1] - 0.574))
    assert after.log_sigma2 == pytest.approx(expected, rel=1e-12)
