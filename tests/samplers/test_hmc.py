"""Hamiltonian Monte Carlo, and the warm-up that it shares with the No-U-Turn sampler."""

import json

import numpy as np
import pytest

from probmodel import infer
from probmodel.adaptation.windows import windows
from probmodel.distributions import Normal
from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.inference.groups import sample
from probmodel.model import Model, param
from probmodel.numerics.roots import LowRank
from probmodel.results.convergence import convergence
from probmodel.samplers import make_sampler
from probmodel.samplers.hamiltonian.hmc import HMC
from probmodel.samplers.hamiltonian.nuts import NUTS
from probmodel.samplers.hamiltonian.windowed import (
    PRELIMINARY,
    Params,
    find_steps,
    learned_root,
    settled,
)
from probmodel.samplers.metropolis import evaluate
from probmodel.testing.statistics import LIMIT, deviations, require_moments, worst


def worst_rhat(x):
    return np.max(convergence(np.moveaxis(x, 2, 0)).rhat)


# -- the kernel --------------------------------------------------------------------------------


def test_one_transition_is_a_trajectory_and_a_decision(targets):
    target, sampler = targets.Banana(), HMC(n_steps=4, random_steps=False)
    root, h = np.array([[0.8, 0.0], [0.5, 1.1]]), 0.5
    state = sampler.init(np.random.default_rng(0), target, np.array([[0.5, 0.2], [1.0, -1.0]]))
    new, info = sampler.step(np.random.default_rng(1), target, state, Params(h, root))
    rng = np.random.default_rng(1)
    # The same with momenta p of mass M = (C C')^-1, and not whitened.
    mass = np.linalg.inv(root @ root.T)
    q, p = state.x, rng.standard_normal((2, 2)) @ np.linalg.inv(root)
    before = state.logp - 0.5 * np.einsum("ci,ij,cj->c", p, root @ root.T, p)
    for _ in range(4):
        p = p + 0.5 * h * target(q).grad
        q = q + h * np.linalg.solve(mass, p.T).T
        p = p + 0.5 * h * target(q).grad
    after = target(q).logp - 0.5 * np.einsum("ci,ij,cj->c", p, root @ root.T, p)
    alpha = np.minimum(1.0, np.exp(after - before))
    np.testing.assert_allclose(info.proposal.x, q, rtol=1e-10)
    np.testing.assert_allclose(info.accept_prob, alpha, rtol=1e-10)
    np.testing.assert_array_equal(info.accepted, rng.random(2) < alpha)
    np.testing.assert_array_equal(new.x, np.where(info.accepted[:, None], info.proposal.x, state.x))
    np.testing.assert_array_equal(info.n_grad, [4, 4])


def test_random_numbers_of_steps_are_uniform(targets):
    target, sampler = targets.Gaussian(np.zeros(1), np.eye(1)), HMC(n_steps=5)
    rng = np.random.default_rng(2)
    state, steps = sampler.init(rng, target, np.zeros((3, 1))), []
    for _ in range(2000):
        state, info = sampler.step(rng, target, state, Params(0.3, None))
        assert (info.stats["n_steps"] == info.stats["n_steps"][0]).all()
        np.testing.assert_array_equal(info.n_grad, info.stats["n_steps"])
        steps.append(info.n_grad[0])
    counts = np.bincount(steps, minlength=6)
    assert counts[0] == 0
    assert np.sum((counts[1:] - 400) ** 2 / 400) < 20.0  # chi-squared with 4 degrees of freedom


@pytest.mark.parametrize("settings", [{}, {"random_steps": False, "n_steps": 3}])
def test_exact_draws_stay_exact(targets, settings):
    target, rng, sampler = targets.Banana(), np.random.default_rng(3), HMC(**settings)
    state = sampler.init(rng, target, target.exact(rng, 6000))
    for _ in range(6):
        state, _ = sampler.step(rng, target, state, Params(0.8, np.array([0.8, 1.2])))
    name, z = worst(deviations(state.x, target.exact(rng, 6000)))
    assert abs(z) < LIMIT, name


