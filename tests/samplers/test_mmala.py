"""Manifold MALA: its ratio, its drift, and what becomes of proposals without a metric."""

from typing import get_args

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.groups import sample
from probmodel.results.convergence import convergence
from probmodel.samplers.base import State
from probmodel.samplers.langevin.kernel import langevin_step
from probmodel.samplers.metropolis import select
from probmodel.samplers.riemannian import mmala
from probmodel.samplers.riemannian.metrics import Metric
from probmodel.samplers.riemannian.mmala import (
    OWN_STEPS,
    Drift,
    ManifoldMALA,
    Params,
    gamma,
    metropolis_ratio,
)

STEPS = 20


@pytest.fixture(scope="module")
def banana(targets):
    """The banana with J'J of the map that straightens it, and a factor that varies."""

    class Banana(targets.Banana):
        def metric(self, x):
            c = 2.0 * self.b * x[:, 0]
            one = np.ones(len(x))
            straight = np.moveaxis(np.array([[one + c**2, -c], [-c, one]]), 2, 0)
            return straight * self.factor(x)[:, None, None]

        def factor(self, x):
            return 0.5 + x[:, 0] ** 2

    return Banana()


@pytest.fixture(scope="module")
def logistic(targets):
    """Logistic regression with columns of different scales, and its Fisher metric."""

    class Logistic(targets.Logistic):
        def weights(self, x):
            s = 1.0 / (1.0 + np.exp(-x @ self.X.T))
            return s * (1.0 - s), s * (1.0 - s) * (1.0 - 2.0 * s)

        def metric(self, x):
            return np.einsum("cn,ni,nj->cij", self.weights(x)[0], self.X, self.X) + np.eye(self.dim)

    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3)) * [1.0, 5.0, 0.1]
    return Logistic(X, rng.random(40) < 1.0 / (1.0 + np.exp(-X @ [1.0, -0.2, 3.0])))


def explicit(target, x, sigma, metric, correction):
    """Mean and covariance of the proposal from one point, with dense matrices."""
    G = metric(target, x[None])[0]
    grad = target(x[None])[1][0]
    mean = x + 0.5 * sigma**2 * np.linalg.solve(G, grad) + sigma**2 * correction
    return mean, sigma**2 * np.linalg.inv(G)


@pytest.mark.parametrize("drift", get_args(Drift))
@pytest.mark.parametrize("metric", ["fisher", "softabs"])
def test_ratio_is_that_of_the_densities(banana, metric, drift):
    """T-DB: log pi(y) q(x|y) - log pi(x) q(y|x), and the way back is its negative."""
    rng, sigma = np.random.default_rng(2), 0.8
    sampler = ManifoldMALA(metric=metric, drift=drift, softness=1.5)
    x, y = rng.standard_normal((2, 6, 2))
    here, there = sampler.init(rng, banana, x), sampler.init(rng, banana, y)
    ratio = metropolis_ratio(here, there, sigma)
    np.testing.assert_allclose(ratio, -metropolis_ratio(there, here, sigma), atol=1e-12)
    kind = Metric(metric, 1.5)
    bends = [np.zeros((6, 2))] * 2
    if drift == "full":
        bends = [gamma(kind, banana, state.x, state.root) for state in (here, there)]
    for c in range(6):
        forth = multivariate_normal(*explicit(banana, x[c], sigma, kind, bends[0][c]))
        back = multivariate_normal(*explicit(banana, y[c], sigma, kind, bends[1][c]))
        expected = there.logp[c] + back.logpdf(x[c]) - here.logp[c] - forth.logpdf(y[c])
        assert ratio[c] == pytest.approx(expected, abs=1e-9)


