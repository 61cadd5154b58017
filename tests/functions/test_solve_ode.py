"""Differential equations: solutions, derivatives, failures, wrong declarations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from probmodel import Model, ModelError, ShapeError, data, deterministic, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import solve_ode
from probmodel.numerics.solvers.adjoint import Pull, pull_back
from probmodel.numerics.solvers.runge_kutta import Tolerances, solve
from probmodel.numerics.solvers.tableau import METHODS

TIMES = np.array([0.4, 1.0, 2.5, 2.6, 6.0])


class Linear:
    """The system dy/dt = A y for each chain, whose solution is known."""

    autonomous = True

    def __init__(self, A):
        self.A = A

    def __call__(self, t, y):
        return np.einsum("cij,...cj->...ci", self.A, y)

    def jacobian(self, t, y):
        return np.broadcast_to(self.A, (*y.shape[:-1], *self.A.shape[1:]))


def systems():
    return np.array([[[-0.3, 1.0], [-1.0, -0.1]], [[-2.0, 0.5], [0.2, -0.4]], [[0.1, 0], [1, 0]]])


@pytest.mark.parametrize("method", METHODS)
def test_linear_systems_have_their_exponentials_as_solutions(method):
    A = systems()
    y0 = np.array([[1.0, 0.5], [2.0, -1.0], [0.3, 0.3]])
    times = np.append(0.0, TIMES)
    for tolerance in (1e-4, 1e-7):
        tol = Tolerances(tolerance, tolerance, 5000)
        found = solve(Linear(A), METHODS[method](), y0, times, tol).y
        exact = np.array([[expm(a * t) @ y for t in TIMES] for a, y in zip(A, y0, strict=True)])
        # Errors of single steps add up: over some 10 to 100 steps, to less than 100 tolerances.
        assert np.abs(found - exact).max() < 100 * tolerance
        assert np.abs(found - exact).max() > 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_coefficients_satisfy_the_conditions_of_order(method):
    """Taylor coefficients up to the fourth power of the step, and those of the error estimate."""
    A, b, c, error, between, order = METHODS[method]()
    np.testing.assert_allclose(A.sum(axis=1), c, atol=1e-14)

    def conditions(w):
        second = [w @ c - 1 / 2]
        third = [w @ c**2 - 1 / 3, w @ A @ c - 1 / 6]
        fourth = [w @ c**3 - 1 / 4, (w * c) @ A @ c - 1 / 8, w @ A @ c**2 - 1 / 12,
                  w @ A @ A @ c - 1 / 24]  # fmt: skip
        return [[w.sum() - 1], second, third, fourth]

    for level in conditions(b):
        np.testing.assert_allclose(level, 0.0, atol=1e-14)
    embedded = conditions(b - error if method == "esdirk43" else b + error)
    for level in embedded[:order]:
        np.testing.assert_allclose(level, 0.0, atol=1e-14)
    np.testing.assert_allclose(between.sum(axis=1), b, atol=1e-14)
    np.testing.assert_allclose(A[-1], b, atol=1e-14)


def test_the_implicit_method_takes_long_steps_where_the_explicit_one_cannot():
    A = np.array([[[-1000.0, 0.0], [1.0, -0.5]]])
    tolerances = Tolerances(1e-5, 1e-5, 100_000)
    counts = {}
    for method, tableau in METHODS.items():
        solution = solve(Linear(A), tableau(), np.ones((1, 2)), np.array([0.0, 10.0]), tolerances)
        np.testing.assert_allclose(solution.y[0, 0], expm(10 * A[0]) @ np.ones(2), atol=1e-4)
        counts[method] = len(solution.steps.h)
    assert counts["esdirk43"] < 100 < 1000 < counts["rk45"]


class Bent:
    """The equation dy/dt = -rate * y^3 for each chain: Newton's method takes some steps."""

    autonomous = True

    def __init__(self, rates):
        self.rates = rates[:, None]

    def __call__(self, t, y):
        return -self.rates * y**3

    def jacobian(self, t, y):
        return -3.0 * (self.rates * y**2)[..., None]


