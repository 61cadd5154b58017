"""The path from the prior to the posterior: exact prior draws, and densities in between."""

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, observed, param, potential
from probmodel.constraints import Ordered, PositiveOrdered
from probmodel.density import as_posterior
from probmodel.distributions import AR, Beta, Dirichlet, Exponential, Gamma, Normal, Poisson
from probmodel.errors import ModelError


class Counts(Model):
    """Priors of several kinds, a hierarchy, data and a potential."""

    mu = param(Normal(0, 3))
    tau = param(Exponential(0.5))
    s = param(Normal(2, 1), lower=0)
    z = param(Normal(mu, tau), dims="k")
    w = param(Normal(mu, s), dims="k", noncentered=True)
    y = observed(Poisson(np.exp(0.1 * z + 0.2 * w)), dims="k")
    pull = potential(-0.5 * np.sum((z - w) ** 2))


class Sets(Model):
    """Priors on sets of several kinds."""

    inside = param(lower=-1, upper=3)
    cut = param(Normal(2, 1), lower=0)
    order = param(Normal(0, 1), shape=3, constraint=Ordered())
    shares = param(Dirichlet(np.array([1.0, 2.0, 3.0])))
    scale = param(Gamma(2.0, 1.0))
    shifted = param(Normal(cut, scale), noncentered=True)
    y = observed(Normal(inside, 1))


@pytest.fixture(scope="module")
def counts():
    return as_posterior(Counts(y=np.array([1, 0, 3, 2])))


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("n", [1, 3, 8, 9, 64])
def test_powers_of_the_likelihood_alone(counts, engine, n):
    counts.use_engine(engine)
    rng = np.random.default_rng(n)
    x, beta = 0.5 * rng.standard_normal((n, counts.dim)), rng.random(n)
    found = counts.tempered(x, beta)
    terms = counts.terms(x)
    of_data = [
        value for title, value in terms.items() if title.startswith(("likelihood", "potential"))
    ]
    assert len(of_data) == 2
    likelihood, total = sum(of_data), sum(terms.values())
    np.testing.assert_allclose(found.log_likelihood, likelihood, rtol=1e-9)
    np.testing.assert_allclose(found.logp, total - (1.0 - beta) * likelihood, rtol=1e-9)
    for j in range(counts.dim):
        step = 1e-5 * np.eye(counts.dim)[j]
        up, down = (counts.tempered(x + sign * step, beta).logp for sign in (1, -1))
        np.testing.assert_allclose(found.grad[:, j], (up - down) / 2e-5, rtol=1e-5, atol=1e-5)


def test_ends_are_prior_and_posterior(counts):
    x = 0.5 * np.random.default_rng(1).standard_normal((20, counts.dim))
    posterior = counts(x)
    one = counts.tempered(x, np.ones(20))
    np.testing.assert_allclose(one.logp, posterior.logp, rtol=1e-12)
    np.testing.assert_allclose(one.grad, posterior.grad, rtol=1e-9, atol=1e-9)
    zero = counts.tempered(x, np.zeros(20))
    np.testing.assert_allclose(zero.logp + zero.log_likelihood, posterior.logp, rtol=1e-12)


def test_rows_without_a_density_are_marked(counts):
    x = np.zeros((3, counts.dim))
    x[1] = 1e200
    found = counts.tempered(x, np.array([0.0, 0.5, 1.0]))
    assert np.isneginf(found.logp[1])
    assert np.isneginf(found.log_likelihood[1])
    assert not found.grad[1].any()
    assert np.isfinite(found.logp[[0, 2]]).all()
    assert found.grad[[0, 2]].any(axis=1).all()


def test_draws_are_from_the_prior():
    density = as_posterior(Sets(y=1.0))
    n = 4000
    drawn = density.constrain(density.prior_sample(np.random.default_rng(2), n))
    smallest = np.sort(np.random.default_rng(3).standard_normal((n, 3)), axis=1)
    for name, values, truth in (
        ("inside", drawn["inside"], stats.uniform(-1, 4).cdf),
        ("cut", drawn["cut"], stats.truncnorm(-2, np.inf, 2, 1).cdf),
        ("shares", drawn["shares"][:, 0], stats.beta(1, 5).cdf),
        ("scale", drawn["scale"], stats.gamma(2).cdf),
        ("shifted", (drawn["shifted"] - drawn["cut"]) / drawn["scale"], stats.norm.cdf),
    ):
        assert stats.kstest(values, truth).pvalue > 1e-4, name
    for j in range(3):
        assert stats.ks_2samp(drawn["order"][:, j], smallest[:, j]).pvalue > 1e-4
    # The negative control: another mean.
    assert stats.kstest(drawn["cut"], stats.norm(2.3, 1).cdf).pvalue < 1e-4


