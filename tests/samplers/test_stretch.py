"""Affine-invariant ensembles: their law, their invariance, and what they say of themselves."""

import numpy as np
import pytest
from scipy import stats

from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.results.convergence import ensemble_convergence
from probmodel.samplers import make_sampler
from probmodel.samplers.random_walk.stretch import AffineEnsemble
from probmodel.samplers.untuned import NoParams
from probmodel.testing.invariance import check_invariance
from probmodel.testing.statistics import LIMIT, deviations, worst
from probmodel.testing.targets import Target

NONE = NoParams()
SHARES = (0.0, 0.8, 0.999)


def evolve(sampler, target, seed, x, steps):
    rng = np.random.default_rng(seed)
    state = sampler.init(rng, target, x)
    for _ in range(steps):
        state, _ = sampler.step(rng, target, state, NONE)
    return state.x


def small_ensembles(sampler, targets, members=6, ensembles=1000):
    """Points of many small ensembles that were exact draws, and as many exact draws."""
    target, rng = targets.Banana(), np.random.default_rng(1)
    start = target.exact(rng, ensembles * members).reshape(ensembles, members, 2)
    x = np.concatenate([evolve(sampler, target, i, x0, 15) for i, x0 in enumerate(start)])
    return x, target.exact(rng, len(x))


@pytest.mark.statistical
@pytest.mark.parametrize("difference", SHARES)
def test_small_ensembles_of_exact_draws_stay_exact(difference, targets):
    """Members of an ensemble are independent under the law that is to stay."""
    x, exact = small_ensembles(AffineEnsemble(difference=difference), targets)
    name, score = worst(deviations(x, exact))
    assert abs(score) < LIMIT, name


@pytest.mark.statistical
def test_another_power_of_the_stretch_is_noticed(targets):
    """Negative control: z^dim in place of z^(dim - 1)."""

    class Wrong(AffineEnsemble):
        def _propose(self, rng, x, others):
            y, log_factor = super()._propose(rng, x, others)
            return y, log_factor * x.shape[1] / (x.shape[1] - 1)

    x, exact = small_ensembles(Wrong(difference=0.0), targets)
    assert abs(worst(deviations(x, exact))[1]) > 2.0 * LIMIT


@pytest.mark.parametrize("difference", SHARES)
def test_large_ensembles_of_exact_draws_stay_exact(difference):
    check_invariance(AffineEnsemble(difference=difference))


def test_stretches_have_their_density(targets):
    """z from 1/a to a with a density in proportion to 1 / sqrt(z), and not a uniform one."""
    sampler, a = AffineEnsemble(scale=3.0, difference=0.0), 3.0
    others = np.zeros((2, 1))
    y, log_factor = sampler._propose(np.random.default_rng(2), np.ones((5000, 1)), others)
    root = np.sqrt(a)
    assert (
        stats.kstest(
            y[:, 0], lambda z: np.clip((np.sqrt(z) - 1 / root) / (root - 1 / root), 0, 1)
        ).pvalue
        > 1e-3
    )
    assert stats.kstest(y[:, 0], stats.uniform(1 / a, a - 1 / a).cdf).pvalue < 1e-6
    np.testing.assert_array_equal(log_factor, 0.0)  # in one dimension


def test_differences_are_those_of_two_chains(targets):
    """Of the right length: 2.38 / sqrt(2 dim) times a difference, or one whole."""
    sampler, others = AffineEnsemble(difference=0.999), np.array([[0.0, 0.0], [1.0, 2.0]])
    y, _ = sampler._propose(np.random.default_rng(3), np.zeros((5000, 2)), others)
    length = np.abs(y[:, 0])[np.abs(y[:, 1] - 2.0 * y[:, 0]) < 1e-12]
    assert len(length) > 0.99 * len(y)
    whole = np.abs(length - 1.0) < np.abs(length - 1.19)
    assert np.mean(np.abs(length[~whole] - 1.19) < 0.25) > 0.99
    assert 0.05 < np.mean(whole) < 0.25


