"""HMC and MALA in a constant metric: the kernels, where the metric comes from, and refusals."""

from typing import get_args

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import multivariate_normal

from probmodel import LogDensity, Model, ModelError, SamplerError, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Cauchy, Censored, MvNormal, Normal, PoissonLog
from probmodel.inference.groups import sample
from probmodel.results.convergence import convergence
from probmodel.samplers.hamiltonian.dynamics import hamiltonian_step
from probmodel.samplers.metropolis import select
from probmodel.samplers.riemannian.one_metric import LatentMean, inverse_root
from probmodel.samplers.riemannian.rm_const_hmc import ConstantMetricHMC
from probmodel.samplers.riemannian.rm_const_mala import ConstantMetricMALA
from probmodel.testing.statistics import LIMIT, deviations, tamed, worst
from probmodel.types import Evaluation

BOTH = (ConstantMetricHMC, ConstantMetricMALA)
CHAINS = 6


class Plain:
    """Poisson counts whose log rates have a normal prior, written out; without derivatives."""

    dim, coordinate_names, name = 3, (), "plain"
    y = np.array([0.0, 2.0, 7.0])
    precision = np.linalg.inv(0.5 * np.eye(3) + 0.4)

    def __call__(self, x):
        slope = x @ self.precision
        logp = np.sum(self.y * x - np.exp(x), axis=1) - 0.5 * np.sum(x * slope, axis=1)
        return Evaluation(logp, self.y - np.exp(x) - slope)

    def log_density(self, x):
        return self(x).logp


class Curved(Plain):
    """The same with a Hessian, and a metric that is not its negative."""

    def hessian(self, x):
        return -self.precision - np.exp(x)[:, :, None] * np.eye(3)

    def metric(self, x):
        return 2.0 * self.precision + np.exp(x)[:, :, None] * np.eye(3)


class Latent(Curved):
    """The same with prior averages."""

    paper, exact = np.diag([1.0, 2.0, 3.0]), np.diag([4.0, 5.0, 6.0])

    def constant_metric(self, latent_mean):
        return getattr(self, latent_mean)


def metric_of(sampler, density, x0=None):
    """G, from the root that the sampler finds; and the state it starts from."""
    rng = np.random.default_rng(1)
    state = sampler.init(rng, density, np.zeros((CHAINS, density.dim)) if x0 is None else x0)
    params = sampler.params(sampler.adapt_init(rng, density, state))
    root = params.root if params.root.ndim == 2 else np.diag(params.root)
    return np.linalg.inv(root @ root.T), state, params


def mode_of(density):
    """Mode by plain Newton steps."""
    x = np.zeros((1, 3))
    for _ in range(50):
        x = x - np.linalg.solve(density.hessian(x)[0], density(x).grad[0])
    return x


def random_metric(seed, dim=3):
    A = np.random.default_rng(seed).standard_normal((dim, dim + 3))
    return A @ A.T


# -- kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 10])
def test_root(dim):
    G = random_metric(2, dim)
    R = inverse_root(G)
    np.testing.assert_allclose(R @ R.T, np.linalg.inv(G), rtol=1e-10)
    np.testing.assert_array_equal(R, np.triu(R))
    assert inverse_root(G - 1.01 * np.linalg.eigvalsh(G)[0] * np.eye(dim)) is None
    np.testing.assert_allclose(inverse_root(np.diagonal(G)), 1.0 / np.sqrt(np.diagonal(G)))
    assert inverse_root(np.array([1.0, -1.0])) is None


def test_hmc_is_hmc_with_that_mass():
    """Bit by bit the shared kernel; and the trajectory of p ~ N(0, G), written out."""
    G, density = random_metric(3), Curved()
    sampler = ConstantMetricHMC(metric=G, n_steps=7, random_steps=False)
    _, state, params = metric_of(sampler, density)
    params = params._replace(step_size=0.3)
    new, info = sampler.step(np.random.default_rng(4), density, state, params)
    other, _ = hamiltonian_step(
        np.random.default_rng(4), density, state, inverse_root(G), params.step_size, 7
    )
    np.testing.assert_array_equal(new.x, other.x)

    x = state.x
    p = np.random.default_rng(4).standard_normal(x.shape) @ np.linalg.cholesky(G).T
    energy = [0.5 * np.sum(p * np.linalg.solve(G, p.T).T, axis=1) - density(x).logp]
    p = p + 0.15 * density(x).grad
    for step in range(7):
        x = x + 0.3 * np.linalg.solve(G, p.T).T
        p = p + (0.15 if step == 6 else 0.3) * density(x).grad
    energy.append(0.5 * np.sum(p * np.linalg.solve(G, p.T).T, axis=1) - density(x).logp)
    np.testing.assert_allclose(info.proposal.x, x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        info.accept_prob, np.exp(np.minimum(0.0, energy[0] - energy[1])), rtol=1e-9
    )