def test_divergences_are_placed(targets):
    target, sampler = targets.HalfSpace(2), HMC(random_steps=False)
    state = sampler.init(np.random.default_rng(4), target, np.array([[0.2, 0.0], [9.0, 0.0]]))
    _, info = sampler.step(np.random.default_rng(5), target, state, Params(0.1, None))
    place = info.record.divergence
    np.testing.assert_array_equal(np.isnan(place).all(axis=1), ~info.diverging)
    assert info.diverging.tolist() == [True, False]
    assert place[0, 0] <= 0.0


# -- the published rule ------------------------------------------------------------------------


def test_published_rule(targets):
    target = targets.Gaussian(np.zeros(4), np.eye(4))
    sampler = HMC(metric="identity", steering="robbins_monro", random_steps=False, n_steps=5)
    rng = np.random.default_rng(6)
    state = sampler.init(rng, target, np.ones((1, 4)))
    adaptation, h = sampler.adapt_init(rng, target, state), 0.5 / 4
    for i in range(60):
        assert sampler.params(adaptation).step_size == pytest.approx(h, rel=1e-12)
        assert sampler.params(adaptation).root is None
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 60, adaptation, state, info)
        h *= 1.0 + 0.01 * (float(info.accepted[0]) - 0.65) / 0.65
    assert sampler.params(adaptation, final=True).step_size == pytest.approx(h, rel=1e-12)


def test_published_rule_knows_one_step_for_all(targets):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 1e-4]))
    sampler = HMC(steering="robbins_monro")
    seen = record_params(sampler, target, np.eye(4, 2), 20, 200)
    assert {np.size(params.step_size) for params in seen} == {1}
    np.testing.assert_allclose(seen[-1].root, [1.0, 1e-2], rtol=0.2)


def test_published_rule_reaches_its_acceptance(targets):
    target = targets.Gaussian(np.zeros(20), np.eye(20))
    sampler = HMC(metric="identity", steering="robbins_monro", random_steps=False, n_steps=5)
    result = sample(sampler, target, np.ones((8, 20)), 7, draws=1000, warmup=1000)
    assert result.stats["acceptance_rate"].mean() == pytest.approx(0.65, abs=0.08)


# -- a fixed step size --------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["identity", "diag"])
def test_a_fixed_step_size_stays(targets, metric):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.25]))
    sampler = HMC(steering="fixed", step_size=0.4, metric=metric)
    seen = record_params(sampler, target, np.eye(4, 2), 20, 400)
    assert {params.step_size for params in seen} == {0.4}
    if metric == "diag":
        np.testing.assert_allclose(seen[-1].root, [1.0, 0.5], rtol=0.2)


def test_a_fixed_step_size_gives_the_trajectories_of_a_textbook(targets):
    """The same chain by a loop written out, with the same random numbers."""
    target = targets.Gaussian(np.zeros(2), np.array([[1.0, 0.99], [0.99, 1.0]]))
    settings = {"steering": "fixed", "step_size": 0.16, "metric": "identity", "n_steps": 40}
    sampler = HMC(random_steps=False, **settings)
    kept = []
    run(sampler, target, np.zeros((1, 2)), np.random.default_rng(3), warmup=5, draws=30,
        collectors=[Keeper(kept)])  # fmt: skip
    rng, q = np.random.default_rng(3), np.zeros((1, 2))
    for i in range(35):
        p, end = rng.standard_normal((1, 2)), q
        before = target(q).logp - 0.5 * np.sum(p**2)
        for _ in range(40):
            p = p + 0.08 * target(end).grad
            end = end + 0.16 * p
            p = p + 0.08 * target(end).grad
        after = target(end).logp - 0.5 * np.sum(p**2)
        q = end if rng.random() < np.exp(min(0.0, (after - before)[0])) else q
        if i >= 5:
            np.testing.assert_allclose(kept[i - 5], q, rtol=1e-8)


class Keeper(Collector):
    """Positions of all draws."""

    def __init__(self, kept):
        self.kept = kept

    def record(self, phase, i, state, info, params):
        if phase == "draw":
            self.kept.append(state.x.copy())


