"""Forms of a root: explicit matrices and finite differences of every gradient and step."""

import numpy as np
import pytest

from probmodel.adaptation.projections import FORMS, LONGEST, Lower, split
from probmodel.numerics.roots import InverseBidiagonal, times, transposed_times

DIM = 5
NAMES = sorted(FORMS)


def theta_of(name, seed=1):
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.5, 2.0, DIM) * rng.choice([-1.0, 1.0], DIM)
    if name == "diag":
        return scales
    if name == "dense":
        return np.tril(0.4 * rng.standard_normal((DIM, DIM)), -1) + np.diag(scales)
    return np.concatenate([scales, rng.standard_normal(DIM - 1)])


def matrix(name, theta):
    """C, built from its definition."""
    if name == "diag":
        return np.diag(theta)
    if name == "dense":
        return theta
    return np.linalg.inv(np.diag(theta[:DIM]) + np.diag(theta[DIM:], 1))


def free(name, theta):
    """Indices of the entries of theta that C depends on."""
    return list(zip(*np.tril_indices(DIM), strict=True)) if name == "dense" else range(len(theta))


def differences(f, at, indices, eps=1e-6):
    """Central differences in those entries; zero in the others."""
    out = np.zeros_like(at)
    for i in indices:
        up, down = at.copy(), at.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (2.0 * eps)
    return out


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_products_are_those_of_the_matrix(name):
    theta, v = theta_of(name), np.random.default_rng(2).standard_normal((3, DIM))
    C, products = matrix(name, theta), FORMS[name].products(theta)
    np.testing.assert_allclose(products.times(v), v @ C.T, atol=1e-12)
    np.testing.assert_allclose(products.transposed(v), v @ C, atol=1e-12)


def test_products_are_those_of_the_sampler(name):
    theta, v = theta_of(name), np.random.default_rng(2).standard_normal((3, DIM))
    root = InverseBidiagonal(*split(theta)) if name == "tridiagonal" else theta
    products = FORMS[name].products(theta)
    np.testing.assert_array_equal(products.times(v), times(root, v))
    np.testing.assert_array_equal(products.transposed(v), transposed_times(root, v))


def test_projection(name):
    theta, rng = theta_of(name), np.random.default_rng(3)
    left, right = rng.standard_normal((2, 7, DIM))

    def f(theta):
        return np.einsum("ni,ij,nj->", left, matrix(name, theta), right)

    expected = differences(f, theta, free(name, theta))
    np.testing.assert_allclose(FORMS[name].project(theta, left, right), expected, atol=1e-7)


def test_band_is_the_chain_rule_of_a_matrix():
    """The gradient in C, as a whole, through dC = -C dB C."""
    theta, rng = theta_of("tridiagonal"), np.random.default_rng(3)
    left, right = rng.standard_normal((2, 7, DIM))
    C = matrix("tridiagonal", theta)
    in_b = -C.T @ (left.T @ right) @ C.T
    expected = np.concatenate([np.diagonal(in_b), np.diagonal(in_b, 1)])
    given = FORMS["tridiagonal"].project(theta, left, right)
    np.testing.assert_allclose(given, expected, atol=1e-12)


def test_log_determinant(name):
    theta, form = theta_of(name), FORMS[name]
    assert form.log_det(theta) == pytest.approx(np.linalg.slogdet(matrix(name, theta))[1])
    expected = differences(
        lambda t: np.linalg.slogdet(matrix(name, t))[1], theta, free(name, theta)
    )
    np.testing.assert_allclose(form.log_det_gradient(theta), expected, atol=1e-8)


def test_relative_gradient_is_that_of_a_relative_step(name):
    theta, rng, form = theta_of(name), np.random.default_rng(4), FORMS[name]
    left, right = rng.standard_normal((2, 7, DIM))

    def f(step):
        return np.einsum("ni,ij,nj->", left, matrix(name, form.move(theta, step)), right)

    expected = differences(f, np.zeros_like(theta), free(name, theta))
    gradient = form.relative(theta, form.project(theta, left, right))
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_relative_steps_mean_the_same_in_other_units(name):
    """Coordinates in other units, and C with them, take the same step in these units."""
    theta, rng, form = theta_of(name), np.random.default_rng(5), FORMS[name]
    units = np.geomspace(1e-4, 1e3, DIM)
    step = 0.01 * rng.standard_normal(theta.shape)
    if name == "dense":
        scaled = units[:, None] * theta
    elif name == "diag":
        scaled = units * theta
    else:
        scaled = theta / np.concatenate([units, units[1:]])
    moved = matrix(name, form.move(scaled, step)) / units[:, None]
    np.testing.assert_allclose(moved, matrix(name, form.move(theta, step)), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_matrix_moves_no_further_than_its_norm_allows(seed):
    rng = np.random.default_rng(seed)
    step = np.tril(np.outer(*rng.standard_normal((2, 40)))) + 0.1 * rng.standard_normal((40, 40))
    moved = Lower().move(np.eye(40), np.tril(step)) - np.eye(40)
    assert 0.9 * LONGEST < np.linalg.norm(moved, 2) < 1.2 * LONGEST
    short = 1e-3 * step / np.linalg.norm(step, 2)
    np.testing.assert_allclose(
        Lower().move(np.eye(40), short) - np.eye(40), np.tril(short), atol=1e-6
    )


def test_no_step_moves_nothing(name):
    theta = theta_of(name)
    np.testing.assert_array_equal(FORMS[name].move(theta, np.zeros_like(theta)), theta)


def test_additive_steps_keep_the_diagonal_from_zero(name):
    theta, form = theta_of(name), FORMS[name]
    step = np.zeros_like(theta)
    form.diagonal(step)[:] = -form.diagonal(theta) + [1e-5, -1e-5, 0.0, 1.0, -1.0]
    new = form.add(theta, step, 1e-3)
    np.testing.assert_allclose(form.diagonal(new), [1e-3, -1e-3, 1e-3, 1.0, -1.0], atol=1e-12)
    assert np.linalg.cond(matrix(name, new)) < np.inf


def test_starts(name):
    form = FORMS[name]
    np.testing.assert_allclose(matrix(name, form.start(0.3, DIM)), 0.3 * np.eye(DIM), atol=1e-15)
    C = matrix(name, form.random_start(np.random.default_rng(6), 0.3, DIM))
    assert np.all(np.diagonal(C) > 0.0)
    assert 0.03 < np.exp(np.linalg.slogdet(C)[1] / DIM) < 3.0


def test_one_parameter(name):
    form = FORMS[name]
    theta = form.start(2.0, 1)
    assert form.products(theta).times(np.ones((1, 1))) == pytest.approx(2.0)
    assert form.log_det(form.move(theta, form.log_det_gradient(theta) * 0.0)) == pytest.approx(
        np.log(2.0)
    )
