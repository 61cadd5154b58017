"""Barker's proposal: its density and ratio, its warm-up, and what it does where steps are long."""

import numpy as np
import pytest
from scipy import integrate, stats

from probmodel.inference.groups import sample
from probmodel.results.convergence import convergence
from probmodel.samplers.base import State
from probmodel.samplers.langevin import barker
from probmodel.samplers.langevin.barker import SPREAD, Barker, barker_step, propose
from probmodel.samplers.langevin.fisher_mala import FisherMALA
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.testing.invariance import check_invariance
from probmodel.testing.statistics import require_moments
from probmodel.testing.targets import Target

CHAINS, DIM, SIGMA = 6, 3, 0.7
NOISES = ("bimodal", "normal")


def noise_density(noise, w, sigma):
    """Density mu of the noise times sigma."""
    if noise == "normal":
        return stats.norm.pdf(w, scale=sigma)
    mode = sigma * np.sqrt(1.0 - SPREAD**2)
    return 0.5 * sum(stats.norm.pdf(w, m, sigma * SPREAD) for m in (-mode, mode))


def move_density(noise, w, c, sigma):
    """Density of a coordinate of the whitened move."""
    return 2.0 * noise_density(noise, w, sigma) / (1.0 + np.exp(-w * c))


def log_q(noise, to, origin, grad, R):
    """Log density of the proposal, written out, up to the determinant of R."""
    w = np.linalg.solve(R, (to - origin).T).T
    return np.sum(np.log(move_density(noise, w, grad @ R, SIGMA)), axis=1)


@pytest.fixture
def setting(targets):
    """A target, states, and a root that is not triangular."""
    rng = np.random.default_rng(1)
    target = targets.Gaussian(np.ones(DIM), targets.random_covariance(rng, DIM))
    x = rng.standard_normal((CHAINS, DIM))
    return target, State(x, *target(x)), rng.standard_normal((DIM, DIM))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("with_root", [True, False])
def test_ratio_is_that_of_explicit_densities(setting, noise, with_root):
    target, state, R = setting
    root, R = (R, R) if with_root else (None, np.eye(DIM))
    rng = np.random.default_rng(2)
    z = SIGMA * np.where(rng.random((CHAINS, DIM)) < 0.5, 1.0, -1.0)
    z *= 1.0 + SPREAD * rng.standard_normal((CHAINS, DIM))
    proposal, log_ratio = propose(target, state, root, z, rng.random((CHAINS, DIM)))
    explicit = (
        proposal.logp + log_q(noise, state.x, proposal.x, proposal.grad, R)
        - state.logp - log_q(noise, proposal.x, state.x, state.grad, R)
    )  # fmt: skip
    np.testing.assert_allclose(log_ratio, explicit, atol=1e-9)
    assert np.max(np.abs(log_ratio - (proposal.logp - state.logp))) > 0.1


@pytest.mark.parametrize("noise", NOISES)
def test_proposals_have_their_density(noise, targets):
    """Many proposals from one place against their distribution function, and against another."""
    target = targets.Gaussian(np.zeros(1), np.eye(1))
    x = np.full((4000, 1), 0.8)
    _, info = barker_step(
        np.random.default_rng(3), target, State(x, *target(x)), np.array([2.0]), SIGMA, noise
    )
    w = (info.proposal.x[:, 0] - 0.8) / 2.0

    def cdf(c):
        grid = np.linspace(-5.0, 5.0, 20_001)
        below = integrate.cumulative_trapezoid(move_density(noise, grid, c, SIGMA), grid, initial=0)
        assert below[-1] == pytest.approx(1.0, abs=1e-6)
        return lambda values: np.interp(values, grid, below)

    assert stats.kstest(w, cdf(-1.6)).pvalue > 1e-3
    assert stats.kstest(w, cdf(-1.2)).pvalue < 1e-4