@pytest.mark.parametrize("method", METHODS)
def test_what_a_chain_computes_does_not_depend_on_others(method):
    rates, y0 = np.array([1.0, 200.0, 0.01, np.nan]), np.array([[1.0], [3.0], [0.5], [1.0]])
    tableau, tolerances = METHODS[method](), Tolerances(1e-4, 1e-4, 5000)
    times = np.append(0.0, TIMES)
    together = solve(Bent(rates), tableau, y0, times, tolerances).y
    for i in range(4):
        alone = solve(Bent(rates[i : i + 1]), tableau, y0[i : i + 1], times, tolerances).y
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_the_adjoint_of_a_linear_system_is_its_transpose(method):
    A, y0 = systems(), np.array([[1.0, 0.5], [2.0, -1.0], [0.3, 0.3]])
    tableau, times = METHODS[method](), np.append(0.0, TIMES)
    solution = solve(Linear(A), tableau, y0, times, Tolerances(1e-9, 1e-9, 20_000))
    g = np.random.default_rng(1).standard_normal(solution.y.shape)
    *pulls, start = pull_back(Linear(A), tableau, solution, g)
    exact = [
        sum(expm(a * t).T @ gt for t, gt in zip(TIMES, gc, strict=True))
        for a, gc in zip(A, g, strict=True)
    ]
    np.testing.assert_allclose(start, exact, atol=1e-6)
    assert all(isinstance(p, Pull) for p in pulls)


def predator_prey(t, z, theta):
    u, v = z[0], z[1]
    return [(theta[0] - theta[1] * v) * u, (theta[3] * u - theta[2]) * v]


class Hares(Model):
    times = data("time")
    theta = param(LogNormal(np.log([0.5, 0.03, 0.8, 0.02]), 0.1), dims="rate")
    initial = param(LogNormal(np.log([30.0, 6.0]), 0.1), shape=2)
    z = deterministic(solve_ode(predator_prey, initial, 0.0, times, theta, rtol=1e-10, atol=1e-10))
    pelts = observed(LogNormal(np.log(z), 0.25), dims=("time", "species"))


def hares():
    times = np.arange(1.0, 6.0)
    pelts = [[45.0, 5.0], [60.0, 8.0], [70.0, 15.0], [50.0, 30.0], [20.0, 45.0]]
    model = Hares(times=times, pelts=pelts, coords={"rate": list("abcd")})
    mode = np.log([0.5, 0.03, 0.8, 0.02, 30.0, 6.0])
    return model, mode + 0.05 * np.random.default_rng(0).standard_normal((5, 6))


def test_solutions_in_a_model_are_scipys():
    model, x = hares()
    values = as_posterior(model).constrain(x)
    for theta, z0, z in zip(values["theta"], values["initial"], values["z"], strict=True):
        exact = solve_ivp(
            lambda t, y, theta=theta: predator_prey(t, y, theta), (0, 5), z0,
            method="DOP853", rtol=1e-11, atol=1e-11, t_eval=np.arange(1.0, 6.0),
        )  # fmt: skip
        np.testing.assert_allclose(z, exact.y.T, rtol=1e-7)


def test_derivatives_of_the_explicit_method(assert_derivatives):
    model, x = hares()
    assert_derivatives(model, x)


def decay(t, y, rate):
    return np.stack([-rate * y[0] * (1.0 + 0.3 * np.sin(t)), rate * y[0] - 40.0 * y[1]])


class Stiff(Model):
    rate = param(LogNormal(0, 1))
    start = param(LogNormal(0, 1))
    times = data("time")
    y = observed(
        Normal(
            solve_ode(decay, [start, 0.0], 0, times, rate, method="esdirk43", rtol=1e-9, atol=1e-9)[
                :, 0
            ],
            0.1,
        ),
        dims="time",
    )


def test_derivatives_of_the_implicit_method(assert_derivatives):
    model = Stiff(times=[0.5, 1.0, 3.0], y=[0.7, 0.4, 0.1])
    x = 0.3 * np.random.default_rng(2).standard_normal((4, 2))
    assert_derivatives(model, x, second=None)
    with pytest.raises(ModelError, match=r"second derivatives .* method='rk45'"):
        as_posterior(model).hvp(x, x)


