"""Microcanonical trajectories: their dynamics, the volume they change, and what is learned."""

import numpy as np
import pytest

from probmodel.inference.groups import sample
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian import mams
from probmodel.samplers.hamiltonian.mams import JITTER, MAMS, Params, follow, kick
from probmodel.testing.invariance import check_invariance
from probmodel.testing.statistics import LIMIT, deviations, require_moments, worst


def unit(rng, *shape):
    u = rng.standard_normal(shape)
    return u / np.linalg.norm(u, axis=-1, keepdims=True)


@pytest.mark.parametrize("dim", [2, 3, 7, 50])
def test_kicks_are_those_of_the_formula(dim):
    rng = np.random.default_rng(1)
    u, slope = (
        unit(rng, 6, dim),
        rng.standard_normal((6, dim)) * [[0.01], [0.1], [1], [3], [9], [0]],
    )
    turned, gained = kick(u, slope, np.full((6, 1), 0.8))
    size = np.linalg.norm(slope, axis=1, keepdims=True)
    e, delta = slope / np.maximum(size, 1e-300), 0.8 * size / (dim - 1)
    along = np.sum(e * u, axis=1, keepdims=True)
    scale = np.cosh(delta) + along * np.sinh(delta)
    expected = (u + e * (np.sinh(delta) + along * (np.cosh(delta) - 1.0))) / scale
    np.testing.assert_allclose(turned, expected, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(gained, (dim - 1) * np.log(scale[:, 0]), atol=1e-10)


def tangents(u):
    """Orthonormal vectors across a direction: (dim - 1, dim)."""
    return np.linalg.svd(u[None])[2][1:]


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_what_kicks_gain_is_the_change_of_volume(dim):
    """The determinant of the map of the sphere, by differences."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        u, slope = unit(rng, dim), 2.0 * rng.standard_normal(dim)
        turned, gained = kick(u[None], slope[None], np.ones((1, 1)))
        before, after, step = tangents(u), tangents(turned[0]), 1e-6
        ends = []
        for sign in (1.0, -1.0):
            near = u + sign * step * before
            near /= np.linalg.norm(near, axis=1, keepdims=True)
            ends.append(kick(near, np.repeat(slope[None], dim - 1, axis=0), np.ones((1, 1)))[0])
        jacobian = (ends[0] - ends[1]) / (2.0 * step) @ after.T
        assert np.log(abs(np.linalg.det(jacobian))) == pytest.approx(-gained[0], abs=1e-6)


def test_kicks_by_slopes_of_any_size_are_finite():
    u = unit(np.random.default_rng(3), 4, 3)
    slope = np.array([[0.0, 0, 0], [1e-200, 0, 0], [1e150, 1e150, 0], [5e4, -1e5, 1.0]])
    turned, gained = kick(u, slope, np.ones((4, 1)))
    assert np.isfinite(gained).all()
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1.0)
    np.testing.assert_allclose(turned[:2], u[:2])
    np.testing.assert_allclose(turned[2:], slope[2:] / np.linalg.norm(slope[2:], axis=1)[:, None])


@pytest.fixture
def setting(targets):
    """A target that is not normal, states, directions, and a root that is not triangular."""
    rng = np.random.default_rng(4)

    class Skew(targets.Gaussian):
        def __call__(self, x):
            logp, grad = super().__call__(x)
            return logp - np.sum(np.log(np.cosh(1.3 * x)), axis=1), grad - 1.3 * np.tanh(1.3 * x)

    target = Skew(np.ones(4), targets.random_covariance(rng, 4))
    x = target.exact(rng, 6)
    return target, State(x, *target(x)), unit(rng, 6, 4), 0.5 * rng.standard_normal((4, 4))


def test_trajectories_lead_back(setting):
    target, state, u, root = setting
    h = np.full((1, 1), 0.3)
    end, direction, kinetic = follow(target, state, u, root, h, 7)
    assert np.min(np.linalg.norm(end.x - state.x, axis=1)) > 0.1
    back, reversed_, returned = follow(target, end, -direction, root, h, 7)
    np.testing.assert_allclose(back.x, state.x, atol=1e-9)
    np.testing.assert_allclose(-reversed_, u, atol=1e-9)
    np.testing.assert_allclose(returned, -kinetic, atol=1e-9)


def test_energy_is_kept_to_second_order(setting):
    target, state, u, root = setting
    errors = []
    for n in (4, 8, 16):
        end, _, kinetic = follow(target, state, u, root, np.full((1, 1), 1.0 / n), n)
        errors.append(np.abs(end.logp - state.logp - kinetic).max())
    assert errors[0] < 0.1
    assert errors[0] / errors[1] > 3.0
    assert errors[1] / errors[2] > 3.0


@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["identity", "diag", "dense", "low_rank"])
def test_exact_draws_stay_exact(metric):
    check_invariance(MAMS(metric=metric))


def drawn(target, steps=8):
    """Where exact draws are after trajectories with steps that are not small, and exact draws."""
    rng = np.random.default_rng(5)
    sampler, params = MAMS(), Params(1.4, 2.5, None)
    state = sampler.init(rng, target, target.exact(rng, 8000))
    for _ in range(steps):
        state, info = sampler.step(rng, target, state, params)
    assert 0.3 < info.accept_prob.mean() < 0.95
    return state.x, target.exact(rng, 8000)


def test_exact_draws_in_several_dimensions_stay_exact(targets):
    target = targets.Gaussian(np.zeros(5), targets.random_covariance(np.random.default_rng(6), 5))
    name, score = worst(deviations(*drawn(target)))
    assert abs(score) < LIMIT, name


@pytest.mark.parametrize("factor", [0.0, 0.8])
def test_another_change_of_volume_is_noticed(factor, targets, monkeypatch):
    """Negative control: the kinetic energy left out, or with another power."""

    def wrong(u, slope, eps):
        turned, gained = kick(u, slope, eps)
        return turned, factor * gained

    monkeypatch.setattr(mams, "kick", wrong)
    target = targets.Gaussian(np.zeros(5), targets.random_covariance(np.random.default_rng(6), 5))
    assert abs(worst(deviations(*drawn(target)))[1]) > 2.0 * LIMIT


def test_steps_and_times_of_a_trajectory(targets):
    target, rng = targets.Gaussian(np.zeros(3), np.eye(3)), np.random.default_rng(7)
    state = MAMS().init(rng, target, target.exact(rng, 4))
    for length, most in ((2.0, 500), (0.2, 500), (50.0, 6)):
        sampler = MAMS(max_steps=most)
        _, info = sampler.step(rng, target, state, Params(0.5, length, None))
        n = info.stats["n_steps"][0] // 2
        low, high = (length * (1.0 + sign * JITTER) for sign in (-1.0, 1.0))
        assert n <= most
        assert info.record.time <= 0.5 * n + 1e-12
        assert low <= info.record.time <= high or n == most
        np.testing.assert_array_equal(info.n_grad, 2 * n)


def test_one_parameter_takes_one_step_of_a_varying_size(targets):
    """Several would only add up; a constant size would keep to a lattice."""
    target, rng = targets.Gaussian(np.zeros(1), np.eye(1)), np.random.default_rng(12)
    sampler, moves = MAMS(), []
    state = sampler.init(rng, target, np.zeros((4, 1)))
    for _ in range(50):
        _, info = sampler.step(rng, target, state, Params(0.01, 2.0, np.array([3.0])))
        np.testing.assert_array_equal(info.n_grad, 2)
        moves.append(np.abs(info.proposal.x) / 0.03)
    moves = np.concatenate(moves)
    assert (np.abs(moves - 1.0) <= JITTER + 1e-12).all()
    assert moves.std() > 0.3 * JITTER


@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_decide_on_the_first_length_of_one_chain(seed, targets):
    """The same trajectory elsewhere, where it is rounded otherwise, gives the same length."""
    found = []
    for place in (0.0, 0.1, 1.0 / 3.0):
        rng, mean = np.random.default_rng(seed), np.full(3, place)
        target, sampler = targets.Gaussian(mean, np.eye(3)), MAMS(step_size=0.3)
        start = sampler.init(rng, target, mean + rng.standard_normal((1, 3)))
        adaptation = sampler.adapt_init(rng, target, start)
        state, info = sampler.step(rng, target, start, sampler.params(adaptation))
        assert info.accepted.all()
        adaptation = sampler.adapt(rng, target, 0, 100, adaptation, state, info)
        found.append(adaptation.length.log_length)
    assert found == pytest.approx([found[0]] * 3, abs=1e-9)


def test_the_length_is_learned(targets):
    target, rng = targets.Gaussian(np.zeros(20), np.eye(20)), np.random.default_rng(8)
    run = sample(MAMS(), target, rng.uniform(-2.0, 2.0, (16, 20)), 9, draws=50, warmup=600)
    assert 1.0 < run.params[0].length < 2.7
    run = sample(
        MAMS(trajectory_length=0.7), target, rng.uniform(-2.0, 2.0, (16, 20)), 9,
        draws=50, warmup=600,
    )  # fmt: skip
    assert run.params[0].length == pytest.approx(0.7)


@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["diag", "low_rank"])
def test_it_learns_a_correlated_normal_posterior(metric, targets):
    rng = np.random.default_rng(10)
    Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    target = targets.Gaussian(np.zeros(50), (Q * np.geomspace(1.0, 30.0, 50) ** 2) @ Q.T)
    x0 = rng.uniform(-2.0, 2.0, (16, 50))
    run = sample(MAMS(metric=metric), target, x0, 11, draws=300, warmup=600)
    require_moments(target, run.x)
    assert run.stats["acceptance_rate"].mean() > 0.8
