"""Covariances of low-rank correction from draws and gradients."""

import numpy as np
import pytest

from probmodel.adaptation.low_rank import CUTOFF, MOST, geometric_mean, halves, low_rank, scales


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


def estimated(x, grad, **settings):
    """Return the estimate from draws of one chain."""
    return low_rank(x, grad, halves(np.ones((len(x), 1), dtype=bool)), **settings)


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


@pytest.mark.parametrize("n", [80, 400, 3 * MOST])
def test_a_normal_density_is_known_from_few_draws(n):
    """A few more than directions in each half will do: what is left is what the cutoff leaves."""
    x, grad, cov = normal(30, [1e4, 100.0, 1e-3], 2, n)
    estimate = estimated(x, grad, cutoff=1.0 + 1e-9)
    np.testing.assert_allclose(matrix(estimate), cov, rtol=0.02, atol=0.02 * cov.max())
    assert condition(cov, matrix(estimate)) < 1.2
    assert condition(cov, matrix(estimated(x, grad))) < 2.0


def test_draws_alone_know_less():
    """Negative control: the covariance of as many draws."""
    x, _, cov = normal(30, [1e4, 100.0, 1e-3], 2, 60)
    assert condition(cov, np.cov(x.T)) > 3.0


def test_basis_is_orthonormal_and_small_where_draws_are_few():
    x, grad, cov = normal(200, [1e4, 100.0], 3, 20)
    estimate = estimated(x, grad)
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
    estimate = estimated(x, -x / sd**2)
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
    estimate = estimated(np.ones((n, 100)), np.zeros((n, 100)))
    np.testing.assert_array_equal(estimate.scale, np.ones(100))
    assert estimate.basis.shape == (100, 0)


def test_rows_that_depend_on_others_add_no_direction():
    """Draws in three of many directions, each of them several times."""
    rng = np.random.default_rng(6)
    x = np.repeat(rng.standard_normal((8, 3)) @ rng.standard_normal((3, 120)), 4, axis=0)
    estimate = estimated(x, -x, cutoff=1.0 + 1e-9)
    assert len(estimate.factors) <= 6
    np.testing.assert_allclose(
        estimate.basis.T @ estimate.basis, np.eye(len(estimate.factors)), atol=1e-6
    )


def heavy_tailed(rng, n, dim):
    """Draws and gradients of independent Student t variables with 5 degrees of freedom."""
    x = rng.standard_t(5.0, (n, dim))
    return x, -6.0 * x / (5.0 + x**2)


def test_noise_of_draws_has_no_directions():
    """Negative control: by the half that G is made of, dozens would be beyond the cutoff."""
    x, grad = heavy_tailed(np.random.default_rng(7), 500, 300)
    y, z = x[250:] / scales(x, grad), grad[250:] * scales(x, grad)
    values = np.linalg.eigvalsh(geometric_mean(y.T @ y / 250, z.T @ z / 250 + 1e-5 * np.eye(300)))
    assert np.sum((values > CUTOFF) | (values < 1.0 / CUTOFF)) > 50
    assert len(estimated(x, grad).factors) == 0


def test_directions_are_found_in_the_noise():
    rng = np.random.default_rng(8)
    x, grad = heavy_tailed(rng, 800, 300)
    x[:, 0] *= 10.0
    grad[:, 0] /= 10.0
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    estimate = estimated(x @ Q.T, grad @ Q.T)
    assert len(estimate.factors) == 1
    assert abs(Q[:, 0] @ estimate.basis[:, 0]) > 0.95
    along = estimate.scale @ (Q[:, 0] ** 2 * estimate.scale) * estimate.factors[0] ** 2
    assert 60.0 < along < 180.0  # 100 times sqrt(5/3 / (6/8)), for variances of draws and scores


@pytest.mark.parametrize("dim", [20, 60, 100])
def test_scale_is_that_of_most_directions(dim):
    """Five narrow directions make all coordinates narrow, beside which the others are wide."""
    x, grad, cov = normal(dim, [1e-4] * 5, 9, 400)
    estimate = estimated(x, grad)
    assert 5 <= len(estimate.factors) < 10
    assert condition(cov, matrix(estimate)) < CUTOFF
    of_scales = np.linalg.eigvalsh(cov / np.outer(scales(x, grad), scales(x, grad)))
    assert np.sum(of_scales > CUTOFF) >= dim - 5


def test_halves_are_chains_or_times():
    every = np.ones((4, 3), dtype=bool)
    np.testing.assert_array_equal(halves(every).reshape(4, 3), [[True, False, True]] * 4)
    np.testing.assert_array_equal(halves(every[:, :1]), [False, False, True, True])
    every[:, 1] = False
    every[0, 0] = False
    np.testing.assert_array_equal(halves(every), [False] * 3 + [True] * 4)
