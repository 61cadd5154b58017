"""Fisher-adaptive MALA: Algorithm 1 for one chain, and what several chains add to it."""

from typing import get_args

import numpy as np
import pytest

from probmodel.adaptation.fisher_root import normalised
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.groups import sample
from probmodel.results.convergence import convergence
from probmodel.samplers.langevin.fisher_mala import FisherMALA
from probmodel.samplers.langevin.fisher_warmup import PLAIN_STEPS, Signal


def worst_rhat(x):
    return np.max(convergence(np.moveaxis(x, 2, 0)).rhat)


def algorithm_1(target, x, rng, n0, iterations, sigma2, damping=10.0, target_accept=0.574):
    """Algorithm 1 transcribed with explicit matrices, for one chain: R and sigma^2 at the end."""
    dim = len(x)
    R, sigma2_R, rho = np.eye(dim), sigma2, 0.015
    started = False
    for n in range(iterations):
        logp, g = (value[0] for value in target(x[None, :]))
        A = R @ R.T
        y = x + 0.5 * sigma2_R * A @ g + np.sqrt(sigma2_R) * R @ rng.standard_normal((1, dim))[0]
        logp_y, g_y = (value[0] for value in target(y[None, :]))

        def h(z, v, grad, A=A, sigma2_R=sigma2_R):
            return 0.5 * (z - v - 0.25 * sigma2_R * A @ grad) @ grad

        alpha = min(1.0, np.exp(logp_y - logp + h(x, y, g_y) - h(y, x, g)))
        if n >= n0:
            s = np.sqrt(alpha) * (g_y - g)
            if not started:
                r = 1.0 / (1.0 + np.sqrt(damping / (damping + s @ s)))
                R = (np.eye(dim) - r * np.outer(s, s) / (damping + s @ s)) / np.sqrt(damping)
                started = True
            else:
                phi = R.T @ s
                r = 1.0 / (1.0 + np.sqrt(1.0 / (1.0 + phi @ phi)))
                R = R - r * np.outer(R @ phi, phi) / (1.0 + phi @ phi)
        sigma2 *= 1.0 + rho * (alpha - target_accept)
        sigma2_R = sigma2 / (np.sum(R * R) / dim)
        if rng.random(1)[0] < alpha:
            x = y
    return R, sigma2, x


def test_one_chain_is_algorithm_1(targets):
    target = targets.Banana()
    x0 = np.array([[0.3, -0.4]])
    params = run(
        FisherMALA(step_size=0.5, initial_steps=20), target, x0, np.random.default_rng(2),
        warmup=100, draws=0,
    )  # fmt: skip
    R, sigma2, _ = algorithm_1(target, x0[0], np.random.default_rng(2), 20, 100, 0.25)
    assert params.step_size == pytest.approx(np.sqrt(sigma2), rel=1e-10)
    np.testing.assert_allclose(params.root, normalised(R), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("warmup", "n0"), [(20000, 500), (2000, 500), (1000, 250), (40, 10)])
def test_initial_steps_of_one_chain_are_plain(targets, warmup, n0):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.01]))
    sampler, rng = FisherMALA(), np.random.default_rng(3)
    state = sampler.init(rng, target, np.zeros((1, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    for i in (n0 - 1, n0):
        before = sampler.params(adaptation)
        state, info = sampler.step(rng, target, state, before)
        adaptation = sampler.adapt(rng, target, i, warmup, adaptation, state, info)
    np.testing.assert_array_equal(before.root, np.eye(2))
    assert not np.array_equal(sampler.params(adaptation).root, np.eye(2))


@pytest.mark.parametrize("signal", get_args(Signal))
@pytest.mark.parametrize("chains", [pytest.param(1, marks=pytest.mark.statistical), 6])
def test_preconditioner_becomes_the_covariance(targets, signal, chains):
    target = targets.Gaussian(np.array([3.0, -1.0, 0.0]), np.diag([1.0, 0.01, 25.0]))
    rng = np.random.default_rng(4)
    x0 = rng.uniform(-2.0, 2.0, (chains, 3))
    warmup = 6000 if chains == 1 else 1500
    params = run(FisherMALA(signal=signal), target, x0, rng, warmup=warmup, draws=0)
    A = params.root @ params.root.T
    scale = np.sqrt(np.diag(target.cov))
    whitened = A / np.outer(scale, scale) * np.trace(target.cov) / 3.0
    np.testing.assert_allclose(np.diag(whitened) / np.trace(whitened) * 3.0, 1.0, atol=0.35)


def test_plain_mala_does_not_learn_the_covariance(targets):
    """Negative control of the test above."""
    target = targets.Gaussian(np.zeros(3), np.diag([1.0, 0.01, 25.0]))
    params = run(
        FisherMALA(initial_steps=1500, robust=False), target, np.zeros((6, 3)),
        np.random.default_rng(4), warmup=1500, draws=0,
    )  # fmt: skip
    np.testing.assert_array_equal(params.root, np.eye(3))


@pytest.mark.parametrize("rate", [0.01, lambda n: n**-0.8])
def test_learning_rates(targets, rate):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.01]))
    x0 = np.random.default_rng(5).uniform(-2.0, 2.0, (4, 2))
    params = run(
        FisherMALA(learning_rate=rate), target, x0, np.random.default_rng(6), warmup=1500, draws=0
    )
    A = params.root @ params.root.T
    assert 40.0 < A[0, 0] / A[1, 1] < 250.0


