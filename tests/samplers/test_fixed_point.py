"""Fixed points: against linear algebra, and chains that have none."""

import numpy as np
import pytest

from probmodel.samplers.riemannian import fixed_point as module
from probmodel.samplers.riemannian.fixed_point import fixed_point

EVERY = np.ones(6, dtype=bool)


def linear(rng, rate, dim=4, chains=6):
    """Equations z = A z + b with spectral radius ``rate``, and their solutions."""
    A = rng.standard_normal((chains, dim, dim))
    A *= rate / np.abs(np.linalg.eigvals(A)).max(axis=1)[:, None, None]
    b = rng.standard_normal((chains, dim))
    exact = np.linalg.solve(np.eye(dim) - A, b[..., None])[..., 0]
    calls = np.zeros(chains, dtype=int)

    def equation(rows, z):
        calls[rows] += 1
        return (A[rows] @ z[:, :, None])[..., 0] + b[rows], np.full(len(rows), 3)

    return equation, exact, calls


@pytest.mark.parametrize("rate", [0.01, 0.5, 0.95, 1.5])
def test_linear_equations(rate):
    """In four dimensions four differences are a whole basis: it also converges beyond rate 1."""
    equation, exact, calls = linear(np.random.default_rng(1), rate)
    value, converged, n_grad = fixed_point(equation, np.zeros((6, 4)), EVERY)
    assert converged.all()
    np.testing.assert_allclose(value, exact, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(n_grad, 3 * calls)
    assert calls.max() <= 12


def test_nonlinear_equations():
    """z = c cos(z) in each coordinate, solved by SciPy."""
    from scipy.optimize import brentq

    c = np.random.default_rng(2).uniform(-1.2, 1.2, (6, 3))
    value, converged, _ = fixed_point(
        lambda rows, z: (c[rows] * np.cos(z), np.ones(len(rows), dtype=int)),
        np.zeros((6, 3)),
        EVERY,
    )
    exact = np.vectorize(lambda k: brentq(lambda z: z - k * np.cos(z), -2, 2, xtol=1e-14))(c)
    assert converged.all()
    np.testing.assert_allclose(value, exact, atol=1e-9)


def test_chains_do_not_depend_on_each_other():
    def run(rows):
        equation, _, _ = linear(np.random.default_rng(3), 0.8)
        chosen = np.arange(6)[rows]
        return fixed_point(lambda r, z: equation(chosen[r], z), np.zeros((len(chosen), 4)),
                           np.ones(len(chosen), dtype=bool))[0]  # fmt: skip

    together = run(slice(None))
    alone = np.concatenate([run(slice(c, c + 1)) for c in range(6)])
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9)


def test_chains_without_a_fixed_point_are_given_up():
    """z + 1 and exp(z) + 1 have none, and NaN is not one; the others are solved all the same."""
    calls = np.zeros(6, dtype=int)

    def equation(rows, z):
        calls[rows] += 1
        with np.errstate(over="ignore"):
            options = [z + 1.0, np.exp(z) + 1.0, np.full_like(z, np.nan), 0.5 * z, 0.5 * z, 0.5 * z]
        return np.stack([options[r][i] for i, r in enumerate(rows)]), np.ones(len(rows), dtype=int)

    wanted = np.array([True, True, True, True, True, False])
    value, converged, n_grad = fixed_point(equation, np.ones((6, 2)), wanted)
    assert converged.tolist() == [False, False, False, True, True, False]
    np.testing.assert_allclose(value[3:5], 0.0, atol=1e-9)
    np.testing.assert_array_equal(value[5], 1.0)
    np.testing.assert_array_equal(n_grad, calls)
    assert calls[2] == 1
    assert calls[5] == 0
    assert calls.max() <= 2 * module.TRIAL + 1


def test_start_at_the_fixed_point_takes_one_evaluation():
    value, converged, n_grad = fixed_point(
        lambda rows, z: (z.copy(), np.ones(len(rows), dtype=int)), np.ones((6, 2)), EVERY
    )
    assert converged.all()
    assert n_grad.tolist() == [1] * 6
    np.testing.assert_array_equal(value, 1.0)