def test_what_does_not_go_with_a_fixed_step_size():
    with pytest.raises(SamplerError, match=r"step_size is None\. Give step_size="):
        HMC(steering="fixed")
    with pytest.raises(SamplerError, match=r"got target_accept=0\.8\. Leave out target_accept="):
        HMC(steering="fixed", step_size=0.1, target_accept=0.8)
    with pytest.raises(SamplerError, match=r"rmhmc: adapt_step_size=False .* target_accept=0\.9\."):
        make_sampler("rmhmc", adapt_step_size=False, target_accept=0.9)


def test_what_the_step_size_is_steered_to():
    assert HMC().aim == 0.65
    assert HMC(target_accept=0.9).aim == 0.9
    assert HMC(steering="fixed", step_size=0.1).aim is None
    assert NUTS().aim == 0.8
    assert make_sampler("rmhmc").aim == 0.8
    assert make_sampler("rmhmc", adapt_step_size=False).aim is None
    assert make_sampler("entropy_hmc").aim == 0.67
    assert make_sampler("entropy_hmc", objective="esjd").aim is None
    assert make_sampler("ahmc").aim is None
    assert make_sampler("mala", target_accept=0.5).aim == 0.5


@pytest.mark.parametrize("step_size", [0.02, 1.6])
def test_a_fixed_step_size_is_not_reproached_for_its_acceptance(step_size):
    class Standard(Model):
        x = param(Normal(0, 1))

    fit = infer(Standard(), "hmc", seed=1, draws=300, warmup=100, quiet=True,
                steering="fixed", step_size=step_size, metric="identity")  # fmt: skip
    kinds = {finding["kind"] for finding in json.loads(fit.attrs["warnings"])}
    assert "acceptance" not in kinds


# -- the warm-up -------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("sampler", [NUTS, HMC])
@pytest.mark.parametrize("metric", ["identity", "diag", "dense", "low_rank"])
def test_mass_matrix_becomes_the_covariance(targets, sampler, metric):
    cov = np.array([[4.0, 1.9, 0.0], [1.9, 1.0, 0.0], [0.0, 0.0, 1e-4]])
    target = targets.Gaussian(np.array([3.0, -1.0, 0.0]), cov)
    x0 = np.random.default_rng(8).uniform(-2.0, 2.0, (4, 3))
    settings = {"step_size": 1e-2, "max_depth": 3} if sampler is NUTS else {"step_size": 1e-2}
    made = sampler(metric=metric, **(settings if metric == "identity" else {}))
    params = run(made, target, x0, np.random.default_rng(9), warmup=400, draws=1)
    root = params.root
    if metric == "identity":
        assert root is None
        return
    if metric == "low_rank":
        assert isinstance(root, LowRank)
        correction = np.eye(3) + (root.basis * (root.factors - 1.0)) @ root.basis.T
        root = root.scale[:, None] * correction
    learned = np.diag(root**2) if root.ndim == 1 else root @ root.T
    truth = np.diag(np.diag(cov)) if metric == "diag" else cov
    scale = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(learned / np.outer(scale, scale), truth / np.outer(scale, scale),
                               atol=0.25)  # fmt: skip


def test_window_becomes_stans_estimate(targets):
    target, rng = targets.Banana(), np.random.default_rng(10)
    window = [evaluate(target, target.exact(rng, 3)) for _ in range(25)]
    x = np.concatenate([state.x for state in window])
    n, cov = len(x), np.cov(x.T)
    shrunk = n / (n + 5.0) * cov + 1e-3 * 5.0 / (n + 5.0) * np.eye(2)
    np.testing.assert_allclose(learned_root("diag", window) ** 2, np.diag(shrunk), rtol=1e-12)
    root = learned_root("dense", window)
    np.testing.assert_allclose(root @ root.T, shrunk, rtol=1e-12)


@pytest.mark.parametrize("metric", ["diag", "dense"])
def test_tiny_scales_are_not_drowned(targets, metric):
    """What Stan adds to variances is a hundred thousand times the smallest one here."""
    sd = np.array([1e-6, 1.0, 1e6])
    target, rng = targets.Gaussian(np.zeros(3), np.diag(sd**2)), np.random.default_rng(11)
    window = [evaluate(target, target.exact(rng, 4)) for _ in range(100)]
    root = learned_root(metric, window)
    learned = root if root.ndim == 1 else np.sqrt(np.diag(root @ root.T))
    np.testing.assert_allclose(learned, sd, rtol=0.15)