def test_transition_proposes_and_accepts_by_these_densities(banana):
    sampler, sigma = ManifoldMALA(), 0.8
    x = np.random.default_rng(3).standard_normal((50, 2))
    state = sampler.init(np.random.default_rng(4), banana, x)
    new, info = sampler.step(np.random.default_rng(4), banana, state, Params(sigma))
    eta = np.random.default_rng(4).standard_normal((50, 2))
    for c in range(50):
        mean, cov = explicit(banana, x[c], sigma, Metric("fisher"), np.zeros(2))
        # K^-T is the upper triangular root of the covariance
        root = np.linalg.cholesky(cov[::-1, ::-1])[::-1, ::-1]
        np.testing.assert_allclose(info.proposal.x[c], mean + root @ eta[c], atol=1e-12)
    ratio = metropolis_ratio(state, info.proposal, sigma)
    np.testing.assert_allclose(info.accept_prob, np.minimum(1.0, np.exp(ratio)), rtol=1e-12)
    again = sampler.init(np.random.default_rng(4), banana, new.x)
    for field, fresh in zip(new, again, strict=True):
        np.testing.assert_allclose(field, fresh, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("drift", get_args(Drift))
def test_constant_metric_is_preconditioned_mala(targets, drift):
    """On a Gaussian target with its precision as the metric: the Langevin kernel with K^-T."""
    rng = np.random.default_rng(5)
    target = targets.Gaussian(rng.standard_normal(3), targets.random_covariance(rng, 3))
    sampler = ManifoldMALA(metric="neg_hessian", drift=drift)
    state = sampler.init(rng, target, rng.standard_normal((20, 3)))
    root = np.linalg.inv(np.linalg.cholesky(target.precision)).T
    _, info = sampler.step(np.random.default_rng(6), target, state, Params(1.1))
    _, other = langevin_step(np.random.default_rng(6), target, State(*state[:3]), root, 1.1)
    np.testing.assert_allclose(info.proposal.x, other.proposal.x, atol=1e-10)
    np.testing.assert_allclose(info.accept_prob, other.accept_prob, atol=1e-9)
    np.testing.assert_array_equal(info.accepted, other.accepted)


def test_badly_scaled_gaussian(targets):
    """Acceptance reaches its target whatever the scales, and the moments are right."""
    scales = np.logspace(-3, 3, 5)
    target = targets.Gaussian(scales, np.diag(scales**2))
    x0 = target.exact(np.random.default_rng(7), 8)
    result = sample(ManifoldMALA(metric="neg_hessian"), target, x0, 8, draws=1500, warmup=500)
    assert abs(result.stats["acceptance_rate"].mean() - 0.574) < 0.04
    z = (result.x - target.mean) / scales
    for values, expected, deviation in [(z, 0.0, 1.0), (z**2, 1.0, np.sqrt(2.0))]:
        error = deviation / np.sqrt(convergence(np.moveaxis(values, 2, 0)).ess_bulk)
        assert np.all(np.abs(values.mean(axis=(0, 1)) - expected) < 5.0 * error)
    assert np.all(convergence(np.moveaxis(z, 2, 0)).ess_bulk > 1000)


def corrections(target, x):
    metric = Metric("fisher")
    return gamma(metric, target, x, metric.factor(target, x).root)


def test_correction_of_the_drift_for_logistic_regression(logistic):
    """The closed form -1/2 G^-1 X'(c h), h_n = x_n' G^-1 x_n."""
    x = np.random.default_rng(9).standard_normal((6, 4))
    G_inverse = np.linalg.inv(logistic.metric(x))
    h = np.einsum("ni,cij,nj->cn", logistic.X, G_inverse, logistic.X)
    c = logistic.weights(x)[1]
    exact = -0.5 * np.einsum("cij,cj->ci", G_inverse, (c * h) @ logistic.X)
    np.testing.assert_allclose(corrections(logistic, x), exact, rtol=1e-6, atol=1e-9)


def test_correction_of_the_drift_for_a_metric_that_is_no_hessian(banana):
    """With s = 1/factor, G^-1 = s [[1, c], [c, 1 + c^2]], c = 2 b x0: its divergence, halved."""
    x = np.random.default_rng(10).standard_normal((6, 2))
    s, c = 1.0 / banana.factor(x), 2.0 * banana.b * x[:, 0]
    slope = -2.0 * x[:, 0] * s**2
    exact = 0.5 * np.column_stack([slope, slope * c + 2.0 * banana.b * s])
    np.testing.assert_allclose(corrections(banana, x), exact, rtol=1e-6, atol=1e-9)


def test_correction_in_blocks(logistic, monkeypatch):
    x = np.random.default_rng(11).standard_normal((3, 4))
    whole = corrections(logistic, x)
    for block in (1, 2 * 3 * 4 * 4 * 3):
        monkeypatch.setattr(mmala, "BLOCK", block)
        np.testing.assert_allclose(corrections(logistic, x), whole, rtol=1e-9, atol=1e-12)


def test_no_correction_beside_a_metric_that_is_not_finite(banana):
    class Edge(type(banana)):
        def metric(self, x):
            return np.where(x[:, :1, None] > 0.0, super().metric(x), np.nan)

    x = np.array([[1e-9, 0.5], [1.0, 0.5]])
    result = corrections(Edge(), x)
    np.testing.assert_array_equal(result[0], 0.0)
    np.testing.assert_allclose(result[1], corrections(banana, x)[1])


def deviations(x, exact):
    """z-scores of means, second and third moments, the product, and ten-bin counts."""
    a = np.clip(np.nan_to_num(x), -20.0, 20.0)  # a broken kernel may have run away
    scores = []
    for f in (lambda v: v, lambda v: v**2, lambda v: v**3, lambda v: v[:, :1] * v[:, 1:]):
        difference = f(a).mean(axis=0) - f(exact).mean(axis=0)
        scores.append(difference / np.sqrt((f(a).var(0) + f(exact).var(0)) / len(x)))
    for column, reference in zip(a.T, exact.T, strict=True):
        edges = np.quantile(reference, np.linspace(0.1, 0.9, 9))
        counts = [np.bincount(np.searchsorted(edges, v), minlength=10) for v in (column, reference)]
        chi2 = np.sum((counts[0] - counts[1]) ** 2 / (counts[0] + counts[1]))
        scores.append([(chi2 - 9.0) / np.sqrt(18.0)])
    return np.abs(np.concatenate(scores))


@pytest.mark.parametrize("metric", ["fisher", "softabs"])
@pytest.mark.parametrize("drift", get_args(Drift))
def test_banana_is_left_invariant(banana, metric, drift):
    """T-INV: draws that are exact stay exact."""
    rng = np.random.default_rng(12)
    sampler = ManifoldMALA(metric=metric, drift=drift, softness=1.0)
    state = sampler.init(rng, banana, banana.exact(rng, 4000))
    for _ in range(STEPS):
        state, info = sampler.step(rng, banana, state, Params(1.0))
    assert 0.2 < info.accept_prob.mean() < 0.95
    assert np.all(deviations(state.x, banana.exact(rng, 4000)) < 4.0)


@pytest.mark.parametrize("metric", ["fisher", "softabs"])
def test_invariance_check_notices_a_ratio_without_determinants(banana, metric):
    """Negative control: the same moves, accepted as if the metric's volume did not change."""
    rng = np.random.default_rng(12)
    sampler = ManifoldMALA(metric=metric, softness=1.0)
    state = sampler.init(rng, banana, banana.exact(rng, 4000))
    for _ in range(STEPS):
        _, info = sampler.step(rng, banana, state, Params(1.0))
        ratio = metropolis_ratio(state, info.proposal, 1.0)
        ratio -= 0.5 * (info.proposal.log_det - state.log_det)
        state = select(np.log(rng.random(4000)) < ratio, info.proposal, state)
    assert np.max(deviations(state.x, banana.exact(rng, 4000))) > 8.0


def test_full_drift_needs_its_way_back(banana):
    """Negative control: the correction in the way out only."""
    rng = np.random.default_rng(12)
    sampler = ManifoldMALA(drift="full")
    state = sampler.init(rng, banana, banana.exact(rng, 4000))
    for _ in range(STEPS):
        _, info = sampler.step(rng, banana, state, Params(1.0))
        bend = corrections(banana, info.proposal.x)
        back = info.proposal._replace(drift=info.proposal.drift - bend)
        accepted = np.log(rng.random(4000)) < metropolis_ratio(state, back, 1.0)
        state = select(accepted, info.proposal, state)
    assert np.max(deviations(state.x, banana.exact(rng, 4000))) > 8.0


def residual(target, x):
    """Minus the banana's Hessian is positive definite where this is below 1/(2b)."""
    return x[:, 1] - target.b * (x[:, 0] ** 2 - 1.0)


def exact_inside(target, rng, n):
    """Exact draws from where minus the Hessian is positive definite."""
    x = target.exact(rng, 2 * n)
    return x[residual(target, x) < 0.5 / target.b][:n]


def test_region_without_a_metric_is_left_out(banana):
    """The draws are those of the target where minus its Hessian is positive definite."""
    rng, n = np.random.default_rng(13), 4000
    sampler = ManifoldMALA(metric="neg_hessian")
    state = sampler.init(rng, banana, exact_inside(banana, rng, n))
    for _ in range(STEPS):
        state, info = sampler.step(rng, banana, state, Params(0.8))
        outside = residual(banana, info.proposal.x) >= 0.5 / banana.b
        np.testing.assert_array_equal(info.stats["metric_failed"], outside)
        assert outside.any()
        assert not info.accepted[outside].any()
        assert np.isfinite(info.proposal.logp).all()
    assert np.all(residual(banana, state.x) < 0.5 / banana.b)
    assert np.all(deviations(state.x, exact_inside(banana, rng, n)) < 4.0)
    assert np.max(deviations(state.x, banana.exact(rng, n))) > 8.0


def test_failed_metrics_are_counted_apart(banana):
    """They are a statistic and a remark, and no proposals of a density that is not finite."""
    x0 = exact_inside(banana, np.random.default_rng(14), 6)
    sampler = ManifoldMALA(metric="neg_hessian")
    result = sample(sampler, banana, x0, 15, draws=200, warmup=100)
    assert result.nonfinite == 0
    assert result.stats["metric_failed"].shape == (6, 200)
    assert result.stats["metric_failed"].mean() > 0.05
    (remark,) = sampler.remarks(result.params[0], result.stats)
    assert remark.kind == "metric_not_positive_definite"
    assert "softabs" in remark.message
    assert f"{result.stats['metric_failed'].mean():.1%}" in remark.message


def test_outside_the_density_it_is_not_the_metric_that_failed(targets):
    target, rng = targets.HalfSpace(2), np.random.default_rng(16)
    sampler = ManifoldMALA(metric="neg_hessian")
    state = sampler.init(rng, target, np.full((50, 2), 0.1))
    _, info = sampler.step(rng, target, state, Params(1.0))
    assert np.isinf(info.proposal.logp).any()
    assert not info.stats["metric_failed"].any()


@pytest.mark.parametrize("failures", [0, 2, 3])
def test_remark_from_one_in_a_hundred(failures):
    stats = {"metric_failed": np.arange(200).reshape(2, 100) < failures}
    assert len(ManifoldMALA().remarks(None, stats)) == (failures > 2)
    (remark,) = ManifoldMALA(metric="softabs").remarks(None, {"metric_failed": np.ones((1, 1))})
    assert "use metric" not in remark.message


def test_no_remark_without_draws():
    assert ManifoldMALA().remarks(None, {"metric_failed": np.zeros((2, 0), dtype=bool)}) == []


@pytest.mark.parametrize(
    ("factor", "logp", "failed", "counted"),
    [
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [False, False, False], [0.2, 0.5, 0.9]),
        ([1.0, 1.0, 1.0], [0.0, -np.inf, 0.0], [True, False, False], [0.9]),
        ([1.0, 0.5, 1.0], [0.0, 0.0, 0.0], [True, False, False], [0.9]),
        ([1.0, 0.5, 1.0], [-np.inf, 0.0, 0.0], [False, False, True], [0.0]),
    ],
)
def test_who_steers_the_step_size(banana, factor, logp, failed, counted):
    """Chains of the shared size whose proposal has a density and a metric; no such is a no."""
    rng, sampler = np.random.default_rng(17), ManifoldMALA(step_size=1.2)
    state = sampler.init(rng, banana, np.zeros((3, 2)))
    adaptation = sampler.adapt_init(rng, banana, state)
    adaptation = adaptation._replace(own=adaptation.own._replace(factor=np.array(factor)))
    _, info = sampler.step(rng, banana, state, sampler.params(adaptation))
    info = info._replace(
        accept_prob=np.array([0.2, 0.5, 0.9]),
        proposal=state._replace(logp=np.array(logp)),
        stats={"metric_failed": np.array(failed)},
    )
    after = sampler.adapt(rng, banana, 0, 10, adaptation, state, info).log_sigma2
    expected = np.sum(np.log1p(0.015 * (np.array(counted) - 0.574)))
    assert after - 2.0 * np.log(1.2) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("warmup", "own"), [(5000, OWN_STEPS), (40, 10), (3, 0)])