def test_noise_has_variance_one(targets):
    flat = State(np.zeros((20_000, 1)), np.zeros(20_000), np.zeros((20_000, 1)))
    target = targets.Gaussian(np.zeros(1), np.eye(1))
    for noise in NOISES:
        _, info = barker_step(np.random.default_rng(4), target, flat, None, 1.0, noise)
        assert np.mean(info.proposal.x**2) == pytest.approx(1.0, abs=0.05)
        assert abs(np.mean(info.proposal.x)) < 0.03


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("metric", ["dense", "diag"])
def test_exact_draws_stay_exact(noise, metric):
    check_invariance(Barker(noise=noise, metric=metric))


def test_invariance_check_notices_a_ratio_without_the_signs(monkeypatch):
    """Negative control: the ratio of a symmetric proposal."""

    def wrong(density, state, root, z, uniform):
        proposal, _ = propose(density, state, root, z, uniform)
        return proposal, proposal.logp - state.logp

    monkeypatch.setattr(barker, "propose", wrong)
    with pytest.raises(AssertionError, match="does not leave the target invariant"):
        check_invariance(Barker())


def test_steps_too_long_for_one_coordinate_are_still_accepted(targets):
    """The paper's robustness: moves in the narrow coordinate may fail with the others accepted."""
    scales = np.array([0.01, *np.ones(4)])
    target, rng = targets.Gaussian(np.zeros(5), np.diag(scales**2)), np.random.default_rng(5)
    x = target.exact(rng, 4000)
    state = State(x, *target(x))
    _, own = barker_step(rng, target, state, None, 0.3, "normal")
    _, langevin = langevin_step(rng, target, state, None, 0.3)
    assert own.accept_prob.mean() > 0.04
    assert langevin.accept_prob.mean() < 0.002


def test_gradients_of_any_size_give_finite_moves(targets):
    class Cliff(targets.Gaussian):
        def __call__(self, x):
            logp, grad = super().__call__(x)
            return logp, 1e200 * grad

    target, rng = Cliff(np.zeros(2), np.eye(2)), np.random.default_rng(6)
    x = rng.standard_normal((50, 2))
    with np.errstate(all="raise", under="ignore"):
        _, info = barker_step(rng, target, State(x, *target(x)), 1e80 * np.eye(2), 1e-80, "normal")
    assert np.isfinite(info.accept_prob).all()
    assert np.all(np.sign(info.proposal.x - x) == -np.sign(x))


@pytest.mark.statistical
@pytest.mark.parametrize("noise", NOISES)
def test_it_learns_a_correlated_normal_posterior_from_far_away(noise, targets):
    rng = np.random.default_rng(7)
    Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    target = targets.Gaussian(np.zeros(50), (Q * np.geomspace(1.0, 30.0, 50) ** 2) @ Q.T)
    x0 = rng.uniform(-200.0, 200.0, (8, 50))
    run = sample(Barker(noise=noise), target, x0, 8, draws=1500, warmup=1000)
    require_moments(target, run.x)
    assert abs(run.stats["acceptance_rate"].mean() - 0.574) < 0.08


@pytest.mark.statistical
def test_skew_tails_are_explored_better_than_by_langevin_moves():
    """Logarithms of gamma variables: beyond the bulk, Langevin moves overshoot or are rejected."""

    class LogGamma(Target):
        dim, shape = 30, 0.5

        def __call__(self, x):
            with np.errstate(over="ignore"):
                e = np.exp(x)
            return np.sum(self.shape * x - e, axis=1), self.shape - e

    worst = {kind: [] for kind in (Barker, FisherMALA)}
    for seed in range(4):
        x0 = np.random.default_rng(seed).uniform(-2.0, 2.0, (8, 30))
        for kind, found in worst.items():
            run = sample(kind(), LogGamma(), x0, seed, draws=4000, warmup=2000)
            found.append(np.min(convergence(np.moveaxis(run.x, 2, 0)).ess_tail))
    assert np.median(worst[Barker]) > 1.2 * np.median(worst[FisherMALA])