def test_mala_has_the_ratio_of_its_normal_proposals():
    G, density, sigma = random_metric(5), Curved(), 1.2
    sampler = ConstantMetricMALA(metric=G)
    _, state, params = metric_of(sampler, density, np.random.default_rng(6).normal(size=(40, 3)))
    _, info = sampler.step(
        np.random.default_rng(7), density, state, params._replace(step_size=sigma)
    )
    covariance = np.linalg.inv(G)

    def log_proposal(a, b):
        drift = 0.5 * sigma**2 * a.grad @ covariance
        return multivariate_normal(cov=sigma**2 * covariance).logpdf(b.x - a.x - drift)

    y = info.proposal
    log_ratio = y.logp - state.logp + log_proposal(y, state) - log_proposal(state, y)
    np.testing.assert_allclose(info.accept_prob, np.exp(np.minimum(0.0, log_ratio)), rtol=1e-8)
    assert 0.05 < info.accept_prob.mean() < 0.95


@pytest.mark.parametrize("kind", BOTH)
def test_any_metric_keeps_exact_draws_exact(kind, targets):
    """Negative control: without the Metropolis step they do not stay so."""
    target, rng = targets.Banana(), np.random.default_rng(8)
    sampler = kind(metric=np.array([[2.0, 0.8], [0.8, 1.0]]))
    state = sampler.init(rng, target, target.exact(rng, 4000))
    wrong = state
    params = sampler.params(sampler.adapt_init(rng, target, state))._replace(step_size=0.9)
    for _ in range(20):
        state, info = sampler.step(rng, target, state, params)
        _, info = sampler.step(rng, target, wrong, params)
        wrong = select(np.isfinite(info.proposal.logp), info.proposal, wrong)
    exact = target.exact(rng, 4000)
    assert abs(worst(deviations(state.x, exact))[1]) < LIMIT
    assert abs(worst(deviations(tamed(wrong.x, exact), exact))[1]) > 2.0 * LIMIT


def test_steps_are_drawn_and_counted():
    rng, density = np.random.default_rng(9), Curved()
    sampler = ConstantMetricHMC(metric=np.eye(3), n_steps=4, step_size=0.1)
    _, state, params = metric_of(sampler, density)
    seen = []
    for _ in range(400):
        state, info = sampler.step(rng, density, state, params)
        np.testing.assert_array_equal(info.n_grad, info.stats["n_steps"])
        seen.append(set(info.stats["n_steps"]))
    assert all(len(lengths) == 1 for lengths in seen)
    counts = np.bincount([lengths.pop() for lengths in seen], minlength=5)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 100).max() < 4.5 * np.sqrt(75)
    fixed = ConstantMetricHMC(metric=np.eye(3), n_steps=4, step_size=0.1, random_steps=False)
    _, info = fixed.step(rng, density, state, params)
    assert info.stats["n_steps"].tolist() == [4] * CHAINS


# -- where the metric comes from ------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_order_of_the_sources(kind):
    """Given; prior average; the metric at the mode; minus the Hessian there."""
    given, curved, latent = random_metric(10), Curved(), Latent()
    mode = mode_of(curved)
    assert kind().latent_mean == "paper"
    for density, settings, expected in (
        (latent, {"metric": given}, given),
        (latent, {}, latent.paper),
        (latent, {"latent_mean": "exact"}, latent.exact),
        (latent, {"latent_mean": "mode"}, latent.metric(mode)[0]),
        (curved, {}, curved.metric(mode)[0]),
        (curved, {"metric": given[0] ** 2}, np.diag(given[0] ** 2)),
        (Plain(), {"metric": given.tolist()}, given),
    ):
        found, _, _ = metric_of(kind(**settings), density)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("broken", ["none", "indefinite", "not finite", "no closed form"])
def test_without_a_metric_minus_the_hessian_takes_its_place(broken):
    class Broken(Curved):
        def metric(self, x):
            if broken == "no closed form":
                raise ModelError("the information is not known")
            return np.full((len(x), 3, 3), np.nan if broken == "not finite" else 1.0)

    density = Broken()
    if broken == "none":
        density.metric = None
    found, _, _ = metric_of(ConstantMetricHMC(), density)
    np.testing.assert_allclose(found, -density.hessian(mode_of(density))[0], rtol=1e-5)


