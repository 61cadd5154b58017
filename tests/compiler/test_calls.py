"""Machine code that calls functions in NumPy, against the same by other means."""

from __future__ import annotations

import os
import signal
import threading
from typing import ClassVar

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import value_and_grad
from autograd.extend import defvjp, primitive

from probmodel import Model, functions, observed, param, potential
from probmodel import distributions as d
from probmodel.compiler import call_writer, machine
from probmodel.compiler.differentiation import NotDifferentiableError, gradient_of
from probmodel.compiler.formulas import LARGE
from probmodel.compiler.machine import Machine
from probmodel.compiler.python_calls import called
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.tracing import Program, Scope, Trace, traced
from probmodel.constraints import Positive, Real
from probmodel.density import as_posterior
from probmodel.distributions import kernels
from probmodel.distributions.base import Distribution, Parameter
from probmodel.errors import ModelError
from probmodel.types import Trajectories


def matrix(a, n=LARGE + 1):
    return np.eye(n) * 3.0 + np.outer(a[0] * np.cos(np.arange(n)), np.sin(np.arange(n)) + a[1])


def right(a, n=LARGE + 1):
    return a[2] * np.arange(1.0, n + 1)


def cubic_root(a):
    half, rest = a / 2.0, np.sqrt(a**2 / 4.0 + 1.0 / 27.0)
    return np.cbrt(half + rest) + np.cbrt(half - rest)


def wide(a, n=70):
    return (np.eye(n) + a[0] * np.ones((n, n))) @ (a[1] * np.ones((n, n)))


def several(a, n=70):
    one = a[1] * np.cos(np.arange(n * n)).reshape(n, n)
    return np.dot(np.eye(n) + a[0] * np.ones((n, n)), np.stack([one, 2.0 * one**2]))[::20, :, ::9]


# What a model says, the same of one chain by other means, and how many numbers it takes.
OPERATIONS = {
    "large inv": (lambda a: np.linalg.inv(matrix(a)), None, 2),
    "large solve": (lambda a: np.linalg.solve(matrix(a), right(a)), None, 3),
    "large solve with a known matrix": (
        lambda a: np.linalg.solve(matrix(np.ones(2)), right(a)), None, 3),
    "large solve of a stack": (
        lambda a: np.linalg.solve(np.stack([matrix(a), 2.0 * matrix(a)]), right(a)), None, 3),
    "large dot of stacks": (several, None, 2),
    "large factor": (lambda a: np.linalg.cholesky(np.eye(42) + np.outer(a, a)), None, 42),
    "large product": (wide, None, 2),
    "solve_newton": (
        lambda a: functions.solve_newton(lambda x, a: x**3 + x - a, np.full(3, 0.5), a),
        cubic_root, 3),
}  # fmt: skip


class Waves(Distribution):
    """Its formula has functions that no operation stands for; they multiply by cos(1)."""

    parameters: ClassVar = {"mu": Parameter(Real()), "sigma": Parameter(Positive())}

    def support(self):
        return Real()

    def log_kernel(self, xp, value, mu, sigma):
        turned = xp.real(xp.fft.ifft(xp.fft.fft(value - mu) * np.exp(1j)))
        return -0.5 * turned**2 / sigma**2 - xp.log(sigma)


class InWaves(Model):
    mu = param()
    sigma = param(d.HalfNormal(1.0))
    y = observed(Waves(mu, sigma), dims="time")


class Torus(Model):
    amplitude = param(d.HalfNormal(1.0))
    length = param(d.HalfNormal(0.2))
    f = param(
        d.CirculantGP(kernels.Matern32(amplitude, 0.2 * length), [np.arange(4.0)]),
        noncentered=False,
    )
    y = observed(d.Normal(f[0], 1.0))


MODELS = {"fft": lambda: InWaves(y=np.cos(np.arange(5.0))), "CirculantGP": lambda: Torus(y=0.4)}