def test_a_wrong_adjoint_would_be_found(assert_derivatives, monkeypatch):
    from probmodel.density import differential

    def short(system, tableau, solution, g):
        k = solution.steps.k.copy()
        k[len(k) // 2] *= 1.01
        solution = solution._replace(steps=solution.steps._replace(k=k))
        return pull_back(system, tableau, solution, g)

    monkeypatch.setattr(differential, "pull_back", short)
    model, x = hares()
    with pytest.raises(AssertionError):
        assert_derivatives(model, x, second=None)


def test_long_solutions_are_pulled_back_in_blocks(assert_derivatives, monkeypatch):
    from probmodel.numerics.solvers import adjoint

    monkeypatch.setattr(adjoint, "_BLOCK", 1000)
    model, x = hares()
    assert_derivatives(model, x, second=None)


def blow_up(t, y):
    return y * y


class Finite(Model):
    start = param(Normal(0, 1), shape=1)
    y = observed(Normal(solve_ode(blow_up, start, 0, [1.0, 2.0])[:, 0], 1.0), dims="time")


def test_a_solution_that_does_not_exist_rejects_its_own_point_only():
    density = as_posterior(Finite(y=[0.1, 0.2]))
    logp, grad = density(np.array([[0.2], [3.0], [np.nan], [-1.0]]))
    assert np.isneginf(logp[[1, 2]]).all()
    assert np.isfinite(logp[[0, 3]]).all()
    np.testing.assert_array_equal(grad[[1, 2]], 0.0)
    np.testing.assert_allclose(grad[[0, 3]], density(np.array([[0.2], [-1.0]])).grad, rtol=1e-10)


def test_too_few_steps_reject_the_point():
    class Short(Model):
        a = param(Normal(0, 1))
        z = solve_ode(lambda t, y, a: [-50 * y[0] * a], [1.0], 0, [1.0], a, max_steps=3)
        term = observed(Normal(z[0], 1.0), dims="d")

    assert np.isneginf(as_posterior(Short(term=[0.0])).log_density(np.ones((1, 1))))


def test_solutions_of_data_alone_are_computed_when_bound():
    class Known(Model):
        times = data("time")
        k = data()
        curve = deterministic(solve_ode(lambda t, y, k: -k * y, [2.0], 0, times, k)[:, 0])
        stiff = deterministic(
            solve_ode(lambda t, y, k: -k * y, [2.0], 0, times, k, method="esdirk43", rtol=1e-8)[
                :, 0
            ]
        )
        a = param(Normal(0, 1))

    values = as_posterior(Known(times=[1.0, 3.0], k=0.7)).constrain(np.zeros((2, 1)))
    exact = 2 * np.exp(-0.7 * np.array([1.0, 3.0]))
    np.testing.assert_allclose(values["curve"], [exact, exact], rtol=1e-5)
    np.testing.assert_allclose(values["stiff"], [exact, exact], rtol=1e-5)


def test_one_time_may_be_a_number():
    def at(times):
        class Decay(Model):
            rate = param(LogNormal(0, 1))
            state = deterministic(solve_ode(lambda t, y, r: -r * y, [2.0], 0.0, times, rate))
            y = observed(Normal(state[0, 0], 1))

        return as_posterior(Decay(y=1.0)).constrain(np.array([[0.3]]))["state"]

    np.testing.assert_array_equal(at(1.5), at([1.5]))


def test_the_initial_time_is_a_time_too():
    class Later(Model):
        t0 = data()
        rate = param(Normal(0, 1))
        end = deterministic(solve_ode(lambda t, y, rate: [rate * t], [0.0], t0, [3.0], rate)[0, 0])

    values = as_posterior(Later(t0=1.0)).constrain(np.array([[2.0]]))
    np.testing.assert_allclose(values["end"], 2.0 * (9 - 1) / 2, rtol=1e-6)


def test_a_solution_is_printed_by_the_name_of_its_function():
    assert "z = solve_ode(predator_prey, initial, ...)" in repr(hares()[0])


def declare(call):
    class Wrong(Model):
        a = param(Normal(0, 1))
        z = deterministic(call(a))

    return Wrong()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: solve_ode(lambda t, y: y, [a], 0, [1.0], method="bdf"), ModelError,
         "no method 'bdf'. Its methods: rk45, esdirk43"),
        (lambda a: solve_ode(lambda t, y: y, [a], 0, [1.0], rtol=0), ModelError,
         "rtol .*positive"),
        (lambda a: solve_ode(lambda t, y: y, [a], 0, [1.0], max_steps=2.5), ModelError, "whole"),
        (lambda a: solve_ode(lambda t, y: None, [a], 0, [1.0]), ModelError, "returns nothing"),
        (lambda a: solve_ode(lambda t: t, [a], 0, [1.0]), ModelError, "called with"),
        (lambda a: solve_ode(lambda t, y: b * y, [a], 0, [1.0]), ModelError,  # noqa: F821
         "does not see the names of the class body"),
        (lambda a: solve_ode(3.0, [a], 0, [1.0]), ModelError, "expected a function"),
        (lambda a: solve_ode(lambda t, y: [y[0], y[0]], [a], 0, [1.0]), ShapeError,
         r"shape \(2,\) for a state of shape \(1,\)"),
        (lambda a: solve_ode(lambda t, y: y, a, 0, [1.0]), ShapeError, "must be a vector"),
        (lambda a: solve_ode(lambda t, y: y, [a], 0, [1.0, 0.5]), ShapeError,
         r"must increase strictly; times\[1\] is 0.5, and times\[0\] is 1\."),
        (lambda a: solve_ode(lambda t, y: y, [a], 0, [0.0]), ShapeError,
         r"times\[0\] is 0, and t0 is 0"),
        (lambda a: solve_ode(lambda t, y: y, [a], 0, a + np.ones(2)), ModelError, "from data"),
    ],
)  # fmt: skip
def test_wrong_declarations_name_the_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        declare(call)
    assert caught.value.location.file == __file__
