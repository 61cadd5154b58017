"""Checks that every registered sampler passes; a new one gets them for free."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.inference.driver import run
from probmodel.inference.groups import sample
from probmodel.results.convergence import convergence
from probmodel.samplers import SAMPLERS, make_sampler
from probmodel.samplers.base import Sampler
from probmodel.samplers.metropolis import select

NAMES = sorted(SAMPLERS)
MIXING = [name for name in NAMES if SAMPLERS[name].coupling != "ensemble"]
STEPS = 20


def tuned(sampler, target, rng, warmup=300, chains=20):
    """Parameters after a warm-up that starts in the target's bulk."""
    chains = max(chains, sampler.min_chains(target.dim))
    return run(sampler, target, target.exact(rng, chains), rng, warmup=warmup, draws=1)


def moved(sampler, target, params, rng, chains, steps=STEPS):
    """Exact draws after some transitions."""
    state = sampler.init(rng, target, target.exact(rng, chains))
    for _ in range(steps):
        state, _ = sampler.step(rng, target, state, params)
    return state.x


def deviations(x, target, rng):
    """z-scores of means, second moments and ten-bin counts against as many exact draws."""
    exact = target.exact(rng, len(x))
    x = np.clip(np.nan_to_num(x), -20.0, 20.0)  # a broken kernel may have run away
    scores = []
    for power in (1, 2, 3):
        a, b = x**power, exact**power
        scores.append((a.mean(0) - b.mean(0)) / np.sqrt((a.var(0) + b.var(0)) / len(x)))
    a, b = x[:, 0] * x[:, 1], exact[:, 0] * exact[:, 1]
    scores.append([(a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / len(x))])
    for column, reference in zip(x.T, exact.T, strict=True):
        edges = np.quantile(reference, np.linspace(0.1, 0.9, 9))
        counts = [np.bincount(np.searchsorted(edges, c), minlength=10) for c in (column, reference)]
        chi2 = np.sum((counts[0] - counts[1]) ** 2 / (counts[0] + counts[1]))
        scores.append([(chi2 - 9.0) / np.sqrt(18.0)])
    return np.abs(np.concatenate(scores))


@pytest.mark.parametrize("name", NAMES)
def test_banana_is_left_invariant(name, targets):
    """T-INV: draws that are exact stay exact, on a skew target."""
    rng = np.random.default_rng(1)
    target, sampler = targets.Banana(), make_sampler(name)
    params = tuned(sampler, target, rng)
    x = moved(sampler, target, params, rng, 4000)
    assert np.all(deviations(x, target, rng) < 4.0)


def test_invariance_check_notices_a_kernel_without_metropolis(targets):
    """Negative control: the same moves, all accepted."""
    rng = np.random.default_rng(1)
    target, sampler = targets.Banana(), make_sampler("mala")
    params = tuned(sampler, target, rng)
    state = sampler.init(rng, target, target.exact(rng, 4000))
    for _ in range(STEPS):
        _, info = sampler.step(rng, target, state, params)
        state = info.proposal
    assert np.max(deviations(state.x, target, rng)) > 8.0


def test_invariance_check_notices_a_ratio_without_the_proposals(targets):
    """Negative control: the Metropolis ratio of a symmetric proposal, which Langevin's is not."""
    rng = np.random.default_rng(1)
    target, sampler = targets.Banana(), make_sampler("mala")
    params = tuned(sampler, target, rng)
    state = sampler.init(rng, target, target.exact(rng, 4000))
    for _ in range(STEPS):
        _, info = sampler.step(rng, target, state, params)
        accepted = np.log(rng.random(4000)) < info.proposal.logp - state.logp
        state = select(accepted, info.proposal, state)
    assert np.max(deviations(state.x, target, rng)) > 8.0


def gaussian_run(name, targets, dim, seed):
    rng = np.random.default_rng(seed)
    target = targets.Gaussian(rng.standard_normal(dim), targets.random_covariance(rng, dim))
    sampler = make_sampler(name)
    chains = max(8, sampler.min_chains(dim))
    x0 = rng.uniform(-2.0, 2.0, (chains, dim))
    return target, sample(sampler, target, x0, seed, draws=1500, warmup=600)