def test_chains_have_steps_of_their_own_at_first(banana, warmup, own):
    """Then they share the median, but for those that still need shorter ones."""
    rng, sampler = np.random.default_rng(18), ManifoldMALA()
    state = sampler.init(rng, banana, np.zeros((3, 2)))
    adaptation = sampler.adapt_init(rng, banana, state)
    adaptation = adaptation._replace(own=adaptation.own._replace(factor=np.array([0.2, 0.4, 0.3])))
    _, info = sampler.step(rng, banana, state, sampler.params(adaptation))
    info = info._replace(accept_prob=np.array([0.573, 0.574, 0.575]))
    for i in range(warmup):
        before = adaptation
        adaptation = sampler.adapt(rng, banana, i, warmup, before, state, info)
        if adaptation.shared:
            break
    assert i == own
    steps = sampler.params(before).step_size
    assert len(set(steps)) == 3
    assert sampler.params(before, final=True).step_size == pytest.approx(np.median(steps))
    assert sampler.params(adaptation, final=True).step_size == pytest.approx(np.median(steps))
    np.testing.assert_allclose(
        sampler.params(adaptation).step_size, np.minimum(steps, np.median(steps))
    )


@pytest.mark.parametrize("drift", get_args(Drift))
@pytest.mark.parametrize("settings", [{}, {"step_size": 1.0}])
def test_warm_up_on_a_posterior(logistic, drift, settings):
    """Acceptance reaches its target, and chains far out find the bulk."""
    x0 = np.random.default_rng(19).uniform(-2.0, 2.0, (8, 4))
    sampler = ManifoldMALA(drift=drift, **settings)
    result = sample(sampler, logistic, x0, 20, draws=400, warmup=400)
    assert abs(result.stats["acceptance_rate"].mean() - 0.574) < 0.06
    assert np.max(convergence(np.moveaxis(result.x, 2, 0)).rhat) < 1.03
    assert result.stats["metric_failed"].sum() == 0


