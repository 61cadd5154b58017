"""Log determinants of sums of known matrices: as of the whole matrix, without a factorisation."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Model, param, potential
from probmodel.compiler.tracing import traced
from probmodel.density import as_posterior
from probmodel.distributions import Flat
from probmodel.functions import log_determinant


def neighbours(n, symmetric):
    rng = np.random.default_rng(n)
    near = (rng.uniform(size=(n, n)) < 4.0 / n) * rng.uniform(0.2, 1.0, (n, n))
    np.fill_diagonal(near, 0.0)
    near[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    near = near + near.T if symmetric else near
    return near / np.sum(near, axis=1).max()


MATRICES = {
    "lag": lambda n, s, t: np.eye(n) - s * neighbours(n, symmetric=False),
    "symmetric": lambda n, s, t: np.eye(n) - s * neighbours(n, symmetric=True),
    "scaled": lambda n, s, t: s * (np.eye(n) - 0.5 * neighbours(n, symmetric=False)),
    "two": lambda n, s, t: s * neighbours(n, symmetric=False) + t * np.diag(np.arange(1.0, n + 1)),
    "far": lambda n, s, t: t * np.eye(n) + 7.0 * s * neighbours(n, symmetric=False),
}


@pytest.mark.parametrize("n", [2, 3, 8, 41])
@pytest.mark.parametrize("name", MATRICES)
def test_the_value_is_that_of_the_whole_matrix(name, n):
    class Own(Model):
        s = param(Flat())
        t = param(Flat())
        total = potential(log_determinant(MATRICES[name](n, s, t)))

    density = as_posterior(Own())
    assert not {step.op for step in traced(density._binding).steps} & {"determinant", "call"}
    x = np.random.default_rng(1).uniform(-0.9, 0.9, (5, 2))
    logp, slopes = density(x)
    of = lambda row: np.linalg.slogdet(MATRICES[name](n, *row))[1]  # noqa: E731
    np.testing.assert_allclose(logp, [of(row) for row in x], rtol=1e-9, atol=1e-10)
    steps = 1e-6 * np.eye(2)
    numeric = [[(of(row + e) - of(row - e)) / 2e-6 for e in steps] for row in x]
    np.testing.assert_allclose(slopes, numeric, rtol=1e-4, atol=1e-4)


def test_other_matrices_are_factorised():
    class Own(Model):
        s = param(Flat())
        total = potential(log_determinant(np.exp(-np.ones((8, 8)) * s) + np.eye(8)))

    steps = {step.op for step in traced(as_posterior(Own())._binding).steps}
    assert steps & {"determinant", "call"}
