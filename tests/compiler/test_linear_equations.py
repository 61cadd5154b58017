"""Both engines on systems of linear equations and determinants of matrices of any kind."""

from __future__ import annotations

from fractions import Fraction

import autograd.numpy as anp
import numpy as np
import pytest
import scipy.stats
from autograd import grad
from both_engines import chains_in_turn, engines, machine_of
from test_matrices import assert_same

from probmodel import Model, data, functions, param, potential
from probmodel import distributions as d
from probmodel.compiler.differentiation import gradient_of
from probmodel.compiler.formulas import LARGE
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.tracing import Program
from probmodel.density import as_posterior
from probmodel.numerics.linalg import transpose
from probmodel.numerics.square_matrices import det, inv, log_abs_det, solve

SIZES = [1, 2, 3, 4, 5, 8, LARGE]
STACKS = [(), (1,), (7,), (8,), (3, 3)]


def matrices(x, n, stack=()):
    """Matrices without symmetry, of which some have zeros on the diagonal."""
    rng = np.random.default_rng(n)
    fixed = rng.standard_normal((*stack, n, n))
    if n > 1:
        fixed[..., range(n), range(n)] *= rng.choice([0.0, 1.0], (*stack, n))
    return fixed + x[1] + anp.sin(x[0] * np.arange(n * n)).reshape((n, n))


def solved(x, n, stack, columns=2):
    right = x[2] * np.cos(np.arange(n * columns)).reshape(n, columns) + x[0]
    return solve(matrices(x, n, stack), right + np.zeros((*stack, n, columns)))


FUNCTIONS = {
    "solve": solved,
    "solve for the transpose": lambda x, n, stack: solve(
        matrices(x, n, stack), transpose(matrices(x, n, stack))
    ),
    "inv": lambda x, n, stack: inv(matrices(x, n, stack)),
    "det": lambda x, n, stack: det(matrices(x, n, stack)),
    "log_abs_det": lambda x, n, stack: log_abs_det(matrices(x, n, stack)),
}  # fmt: skip


def weighed(name, n, stack):
    def function(x):
        found = FUNCTIONS[name](x, n, stack)
        return anp.sum(found * np.cos(1.0 + np.arange(np.size(found))).reshape(np.shape(found)))

    return function


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name, n):
    chains = chains_in_turn(n, len(name))
    x = np.random.default_rng(n).uniform(0.5, 1.5, (chains, 3))
    assert_same(weighed(name, n, ()), x, 1e-8 if n == LARGE else 1e-10)


@pytest.mark.parametrize("stack", STACKS[1:])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_stacks(name, n, stack):
    x = np.random.default_rng(n).uniform(0.5, 1.5, (chains_in_turn(n, *stack), 3))
    assert_same(weighed(name, n, stack), x, 1e-9)


@pytest.mark.parametrize("n", SIZES[:-1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name, n):
    function, v = weighed(name, n, (2,)), np.array([0.3, -1.0, 0.7])
    x = np.random.default_rng(n).uniform(0.5, 1.5, (9, 3))
    symbol = Symbol("input", (), np.ones(3))
    value, slopes = gradient_of(lambda s: anp.sum(gradient_of(function, s)[1][0] * v), symbol)
    slope = grad(lambda x: anp.sum(grad(function)(x) * v))
    expected = np.array([slope(row) for row in x])
    for engine in (Machine, NumpyProgram):
        moved, second = engine(Program((symbol,), (value, *slopes)))(x)
        np.testing.assert_allclose(moved, [grad(function)(row) @ v for row in x], rtol=1e-7)
        error = np.abs(second - expected).max(axis=1)
        assert np.all(error <= 1e-7 * (1.0 + np.abs(expected).max(axis=1)))


# -- accuracy --------------------------------------------------------------------------------------


def exact(A, b):
    """Solve with fractions."""
    rows = [[Fraction(float(e)) for e in (*row, right)] for row, right in zip(A, b, strict=True)]
    n = len(rows)
    for j in range(n):
        k = next(i for i in range(j, n) if rows[i][j])
        rows[j], rows[k] = rows[k], rows[j]
        rows[j] = [e / rows[j][j] for e in rows[j]]
        for i in range(n):
            if i != j:
                rows[i] = [e - rows[i][j] * f for e, f in zip(rows[i], rows[j], strict=True)]
    return np.array([float(row[n]) for row in rows])


def ill_conditioned(kind, n, rng):
    if kind == "Hilbert":
        return 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0) * rng.uniform(0.9, 1.1)
    if kind == "nearly singular":
        return rng.standard_normal((n, 1)) * rng.standard_normal(n) + 1e-9 * rng.normal(size=(n, n))
    if kind == "scales":
        size = 10.0 ** rng.uniform(-8.0, 8.0, n)
        return size[:, None] * rng.standard_normal((n, n)) * size
    root = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-4.0, 0.0, n)
    return root @ root.T  # positive definite