def test_chains_far_out_do_not_move_by_the_same_step(logistic):
    """Negative control: the step size of the bulk from the same starting points."""
    rng, sampler = np.random.default_rng(19), ManifoldMALA()
    state = sampler.init(rng, logistic, rng.uniform(-2.0, 2.0, (8, 4)))
    moved = np.zeros(8, dtype=bool)
    for _ in range(400):
        state, info = sampler.step(rng, logistic, state, Params(1.2))
        moved |= info.accepted
    assert not moved.all()


@pytest.mark.parametrize(("drift", "gradients"), [("simplified", 1 + 2), ("full", 1 + 2 * 5)])
def test_gradients_are_counted(banana, drift, gradients):
    """A metric counts as dim; the full drift takes 2 dim more of them."""
    rng, sampler = np.random.default_rng(20), ManifoldMALA(drift=drift)
    state = sampler.init(rng, banana, np.zeros((3, 2)))
    _, info = sampler.step(rng, banana, state, Params(1.0))
    assert info.n_grad.tolist() == [gradients] * 3


def test_metric_is_evaluated_once_a_proposal(banana):
    class Counted(type(banana)):
        rows = 0

        def metric(self, x):
            self.rows += len(x)
            return super().metric(x)

    target = Counted()
    run(ManifoldMALA(step_size=1.0), target, np.zeros((3, 2)), np.random.default_rng(21),
        warmup=4, draws=6)  # fmt: skip
    assert target.rows == 3 * (1 + 4 + 6)