def record_params(sampler, target, x0, seed, warmup):
    """Parameters of every iteration of a warm-up, with the step size that each chain took."""
    seen = []

    class Seen(Collector):
        def record(self, phase, i, state, info, params):
            seen.append(params._replace(step_size=info.stats.get("step_size", params.step_size)))

    rng = np.random.default_rng(seed)
    run(sampler, target, x0, rng, warmup=warmup, draws=1, collectors=[Seen()])
    return seen


def test_mass_matrix_changes_at_the_ends_of_windows(targets):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.01]))
    seen = record_params(NUTS(), target, np.ones((4, 2)), 12, 300)
    changed = [i for i in range(1, 301) if seen[i].root is not seen[i - 1].root]
    assert changed == [*PRELIMINARY, *(end + 1 for end in windows(300).ends)]
    different = [np.size(np.unique(params.step_size)) for params in seen]
    # Those that are found by trying, for new scales, may be the same for several chains.
    assert np.mean(np.equal(different[1:76], 4)) > 0.9
    assert different[300] == 1


def test_given_inverse_metrics_are_not_learned(targets):
    target, given = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.01])), np.array([1.0, 0.01])
    for inv_metric in (given, np.diag(given), given.tolist()):
        seen = record_params(NUTS(inv_metric=inv_metric), target, np.ones((4, 2)), 13, 100)
        for params in seen:
            root = params.root if params.root.ndim == 2 else np.diag(params.root)
            np.testing.assert_allclose(root @ root.T, np.diag(given), rtol=1e-12)
        assert len({np.mean(params.step_size) for params in seen}) > 90


@pytest.mark.parametrize("warmup", [0, 1, 19, 20, 60])
def test_warmups_of_any_length(targets, warmup):
    target = targets.Banana()
    for sampler in (NUTS(), HMC(), HMC(step_size=0.3), HMC(steering="robbins_monro")):
        result = sample(sampler, target, np.zeros((3, 2)), 14, draws=5, warmup=warmup)
        assert np.isfinite(result.x).all()
        assert isinstance(result.params[0].step_size, float)
        assert result.params[0].step_size > 0.0


def test_step_size_starts_where_it_is_told(targets):
    seen = record_params(NUTS(step_size=0.123), targets.Banana(), np.zeros((3, 2)), 15, 30)
    assert seen[0].step_size == pytest.approx(0.123, rel=1e-12)
    rng = np.random.default_rng(0)
    params = run(NUTS(step_size=0.123), targets.Banana(), np.zeros((3, 2)), rng, warmup=0, draws=1)
    assert params.step_size == pytest.approx(0.123, rel=1e-12)


@pytest.mark.statistical
def test_acceptance_reaches_its_target(targets):
    target = targets.Gaussian(np.zeros(30), np.diag(np.geomspace(1e-3, 1e3, 30)))
    x0 = np.random.default_rng(16).uniform(-2.0, 2.0, (4, 30))
    for sampler in (NUTS(target_accept=0.9), HMC(n_steps=4)):
        result = sample(sampler, target, x0, 17, draws=200, warmup=400)
        rate = result.stats["acceptance_rate"].mean()
        # The mean of noisy log steps is rather short, because acceptance falls off steeply.
        assert -0.05 < rate - sampler.aim < 0.2


def test_dense_moments_of_hmc(targets):
    rng = np.random.default_rng(18)
    target = targets.Gaussian(rng.standard_normal(3), targets.random_covariance(rng, 3))
    result = sample(HMC(metric="dense"), target, np.zeros((4, 3)), 19, draws=800, warmup=300)
    require_moments(target, result.x)


# -- chains that start badly -------------------------------------------------------------------


@pytest.mark.parametrize("sampler", [NUTS(), HMC(metric="dense")], ids=["nuts", "hmc"])
def test_chain_on_a_cliff_does_not_spoil_the_others(targets, sampler):
    """One chain at the top of an exponential cliff, the others in the bulk."""
    rng = np.random.default_rng(10)
    X = rng.standard_normal((100, 2)) * 10.0
    target = targets.Poisson(X, rng.poisson(np.exp(X @ [0.1, -0.05])))
    x0 = np.array([0.1, -0.05]) + 0.01 * rng.standard_normal((6, 2))
    x0[0] = [2.0, 2.0]
    result = sample(sampler, target, x0, 11, draws=300, warmup=300)
    assert worst_rhat(result.x) < 1.03
    assert result.stats["n_steps"].mean() < 20