def of_operation(name):
    """Density of a weighed sum of the elements of a function, and the same of rows of points."""
    function, other, dim = OPERATIONS[name]
    other = other or function
    shape = np.shape(other(np.full(dim, 0.5)))
    weights = np.cos(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape)

    class Weighed(Model):
        a = param(shape=dim)
        term = potential(weights * function(a))

    def value(x):
        return np.array([np.sum(weights * other(row)) for row in x])

    return as_posterior(Weighed()), value


def points(dim, chains, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 0.8, (chains, dim))


def machine_of(density, cores=1):
    made = Machine(traced(density._binding), cores)
    assert made.calls_back
    return made


def products(density, v):
    """Machine code of the gradient times a vector, and of the Hessian times the vector."""
    x = Symbol("input", (), np.zeros(density.dim))

    def log_density(x):
        trace = Trace(Scope.of(density._binding), ())
        trace.place(density._binding, x)
        return sum(trace.term(term) for term in density._binding.terms)

    def moved(x):
        return anp.sum(gradient_of(log_density, x)[1][0] * v)

    return Machine(written(moved, x))


def written(function, x):
    """A function that is one number and its gradient, as a program."""
    value, slopes = gradient_of(function, x)
    return Program((x,), (value, *slopes))


def assert_second_derivatives(density):
    v, x, step = np.linspace(-1.0, 1.0, density.dim), points(density.dim, 9), 1e-3
    made = machine_of(density)
    found, product = products(density, v)(x)
    np.testing.assert_allclose(found, made(x)[1] @ v, rtol=1e-10, atol=1e-10)
    near, back, far, last = (made(x + step * k * v)[1] for k in (1, -1, 2, -2))
    expected = (8.0 * (near - back) - (far - last)) / (12.0 * step)
    np.testing.assert_allclose(product, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


# -- values and derivatives ------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name, assert_gradient):
    density, value = of_operation(name)
    made = machine_of(density)
    assert_gradient(made, value, points(density.dim, 3))


@pytest.mark.parametrize("name", OPERATIONS)
def test_second_derivatives_of_operations(name):
    assert_second_derivatives(of_operation(name)[0])


def test_where_there_are_no_second_derivatives_the_function_says_so():
    class Decay(Model):
        a = param()
        term = potential(
            functions.solve_ode(lambda t, y: -y, [a], 0.0, [1.0], method="esdirk43")[0, 0]
        )

    with pytest.raises((ModelError, NotDifferentiableError), match="second derivatives through"):
        products(as_posterior(Decay()), np.ones(1))


@pytest.mark.parametrize("name", MODELS)
def test_distributions(name, assert_engines, assert_gradient):
    density = as_posterior(MODELS[name]())
    assert machine_of(density).calls_back
    x = points(density.dim, 3)
    assert_engines(density, None, x, name)
    assert_gradient(machine_of(density), density.log_density, x)


@pytest.mark.parametrize("name", MODELS)
def test_second_derivatives_of_distributions(name):
    assert_second_derivatives(as_posterior(MODELS[name]()))


def test_products_are_exact_at_zeros_and_for_any_sign():
    class Product(Model):
        a = param(shape=(2, 5))
        term = potential(np.prod(a, axis=1))

    density = as_posterior(Product())
    made = Machine(traced(density._binding))
    assert not made.calls_back
    x = np.random.default_rng(0).normal(size=(9, 10))
    x[1, 3], x[2, [0, 4]], x[3] = 0.0, 0.0, 0.0
    value, slope = made(x)
    for row, found, gradient in zip(x.reshape(9, 2, 5), value, slope, strict=True):
        np.testing.assert_allclose(found, np.prod(row, axis=1).sum(), rtol=1e-13)
        others = [[np.prod(np.delete(r, i)) for i in range(5)] for r in row]
        np.testing.assert_allclose(gradient, np.ravel(others), rtol=1e-13)


def test_a_rule_of_derivation_that_cannot_be_written_down_leads_to_a_call():
    @primitive
    def twice(x):
        return 2.0 * x

    defvjp(twice, lambda ans, x: lambda g: 2.0 * anp.fft.ifft(anp.fft.fft(g)).real)

    class Twice(d.Normal):
        def log_kernel(self, xp, value, mu, sigma):
            return super().log_kernel(xp, value, twice(mu) / 2.0, sigma)

    class Doubled(Model):
        mu = param(d.Normal(0.0, 1.0))
        y = observed(Twice(mu, 2.0), dims="time")
        z = observed(d.Normal(mu, 1.0))

    made = machine_of(as_posterior(Doubled(y=np.ones(3), z=1.0)))
    assert made.calls_back == ("Twice",)
    x = points(1, 9)
    np.testing.assert_allclose(made(x)[1], 3.0 * (1.0 - x) / 4.0 + (1.0 - x) - x, rtol=1e-12)


# -- chains and threads ----------------------------------------------------------------------------


def program(function, dim):
    """Value and gradient of one chain's function, which is called."""
    x = Symbol("input", (), np.full(dim, 0.5))
    return written(lambda x: called("own", function, [x], ()), x)


def rows(z):
    """A function of rows of three numbers."""
    return anp.sum(anp.sin(z) * z[:, ::-1], axis=1)


@pytest.mark.parametrize("chains", range(1, 18))
def test_any_number_of_chains(chains):
    x = points(3, chains)
    found, slope = Machine(program(rows, 3))(x)
    for row, value, gradient in zip(x, found, slope, strict=True):
        expected, grad = value_and_grad(lambda z: rows(z[None])[0])(row)
        np.testing.assert_allclose(value, expected, rtol=1e-14)
        np.testing.assert_allclose(gradient, grad, rtol=1e-14)


def test_functions_see_each_chain_once_and_derivatives_do_not_repeat_values():
    seen = []

    def watched(z):
        seen.append(np.shape(z)[0])
        return rows(z)

    made = Machine(program(watched, 3), cores=1)
    for chains in (1, 3, 8, 17, 64, 65):
        seen.clear()
        made(points(3, chains))
        assert seen == ([chains] if chains <= 64 else [64, 1])


def test_two_threads(monkeypatch):
    monkeypatch.setattr(machine, "WORTH_A_THREAD", 0.0)
    threads = set()

    def watched(z):
        threads.add(threading.get_ident())
        return rows(z)

    one, two = Machine(program(rows, 3), cores=1), Machine(program(watched, 3), cores=2)
    x = points(3, 640)
    for _ in range(20):
        threads.clear()
        for found, expected in zip(two(x), one(x), strict=True):
            np.testing.assert_array_equal(found, expected)
        assert len(threads) == 2  # this one, and any of those that are kept


@pytest.mark.parametrize("name", [*OPERATIONS, *MODELS])
def test_rows_that_are_not_finite_stay_alone(name):
    density = of_operation(name)[0] if name in OPERATIONS else as_posterior(MODELS[name]())
    density.use_engine("llvm")
    x = points(density.dim, 17)
    expected = density(x)
    for bad in (np.nan, np.inf, 1e200):
        x[4, 0] = bad
        found, others = density(x), np.arange(17) != 4
        assert not np.isnan(found.logp).any()
        np.testing.assert_allclose(found.logp[others], expected.logp[others], rtol=1e-12)
        scale = np.abs(expected.grad).max()
        np.testing.assert_allclose(found.grad[others], expected.grad[others], atol=1e-12 * scale)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 800.0])