def check_moments(target, x):
    """Means and covariances within five Monte Carlo standard errors."""
    flat = x.reshape(-1, target.dim)
    scale = np.sqrt(np.diag(target.cov))
    z = (x - target.mean) / scale
    products = z[:, :, :, None] * z[:, :, None, :]
    functions = np.concatenate([z, products.reshape(*z.shape[:2], -1)], axis=2)
    ess = convergence(np.moveaxis(functions, 2, 0)).ess_bulk
    correlation = target.cov / np.outer(scale, scale)
    expected = np.concatenate([np.zeros(target.dim), correlation.ravel()])
    error = functions.reshape(len(flat), -1).std(axis=0) / np.sqrt(ess)
    assert np.all(ess > 50)
    assert np.all(np.abs(functions.mean(axis=(0, 1)) - expected) < 5.0 * error)


@pytest.mark.parametrize("name", MIXING)
@pytest.mark.parametrize("dim", [1, 2])
def test_known_posterior(name, dim, targets):
    """T-POST."""
    target, result = gaussian_run(name, targets, dim, seed=2)
    check_moments(target, result.x)


@pytest.mark.statistical
@pytest.mark.parametrize("name", MIXING)
def test_known_posterior_in_ten_dimensions(name, targets):
    target, result = gaussian_run(name, targets, 10, seed=3)
    check_moments(target, result.x)


def test_moments_check_notices_a_wrong_covariance(targets):
    target, result = gaussian_run("mala", targets, 2, seed=2)
    wrong = targets.Gaussian(target.mean, 1.3 * target.cov)
    with pytest.raises(AssertionError):
        check_moments(wrong, result.x)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_frozen_after_warmup(name, targets):
    """T-FREEZE: bitwise, and while warming up they do change."""
    seen = {"warmup": [], "draw": []}

    def record(phase, i, state, info, params):
        seen[phase].append([np.array(p, dtype=float).tobytes() for p in params if p is not None])

    target, rng = targets.Banana(), np.random.default_rng(4)
    sampler = make_sampler(name)
    x0 = target.exact(rng, max(4, sampler.min_chains(2)))
    run(
        sampler, target, x0, rng, warmup=60, draws=60,
        collectors=[SimpleNamespace(record=record)],
    )  # fmt: skip
    assert len({tuple(params) for params in seen["warmup"]}) > 1
    assert len(seen["draw"]) == 60
    assert all(params == seen["draw"][0] for params in seen["draw"])