@pytest.mark.statistical
def test_columns_of_any_scale_from_far_away(targets):
    """Without the preliminary scales, 100 iterations would take 1000 gradients each."""
    rng = np.random.default_rng(12)
    scale = np.array([1e-2, 1.0, 30.0, 5e3])
    X = rng.standard_normal((200, 4)) * scale + scale
    y = rng.random(200) < 1.0 / (1.0 + np.exp(-(X / scale) @ [0.5, -1.0, 1.0, 0.3]))
    target = targets.Logistic(X, y)
    x0 = rng.uniform(-2.0, 2.0, (4, 5))
    result = sample(NUTS(), target, x0, 13, draws=300, warmup=300)
    assert worst_rhat(result.x) < 1.03
    assert result.work_warmup.grad < 40_000


def test_draws_far_out_are_left_out():
    rng = np.random.default_rng(14)
    logp = -0.5 * rng.chisquare(10, (50, 4))
    assert settled(logp, 10).all()
    lost = logp.copy()
    lost[:, 2] = -1e5
    lost[:30, 3] -= np.geomspace(1e8, 1e3, 30)
    kept = settled(lost, 10)
    assert kept[:, :2].all()
    assert not kept[:, 2].any()
    np.testing.assert_array_equal(kept[:, 3], np.arange(50) >= 30)
    assert settled(lost[:, 2:3], 10).all()  # nobody knows better


def test_steps_are_found_by_trying(targets):
    """Near the size at which one leapfrog step is accepted with probability 0.8."""
    rng = np.random.default_rng(15)
    for scale in (1e-9, 1e-3, 1.0, 1e4):
        target = targets.Gaussian(np.zeros(1), np.array([[scale**2]]))
        state = evaluate(target, scale * rng.standard_normal((200, 1)))
        steps = find_steps(rng, target, state, None, np.ones(200))
        assert 0.3 < np.median(steps) / scale < 4.0


def test_steps_where_nothing_is_accepted_stay():
    class Spike:
        dim, coordinate_names = 1, ()

        def __call__(self, x):
            return np.where(x[:, 0] == 1.0, 0.0, -np.inf), np.zeros_like(x)

    state = evaluate(Spike(), np.ones((2, 1)))
    start = np.array([0.7, 3.0])
    found = find_steps(np.random.default_rng(0), Spike(), state, None, start)
    assert (found <= start).all()


# -- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", [NUTS, HMC])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("step_size", 0.0),
        ("step_size", -1.0),
        ("step_size", "big"),
        ("target_accept", 1.0),
        ("metric", "euclidean"),
        ("metric", None),
    ],
)
def test_settings_out_of_range(sampler, setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        sampler(**{setting: value})
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("n_steps", 0), ("n_steps", 1.5), ("random_steps", 1), ("steering", "by hand")],
)
def test_settings_of_hmc_out_of_range(setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        HMC(**{setting: value})
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "transpose"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "eigenvalue"),
        (np.array([1.0, -1.0]), "smallest entry"),
        (np.array([1.0, np.nan]), "nan"),
        (np.ones((2, 3)), "shape"),
        (np.ones((2, 2, 2)), "shape"),
        (3.0, "shape"),
        ("diag", "shape"),
        (["a", "b"], "got"),
    ],
)
def test_inverse_metrics_that_are_none(value, problem):
    for sampler in (NUTS, HMC):
        with pytest.raises(SamplerError, match=problem) as error:
            sampler(inv_metric=value)
        assert "inv_metric" in str(error.value)


@pytest.mark.parametrize("inv_metric", [np.ones(3), np.eye(3)])
def test_inverse_metrics_of_the_wrong_size(targets, inv_metric):
    with pytest.raises(SamplerError, match="size 2") as error:
        NUTS(inv_metric=inv_metric).init(
            np.random.default_rng(0), targets.Banana(), np.zeros((2, 2))
        )
    assert "(3" in str(error.value)
