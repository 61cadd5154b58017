"""Dual averaging: the published recursion, and the acceptance it leads to."""

import numpy as np
import pytest

from probmodel.adaptation.dual_averaging import average, start_averaging


def algorithm_6(alphas, step_size, delta, gamma=0.05, t0=10.0, kappa=0.75):
    """Steps and averaged step of Hoffman and Gelman (2014), Algorithm 6, as printed."""
    mu, H, log_bar = np.log(10.0 * step_size), 0.0, 0.0
    steps = []
    for m, alpha in enumerate(alphas, start=1):
        H = (1.0 - 1.0 / (m + t0)) * H + (delta - alpha) / (m + t0)
        log_step = mu - np.sqrt(m) / gamma * H
        log_bar = m**-kappa * log_step + (1.0 - m**-kappa) * log_bar
        steps.append(np.exp(log_step))
    return steps, np.exp(log_bar)


def test_recursion_is_the_published_one():
    alphas = np.random.default_rng(1).random(50)
    state, steps = start_averaging(0.3), []
    assert state.step_size() == state.step_size(final=True) == pytest.approx(0.3, rel=1e-14)
    for alpha in alphas:
        state = average(state, np.array([alpha]), 0.8)
        steps.append(state.step_size())
    expected, final = algorithm_6(alphas, 0.3, 0.8)
    np.testing.assert_allclose(steps, expected, rtol=1e-10)
    assert state.step_size(final=True) == pytest.approx(final, rel=1e-10)


def test_steps_are_capped():
    state = average(start_averaging(3.0), np.array([1.0]), 0.8)
    assert state.step_size() > 4.0
    for limit in (0.5, 4.0):
        capped = state.capped(limit)
        assert capped.step_size() <= limit + 1e-12
        assert capped.step_size(final=True) == pytest.approx(min(limit, state.step_size(True)))
    assert capped._replace(log_step=state.log_step, log_average=state.log_average) == state


def test_several_chains_count_by_their_mean():
    alphas = np.array([0.1, 0.5, 0.9])
    a = average(start_averaging(1.0), alphas, 0.8)
    b = average(start_averaging(1.0), np.array([0.5]), 0.8)
    assert a.log_step == pytest.approx(b.log_step, rel=1e-14)


@pytest.mark.parametrize("delta", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("start", [1e-3, 1.0, 50.0])
def test_acceptance_reaches_its_target(delta, start):
    """An acceptance of exp(-h) is delta at h = -log(delta)."""
    rng, state = np.random.default_rng(2), start_averaging(start)
    for _ in range(2000):
        alpha = np.exp(-state.step_size()) + 0.05 * rng.standard_normal(4)
        state = average(state, np.clip(alpha, 0.0, 1.0), delta)
    assert np.exp(-state.step_size(final=True)) == pytest.approx(delta, abs=0.03)