def test_without_a_hessian_the_mode_is_found_by_scoring():
    class Scored(Plain):
        metric = Curved.metric

    density = Scored()
    found, _, _ = metric_of(ConstantMetricHMC(), density)
    np.testing.assert_allclose(found, density.metric(mode_of(Curved()))[0], rtol=1e-4)


def test_a_climb_that_fails_leaves_it_to_the_next_start(targets):
    """The likeliest start is a corner of a kink: no mode is there, nor on the way up from it."""

    class Kink(targets.Gaussian):
        def __call__(self, x):
            logp, grad = super().__call__(x)
            far = x[:, 0] > 5.0
            return np.where(far, x[:, 0], logp), np.where(far[:, None], [[1.0, 0.0]], grad)

    density = Kink(np.zeros(2), np.diag([1.0, 4.0]))
    x0 = np.array([[-1.0, 0.0], [9.0, 0.0], [0.0, 1.0]])
    found, _, _ = metric_of(ConstantMetricMALA(), density, x0)
    np.testing.assert_allclose(found, np.diag([1.0, 0.25]), rtol=1e-9)
    with pytest.raises(SamplerError, match="found none from 1 starting points") as error:
        metric_of(ConstantMetricMALA(), density, x0[1:2])
    for words in ("rm_const_mala", "maximum", "inits=", "metric=", "nuts"):
        assert words in str(error.value)


def test_where_the_log_density_is_not_finite_a_climb_turns_back(targets):
    found, _, _ = metric_of(ConstantMetricHMC(), targets.HalfSpace(2, "nan gradient"),
                            np.full((CHAINS, 2), 0.5))  # fmt: skip
    np.testing.assert_allclose(found, np.eye(2), rtol=1e-9)


class Tobit(Model):
    x = param(Normal(0.0, 1.0), shape=3)
    y = observed(Censored(Normal(x, 0.5), lower=0.0))


class Robust(Model):
    """A prior that is not Gaussian, and not log-concave either."""

    x = param(Cauchy(0.0, 1.0), shape=3)
    y = observed(PoissonLog(x))


@pytest.mark.parametrize("model", [Tobit(y=np.array([0.0, 0.3, 1.2])), Robust(y=np.ones(3))])
def test_models_that_have_no_average_have_a_metric_at_their_mode(model):
    density = as_posterior(model)
    with pytest.raises(ModelError, match="latent_mean='mode'"):
        density.constant_metric()
    found, _, _ = metric_of(ConstantMetricHMC(latent_mean="mode"), density)
    x = mode_of(density)
    expected = -density.hessian(x)[0] if isinstance(model, Tobit) else density.metric(x)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


# -- runs -----------------------------------------------------------------------------------------


class Cox(Model):
    """Two cells of a log-Gaussian Cox process."""

    x = param(MvNormal([0.5, 0.5], covariance=[[1.91, 1.2], [1.2, 1.91]]), shape=2)
    y = observed(PoissonLog(x))


class WithAverage:
    """A model's density with its prior average."""

    def __init__(self, density):
        self._density, self.dim = density, density.dim
        self.coordinate_names, self.name = density.coordinate_names, density.name

    def __call__(self, x):
        return self._density(x)

    def log_density(self, x):
        return self._density.log_density(x)

    def hessian(self, x):
        return self._density.hessian(x)

    def metric(self, x):
        return self._density.metric(x)

    def constant_metric(self, latent_mean):
        return self._density.constant_metric(latent_mean)


def cox_moments(y):
    """Means and variances of the posterior of `Cox`, by a sum over a fine grid."""
    z = np.linspace(-9.0, 7.0, 801)
    grid = np.stack([g.ravel() for g in np.meshgrid(z, z, indexing="ij")], axis=1)
    prior = multivariate_normal([0.5, 0.5], [[1.91, 1.2], [1.2, 1.91]])
    logp = prior.logpdf(grid) + np.sum(y * grid - np.exp(grid) - gammaln(y + 1.0), axis=1)
    weights = np.exp(logp - logp.max())
    weights /= weights.sum()
    mean = weights @ grid
    return mean, weights @ (grid - mean) ** 2


