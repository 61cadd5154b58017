"""Machine code of differential equations, against closed forms, differences and NumPy."""

import numpy as np
import pytest
from scipy.linalg import expm

from probmodel import Model, data, deterministic, observed, param, potential
from probmodel.compiler import ode_writer
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.functions import scan, solve_ode


def both(model):
    """Machine code, which must not call NumPy, and NumPy; and the number of coordinates."""
    density = as_posterior(model)
    assert density.calls_back == ()
    program = density._programs.gradient
    return Machine(program), NumpyProgram(program), density.dim


def assert_agree(machine, numpy, x, rtol=1e-9):
    found, expected = machine(x), numpy(x)
    np.testing.assert_array_equal(np.isfinite(found[0]), np.isfinite(expected[0]))
    fine = np.isfinite(expected[0])
    np.testing.assert_allclose(found[0][fine], expected[0][fine], rtol=rtol, atol=rtol)
    scale = rtol * (1.0 + np.abs(expected[1][fine]).max(axis=1, keepdims=True))
    assert np.all(np.abs(found[1][fine] - expected[1][fine]) <= scale)


def spiral(t, y, rates, push):
    """Any number of states that turn about each other, under a push that changes in time."""
    return rates @ y - 0.1 * y**3 + push * np.cos(t)


def spirals(n, times, known_start=False, **how):
    rng = np.random.default_rng(n)
    still = rng.standard_normal((n, n)) - 1.5 * np.eye(n)

    class Spirals(Model):
        ts = data("time")
        start = param(Normal(0, 1), shape=n)
        scale = param(Normal(1, 0.1))
        push = param(Normal(0, 1), shape=n)
        y = deterministic(
            solve_ode(
                spiral, np.ones(n) if known_start else start, 0.0, ts, scale * still, push, **how
            )
        )
        seen = observed(Normal(y, 0.5), dims=("time", "state"))

    return Spirals(ts=times, seen=np.zeros((len(times), n)))


@pytest.mark.parametrize(
    ("n", "count", "known_start"),
    [(1, 1, False), (1, 40, True), (2, 2, False), (3, 40, False), (9, 1, True), (9, 40, False)],
)
def test_sizes(n, count, known_start):
    model = spirals(n, np.linspace(0.3, 4.0, count), known_start)
    machine, numpy, dim = both(model)
    x = np.random.default_rng(0).standard_normal((17, dim))
    # Code for many chains serves fewer; that for one and for four is made for few states.
    narrow = (1, 4, 3, 2) if n < 3 else ()
    for chains in (*narrow, 17, 9, 8, 5, 3, 2, 1):
        assert_agree(machine, numpy, x[:chains])


def test_gradient_is_that_of_the_solution(assert_gradient):
    model = spirals(2, np.array([0.2, 1.0, 3.0]), rtol=1e-11, atol=1e-12)
    machine, _, dim = both(model)
    x = np.random.default_rng(1).standard_normal((3, dim))
    assert_gradient(machine, lambda x: machine(x)[0], x)


def test_a_wrong_weight_of_a_stage_would_be_found(assert_gradient, monkeypatch):
    combined = ode_writer.OdeWriter._through_stage

    def without(self, pull, j, *rest):
        if j != 3:
            combined(self, pull, j, *rest)

    monkeypatch.setattr(ode_writer.OdeWriter, "_through_stage", without)
    machine, _, dim = both(spirals(2, np.array([0.2, 1.0, 3.0])))
    x = np.random.default_rng(1).standard_normal((3, dim))
    with pytest.raises(AssertionError):
        assert_gradient(machine, lambda x: machine(x)[0], x)


def test_linear_equations_have_exponentials_of_matrices():
    A, times = np.array([[-0.4, 1.0], [-1.3, -0.1]]), np.array([0.1, 0.7, 2.0, 5.0])

    class Linear(Model):
        start = param(shape=2)
        y = solve_ode(lambda t, y: A @ y, start, 0.0, times, rtol=1e-11, atol=1e-12)
        term = potential(np.cos(np.arange(8.0).reshape(4, 2)) * y)

    machine, _, _ = both(Linear())
    x = np.random.default_rng(2).standard_normal((9, 2))
    slope = sum(
        np.cos(np.arange(2.0) + 2 * i) @ expm(A * t) for i, t in enumerate(times)
    )  # the weights of a linear solution come before it
    logp, grad = machine(x)
    np.testing.assert_allclose(logp, x @ slope, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grad, np.tile(slope, (9, 1)), rtol=1e-9, atol=1e-9)


