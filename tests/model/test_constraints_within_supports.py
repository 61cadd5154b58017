"""A constraint whose values all lie in the support of the prior, and ones whose values do not."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian
from scipy import stats

from probmodel import Model, infer, param, prior_predictive
from probmodel import constraints as c
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.errors import ModelError

SCALE = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, -0.4], [0.0, -0.4, 1.5]])


def model(prior, constraint):
    class Matrix(Model):
        R = param(prior, constraint=constraint, shape=(3, 3))

    return Matrix()


@pytest.mark.parametrize("name", ["Wishart", "InverseWishart"])
def test_correlations_with_the_density_of_a_covariance(name):
    density = as_posterior(model(getattr(d, name)(5.0, SCALE), c.Correlation()))
    u = np.random.default_rng(1).standard_normal((4, 3))
    R = density.constrain(u)["R"]
    np.testing.assert_allclose(np.diagonal(R, axis1=1, axis2=2), 1.0)
    law = {"Wishart": stats.wishart, "InverseWishart": stats.invwishart}[name](5, SCALE)
    expected = [law.logpdf(r) for r in R] + c.Correlation().log_det(np, u)
    np.testing.assert_allclose(density(u).logp, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["WishartCholesky", "InverseWishartCholesky"])
def test_factors_of_correlations(name):
    prior = getattr(d, name)(5.0, SCALE)
    density = as_posterior(model(prior, c.CorrelationCholesky()))
    u = np.random.default_rng(2).standard_normal((4, 3))
    L = density.constrain(u)["R"]
    own = prior.log_density(np, L, *(np.asarray(a) for a in prior.args.values()))
    expected = own + c.CorrelationCholesky().log_det(np, u)
    np.testing.assert_allclose(density(u).logp, expected, rtol=1e-12)


def test_no_way_to_draw_is_known():
    with pytest.raises(ModelError, match="restricted to a correlation matrix"):
        prior_predictive(model(d.Wishart(5.0, SCALE), c.Correlation()), draws=2)


@pytest.mark.parametrize(
    "prior", [d.HalfNormal(2.0), d.Exponential(0.5), d.Gamma(2.0, 1.0), d.LogNormal(0.0, 1.0)]
)
@pytest.mark.parametrize("constraint", [c.PositiveOrdered(), c.Simplex()])
def test_positive_vectors_with_the_density_of_positive_numbers(prior, constraint):
    class Vector(Model):
        x = param(prior, constraint=constraint, shape=3)

    density = as_posterior(Vector())
    u = np.random.default_rng(3).standard_normal((4, density.dim))
    x = density.constrain(u)["x"]
    own = prior.log_density(np, x, *(np.asarray(a) for a in prior.args.values()))
    expected = own.sum(axis=1) + constraint.log_det(np, u)
    np.testing.assert_allclose(density(u).logp, expected, rtol=1e-12)


def increasing(prior, constraint):
    class Vector(Model):
        x = param(prior, constraint=constraint, shape=3)

    return Vector()


@pytest.mark.parametrize("constraint", [c.PositiveOrdered(), c.Ordered()])
@pytest.mark.parametrize(
    ("prior", "high"),
    [
        (d.Uniform(0.0, 5.0), 5.0),
        (d.Beta(2.0, 1.5), 1.0),
        (d.Truncated(d.Normal(1.0, 2.0), 0.5, 4.0), 4.0),
    ],
)
def test_vectors_in_order_stay_within_the_interval_of_a_prior(prior, high, constraint):
    density = as_posterior(increasing(prior, constraint))
    u = np.random.default_rng(5).standard_normal((4, 3))
    x = density.constrain(u)["x"]
    assert np.all(np.diff(x, axis=1, prepend=0.0, append=high) > 0.0)
    slopes = [jacobian(density_map(density))(point) for point in u]
    own = prior.log_density(np, x, *(np.asarray(a) for a in prior.args.values()))
    expected = own.sum(axis=1) + np.linalg.slogdet(np.array(slopes))[1]
    np.testing.assert_allclose(density(u).logp, expected, rtol=1e-9)


def density_map(density):
    (free,) = density.model._binding.free
    return lambda v: free.constraint.forward(anp, v, *free.constraint.bounds)


def test_order_statistics_of_uniform_numbers():
    model = increasing(d.Uniform(0.0, 10.0), c.Ordered())
    exact = stats.beta([1, 2, 3], [3, 2, 1])
    drawn = prior_predictive(model, draws=4000, seed=1).prior["x"].values.reshape(-1, 3)
    fit = infer(model, seed=2, draws=1000, chains=4, quiet=True)
    for x in (drawn, fit.posterior["x"].values.reshape(-1, 3)):
        np.testing.assert_allclose(x.mean(axis=0), 10 * exact.mean(), atol=0.2)
        np.testing.assert_allclose(x.std(axis=0), 10 * exact.std(), atol=0.15)


def test_bounds_of_vectors_in_order_may_be_parameters():
    class Rising(Model):
        top = param(d.Uniform(5.0, 10.0))
        x = param(d.Uniform(0.0, top), constraint=c.Ordered(), shape=3)

    drawn = prior_predictive(Rising(), draws=4000, seed=1).prior
    fit = infer(Rising(), seed=2, draws=1000, chains=4, quiet=True)
    for found in (drawn, fit.posterior):
        share = (found["x"] / found["top"]).values.reshape(-1, 3)
        np.testing.assert_allclose(share.mean(axis=0), [0.25, 0.5, 0.75], atol=0.02)
        assert abs(float(found["top"].mean()) - 7.5) < 0.15


def test_positive_numbers_in_order_without_another_constraint():
    u = np.random.default_rng(6).standard_normal((4, 3))
    one = as_posterior(increasing(d.HalfNormal(2.0), c.Ordered()))
    other = as_posterior(increasing(d.HalfNormal(2.0), c.PositiveOrdered()))
    np.testing.assert_array_equal(one(u).logp, other(u).logp)


@pytest.mark.parametrize(
    ("prior", "constraint"),
    [
        (d.Uniform(-1.0, 5.0), c.PositiveOrdered()),
        (d.Uniform([0.0, 1.0, 2.0], 5.0), c.Ordered()),
        (d.Pareto(1.0, 2.0), c.Ordered()),
    ],
)
def test_elements_of_a_vector_may_leave_a_bounded_support(prior, constraint):
    with pytest.raises(ModelError, match="contradicts the prior"):
        increasing(prior, constraint)


def test_bounds_that_depend_on_parameters_are_cut_by_the_support():
    class Cut(Model):
        a = param(d.Normal(0.5, 1.0))
        x = param(d.Uniform(0.0, 1.0), upper=np.exp(a))
        z = param(d.Exponential(1.0), lower=a)

    density = as_posterior(Cut())
    u = 3.0 * np.random.default_rng(4).standard_normal((200, 3))
    values, found = density.constrain(u), density(u)
    a, x, z = (values[name] for name in "axz")
    assert np.isfinite(found.logp).all()
    assert np.all((x > 0) & (x < np.minimum(np.exp(a), 1.0)))
    assert np.all(z > np.maximum(a, 0.0))
    assert min(np.mean(np.exp(a) > 1.0), np.mean(np.exp(a) < 1.0)) > 0.2  # either is the nearer
    jacobian = np.log(x * (1.0 - x / np.minimum(np.exp(a), 1.0))) + u[:, 2]
    expected = stats.norm.logpdf(a, 0.5, 1.0) + stats.expon.logpdf(z) + jacobian
    np.testing.assert_allclose(found.logp, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("prior", "constraint"),
    [
        (d.LKJ(2.0), c.CorrelationCholesky()),
        (d.LKJCholesky(2.0), c.Correlation()),
        (d.Wishart(5.0, SCALE), c.CholeskyFactor()),
        (d.Wishart(5.0, SCALE), c.CorrelationCholesky()),
        (d.WishartCholesky(5.0, SCALE), c.PositiveDefinite()),
        (d.LKJ(2.0), c.PositiveDefinite()),
    ],
)
def test_other_sets_of_matrices_are_refused(prior, constraint):
    with pytest.raises(ModelError, match="contradicts the prior"):
        model(prior, constraint)
