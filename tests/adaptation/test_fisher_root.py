"""The root of the inverse Fisher matrix against explicit inverses."""

import numpy as np
import pytest

from probmodel.adaptation.fisher_root import downdate, kept, normalised, paired, winsorised

DIM = 7
DAMPING = 10.0


def relative(a, b):
    return np.max(np.abs(a - b)) / np.max(np.abs(b))


def start():
    return np.eye(DIM) / np.sqrt(DAMPING)


@pytest.mark.parametrize("chains", [1, 3, 7, 12])
def test_root_is_that_of_the_explicit_inverse(chains):
    rng = np.random.default_rng(1)
    R, fisher = start(), DAMPING * np.eye(DIM)
    for _ in range(40):
        S = rng.standard_normal((chains, DIM)) * np.logspace(-1, 1, DIM)
        R, fisher = downdate(R, S), fisher + S.T @ S
    assert relative(R @ R.T, np.linalg.inv(fisher)) < 1e-12


def test_one_chain_is_the_update_as_printed():
    rng = np.random.default_rng(2)
    R = rng.standard_normal((DIM, DIM))
    s = rng.standard_normal(DIM)
    phi = R.T @ s
    r = 1.0 / (1.0 + np.sqrt(1.0 / (1.0 + phi @ phi)))
    printed = R - r * np.outer(R @ phi, phi) / (1.0 + phi @ phi)  # eq. (13)
    assert relative(downdate(R, s[None, :]), printed) < 1e-13


def test_first_update_is_the_initialisation_as_printed():
    s = np.random.default_rng(3).standard_normal(DIM)
    r = 1.0 / (1.0 + np.sqrt(DAMPING / (DAMPING + s @ s)))
    printed = (np.eye(DIM) - r * np.outer(s, s) / (DAMPING + s @ s)) / np.sqrt(DAMPING)  # eq. (12)
    assert relative(downdate(start(), s[None, :]), printed) < 1e-13


@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize(
    "rate", [lambda n: 1.0 / n, lambda n: 0.05, lambda n: 4.0 / (n + 3.0), lambda n: n**-0.7]
)
def test_general_learning_rates(chains, rate):
    rng = np.random.default_rng(4)
    R, fisher, gamma = start(), None, 1.0
    for n in range(1, 41):
        S = rng.standard_normal((chains, DIM))
        new = 1.0 if n == 1 else rate(n)
        R, gamma = downdate(R, S, 1.0 if n == 1 else kept(new, gamma)), new
        if n == 1:
            fisher = (S.T @ S + DAMPING * np.eye(DIM)) / chains
        else:
            fisher = (1.0 - new) * fisher + new * S.T @ S / chains
    A, expected = R @ R.T, np.linalg.inv(fisher)
    assert relative(A / np.trace(A), expected / np.trace(expected)) < 1e-12


def test_general_learning_rate_is_the_update_as_printed():
    rng = np.random.default_rng(5)
    R = rng.standard_normal((DIM, DIM))
    s, gamma = rng.standard_normal(DIM), 0.1
    q, phi = (1.0 - gamma) / gamma, R.T @ s
    r = 1.0 / (1.0 + np.sqrt(q / (q + phi @ phi)))
    printed = (R - r * np.outer(R @ phi, phi) / (q + phi @ phi)) / np.sqrt(1.0 - gamma)
    # With gamma_{n-1} = gamma the sum is 1/gamma times the average of the appendix.
    ours = downdate(R * np.sqrt(gamma), s[None, :], kept(gamma, gamma))
    assert relative(ours / np.sqrt(gamma), printed) < 1e-13


@pytest.mark.parametrize("chains", [1, 2, 5])
def test_paired_is_the_inverse_centred_scatter(chains):
    rng = np.random.default_rng(6)
    batches = rng.standard_normal((30, chains, DIM)) + 5.0
    R, mean, weight = start(), np.zeros(DIM), 0.0
    for S in batches:
        R, mean, weight = paired(R, mean, weight, S)
    signals = batches.reshape(-1, DIM)
    centred = signals - signals.mean(axis=0)
    assert weight == len(signals)
    np.testing.assert_allclose(mean, signals.mean(axis=0), rtol=1e-13)
    scatter = centred.T @ centred + DAMPING * np.eye(DIM)
    assert relative(R @ R.T, np.linalg.inv(scatter)) < 1e-12


def test_paired_is_the_update_as_printed():
    rng = np.random.default_rng(7)
    n, signals = 6, rng.standard_normal((6, DIM))
    R, mean, weight = start(), np.zeros(DIM), 0.0
    for s in signals[:-1]:
        R, mean, weight = paired(R, mean, weight, s[None, :])
    previous = R * np.sqrt(n - 2.0)  # the appendix divides the scatter of n - 1 signals by n - 2
    keep = (n - 2.0) / (n - 1.0)
    phi = previous.T @ (signals[-1] - mean)
    r = 1.0 / (1.0 + np.sqrt(n * keep / (n * keep + phi @ phi)))
    shrink = np.eye(DIM) - r * np.outer(phi, phi) / (n * keep + phi @ phi)
    printed = previous @ shrink / np.sqrt(keep)
    R, _, _ = paired(R, mean, weight, signals[-1:])
    assert relative(R * np.sqrt(n - 1.0), printed) < 1e-13


