"""Distributions of correlation matrices: constants by quadrature, margins, models."""

from __future__ import annotations

import arviz as az
import numpy as np
import pytest
from scipy import stats

from probmodel import Model, check_model, infer, observed, param
from probmodel.constraints import Correlation, CorrelationCholesky
from probmodel.distributions import LKJ, Exponential, LKJCholesky, MvNormal
from probmodel.errors import ShapeError

ETAS = [0.7, 1.0, 3.0]


def test_density_of_three_correlations_integrates_to_one():
    """By Gauss's rule; the third correlation lies between limits that the others set."""
    eta = np.asarray(2.0)
    nodes, weights = np.polynomial.legendre.leggauss(30)
    a, b, t = np.meshgrid(nodes, nodes, nodes, indexing="ij")
    half = np.sqrt((1 - a**2) * (1 - b**2))
    stack = np.zeros((*a.shape, 3, 3)) + np.eye(3)
    for (i, j), r in {(1, 0): a, (2, 0): b, (2, 1): a * b + half * t}.items():
        stack[..., i, j] = stack[..., j, i] = r
    values = half * np.exp(LKJ(2.0).log_density(np, stack, eta))
    total = np.einsum("ijk,i,j,k->", values, weights, weights, weights)
    assert total == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("eta", ETAS)
def test_one_correlation_is_a_beta_variable(eta):
    r = np.array([-0.9, -0.2, 0.0, 0.6])
    stack = np.stack([np.array([[1.0, x], [x, 1.0]]) for x in r])
    expected = stats.beta(eta, eta).logpdf(0.5 * (1 + r)) - np.log(2.0)
    found = LKJ(eta).log_density(np, stack, np.asarray(eta))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    roots = LKJCholesky(eta).log_density(np, np.linalg.cholesky(stack), np.asarray(eta))
    np.testing.assert_allclose(roots, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_factors_have_the_density_of_their_products(size):
    """The two differ by the Jacobian of the product, which both constraints state."""
    rng = np.random.default_rng(0)
    u = 0.5 * rng.standard_normal((5, size * (size - 1) // 2))
    eta = np.asarray(1.7)
    totals = [
        dist.log_density(np, constraint.forward(np, u), eta) + constraint.log_det(np, u)
        for dist, constraint in [
            (LKJCholesky(1.7), CorrelationCholesky()), (LKJ(1.7), Correlation())
        ]
    ]  # fmt: skip
    np.testing.assert_allclose(totals[0], totals[1], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("size", [2, 5])
@pytest.mark.parametrize("eta", ETAS)
def test_draws_have_beta_margins_and_are_correlation_matrices(size, eta):
    draws = LKJ(eta).sample(np.random.default_rng(1), (4000, size, size), np.asarray(eta))
    assert Correlation().check(draws).all()
    shape = eta - 1.0 + 0.5 * size
    for row, column in [(1, 0), (size - 1, size - 2)]:
        u = stats.beta(shape, shape).cdf(0.5 * (1.0 + draws[:, row, column]))
        assert stats.kstest(u, "uniform").pvalue > 1e-5
        other = stats.beta(2 * shape, 2 * shape).cdf(0.5 * (1.0 + draws[:, row, column]))
        assert stats.kstest(other, "uniform").pvalue < 1e-5
    factors = LKJCholesky(eta).sample(np.random.default_rng(1), draws.shape, np.asarray(eta))
    assert CorrelationCholesky().check(factors).all()
    np.testing.assert_allclose(factors @ factors.swapaxes(1, 2), draws, rtol=1e-12, atol=1e-12)


def test_a_matrix_of_one_element_is_certain():
    one = LKJCholesky(2.0).sample(np.random.default_rng(0), (3, 1, 1), np.asarray(2.0))
    np.testing.assert_array_equal(one, np.ones((3, 1, 1)))
    assert LKJCholesky(2.0).log_density(np, one[0], np.asarray(2.0)) == 0.0


class Factor(Model):
    root = param(LKJCholesky(2.0), shape=(3, 3))


class Matrix(Model):
    eta = param(Exponential(1))
    both = param(LKJ(eta), shape=(2, 3, 3))


class Covariance(Model):
    root = param(LKJCholesky(2.0), shape=(2, 2))
    scale = param(Exponential(1), shape=2)
    y = observed(MvNormal(np.zeros(2), cholesky=scale[:, None] * root), dims=("obs", "axis"))


Y = np.random.default_rng(3).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 40)


def check_passes(model):
    report = check_model(model)
    assert report.ok, str(report)


def test_models_pass_every_check():
    for model in (Factor(), Matrix(), Covariance(y=Y)):
        check_passes(model)


def test_draws_of_a_model_have_the_margins_of_its_prior():
    result = infer(Factor(), draws=1000, seed=2, quiet=True)
    root = result.posterior["root"].values
    squares = (root @ np.swapaxes(root, -1, -2))[..., 2, 1] ** 2
    error = squares.std() / np.sqrt(float(az.ess(squares, method="mean")))
    assert abs(squares.mean() - 1.0 / 6.0) < 5.0 * error  # 1 / (2 eta - 1 + K) in general
    assert abs(squares.mean() - 1.0 / 4.0) > 5.0 * error


def test_the_size_has_to_be_declared():
    class Sizeless(Model):
        root = param(LKJCholesky(2.0))

    with pytest.raises(ShapeError, match="give dims= or shape="):
        Sizeless()