def test_far_out_engines_agree(name, size):
    density = as_posterior(MODELS[name]())
    x = size * np.random.default_rng(1).standard_normal((17, density.dim))
    density.use_engine("llvm")
    found = density(x)
    density.use_engine("numpy")
    expected = density(x)
    # Of a kernel that is long beside its torus, eigenvalues are the jitter, 1e-8, and rounding.
    rtol = 1e-6 if name == "CirculantGP" and size == 800.0 else 1e-9
    np.testing.assert_allclose(found.logp, expected.logp, rtol=rtol)
    scale = rtol * (1.0 + np.abs(expected.grad).max(axis=1, keepdims=True))
    assert np.all(np.abs(found.grad - expected.grad) <= scale)


# -- exceptions ------------------------------------------------------------------------------------


class Flawed:
    """A function that raises where it is told to."""

    error: BaseException | None = None
    seen: ClassVar = []

    def __call__(self, z):
        self.seen.append(len(z))
        if self.error is not None:
            raise self.error
        return rows(z)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("cores", [1, 2])
def test_exceptions_come_out(kind, cores, monkeypatch):
    monkeypatch.setattr(machine, "WORTH_A_THREAD", 0.0)
    function = Flawed()
    made, x = Machine(program(function, 3), cores), points(3, 200)
    made(x)
    expected = made(x)
    for _ in range(3):
        function.error = kind("of the function")
        with pytest.raises(kind, match="of the function"):
            made(x)
        function.error = None
        for found, before in zip(made(x), expected, strict=True):
            np.testing.assert_array_equal(found, before)


