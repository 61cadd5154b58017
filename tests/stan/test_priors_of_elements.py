"""Statements about single elements of a parameter that are one prior: what is drawn from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probmodel import Stan, prior_predictive

DRAWS = 4000
CODE = """
data { vector[3] a; vector[3] b; matrix[2, 2] S; }
parameters {
  real<lower=0> s;
  array[2] simplex[3] theta;
  array[2] cholesky_factor_corr[2] L;
  array[3] vector[2] beta;
}
model {
  s ~ gamma(20, 20);
  theta[2] ~ dirichlet(b);
  theta[1] ~ dirichlet(a);
  L[1] ~ lkj_corr_cholesky(1);
  L[2] ~ lkj_corr_cholesky(4);
  beta[2] ~ multi_normal([5, s]', S);
  for (k in 0:1) beta[1 + 2 * k] ~ multi_normal([k, -k]', S);
}
"""
A, B = np.array([1.0, 2.0, 3.0]), np.array([8.0, 1.0, 1.0])
S = np.array([[2.0, 0.6], [0.6, 1.0]])


@pytest.fixture(scope="module")
def prior():
    model = Stan(CODE)(a=A, b=B, S=S)
    return prior_predictive(model, draws=DRAWS, seed=3)["prior"].isel(chain=0)


def test_draws_of_simplexes(prior):
    for row, alpha in enumerate((A, B)):
        for k in range(3):
            found = prior["theta"].values[:, row, k]
            beta = stats.beta(alpha[k], alpha.sum() - alpha[k])
            assert stats.kstest(found, beta.cdf).pvalue > 1e-3
    np.testing.assert_allclose(prior["theta"].sum(axis=-1), 1.0)


def test_draws_of_factors_of_correlations(prior):
    for row, eta in enumerate((1.0, 4.0)):
        found = prior["L"].values[:, row, 1, 0]
        assert stats.kstest((found + 1) / 2, stats.beta(eta, eta).cdf).pvalue > 1e-3


def test_draws_of_vectors(prior):
    s, beta = prior["s"].values, prior["beta"].values
    means = [[0, 0], [5, s], [1, -1]]
    for row, (first, second) in enumerate(means):
        centred = beta[:, row] - np.stack(
            [np.full(DRAWS, first), np.broadcast_to(second, DRAWS)], 1
        )
        for k in range(2):
            assert stats.kstest(centred[:, k], stats.norm(0, S[k, k] ** 0.5).cdf).pvalue > 1e-3
        np.testing.assert_allclose(np.cov(centred.T), S, atol=0.2)


@pytest.mark.parametrize(
    ("statements", "drawable"),
    [
        ("x[1] ~ dirichlet(a); x[2] ~ dirichlet(a);", True),
        ("target += dirichlet_lpdf(x[1] | a) + dirichlet_lpdf(x[2] | [1, 1]');", True),
        ("x[2] ~ dirichlet(a);", False),
        ("x[1] ~ dirichlet(a); x[2] ~ dirichlet(a); x[2] ~ dirichlet(a);", False),
        ("x[1] ~ dirichlet(a); x[2] ~ dirichlet(x[1]);", False),
        ("x[1] ~ dirichlet(a); x[2] ~ multi_normal(a, identity_matrix(2));", False),
    ],
)
def test_each_element_has_one_statement(statements, drawable):
    code = "data { vector[2] a; } parameters { array[2] simplex[2] x; } model { %s }"
    model = Stan(code % statements)(a=[1.0, 2.0])
    prior = model._binding.declarations["x"].prior
    assert (prior is not None) == drawable
    assert prior is None or prior.name == "Dirichlet"
