"""Machine code of differential equations, against closed forms, differences and NumPy."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from probmodel import Model, data, deterministic, observed, param, potential
from probmodel.compiler.explicit_stages import ExplicitStages
from probmodel.compiler.formulas import LARGE
from probmodel.compiler.implicit_stages import ImplicitStages
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.density import as_posterior, differential
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import scan, solve_ode
from probmodel.numerics.solvers.tableau import METHODS

at_length = partial(pytest.param, marks=pytest.mark.statistical)
methods = pytest.mark.parametrize("method", METHODS)


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


@methods
@pytest.mark.parametrize(
    ("n", "count", "known_start"),
    [
        (1, 40, True), (9, 40, False), at_length(1, 1, False), at_length(2, 2, False),
        at_length(3, 40, False), at_length(9, 1, True),
    ],
)  # fmt: skip
def test_sizes(n, count, known_start, method):
    model = spirals(n, np.linspace(0.3, 4.0, count), known_start, method=method)
    machine, numpy, dim = both(model)
    x = np.random.default_rng(0).standard_normal((17, dim))
    # Code for many chains serves fewer; that for one and for four is made for few states.
    narrow = (1, 4, 3, 2) if n < 3 else ()
    for chains in (*narrow, 17, 9, 8, 5, 3, 2, 1):
        assert_agree(machine, numpy, x[:chains])


@methods
def test_many_states(method):
    machine, numpy, dim = both(spirals(23, np.array([0.3, 1.0]), method=method))
    assert_agree(machine, numpy, np.random.default_rng(0).standard_normal((9, dim)))


def accurate(method):
    tolerance = 1e-11 if method == "rk45" else 1e-10
    return {"method": method, "rtol": tolerance, "atol": 0.1 * tolerance}


@methods
def test_gradient_is_that_of_the_solution(assert_gradient, method):
    model = spirals(2, np.array([0.2, 1.0, 3.0]), **accurate(method))
    machine, _, dim = both(model)
    x = np.random.default_rng(1).standard_normal((3, dim))
    assert_gradient(machine, lambda x: machine(x)[0], x)


def heavier(weight):
    return lambda stages, j, earlier: 1.01 * weight(stages, j, earlier)


@pytest.mark.parametrize(
    ("method", "stages", "name", "wrong"),
    [
        ("rk45", ExplicitStages, "weight", heavier(ExplicitStages.weight)),
        ("esdirk43", ImplicitStages, "take_back", lambda stages, j, t, h: None),
    ],
)
def test_a_wrong_way_back_would_be_found(assert_gradient, monkeypatch, method, stages, name, wrong):
    monkeypatch.setattr(stages, name, wrong)
    machine, _, dim = both(spirals(2, np.array([0.2, 1.0, 3.0]), **accurate(method)))
    x = np.random.default_rng(1).standard_normal((3, dim))
    with pytest.raises(AssertionError, match="gradient"):
        assert_gradient(machine, lambda x: machine(x)[0], x)


@methods
def test_linear_equations_have_exponentials_of_matrices(method):
    A, times = np.array([[-0.4, 1.0], [-1.3, -0.1]]), np.array([0.1, 0.7, 2.0, 5.0])
    own = accurate(method)

    class Linear(Model):
        start = param(shape=2)
        y = solve_ode(lambda t, y: A @ y, start, 0.0, times, **own)
        term = potential(np.cos(np.arange(8.0).reshape(4, 2)) * y)

    machine, _, _ = both(Linear())
    x = np.random.default_rng(2).standard_normal((9, 2))
    slope = sum(
        np.cos(np.arange(2.0) + 2 * i) @ expm(A * t) for i, t in enumerate(times)
    )  # the weights of a linear solution come before it
    logp, grad = machine(x)
    accuracy = 100.0 * own["rtol"]  # of a solution, where one step has rtol
    np.testing.assert_allclose(logp, x @ slope, rtol=accuracy, atol=accuracy)
    np.testing.assert_allclose(grad, np.tile(slope, (9, 1)), rtol=accuracy, atol=accuracy)


# -- stiff equations -------------------------------------------------------------------------------


def reactions(t, y, k):
    """The reactions of Robertson, whose rates differ by nine orders of magnitude."""
    slow, fast, back = 0.04 * k[0] * y[0], 3e7 * k[1] * y[1] ** 2, 1e4 * k[2] * y[1] * y[2]
    return np.stack([back - slow, slow - fast - back, fast])


def oscillator(t, y, k):
    """The oscillator of van der Pol, which turns slowly and jumps, under a weak push."""
    stiffness = 20.0 * k[0]
    return np.stack([y[1], stiffness * (1.0 - y[0] ** 2) * y[1] - k[1] * y[0] + 0.1 * np.sin(t)])


def burst(t, y, k):
    """One state that follows another at once: a curve that is known, with a fast way to it."""
    return -1e5 * k[0] * (y - np.cos(k[1] * t))


STIFF = {
    "reactions": (reactions, [1.0, 0.0, 0.0], [0.01, 1.0, 100.0, 1e4]),
    "oscillator": (oscillator, [2.0, 0.0], [1.0, 10.0, 20.0, 30.0]),
    "burst": (burst, [0.3], [1e-5, 0.5, 2.0]),
}


def stiff(name, **how):
    flow, initial, times = STIFF[name]
    weights = np.cos(np.arange(len(times) * len(initial))).reshape(len(times), -1)

    class Stiff(Model):
        k = param(shape=3)
        start = param(shape=len(initial))
        y = solve_ode(
            flow, start + initial, 0.0, times, np.exp(k), method="esdirk43", max_steps=20000, **how
        )
        term = potential(weights * y)

    return Stiff(), weights


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["reactions", "oscillator"])
def test_stiff_equations_have_the_solutions_that_scipy_finds(name):
    flow, initial, times = STIFF[name]
    model, weights = stiff(name, rtol=1e-9, atol=1e-12)
    machine, _, dim = both(model)

    def expected(x):
        k, start = np.exp(x[:3]), x[3:] + initial
        solution = solve_ivp(
            lambda t, y: flow(t, y, k), (0.0, times[-1]), start,
            method="Radau", t_eval=times, rtol=1e-10, atol=1e-13,
        )  # fmt: skip
        return np.sum(weights * solution.y.T)

    rng = np.random.default_rng(7)
    x, way = 0.05 * rng.standard_normal((2, dim)), rng.standard_normal(dim)
    x[:, 3:] = np.abs(x[:, 3:])
    logp, grad = machine(x)
    np.testing.assert_allclose(logp, [expected(row) for row in x], rtol=1e-7)
    step = 1e-4 * way
    slopes = [(expected(row + step) - expected(row - step)) / 2e-4 for row in x]
    np.testing.assert_allclose(grad @ way, slopes, atol=1e-5 * np.abs(grad).max())


def test_a_burst_is_the_one_in_closed_form():
    _, (initial,), times = STIFF["burst"]
    model, weights = stiff("burst", rtol=1e-9, atol=1e-12)
    machine, _, dim = both(model)

    def expected(x):
        rate, turn, start = 1e5 * np.exp(x[:, 0]), np.exp(x[:, 1]), initial + x[:, 3]

        def curve(t):
            return rate * (rate * np.cos(turn * t) + turn * np.sin(turn * t)) / (rate**2 + turn**2)

        solution = [curve(t) + (start - curve(0.0)) * np.exp(-rate * t) for t in times]
        return weights[:, 0] @ solution

    x = 0.05 * np.random.default_rng(7).standard_normal((3, dim))
    logp, grad = machine(x)
    np.testing.assert_allclose(logp, expected(x), rtol=1e-7)
    slopes = [expected(x + 1e-20j * unit).imag / 1e-20 for unit in np.eye(dim)]
    np.testing.assert_allclose(grad, np.transpose(slopes), atol=1e-7)


@pytest.mark.parametrize("name", ["oscillator", at_length("reactions"), at_length("burst")])
def test_stiff_equations_on_many_chains(name):
    machine, numpy, dim = both(stiff(name)[0])
    x = 0.1 * np.random.default_rng(8).standard_normal((17, dim))
    x[:, 3:] = np.abs(x[:, 3:])
    for chains in (1, 3, 8, 17):
        assert_agree(machine, numpy, x[:chains])


def test_rows_are_swapped_in_some_chains_and_not_in_others():
    """Chains turn and shrink at rates of their own: which entries are large differs."""

    class Turning(Model):
        rates = param(LogNormal(0, 3), shape=(3, 3))
        y = solve_ode(
            lambda t, y, rates: rates @ y - 10.0 * np.sum(rates) * y[::-1] * np.array([1, -1, 1.0]),
            np.array([1.0, 0.5, 0.2]), 0.0, [0.01, 0.1], rates, method="esdirk43",
        )  # fmt: skip
        seen = observed(Normal(y[1], 1.0), dims="state")

    machine, numpy, dim = both(Turning(seen=np.zeros(3)))
    x = 2.0 * np.random.default_rng(9).standard_normal((17, dim))
    assert_agree(machine, numpy, x)


# -- failures --------------------------------------------------------------------------------------


def explosive(method, max_steps=2000):
    class Explosive(Model):
        start = param(Normal(0, 1), shape=1)
        rate = param(Normal(1, 1))
        y = solve_ode(
            lambda t, y, r: r * y**2, start, 0.0, [0.5, 1.0], rate,
            method=method, max_steps=max_steps,
        )  # fmt: skip
        seen = observed(Normal(y[:, 0], 1.0), dims="time")

    return Explosive(seen=np.zeros(2))


@methods
def test_a_solution_that_is_not_finite_stays_alone(method):
    machine, numpy, _ = both(explosive(method))
    x = np.array([[0.5, 0.3], [3.0, 2.0], [0.1, 1.0], [np.nan, 1.0], [np.inf, 1.0], [-2.0, 1.0]])
    found = machine(x)
    np.testing.assert_array_equal(np.isfinite(found[0]), [True, False, True, False, False, True])
    assert_agree(machine, numpy, x)
    alone = machine(x[[0, 2, 5]])
    np.testing.assert_array_equal(found[0][[0, 2, 5]], alone[0])
    np.testing.assert_array_equal(found[1][[0, 2, 5]], alone[1])


@methods
@pytest.mark.parametrize("most", [1, 3, 10])
def test_solutions_that_need_more_steps_than_allowed(most, method):
    machine, numpy, _ = both(explosive(method, most))
    x = np.random.default_rng(3).standard_normal((17, 2))
    assert np.isnan(machine(x)[0]).any() or most == 10
    assert_agree(machine, numpy, x)


# -- systems in models -----------------------------------------------------------------------------


@methods
def test_two_systems_and_a_function_without_parameters(method):
    class Two(Model):
        start = param(Normal(0, 1), shape=2)
        a = solve_ode(lambda t, y: np.sin(y[::-1]) - y, start, 0.0, [1.0, 2.0], method=method)
        b = solve_ode(lambda t, y: np.ones(2) * t, a[1], 0.0, [0.5], method=method)
        c = solve_ode(lambda t, y: np.ones(2), b[0], 0.0, [0.5], method=method)
        seen = observed(Normal(c[0], 1.0), dims="state")

    machine, numpy, _ = both(Two(seen=np.zeros(2)))
    assert_agree(machine, numpy, np.random.default_rng(4).standard_normal((17, 2)))


@methods
def test_a_solution_in_each_step_of_a_scan(method):
    def step(level, dose, rate):
        after = solve_ode(lambda t, y, r: -r * y, [level + dose], 0.0, [1.0], rate, method=method)
        return after[0, 0]

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


@methods
def test_an_equation_that_calls_numpy(assert_engines, method):
    class Called(Model):
        start = param(Normal(0, 1), shape=2)
        y = solve_ode(
            lambda t, y: y - np.linalg.inv(np.eye(LARGE + 1) + y[0] ** 2 + y[1] ** 2)[:2, :2] @ y,
            start, 0.0, [1.0], method=method,
        )  # fmt: skip
        seen = observed(Normal(y[0], 1.0), dims="state")

    density = as_posterior(Called(seen=np.zeros(2)))
    assert density.calls_back == ("inv",)
    x = np.random.default_rng(6).standard_normal((9, 2))
    assert_engines(density, None, x, "called")


@methods
def test_solutions_of_which_too_much_would_be_kept_call_numpy(method, monkeypatch):
    kept = {"rk45": 5_000, "esdirk43": 15_000}[method]
    for most, calls in ((kept + 1, ()), (kept, ("solve_ode",))):
        monkeypatch.setattr(differential, "_KEPT", most)
        model = spirals(2, np.array([1.0]), method=method, max_steps=1000)
        assert as_posterior(model).calls_back == calls