@pytest.mark.parametrize("kind", ["Hilbert", "nearly singular", "scales", "positive definite"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
def test_solutions_are_as_accurate_as_those_of_lapack(kind, n):
    """Against fractions: the worst of many systems, and on average."""
    rng = np.random.default_rng(n)
    A = np.array([ill_conditioned(kind, n, rng) for _ in range(64)])
    b = rng.standard_normal((64, n, 1))
    x = np.concatenate([A.reshape(64, -1), b[:, :, 0]], axis=1)
    truth = np.array([exact(*system) for system in zip(A, b[:, :, 0], strict=True)])

    def element(k):
        def function(x):
            return solve(x[: n * n].reshape((n, n)), x[n * n :].reshape((n, 1)))[k, 0]

        return function

    found = np.stack([machine_of(element(k), n * n + n)(x)[0] for k in range(n)], axis=1)
    size = np.abs(truth).max(axis=1)
    error = np.abs(found - truth).max(axis=1) / size
    lapack = np.abs(np.linalg.solve(A, b)[:, :, 0] - truth).max(axis=1) / size
    assert error.max() <= 4.0 * lapack.max() + 1e-15
    assert error.mean() <= 2.0 * lapack.mean() + 1e-15


# -- singular and infinite -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_singular_matrices_are_alone(n):
    """They have no solution, and a determinant of zero; other chains are as they are."""

    def matrix(x):
        return x[0] * np.ones((n, n)) + x[1] * np.eye(n)

    x = np.array([[1.0, 0.5], [1.0, 0.0], [0.0, 0.0], [1.0, np.nan], [-1.0, 3.5], [0.0, 2.0]])
    full = np.array([matrix(row) for row in x])
    expected = {
        "solve": lambda good: np.sum(np.linalg.inv(full[good]), axis=(1, 2)),
        "log": lambda good: np.linalg.slogdet(full[good])[1],
        "det": lambda good: np.linalg.det(full[good]),
    }
    formulas = {
        "solve": lambda x: anp.sum(solve(matrix(x), np.ones((n, 1)))),
        "log": lambda x: log_abs_det(matrix(x)),
        "det": lambda x: det(matrix(x)),
    }
    good, singular = [0, 4, 5], [2] if n == 1 else [1, 2]
    for name, formula in formulas.items():
        for engine in engines(formula, 2):
            found, slope = engine(x)
            np.testing.assert_allclose(found[good], expected[name](good), rtol=1e-13)
            assert np.isfinite(slope[good]).all()
            assert not np.isfinite(slope[singular]).any()
            assert np.isnan(found[3])
            zero = {"solve": np.nan, "log": -np.inf, "det": 0.0}[name]
            np.testing.assert_array_equal(found[singular], zero)


@pytest.mark.parametrize("n", [2, 5])
def test_infinite_matrices_have_no_solution_in_either_engine(n):
    def function(x):
        return anp.sum(solve(np.eye(n) * x[0] + np.ones((n, n)), np.ones((n, 1))))

    for engine in engines(function, 1):
        found = engine(np.array([[1.0], [np.inf], [2.0]]))[0]
        np.testing.assert_array_equal(np.isnan(found), [False, True, False])


# -- models ----------------------------------------------------------------------------------------

TIMES = 5


class HandWritten(Model):
    """A Kalman filter, the mean of whose state is zero before the first time."""

    Y = data(("time", "of"))
    phi = param(d.Normal(0.0, 0.5), shape=(2, 2))
    q = param(d.HalfNormal(1.0), shape=2)
    r = param(d.HalfNormal(1.0), shape=2)
    mean, P, total = np.zeros(2), np.eye(2), 0.0
    for t in range(TIMES):
        mean, P = phi @ mean, phi @ P @ phi.T + np.diag(q**2)
        S, v = P + np.diag(r**2), Y[t] - mean
        total = total - 0.5 * (functions.log_determinant(S) + v @ np.linalg.solve(S, v))
        gain = P @ np.linalg.inv(S)
        mean, P = mean + gain @ v, P - gain @ P
    likelihood = potential(total - TIMES * np.log(2.0 * np.pi))


def joint_density(Y, phi, q, r):
    """Log density of all that was seen, as one normal distribution."""
    noise = np.kron(np.eye(TIMES), np.diag(q**2))
    states = np.zeros((2 * TIMES, 2 * TIMES))
    reach = np.zeros((2 * TIMES, 2))
    for t in range(TIMES):
        reach[2 * t : 2 * t + 2] = np.linalg.matrix_power(phi, t + 1)
        for s in range(t + 1):
            states[2 * t : 2 * t + 2, 2 * s : 2 * s + 2] = np.linalg.matrix_power(phi, t - s)
    cov = reach @ reach.T + states @ noise @ states.T + np.kron(np.eye(TIMES), np.diag(r**2))
    return scipy.stats.multivariate_normal(np.zeros(2 * TIMES), cov).logpdf(Y.ravel())


class Before(Model):
    phi = param(d.Normal(0.0, 0.5), shape=(2, 2))
    q = param(d.HalfNormal(1.0), shape=2)
    r = param(d.HalfNormal(1.0), shape=2)


def test_a_filter_that_is_written_by_hand(assert_engines, assert_gradient):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((TIMES, 2))
    density, prior = as_posterior(HandWritten(Y=Y)), as_posterior(Before())
    assert density.calls_back == ()

    def value(x):
        draws = density.constrain(x)
        parts = zip(*(draws[name] for name in ("phi", "q", "r")), strict=True)
        return prior.log_density(x) + [joint_density(Y, *part) for part in parts]

    x = rng.uniform(-0.6, 0.6, (3, 8))
    assert_engines(density, value, x, "filter")
    assert_gradient(density, value, x, "filter")
