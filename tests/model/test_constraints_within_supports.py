"""A constraint whose values all lie in the support of the prior, and ones whose values do not."""

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, param, prior_predictive
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