@pytest.mark.parametrize("name", MIXING)
def test_chains_do_not_touch_each_other(name, targets, noise):
    """T-MASK: together as one by one, given the same noise and parameters."""
    recorder, player = noise
    target, rng = targets.Banana(), np.random.default_rng(5)
    sampler = make_sampler(name)
    params = tuned(sampler, target, rng, warmup=100)
    x0 = target.exact(rng, 5)
    tape = recorder(6)
    together = sampler.init(tape, target, x0)
    for _ in range(8):
        together, _ = sampler.step(tape, target, together, params)
    for c in range(len(x0)):
        own = player(tape.calls, c, len(x0))
        alone = sampler.init(own, target, x0[c : c + 1])
        for _ in range(8):
            alone, _ = sampler.step(own, target, alone, params)
        np.testing.assert_allclose(alone.x[0], together.x[c], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_region_without_a_density_is_never_entered(name, outside, targets):
    """T-NAN: and the parameters stay finite."""
    target, rng = targets.HalfSpace(3, outside), np.random.default_rng(7)
    sampler = make_sampler(name)
    x0 = np.abs(rng.standard_normal((max(4, sampler.min_chains(3)), 3)))
    result = sample(sampler, target, x0, 8, draws=150, warmup=150, save_warmup=True)
    if outside == "nan gradient" and result.n_grad_sampling == 0:
        pytest.skip("uses no gradients")
    for x in (result.warmup_x, result.x):
        assert np.all(x[:, :, 0] > 0.0)
        assert np.isfinite(x).all()
    assert np.isfinite(result.stats["lp"]).all()
    for value in result.params[0]:
        if value is not None:
            assert np.isfinite(np.asarray(value, dtype=float)).all()


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_statistics(name, targets):
    target, rng = targets.Banana(), np.random.default_rng(9)
    sampler = make_sampler(name)
    chains = max(3, sampler.min_chains(2))
    params = tuned(sampler, target, rng, warmup=20, chains=chains)
    state = sampler.init(rng, target, target.exact(rng, chains))
    before = [np.array(field) for field in state]
    new, info = sampler.step(rng, target, state, params)
    for field, old in zip(state, before, strict=True):
        np.testing.assert_array_equal(field, old)
    assert new.x.shape == new.grad.shape == info.proposal.x.shape == (chains, 2)
    assert new.logp.shape == info.proposal.logp.shape == (chains,)
    for value in (info.accept_prob, info.accepted, info.diverging, info.n_grad):
        assert value.shape == (chains,)
    assert all(np.shape(value) == (chains,) for value in info.stats.values())
    assert info.accepted.dtype == info.diverging.dtype == bool
    assert info.n_grad.dtype.kind == "i"
    assert np.all((info.accept_prob >= 0.0) & (info.accept_prob <= 1.0))
    np.testing.assert_allclose(new.logp, target.log_density(new.x), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_draws(name, targets):
    target, sampler = targets.Banana(), make_sampler(name)
    x0 = target.exact(np.random.default_rng(10), max(3, sampler.min_chains(2)))
    runs = [sample(sampler, target, x0, seed, draws=5, warmup=10) for seed in (11, 11, 12)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    assert not np.array_equal(runs[0].x, runs[2].x)


@pytest.mark.parametrize("name", NAMES)
def test_start_without_a_density_is_refused(name, targets):
    sampler = make_sampler(name)
    x0 = np.ones((max(3, sampler.min_chains(2)), 2))
    x0[1, 0] = -1.0
    with pytest.raises(SamplerError, match="finite"):
        sample(sampler, targets.HalfSpace(2), x0, 1, draws=1, warmup=1)


@pytest.mark.parametrize("name", NAMES)
def test_description(name):
    kind = SAMPLERS[name]
    assert issubclass(kind, Sampler)
    assert kind.name == name
    assert kind.summary
    assert "\n" not in kind.summary
    assert kind.paper
    assert kind.coupling in ("independent", "pooled_warmup", "ensemble")
    assert kind.default_draws > 0
    assert kind.default_warmup >= 0
    assert kind.default_chains >= 1
    assert kind().min_chains(3) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_settings_are_documented_and_checked(name):
    kind = SAMPLERS[name]
    sampler = kind()
    with pytest.raises(dataclasses.FrozenInstanceError):
        sampler.anything = 1
    fields = [field.name for field in dataclasses.fields(kind)]
    for field in fields:
        assert f"{field} :" in kind.__doc__ or f"{field}," in kind.__doc__
    if "target_accept" in fields:
        for value in (0.0, 1.0, -0.2, np.nan, "high", True):
            with pytest.raises(SamplerError, match="target_accept") as error:
                make_sampler(name, target_accept=value)
            assert repr(value) in str(error.value)
    with pytest.raises(SamplerError, match="no_such_setting"):
        make_sampler(name, no_such_setting=1)


def test_unknown_method_names_the_nearest():
    with pytest.raises(SamplerError, match="fisher_mala"):
        make_sampler("fisher-mala")


def test_unknown_setting_names_the_nearest():
    with pytest.raises(SamplerError, match="'damping'"):
        make_sampler("fisher_mala", dampening=3.0)


def test_settings_of_an_instance_are_replaced():
    sampler = make_sampler(make_sampler("mala", step_rate=0.1), target_accept=0.7)
    assert (sampler.step_rate, sampler.target_accept) == (0.1, 0.7)