@pytest.mark.statistical
@pytest.mark.parametrize("latent_mean", get_args(LatentMean))
@pytest.mark.parametrize("kind", BOTH)
def test_posterior_of_counts(kind, latent_mean):
    """Means and variances against a grid, and the acceptance that was aimed at.

    The mean of noisy log steps is rather short: twelve seeds are 0.07 above the target, with a
    standard deviation of 0.013.
    """
    y = np.array([0.0, 6.0])
    density = WithAverage(as_posterior(Cox(y=y)))
    x0 = np.random.default_rng(11).uniform(-2.0, 2.0, (8, 2))
    sampler = kind(latent_mean=latent_mean)
    draws = 600 if kind is ConstantMetricHMC else 3000
    result = sample(sampler, density, x0, 12, draws=draws, warmup=400)
    assert -0.05 < result.stats["acceptance_rate"].mean() - sampler.target_accept < 0.13
    mean, variance = cox_moments(y)
    x = np.moveaxis(result.x, 2, 0)
    for values, truth in ((x, mean), ((x - mean[:, None, None]) ** 2, variance)):
        error = values.std(axis=(1, 2)) / np.sqrt(convergence(values).ess_bulk)
        assert np.abs((values.mean(axis=(1, 2)) - truth) / error).max() < 4.0


def test_a_step_size_that_is_given_is_where_the_warm_up_starts():
    sampler = ConstantMetricHMC(metric=np.eye(3), step_size=0.25)
    _, _, params = metric_of(sampler, Plain())
    assert params.step_size == pytest.approx(0.25, rel=1e-14)


def test_the_root_stays_as_it_is():
    density = Curved()
    sampler = ConstantMetricMALA()
    rng = np.random.default_rng(13)
    state = sampler.init(rng, density, np.zeros((CHAINS, 3)))
    adaptation = sampler.adapt_init(rng, density, state)
    new, info = sampler.step(rng, density, state, sampler.params(adaptation))
    after = sampler.adapt(rng, density, 0, 10, adaptation, new, info)
    assert sampler.params(after, final=True).root is adaptation.root
    assert sampler.params(after).step_size != sampler.params(adaptation).step_size


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], "not symmetric"),
        ([[1.0, 0.5], [0.5, -1.0]], "not positive definite"),
        ([1.0, 0.0, 2.0], "not positive definite"),
        (np.eye(2)[:1], "the shape (1, 2)"),
        (np.ones((2, 2, 2)), "the shape (2, 2, 2)"),
        (np.zeros((0, 0)), "the shape (0, 0)"),
        (3.0, "the shape ()"),
        ("dense", "'dense'"),
        ([[1.0, np.nan], [np.nan, 1.0]], "not finite"),
    ],
)
def test_metric_that_is_none(kind, metric, words):
    with pytest.raises(SamplerError, match="metric must be a symmetric positive-def") as error:
        kind(metric=metric)
    assert words in str(error.value)
    assert kind.name in str(error.value)


def test_metric_that_is_indefinite():
    sampler = ConstantMetricHMC(metric=np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(SamplerError, match="metric= is not positive definite"):
        metric_of(sampler, LogDensity.from_function(lambda x: -(x**2).sum(axis=1), dim=2))


def test_prior_average_that_is_not_positive_definite():
    class Singular(Latent):
        paper = np.ones((3, 3))

    with pytest.raises(SamplerError, match="prior average") as error:
        metric_of(ConstantMetricHMC(), Singular())
    assert "latent_mean='mode'" in str(error.value)


@pytest.mark.parametrize("metric", [np.eye(2), np.ones(4)])
def test_metric_of_another_size(metric):
    with pytest.raises(SamplerError, match=f"size {len(metric)}.* 3 unconstrained"):
        ConstantMetricMALA(metric=metric).init(None, Plain(), np.zeros((2, 3)))


def test_density_without_anything_to_make_a_metric_from():
    with pytest.raises(SamplerError, match="plain has neither") as error:
        ConstantMetricMALA().init(None, Plain(), np.zeros((2, 3)))
    assert "metric=" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "setting", "value"),
    [
        (ConstantMetricMALA, "step_size", 0.0),
        (ConstantMetricMALA, "latent_mean", "median"),
        (ConstantMetricHMC, "latent_mean", None),
        (ConstantMetricHMC, "n_steps", 0),
        (ConstantMetricHMC, "n_steps", 2.0),
        (ConstantMetricHMC, "random_steps", 1),
    ],
)
def test_settings_out_of_range(kind, setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        kind(**{setting: value})
    assert repr(value) in str(error.value)