def test_paired_with_forgetting_is_the_weighted_scatter():
    rng = np.random.default_rng(8)
    batches, keep, chains = rng.standard_normal((20, 3, DIM)) + 2.0, 0.9, 3
    R, mean, weight = start(), np.zeros(DIM), 0.0
    for S in batches:
        R, mean, weight = paired(R, mean, weight, S, keep)
    weights = np.repeat(keep ** np.arange(19, -1, -1.0), chains)
    signals = batches.reshape(-1, DIM)
    expected_mean = weights @ signals / weights.sum()
    centred = signals - expected_mean
    scatter = centred.T @ (weights[:, None] * centred) + keep**20 * DAMPING * np.eye(DIM)
    np.testing.assert_allclose(weight, weights.sum(), rtol=1e-13)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-12)
    assert relative(R @ R.T, np.linalg.inv(scatter)) < 1e-12


def test_wrong_root_is_noticed():
    rng = np.random.default_rng(9)
    S = rng.standard_normal((3, DIM))
    one_after_another_with_the_same_root = start() + sum(
        downdate(start(), s[None, :]) - start() for s in S
    )
    A = one_after_another_with_the_same_root @ one_after_another_with_the_same_root.T
    assert relative(A, np.linalg.inv(DAMPING * np.eye(DIM) + S.T @ S)) > 1e-3


def test_zero_signals_change_nothing():
    R = np.random.default_rng(10).standard_normal((DIM, DIM))
    np.testing.assert_array_equal(downdate(R, np.zeros((4, DIM))), R)


@pytest.mark.parametrize("size", [1e300, np.inf])
def test_enormous_signals_stay_finite(size):
    R = downdate(start(), winsorised(np.full((2, DIM), size), 100.0))
    assert np.isfinite(R).all()
    assert np.isfinite(normalised(R)).all()


@pytest.mark.parametrize("scale", [1e60, 1e150])
def test_a_wide_root_and_enormous_signals_stay_finite(scale):
    """A direction that the signals know all about is gone, the others stay."""
    S = np.zeros((2, DIM))
    S[:, 0] = 1e99, 1e100
    R = downdate(scale * np.eye(DIM), S)
    assert np.isfinite(R).all()
    assert abs(R[0, 0]) < 1e-7 * scale  # the longest that counts, times the rounding, squared
    np.testing.assert_allclose(np.diag(R)[1:], scale)


def test_normalised_root_has_trace_dim():
    R = normalised(np.random.default_rng(11).standard_normal((DIM, DIM)) * 1e-200)
    assert np.trace(R @ R.T) == pytest.approx(DIM, rel=1e-14)


def test_only_signals_out_of_proportion_are_shortened():
    S = np.array([[1.0, 0.5], [0.0, 0.0], [-2.0, 3.0], [0.0, 1e9], [4.0, 4.0]])
    bounded = winsorised(S, 100.0)
    np.testing.assert_array_equal(bounded[[0, 1, 2, 4]], S[[0, 1, 2, 4]])
    np.testing.assert_allclose(bounded[3], [0.0, 300.0])
    np.testing.assert_array_equal(winsorised(np.zeros((2, 3)), 100.0), np.zeros((2, 3)))


@pytest.mark.parametrize("keep", [1.0, 0.7])
@pytest.mark.parametrize("chains", [1, 5])
def test_diagonal_root_is_that_of_the_diagonal_of_the_sum(chains, keep):
    """The dense definition, (keep A^-1 + sum s s')^-1, with all but the diagonal of the sum cut."""
    rng = np.random.default_rng(12)
    R, fisher = np.full(DIM, DAMPING**-0.5), DAMPING * np.eye(DIM)
    for _ in range(30):
        S = rng.standard_normal((chains, DIM)) * np.logspace(-3, 3, DIM)
        R, fisher = downdate(R, S, keep), keep * fisher + S.T @ S
    assert R.shape == (DIM,)
    np.testing.assert_allclose(R**2, 1.0 / np.diag(fisher), rtol=1e-12)


def test_diagonal_and_dense_agree_on_signals_along_the_axes():
    rng = np.random.default_rng(13)
    root = np.exp(rng.standard_normal(DIM))
    S = np.diag(rng.standard_normal(DIM))[:4]
    dense = downdate(np.diag(root), S, 0.8)
    np.testing.assert_allclose(dense, np.diag(downdate(root, S, 0.8)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("size", [1e300, np.inf])
def test_enormous_signals_leave_a_diagonal_finite(size):
    R = downdate(np.ones(DIM), np.full((2, DIM), size))
    assert np.isfinite(R).all()
    assert (R > 0.0).all()
    assert np.isfinite(normalised(R)).all()


def test_normalised_diagonal_has_trace_dim():
    R = normalised(np.arange(1.0, DIM + 1.0) * 1e-200)
    assert np.sum(R * R) == pytest.approx(DIM, rel=1e-14)
