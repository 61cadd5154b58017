"""Russian roulette: expectations by enumeration of all signs and lengths."""

from itertools import product

import numpy as np
import pytest

from probmodel.adaptation.projections import Products
from probmodel.adaptation.roulette import (
    CONTRACTION,
    LEAST,
    curvature_factor,
    draw_signs,
    draw_weights,
    expand,
    weights,
)

DIM = 3
KAPPA = curvature_factor(0.9, 3)
LONGEST = 45  # terms beyond which a series has a probability of 2^-42


def problem(size):
    """Root and Hessian whose D has its largest eigenvalue of that size."""
    rng = np.random.default_rng(1)
    C = np.tril(rng.standard_normal((DIM, DIM)))
    H = rng.standard_normal((DIM, DIM))
    H = H + H.T
    largest = np.max(np.abs(np.linalg.eigvalsh(KAPPA * C.T @ H @ C)))
    return C * np.sqrt(size / largest), H


def products(C):
    return Products(lambda v: v @ C.T, lambda v: v @ C)


def expectation(C, H, weigh):
    """Means of y eps' and of the log determinant over all signs and lengths of the series."""
    eps = np.array(list(product([-1.0, 1.0], repeat=DIM)))
    inverse, log_det = np.zeros((DIM, DIM)), 0.0
    for n in range(LEAST, LONGEST):
        probability = 0.5 ** (n - LEAST + 1)
        out = expand(lambda v: v @ H, products(C), KAPPA, eps, weigh(n))
        inverse += probability * out.y.T @ eps / len(eps)
        log_det += probability * out.log_det.mean()
    return inverse, log_det


@pytest.mark.parametrize("size", [0.3, 0.6])
def test_unbiased(size):
    C, H = problem(size)
    D = -KAPPA * C.T @ H @ C
    inverse, log_det = expectation(C, H, weights)
    np.testing.assert_allclose(inverse, np.linalg.inv(np.eye(DIM) + D), atol=1e-9)
    assert log_det == pytest.approx(np.linalg.slogdet(np.eye(DIM) + D)[1], abs=1e-9)


@pytest.mark.parametrize("wrong", ["late", "first"])
def test_a_bias_would_show(wrong):
    """Negative control: later terms weighed twice, or no first term."""

    def weigh(n):
        w = weights(n)
        return np.where(np.arange(n + 1) > LEAST, 2.0 * w, w) if wrong == "late" else w * (w != 1.0)

    C, H = problem(0.6)
    D = -KAPPA * C.T @ H @ C
    inverse, _ = expectation(C, H, weigh)
    assert np.max(np.abs(inverse - np.linalg.inv(np.eye(DIM) + D))) > 1e-3


def test_products_with_the_hessian_are_kept():
    C, H = problem(0.5)
    eps, asked = draw_signs(np.random.default_rng(2), (4, DIM)), []

    def curve(v):
        asked.append(v)
        return v @ H

    w = weights(6)
    out = expand(curve, products(C), KAPPA, eps, w)
    assert len(asked) == len(w)
    np.testing.assert_allclose(out.curved_y, out.y @ C.T @ H, atol=1e-12)
    np.testing.assert_allclose(out.curved_eps, eps @ C.T @ H, atol=1e-12)
    np.testing.assert_allclose(out.curved_direction, out.direction @ C.T @ H, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(out.direction, axis=1), 1.0)


def test_power_iteration_finds_the_largest_eigenvalue():
    C, H = problem(0.5)
    eigenvalues = np.linalg.eigvalsh(-KAPPA * C.T @ H @ C)
    largest = eigenvalues[np.argmax(np.abs(eigenvalues))]
    eps = draw_signs(np.random.default_rng(3), (4, DIM))
    out = expand(lambda v: v @ H, products(C), KAPPA, eps, weights(60))
    np.testing.assert_allclose(out.mu, largest, rtol=1e-6)


def test_a_series_that_would_grow_is_shortened():
    C, H = problem(50.0)
    eps = draw_signs(np.random.default_rng(4), (4, DIM))
    out = expand(lambda v: v @ H, products(C), KAPPA, eps, np.ones(30))
    lengths = np.linalg.norm(out.y, axis=1)
    assert np.all(lengths <= np.sqrt(DIM) * np.sum(CONTRACTION ** np.arange(30)) * (1.0 + 1e-12))
    assert np.max(np.abs(out.mu)) > 10.0  # the estimate of the eigenvalue is not shortened


def test_one_leapfrog_step_has_no_series():
    eps = draw_signs(np.random.default_rng(5), (2, DIM))
    assert curvature_factor(1.0, 1) == 0.0
    out = expand(np.zeros_like, products(np.eye(DIM)), 0.0, eps, weights(4))
    np.testing.assert_array_equal(out.y, eps)
    np.testing.assert_array_equal(out.log_det, 0.0)
    np.testing.assert_array_equal(out.mu, 0.0)
    np.testing.assert_array_equal(out.direction, 0.0)


def test_lengths_have_the_probabilities_that_the_weights_assume():
    rng = np.random.default_rng(6)
    lengths = np.array([len(draw_weights(rng)) - 1 for _ in range(4000)])
    for k in (LEAST, LEAST + 1, LEAST + 2, LEAST + 4):
        p = 1.0 / abs(weights(k)[k])
        error = max(np.sqrt(p * (1.0 - p) / len(lengths)), 1e-12)
        assert abs(np.mean(lengths >= k) - p) < 4.0 * error
    assert lengths.min() == LEAST