def test_start_without_a_metric(banana):
    x0 = np.array([[0.0, 0.0], [0.0, 3.0], [0.0, 0.1], [0.0, 4.0]])
    sampler = ManifoldMALA(metric="neg_hessian")
    with pytest.raises(SamplerError, match="chain 1, 3 of 4") as error:
        sampler.init(np.random.default_rng(22), banana, x0)
    assert "softabs" in str(error.value)
    assert "inits=" in str(error.value)
    assert error.value.values["chains"] == [1, 3]
    ManifoldMALA(metric="softabs").init(np.random.default_rng(22), banana, x0)


def test_start_where_the_hessian_is_not_finite(targets):
    class Broken(targets.Banana):
        def hessian(self, x):
            return np.full((len(x), 2, 2), np.nan)

    with pytest.raises(SamplerError, match="chain 0 of 1") as error:
        ManifoldMALA(metric="softabs").init(np.random.default_rng(23), Broken(), np.zeros((1, 2)))
    assert "or use metric" not in str(error.value)


def test_density_without_a_metric(targets):
    with pytest.raises(SamplerError, match="method metric"):
        sample(ManifoldMALA(), targets.Logistic(np.eye(2), [0, 1]), np.zeros((2, 3)), 1,
               draws=1, warmup=1)  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("step_size", 0.0),
        ("step_rate", 1.0),
        ("metric", "Fisher"),
        ("metric", None),
        ("drift", "none"),
        ("softness", 0.0),
        ("softness", np.inf),
    ],
)
def test_settings_out_of_range(setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        ManifoldMALA(**{setting: value})
    assert repr(value) in str(error.value)
