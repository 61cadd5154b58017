"""Adaptive Riemannian HMC: the same adaptation around another kernel."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.samplers.hamiltonian.bayes_adaptive import Params
from probmodel.samplers.riemannian.armhmc import AdaptiveRiemannianHMC
from probmodel.samplers.riemannian.manifold import riemannian_step
from probmodel.samplers.riemannian.metrics import Metric
from probmodel.testing.statistics import require_moments


def test_moments_are_right_while_it_adapts_for_ever(targets):
    narrow = np.array([[1.0, 0.99], [0.99, 1.0]])
    x0 = np.random.default_rng(1).uniform(-2.0, 2.0, (8, 2))
    sampler = AdaptiveRiemannianHMC(steps_range=(1, 4))
    run = sample(sampler, targets.Gaussian(np.zeros(2), narrow), x0, 2, draws=250, warmup=100)
    assert len(np.unique(run.stats["step_size"][0])) > 1
    variances, directions = np.linalg.eigh(narrow)
    along = run.x @ directions
    require_moments(targets.Gaussian(np.zeros(2), np.diag(variances)), along)
    with pytest.raises(AssertionError, match="Monte Carlo standard errors"):
        require_moments(targets.Gaussian(np.zeros(2), np.diag([2.0, 1.0] * variances)), along)


def test_one_transition_is_that_of_the_riemannian_kernel(targets):
    target, sampler = targets.Banana(), AdaptiveRiemannianHMC()
    x = target.exact(np.random.default_rng(3), 5)
    state = sampler.init(np.random.default_rng(4), target, x)
    new, info = sampler.step(np.random.default_rng(4), target, state, Params(0.7, 4, (0.1, 1.0), 0))
    rng = np.random.default_rng(4)
    n_steps = int(rng.integers(1, 5))
    expected, _ = riemannian_step(rng, target, state, Metric("fisher"), 0.7, n_steps)
    np.testing.assert_array_equal(new.x, expected.x)
    assert info.stats["n_steps"].max() <= n_steps
    assert info.stats["max_steps"].tolist() == [4] * 5


def test_steps_of_order_one_are_found_whatever_the_scales(targets):
    target = targets.Gaussian(np.zeros(2), np.diag([1e-4, 1e4]))
    x0 = target.exact(np.random.default_rng(5), 4)
    sampler = AdaptiveRiemannianHMC(freeze=True, steps_range=(1, 4))
    run = sample(sampler, target, x0, 6, draws=10, warmup=100)
    assert run.params[0].step_size > 0.3


def test_bounds_are_kept(targets):
    target = targets.Gaussian(np.zeros(2), np.eye(2))
    sampler = AdaptiveRiemannianHMC(steps_range=(1, 4), bounds=([-1.0, -1.0], [1.0, 1.0]))
    run = sample(sampler, target, np.zeros((4, 2)), 7, draws=60, warmup=40)
    assert 0.5 < np.abs(run.x).max() <= 1.0


def test_irreversible_steps_are_rejected_unless_told_otherwise(targets):
    target = targets.Banana()
    state = AdaptiveRiemannianHMC(metric="softabs", softness=2.0).init(
        np.random.default_rng(8), target, target.exact(np.random.default_rng(9), 200)
    )
    failed = []
    for check in (True, False):
        sampler = AdaptiveRiemannianHMC(metric="softabs", softness=2.0, check_reversibility=check)
        params = Params(1.0, 1, (0.1, 1.0), 0)
        _, info = sampler.step(np.random.default_rng(10), target, state, params)
        failed.append(info.stats["fixed_point_failed"])
    assert failed[0].sum() > failed[1].sum()


def test_trajectories_that_were_given_up_are_reported():
    stats = {"step_size": np.full((2, 50), 0.5), "fixed_point_failed": np.zeros((2, 50), bool)}
    params = Params(0.5, 4, (0.1, 1.0), 0)
    assert not AdaptiveRiemannianHMC().remarks(params, stats)
    stats["fixed_point_failed"][:, :2] = True
    (remark,) = AdaptiveRiemannianHMC().remarks(params, stats)
    assert remark.kind == "fixed_point_failed"
    assert "4.0%" in remark.message
    assert "step_range" in remark.message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "euclidean"}, "armhmc: metric must be one of 'fisher', 'neg_hessian'"),
        ({"softness": 0.0}, "armhmc: softness must be a finite number above 0, got 0.0"),
        ({"steps_range": (0, 4)}, "armhmc: steps_range must be a whole number of at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SamplerError, match=message):
        AdaptiveRiemannianHMC(**settings)