def leapfrog(x, logp, grad, steps):
    """Trajectories of steps of a tenth, for some momenta."""
    momentum = np.random.default_rng(5).standard_normal(x.shape)
    return Trajectories(x, grad, momentum, logp, None, 0.1, steps, (0.5, 0.5), (1.0,))


def test_trajectories():
    x, steps = points(3, 9), 7
    made = Machine(program(rows, 3))
    logp, grad = made(x)
    start = leapfrog(x, logp, grad, steps)
    found, r = made.simulate_dynamics(start), start.momentum
    for _ in range(steps):
        r = r + 0.05 * grad
        x = x + 0.1 * r
        grad = np.array([value_and_grad(lambda z: rows(z[None])[0])(row)[1] for row in x])
        r = r + 0.05 * grad
    np.testing.assert_allclose(found.x, x, rtol=1e-12)
    np.testing.assert_allclose(found.momentum, r, rtol=1e-12)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_exceptions_come_out_of_trajectories(kind):
    function, x = Flawed(), points(3, 9)
    made = Machine(program(function, 3))
    start = leapfrog(x, *made(x), 50)
    expected, seen = made.simulate_dynamics(start), []
    function.error = kind("of the function")
    function.seen = seen
    with pytest.raises(kind, match="of the function"):
        made.simulate_dynamics(start)
    assert seen == [9]  # nothing is called after that
    function.error = None
    np.testing.assert_array_equal(made.simulate_dynamics(start).x, expected.x)


def test_a_result_of_another_shape_is_an_error():
    x = Symbol("input", (), np.zeros(3))
    with pytest.raises(ValueError, match="own returned an array of shape"):
        called("own", lambda z: np.zeros((len(z), 5)), [x], ())


def interrupted(made, x, timer):
    timer.start()
    while timer.is_alive():
        made(x)
    made(x)


def test_signals_are_not_lost_wherever_they_come(capfd):
    made, x = Machine(program(rows, 3)), points(3, 64)
    made(x)
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for k in range(60):
            timer = threading.Timer(0.002 + 1e-5 * k, os.kill, (os.getpid(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                interrupted(made, x, timer)
    finally:
        signal.signal(signal.SIGINT, old)
    assert "ignored" not in capfd.readouterr().err
    assert np.isfinite(made(x)[0]).all()


# -- negative controls -----------------------------------------------------------------------------


def test_rows_that_are_left_out_are_found(monkeypatch):
    monkeypatch.setattr(call_writer, "_rows", lambda args: 1)
    with pytest.raises(AssertionError):
        test_any_number_of_chains(3)


def test_logarithms_of_what_depends_on_parameters_do_not_call_back(assert_engines, assert_gradient):
    class ReactionTimes(Model):
        shift = param(upper=0.15)
        mu = param(d.Normal(0.0, 2.0))
        sigma = param(d.HalfNormal(1.0))
        y = observed(d.Affine(d.LogNormal(mu, sigma), shift, 1.0), dims="trial")

    density = as_posterior(ReactionTimes(y=np.array([0.2, 0.7, 1.0, 1.4, 30.0])))
    made = Machine(traced(density._binding))
    assert made.calls_back == ()
    x = points(3, 3)
    assert_engines(density, None, x, "shifted")
    assert_gradient(made, density.log_density, x)