@pytest.mark.parametrize("difference", SHARES)
def test_affine_maps_of_the_posterior_map_the_chains(difference, targets):
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((3, 3)) @ np.diag([1.0, 100.0, 0.01]), rng.standard_normal(3)
    plain = targets.Gaussian(np.zeros(3), targets.random_covariance(rng, 3))
    mapped = targets.Gaussian(A @ plain.mean + b, A @ plain.cov @ A.T)
    x0 = rng.standard_normal((10, 3))
    sampler = AffineEnsemble(difference=difference)
    there = evolve(sampler, mapped, 5, x0 @ A.T + b, 60)
    here = evolve(sampler, plain, 5, x0, 60)
    assert np.mean((here != x0).any(axis=1)) > 0.9
    back = np.linalg.solve(A, (there - b).T).T
    np.testing.assert_allclose(back, here, atol=1e-6)


def test_starts_that_span_no_volume_are_refused(targets):
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    x0 = np.random.default_rng(6).standard_normal((20, 3))
    x0[:, 2] = x0[:, 0] + 1e-3 * x0[:, 1]
    with pytest.raises(SamplerError, match="span 2 of 3 dimensions"):
        AffineEnsemble().init(np.random.default_rng(7), target, x0)
    x0[0, 2] += 1e-3
    AffineEnsemble().init(np.random.default_rng(7), target, x0)
    with pytest.raises(SamplerError, match="at least 8 chains"):
        sample(AffineEnsemble(), target, x0[:7], 1, draws=1, warmup=1)


def test_settings_out_of_range_are_refused():
    for settings in ({"scale": 1.0}, {"difference": 1.0}, {"difference": -0.1}):
        with pytest.raises(SamplerError, match=next(iter(settings))):
            make_sampler("stretch", **settings)


@pytest.mark.statistical
def test_it_needs_no_tuning_for_scales_and_correlations(targets):
    """From starts that are wide in some directions and narrow in others."""
    scales = np.array([1e-3, 0.1, 1.0, 10.0, 1000.0])
    Q = np.linalg.qr(np.random.default_rng(8).standard_normal((5, 5)))[0]
    cov = (Q * scales**2) @ Q.T
    target = targets.Gaussian(np.full(5, 3.0), cov)
    x0 = np.random.default_rng(9).uniform(-2.0, 2.0, (32, 5))
    run = sample(AffineEnsemble(), target, x0, 10, draws=3000, warmup=2000)
    z = (run.x - target.mean) @ Q / scales
    found = ensemble_convergence(np.moveaxis(np.concatenate([z, z**2], axis=2), 2, 0), 1)
    assert found.ess_bulk.min() > 500.0
    assert np.all(np.abs(z.mean(axis=(0, 1))) < 5.0 / np.sqrt(found.ess_bulk[:5]))
    assert np.all(np.abs((z**2).mean(axis=(0, 1)) - 1.0) < 8.0 / np.sqrt(found.ess_bulk[5:]))
    assert AffineEnsemble().remarks(NONE, run.stats) == []


class TwoModes(Target):
    """Normal modes 11 apart, of which the right one has a share of 0.7."""

    dim = 2

    def __call__(self, x):
        raise NotImplementedError("it has no gradient")

    def log_density(self, x):
        left, right = (-0.5 * np.sum((x - m) ** 2, axis=1) for m in (-4.0, 4.0))
        return np.logaddexp(np.log(0.3) + left, np.log(0.7) + right)


@pytest.mark.statistical
def test_chains_go_from_mode_to_mode():
    """Differences do; by stretches alone, the negative control, few get there."""
    x0 = np.random.default_rng(13).uniform(-6.0, 6.0, (32, 2))
    crossings, shares = [], []
    for difference in (0.8, 0.0):
        run = sample(AffineEnsemble(difference=difference), TwoModes(), x0, 14,
                     draws=3000, warmup=1000)  # fmt: skip
        right = run.x.sum(axis=2) > 0.0
        crossings.append(np.mean(right[:, 1:] != right[:, :-1]))
        shares.append(right.mean(axis=0).mean())
    assert crossings[0] > 0.005
    assert crossings[0] > 3.0 * crossings[1]
    assert abs(shares[0] - 0.7) < 0.03


@pytest.mark.parametrize(("dim", "said"), [(2, []), (40, ["slow_ensemble"])])
def test_runs_that_are_short_for_their_dimension_are_remarked_on(dim, said, targets):
    target = targets.Gaussian(np.zeros(dim), np.eye(dim))
    sampler = AffineEnsemble()
    x0 = target.exact(np.random.default_rng(11), max(32, sampler.min_chains(dim)))
    run = sample(sampler, target, x0, 12, draws=1500, warmup=0)
    assert [remark.kind for remark in sampler.remarks(NONE, run.stats)] == said
