"""Covariances of low-rank correction from draws and gradients."""

import numpy as np
import pytest

from probmodel.adaptation.low_rank import MOST, geometric_mean, low_rank, scales


def matrix(estimate):
    """Return the covariance that an estimate stands for."""
    S, U, F = estimate
    C = S[:, None] * (np.eye(len(S)) + (U * (F - 1.0)) @ U.T)
    return C @ C.T


def normal(dim, wide, seed, n):
    """Draws and gradients of a normal density with a few directions of other widths."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    values = np.ones(dim)
    values[: len(wide)] = wide
    s = np.exp(rng.standard_normal(dim))
    root = s[:, None] * (Q * np.sqrt(values))
    x = 3.0 + rng.standard_normal((n, dim)) @ root.T
    cov = root @ root.T
    return x, -np.linalg.solve(cov, (x - 3.0).T).T, cov


def condition(cov, learned):
    """Ratio of the longest to the shortest standard deviation, after preconditioning."""
    C = np.linalg.cholesky(learned)
    values = np.linalg.eigvalsh(np.linalg.solve(C, np.linalg.solve(C, cov).T))
    return np.sqrt(values[-1] / values[0])


def random_matrix(rng, dim):
    A = rng.standard_normal((dim, 2 * dim))
    return A @ A.T / dim


def test_geometric_mean_solves_its_equation():
    rng = np.random.default_rng(1)
    for dim in (1, 4, 9):
        A, B = random_matrix(rng, dim), random_matrix(rng, dim)
        G = geometric_mean(A, B)
        np.testing.assert_allclose(G @ B @ G, A, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(G, G.T, rtol=1e-12)
        assert np.linalg.eigvalsh(G)[0] > 0.0


@pytest.mark.parametrize("n", [60, 400, 3 * MOST])
def test_a_normal_density_is_known_from_few_draws(n):
    """As many draws as directions will do: all that is left is what the cutoff leaves alone."""
    x, grad, cov = normal(30, [1e4, 100.0, 1e-3], 2, n)
    estimate = low_rank(x, grad, cutoff=1.0 + 1e-9)
    np.testing.assert_allclose(matrix(estimate), cov, rtol=0.02, atol=0.02 * cov.max())
    assert condition(cov, matrix(estimate)) < 1.2
    assert condition(cov, matrix(low_rank(x, grad))) < 2.0


def test_draws_alone_know_less():
    """Negative control: the covariance of as many draws."""
    x, _, cov = normal(30, [1e4, 100.0, 1e-3], 2, 60)
    assert condition(cov, np.cov(x.T)) > 3.0


def test_basis_is_orthonormal_and_small_where_draws_are_few():
    x, grad, cov = normal(200, [1e4, 100.0], 3, 20)
    estimate = low_rank(x, grad)
    rank = len(estimate.factors)
    assert 0 < rank <= 40
    assert estimate.basis.shape == (200, rank)
    np.testing.assert_allclose(estimate.basis.T @ estimate.basis, np.eye(rank), atol=1e-10)
    assert (estimate.factors > 0.0).all()
    sd = np.sqrt(np.diag(cov))
    assert condition(cov, matrix(estimate)) < 0.5 * condition(cov, np.diag(sd**2))


def test_independent_coordinates_need_no_directions():
    rng = np.random.default_rng(4)
    sd = np.geomspace(1e-6, 1e6, 40)
    x = rng.standard_normal((25, 40)) * sd
    estimate = low_rank(x, -x / sd**2)
    assert len(estimate.factors) == 0
    np.testing.assert_allclose(estimate.scale, sd, rtol=1e-10)


def test_scales_are_known_on_the_way_to_the_bulk():
    rng, sd = np.random.default_rng(5), np.geomspace(1e-3, 1e3, 7)
    x = 100.0 + 50.0 * rng.random((8, 7))
    np.testing.assert_allclose(scales(x, -x / sd**2), sd, rtol=1e-10)


def test_scales_where_something_does_not_vary():
    x = np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    grad = np.array([[5.0, 2.0, 0.0], [5.0, 4.0, 0.0]])
    np.testing.assert_allclose(scales(x, grad), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(scales(3.0 * x, 0.5 * grad), [3.0, 2.0, 1.0])


@pytest.mark.parametrize("n", [20, 60])
def test_draws_that_do_not_vary_have_no_directions(n):
    estimate = low_rank(np.ones((n, 100)), np.zeros((n, 100)))
    np.testing.assert_array_equal(estimate.scale, np.ones(100))
    assert estimate.basis.shape == (100, 0)


def test_rows_that_depend_on_others_add_no_direction():
    """Draws in three of many directions, each of them several times."""
    rng = np.random.default_rng(6)
    x = np.repeat(rng.standard_normal((8, 3)) @ rng.standard_normal((3, 120)), 4, axis=0)
    estimate = low_rank(x, -x, cutoff=1.0 + 1e-9)
    assert len(estimate.factors) <= 6
    np.testing.assert_allclose(
        estimate.basis.T @ estimate.basis, np.eye(len(estimate.factors)), atol=1e-6
    )