def test_one_over_n_as_a_function_is_the_default(targets):
    target, x0 = targets.Banana(), np.zeros((3, 2))
    runs = [
        run(
            FisherMALA(robust=False, learning_rate=rate),
            target,
            x0,
            np.random.default_rng(7),
            warmup=100,
            draws=0,
        )
        for rate in (None, lambda n: 1.0 / n)
    ]
    np.testing.assert_allclose(runs[0].root, runs[1].root, rtol=1e-9, atol=1e-12)


def test_several_chains_without_additions_are_the_block_update(targets):
    target, rng = targets.Banana(), np.random.default_rng(8)
    sampler = FisherMALA(robust=False, initial_steps=0, step_size=0.5)
    state = sampler.init(rng, target, rng.standard_normal((5, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    fisher = 10.0 * np.eye(2)
    for i in range(30):
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 30, adaptation, state, info)
        S = np.sqrt(info.accept_prob)[:, None] * (info.proposal.grad - info.previous.grad)
        fisher += S.T @ S
    R = adaptation.fisher.R
    np.testing.assert_allclose(R @ R.T, np.linalg.inv(fisher), rtol=1e-10)


def test_way_to_the_bulk_is_forgotten(targets):
    target, rng, n0 = targets.Banana(), np.random.default_rng(9), 40
    sampler = FisherMALA(initial_steps=n0)
    state = sampler.init(rng, target, rng.standard_normal((4, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    updates = []
    for i in range(n0 + 3):
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 1000, adaptation, state, info)
        updates.append(adaptation.fisher.n)
    assert min(PLAIN_STEPS, n0 // 4) <= updates.index(1) < n0
    assert updates[n0:] == [1, 2, 3]


def test_stuck_chain_is_rescued(targets):
    """One chain at the top of an exponential cliff, the others in the bulk."""
    rng = np.random.default_rng(10)
    X = rng.standard_normal((100, 2)) * 10.0
    target = targets.Poisson(X, rng.poisson(np.exp(X @ [0.1, -0.05])))
    x0 = np.array([0.1, -0.05]) + 0.01 * rng.standard_normal((6, 2))
    x0[0] = [2.0, 2.0]
    sizes = {"draws": 1000, "warmup": 600, "restarts": False}  # which would rescue it too
    result = sample(FisherMALA(), target, x0, 11, **sizes)
    assert worst_rhat(result.x) < 1.02
    plain = sample(FisherMALA(robust=False), target, x0, 11, **sizes)
    assert not worst_rhat(plain.x) < 1.02


@pytest.mark.parametrize("chains", [4, 12])
def test_columns_of_any_scale_from_far_away(targets, chains):
    rng = np.random.default_rng(12)
    scales = np.array([1e-2, 1.0, 30.0, 5e3])
    X = rng.standard_normal((200, 4)) * scales + scales
    y = rng.random(200) < 1.0 / (1.0 + np.exp(-(X / scales) @ [0.5, -1.0, 1.0, 0.3]))
    target = targets.Logistic(X, y)
    x0 = rng.uniform(-2.0, 2.0, (chains, 5))
    result = sample(FisherMALA(), target, x0, 13, draws=2000, warmup=1000)
    assert worst_rhat(result.x) < 1.01
    assert 0.4 < result.stats["acceptance_rate"].mean() < 0.75


def inhomogeneous():
    return np.ones(100), np.diag((0.01 * np.arange(1, 101)) ** 2)


def gaussian_process():
    s = np.linspace(1.0, 2.0, 100)
    kernel = np.exp(-0.5 * (s[:, None] - s) ** 2 / 0.09)
    return np.ones(100), np.outer(s, s) * kernel + 0.001 * np.eye(100)


def frobenius_error(target, chains, updates, seed):
    """Distance of A to the covariance, both scaled to trace dim, after n0 = 500 and ``updates``."""
    rng = np.random.default_rng(seed)
    params = run(
        FisherMALA(robust=False, initial_steps=500), target, rng.standard_normal((chains, 100)),
        rng, warmup=500 + updates, draws=0,
    )  # fmt: skip
    return np.linalg.norm(params.root @ params.root.T - target.cov / np.trace(target.cov) * 100.0)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("truth", "chains", "updates", "repeats", "error"),
    [
        (inhomogeneous, 1, 5000, 4, 1.07),
        (inhomogeneous, 10, 2000, 1, 0.61),
        (gaussian_process, 1, 5000, 4, 8.6),
        (gaussian_process, 10, 2000, 1, 0.76),
    ],
)
def test_convergence_of_the_preconditioner(targets, truth, chains, updates, repeats, error):
    """Figures 1 and 2 of the paper, and the same for ten chains: no worse by a factor of two."""
    target = targets.Gaussian(*truth())
    errors = [frobenius_error(target, chains, updates, seed) for seed in range(repeats)]
    assert np.mean(errors) < 2.0 * error


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("step_size", 0.0),
        ("step_size", "big"),
        ("step_rate", 1.0),
        ("damping", 0.0),
        ("signal", "fisher"),
        ("initial_steps", -1),
        ("initial_steps", 2.5),
        ("learning_rate", 1.0),
        ("robust", "yes"),
    ],
)
def test_settings_out_of_range(setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        FisherMALA(**{setting: value})
    assert repr(value) in str(error.value)


def test_learning_rate_function_out_of_range(targets):
    sampler = FisherMALA(learning_rate=lambda n: 2.0, initial_steps=0)
    with pytest.raises(SamplerError, match=r"learning_rate\(2\)"):
        run(
            sampler, targets.Banana(), np.zeros((1, 2)), np.random.default_rng(1), warmup=5, draws=0
        )


@pytest.mark.parametrize(
    ("factor", "logp", "counted"),
    [
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.2, 0.5, 0.9]),
        ([1.0, 0.5, 1.0], [0.0, 0.0, 0.0], [0.2, 0.9]),
        ([1.0, 0.5, 1.0], [-np.inf, 0.0, 0.0], [0.9]),
        ([0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [0.0]),
        ([1.0, 1.0, 1.0], [-np.inf, -np.inf, -np.inf], [0.0]),
    ],
)
def test_who_steers_the_step_size(targets, factor, logp, counted):
    """Chains with finite proposals of the shared size do: by their mean, or one by one."""
    target, rng = targets.Banana(), np.random.default_rng(14)
    sampler = FisherMALA(robust=False, initial_steps=10)
    state = sampler.init(rng, target, np.zeros((3, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    adaptation = adaptation._replace(own=adaptation.own._replace(factor=np.array(factor)))
    _, info = sampler.step(rng, target, state, sampler.params(adaptation))
    info = info._replace(
        accept_prob=np.array([0.2, 0.5, 0.9]), proposal=state._replace(logp=np.array(logp))
    )
    after = sampler.adapt(rng, target, 0, 1000, adaptation, state, info)
    expected = np.log1p(0.015 * (np.mean(counted) - 0.574))
    assert after.log_sigma2 - adaptation.log_sigma2 == pytest.approx(expected, rel=1e-10)
    steered = FisherMALA(robust=True)._warmup()._steer(adaptation.log_sigma2, adaptation.own, info)
    expected = np.sum(np.log1p(0.015 * (np.array(counted) - 0.574)))
    assert steered - adaptation.log_sigma2 == pytest.approx(expected, rel=1e-10)


def test_a_step_size_is_found_where_no_chain_takes_the_shared_one(targets):
    target, rng = targets.Gaussian(np.zeros(2), np.eye(2)), np.random.default_rng(14)
    sampler, n0 = FisherMALA(robust=True, initial_steps=10), 10
    state = sampler.init(rng, target, rng.standard_normal((8, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    for n in (1, 2):  # updates of R after which one is looked for
        _, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, n0 + n - 1, 1000, adaptation, state, info)
        assert adaptation.fisher.n == n
        assert -2.0 < adaptation.log_sigma2 < 4.0
        own = adaptation.own._replace(factor=np.full(8, 0.5))
        adaptation = adaptation._replace(own=own, log_sigma2=10.0)


def test_scales_over_eight_orders_need_the_robust_learning_rate(targets):
    """With 1/n the damping and the first signals still weigh too much at the end."""
    rng = np.random.default_rng(15)
    Q = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    target = targets.Gaussian(np.zeros(10), Q @ np.diag(np.logspace(-8, 8, 10)) @ Q.T)
    target.precision = Q @ np.diag(np.logspace(8, -8, 10)) @ Q.T
    x0 = rng.uniform(-2.0, 2.0, (8, 10))
    rhat = [
        worst_rhat(
            sample(FisherMALA(learning_rate=rate), target, x0, 16, draws=1000, warmup=1000).x
        )
        for rate in (None, lambda n: 1.0 / n)
    ]
    assert rhat[0] < 1.02
    assert rhat[1] > 1.1
