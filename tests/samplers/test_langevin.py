"""The Langevin kernel against explicit densities."""

import numpy as np
import pytest
from scipy import stats

from probmodel.samplers.base import State
from probmodel.samplers.langevin.kernel import langevin_step, propose

CHAINS, DIM, SIGMA = 6, 3, 0.7


@pytest.fixture
def setting(targets):
    """A skew target, states, a root that is not triangular, and noise."""
    rng = np.random.default_rng(1)

    class Skew(targets.Gaussian):
        def __call__(self, x):
            logp, grad = super().__call__(x)
            logp = logp - np.sum(np.log(np.cosh(1.3 * x)), axis=1) + 0.1 * np.sum(np.sin(x), axis=1)
            return logp, grad - 1.3 * np.tanh(1.3 * x) + 0.1 * np.cos(x)

    target = Skew(np.ones(DIM), targets.random_covariance(rng, DIM))
    x = rng.standard_normal((CHAINS, DIM))
    R = rng.standard_normal((DIM, DIM))
    return target, State(x, *target(x)), R, rng.standard_normal((CHAINS, DIM))


def log_q(to, origin, grad, R, sigma):
    """Log density of the proposal, written out."""
    A = R @ R.T
    return np.array(
        [
            stats.multivariate_normal(x + 0.5 * sigma**2 * A @ g, sigma**2 * A).logpdf(y)
            for y, x, g in zip(to, origin, grad, strict=True)
        ]
    )


@pytest.mark.parametrize("with_root", [True, False])
def test_ratio_is_that_of_explicit_densities(setting, with_root):
    target, state, R, eta = setting
    root = R if with_root else None
    R = R if with_root else np.eye(DIM)
    proposal, log_ratio = propose(target, state, root, SIGMA, eta)
    explicit = (
        proposal.logp + log_q(state.x, proposal.x, proposal.grad, R, SIGMA)
        - state.logp - log_q(proposal.x, state.x, state.grad, R, SIGMA)
    )  # fmt: skip
    np.testing.assert_allclose(log_ratio, explicit, atol=1e-9)


def test_whitened_form_is_proposition_1(setting):
    target, state, R, eta = setting
    y, log_ratio = propose(target, state, R, SIGMA, eta)
    A = R @ R.T

    def h(z, v, grad_v):
        return 0.5 * np.sum((z - v - 0.25 * SIGMA**2 * grad_v @ A) * grad_v, axis=1)

    paper = y.logp - state.logp + h(state.x, y.x, y.grad) - h(y.x, state.x, state.grad)
    np.testing.assert_allclose(log_ratio, paper, atol=1e-10)


def test_detailed_balance_with_the_noise_that_leads_back(setting):
    target, state, R, eta = setting
    proposal, there = propose(target, state, R, SIGMA, eta)
    u = eta + 0.5 * SIGMA * (state.grad + proposal.grad) @ R
    returned, back = propose(target, proposal, R, SIGMA, -u)
    np.testing.assert_allclose(returned.x, state.x, atol=1e-10)
    np.testing.assert_allclose(back, -there, atol=1e-9)


def test_ratio_without_correction_is_noticed(setting):
    target, state, R, eta = setting
    proposal, log_ratio = propose(target, state, R, SIGMA, eta)
    assert np.max(np.abs(log_ratio - (proposal.logp - state.logp))) > 0.1


def test_each_chain_may_have_its_own_step(setting):
    target, state, R, eta = setting
    steps = np.logspace(-2, 0, CHAINS)
    proposal, log_ratio = propose(target, state, R, steps, eta)
    for c, step in enumerate(steps):
        row = slice(c, c + 1)
        one = State(*(field[row] for field in state))
        alone, alone_ratio = propose(target, one, R, float(step), eta[row])
        np.testing.assert_allclose(alone.x[0], proposal.x[c], rtol=1e-12)
        np.testing.assert_allclose(alone_ratio[0], log_ratio[c], rtol=1e-9)


def test_preconditioner_scale_and_step_size_are_one(setting):
    target, state, R, eta = setting
    _, one = propose(target, state, R, SIGMA, eta)
    _, other = propose(target, state, 1e-3 * R, 1e3 * SIGMA, eta)
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_step_reports_what_happened(setting):
    target, state, R, _ = setting
    new, info = langevin_step(np.random.default_rng(2), target, state, R, 0.1)
    np.testing.assert_array_equal(new.x[info.accepted], info.proposal.x[info.accepted])
    np.testing.assert_array_equal(new.x[~info.accepted], state.x[~info.accepted])
    assert info.previous is state
    np.testing.assert_array_equal(info.n_grad, np.ones(CHAINS))
    assert not info.diverging.any()


def test_step_out_of_proportion_is_diverging(setting):
    target, state, R, _ = setting
    new, info = langevin_step(np.random.default_rng(3), target, state, R, 1e3)
    assert info.diverging.all()
    np.testing.assert_array_equal(new.x, state.x)


def test_overflow_is_rejected_in_silence(setting):
    target, state, R, _ = setting
    new, info = langevin_step(np.random.default_rng(4), target, state, R, 1e200)
    assert info.diverging.all()
    np.testing.assert_array_equal(info.accept_prob, np.zeros(CHAINS))
    np.testing.assert_array_equal(new.x, state.x)