@pytest.mark.parametrize("constraint", [Ordered(), PositiveOrdered()])
@pytest.mark.parametrize("mean", [1.0, [2.0, 1.0, 3.0]])
def test_vectors_in_order_are_draws_that_happen_to_be(constraint, mean):
    class InOrder(Model):
        mu = param(Normal(mean, 1.0), shape=3, constraint=constraint)
        y = observed(Normal(mu[0], 1))

    density, rng = as_posterior(InOrder(y=1.0)), np.random.default_rng(4)
    drawn = density.constrain(density.prior_sample(rng, 4000))["mu"]
    tried = np.asarray(mean) + rng.standard_normal((200_000, 3))
    fits = np.all(np.diff(tried, axis=1) > 0, axis=1)
    if isinstance(constraint, PositiveOrdered):
        fits &= tried[:, 0] > 0
    for j in range(3):
        assert stats.ks_2samp(drawn[:, j], tried[fits][:, j]).pvalue > 1e-4
    # The negative control: numbers that were put in order are others, unless they are alike.
    if np.ndim(mean):
        assert stats.ks_2samp(drawn[:, 0], np.sort(tried, axis=1)[:, 0]).pvalue < 1e-4


def test_an_order_that_other_parameters_decide_is_refused():
    class Decided(Model):
        m = param(Normal(0, 1))
        mu = param(Normal(m, 1.0), shape=3, constraint=PositiveOrdered())
        y = observed(Normal(mu[0], 1))

    with pytest.raises(ModelError, match="restricted to positive ordered"):
        as_posterior(Decided(y=1.0)).prior_sample(np.random.default_rng(0), 1)


def test_an_order_that_never_comes_is_an_error():
    class Never(Model):
        mu = param(Normal([100.0, 0.0], 1.0), constraint=Ordered())
        y = observed(Normal(mu[0], 1))

    with pytest.raises(ModelError, match="did not fall in ordered vectors"):
        as_posterior(Never(y=1.0)).prior_sample(np.random.default_rng(0), 1)


class Improper(Model):
    """Parameters that an evidence could mistake."""

    a = param(lower=0, upper=100)
    b = param(Normal(0, 1), lower=0)
    y = observed(Normal(a, 1))
    prior = potential(-0.5 * a**2)
    half = potential(np.log(2.0))


def test_doubts_name_what_the_evidence_may_mistake():
    uniform, constant = as_posterior(Improper(y=1.0)).tempering.doubts(np.random.default_rng(0))
    assert "param 'a' has bounds and no prior" in uniform
    assert "potential of half is the constant 0.693" in constant


def test_prior_draws_that_are_not_finite_are_told():
    class Edge(Model):
        p = param(Beta(0.01, 0.01))
        y = observed(Normal(p, 1))

    (found,) = as_posterior(Edge(y=1.0)).tempering.doubts(np.random.default_rng(0))
    assert "lie at the edge" in found


def test_models_without_doubts_have_none(counts):
    assert counts.tempering.doubts(np.random.default_rng(0)) == []


def test_missing_elements_are_refused():
    class Gaps(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1), dims="n", missing="impute")

    density = as_posterior(Gaps(y=np.array([1.0, np.nan, 2.0, np.nan])))
    with pytest.raises(ModelError, match="'y' has 2 missing elements"):
        density.prior_sample(np.random.default_rng(0), 1)


def test_series_that_begin_anywhere_are_refused():
    class Wanders(Model):
        x = param(AR([0.5], 1.0), dims="t")
        y = observed(Normal(x, 1), dims="t")

    with pytest.raises(ModelError, match="flat on its first values"):
        as_posterior(Wanders(y=np.zeros(4))).prior_sample(np.random.default_rng(0), 1)


def test_improper_priors_are_refused():
    class Flat(Model):
        a = param(Normal(0, 1))
        b = param()
        y = observed(Normal(a, 1))

    with pytest.raises(ModelError, match="'b' has a flat prior"):
        as_posterior(Flat(y=1.0)).prior_sample(np.random.default_rng(0), 1)


def test_engines_can_be_changed(counts):
    x, beta = np.zeros((2, counts.dim)), np.array([0.2, 0.7])
    counts.use_engine("llvm")
    fast = counts.tempered(x, beta)
    counts.use_engine("numpy")
    np.testing.assert_allclose(counts.tempered(x, beta).logp, fast.logp, rtol=1e-12)