def explosive(max_steps=2000):
    class Explosive(Model):
        start = param(Normal(0, 1), shape=1)
        rate = param(Normal(1, 1))
        y = solve_ode(lambda t, y, r: r * y**2, start, 0.0, [0.5, 1.0], rate, max_steps=max_steps)
        seen = observed(Normal(y[:, 0], 1.0), dims="time")

    return Explosive(seen=np.zeros(2))


def test_a_solution_that_is_not_finite_stays_alone():
    machine, numpy, _ = both(explosive())
    x = np.array([[0.5, 0.3], [3.0, 2.0], [0.1, 1.0], [np.nan, 1.0], [np.inf, 1.0], [-2.0, 1.0]])
    found = machine(x)
    np.testing.assert_array_equal(np.isfinite(found[0]), [True, False, True, False, False, True])
    assert_agree(machine, numpy, x)
    alone = machine(x[[0, 2, 5]])
    np.testing.assert_array_equal(found[0][[0, 2, 5]], alone[0])
    np.testing.assert_array_equal(found[1][[0, 2, 5]], alone[1])


@pytest.mark.parametrize("most", [1, 3, 10])
def test_solutions_that_need_more_steps_than_allowed(most):
    machine, numpy, _ = both(explosive(most))
    x = np.random.default_rng(3).standard_normal((17, 2))
    assert np.isnan(machine(x)[0]).any() or most == 10
    assert_agree(machine, numpy, x)


def test_two_systems_and_a_function_without_parameters():
    class Two(Model):
        start = param(Normal(0, 1), shape=2)
        a = solve_ode(lambda t, y: np.sin(y[::-1]) - y, start, 0.0, [1.0, 2.0])
        b = solve_ode(lambda t, y: np.ones(2) * t, a[1], 0.0, [0.5])
        seen = observed(Normal(b[0], 1.0), dims="state")

    machine, numpy, _ = both(Two(seen=np.zeros(2)))
    assert_agree(machine, numpy, np.random.default_rng(4).standard_normal((17, 2)))


def test_a_solution_in_each_step_of_a_scan():
    def step(level, dose, rate):
        return solve_ode(lambda t, y, r: -r * y, [level + dose], 0.0, [1.0], rate)[0, 0]

    class Doses(Model):
        dose = data("day")
        rate = param(Normal(0, 1))
        level = deterministic(scan(step, 0.0, dose, args=(np.exp(rate),)), dims="day")
        seen = observed(Normal(level, 1.0), dims="day")

    doses = np.array([1.0, 0.0, 2.0])
    machine, numpy, _ = both(Doses(dose=doses, seen=np.zeros(3)))
    x = np.random.default_rng(5).standard_normal((9, 1))
    assert_agree(machine, numpy, x)
    decay, level, expected = np.exp(-np.exp(x[:, 0])), 0.0, 0.0
    for dose in doses:
        level = (level + dose) * decay
        expected = expected - 0.5 * level**2
    expected = expected - 0.5 * x[:, 0] ** 2 - 2.0 * np.log(2.0 * np.pi)
    np.testing.assert_allclose(machine(x)[0], expected, rtol=1e-5)


def test_an_equation_that_calls_numpy(assert_engines):
    class Called(Model):
        start = param(Normal(0, 1), shape=2)
        y = solve_ode(
            lambda t, y: np.linalg.inv(np.eye(2) + 0.1 * np.outer(y, y)) @ y, start, 0.0, [1.0]
        )
        seen = observed(Normal(y[0], 1.0), dims="state")

    density = as_posterior(Called(seen=np.zeros(2)))
    assert density.calls_back == ("inv",)
    x = np.random.default_rng(6).standard_normal((9, 2))
    assert_engines(density, None, x, "called")


def test_implicit_methods_call_numpy():
    assert as_posterior(spirals(2, np.array([1.0]), method="esdirk43")).calls_back == ("solve_ode",)
