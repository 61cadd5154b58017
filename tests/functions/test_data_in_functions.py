"""Functions that compute with data: solutions that are known, and derivatives by differences."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from probmodel import DataError, Model, data, deterministic, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import integrate_1d, scan, solve_newton, solve_ode

TIMES, X = np.array([0.5, 1.0, 2.0]), np.array([0.4, -1.0, 0.7])
Q, W = 1.7, np.array([0.6, 1.3])
Y = np.array([0.3, 0.8, -0.2])


def by_ode(number, k, *args):
    def slope(t, s, k, *args):
        return [number(*args) - k * s[0]]

    return solve_ode(slope, [1.0], 0.0, TIMES, k, *args, rtol=1e-9, atol=1e-9)[:, 0]


def exact_ode(c, k):
    return c / k + (1.0 - c / k) * np.exp(-k * TIMES)


def by_scan(number, k, *args):
    return scan(lambda s, x, k, *args: 0.3 * k * s + x * number(*args), 0.5, X, args=(k, *args))


def exact_scan(c, k):
    states = [0.5]
    for x in X:
        states.append(0.3 * k * states[-1] + x * c)
    return np.array(states[1:])


def by_newton(number, k, *args):
    return solve_newton(
        lambda z, k, *args: [z[0] + z[0] ** 3 - k - number(*args)], [0.5], k, *args
    )[0]


def exact_newton(c, k):
    return brentq(lambda z: z + z**3 - k - c, -20, 20, xtol=1e-14)


def by_integral(number, k, *args):
    return integrate_1d(lambda z, k, *args: np.exp(-k * z) * number(*args), 0.0, 1.0, k, *args)


def exact_integral(c, k):
    return c * (1.0 - np.exp(-k)) / k


SOLVERS = {
    "solve_ode": (by_ode, exact_ode),
    "scan": (by_scan, exact_scan),
    "solve_newton": (by_newton, exact_newton),
    "integrate_1d": (by_integral, exact_integral),
}
# What is computed of a number q, a vector w, the saved number d = q**2, and the parameter k.
NUMBERS = {
    "data": lambda q, w, d, k: q,
    "log": lambda q, w, d, k: np.log(q),
    "product": lambda q, w, d, k: q * 2,
    "difference": lambda q, w, d, k: 1 - q,
    "element": lambda q, w, d, k: w[0],
    "sum": lambda q, w, d, k: np.sum(w),
    "saved": lambda q, w, d, k: d + np.sqrt(d),
    "with a parameter": lambda q, w, d, k: np.log(q) * k + w[1] * (q - 0.5),
    "alone and inside others": lambda q, w, d, k: q + np.exp(-q) * k + np.sum(w * q) + k * w[1],
    "comparison": lambda q, w, d, k: np.where(w[0] < q, np.log(q), w[1]),
}


def model_of(solved, number, *, within):
    """The model: within the function the number is computed, or before, as its argument."""

    class OfData(Model):
        q, w = data(), data("part")
        d = deterministic(q**2)
        k = param(LogNormal(0, 1))
        given = (q, w, d, k) if within else (number(q, w, d, k),)
        s = solved(number if within else lambda c: c, k, *given)
        y = observed(Normal(s, 1.0), dims="obs")

    return OfData(q=Q, w=W, y=Y)


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_numbers_that_are_computed_of_data(assert_derivatives, solver, name, within):
    solved, exact = SOLVERS[solver]
    number = NUMBERS[name]
    model = model_of(solved, number, within=within)
    x = np.array([[-0.4], [0.3], [0.1]])
    density = as_posterior(model)
    expected = [
        norm.logpdf(a) + norm.logpdf(Y, exact(number(Q, W, Q**2, np.exp(a)), np.exp(a))).sum()
        for a in x[:, 0]
    ]
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-6)
    assert_derivatives(model, x, second=None)
    written_out = model_of(solved, lambda q, w, d, k: 1.5 + k, within=within)
    assert density.calls_back == as_posterior(written_out).calls_back


@pytest.mark.parametrize(
    "chosen",
    [
        lambda s, i, mask: s[i + 1],
        lambda s, i, mask: s[[i + 1]][0],
        lambda s, i, mask: s[~mask][0],
        lambda s, i, mask: s[mask & mask][0] - s[0] + s[1],
    ],
)
def test_elements_of_the_state_whose_index_is_computed_of_data(chosen):
    class Chosen(Model):
        i, mask = data(dtype=int), data("state", dtype=bool)
        k = param(Normal(0, 1))
        s = scan(
            lambda s, k, *args: 0.5 * s + chosen(s, *args) * k, [1.0, 2.0], length=3,
            args=(k, i, mask),
        )  # fmt: skip
        y = observed(Normal(s[:, 0], 1.0), dims="obs")

    state, states = np.array([1.0, 2.0]), []
    for _ in range(3):
        state = 0.5 * state + state[1] * 0.7
        states.append(state[0])
    density = as_posterior(Chosen(i=0, mask=[True, False], y=Y))
    expected = norm.logpdf(0.7) + norm.logpdf(Y, states).sum()
    np.testing.assert_allclose(density.log_density(np.array([[0.7]])), expected, rtol=1e-12)


def test_a_sum_of_masks_is_refused_as_an_index_within_a_function_too():
    class Chosen(Model):
        mask = data("state", dtype=bool)
        k = param(Normal(0, 1))
        s = scan(lambda s, k, mask: s * k + s[mask + mask][0], [1.0, 2.0], length=3, args=(k, mask))
        y = observed(Normal(s[:, 0], 1.0), dims="obs")

    with pytest.raises(DataError, match="sum of masks"):
        Chosen(mask=[True, False], y=Y)


def test_a_function_within_a_function_computes_with_data():
    """A step of the recurrence is an integral, of what the function around it took from data."""

    def step(s, x, k, c, q):
        return 0.3 * s + x * integrate_1d(lambda z, k, c: np.exp(-k * z) * c, 0.0, 1.0, k, c + q)

    class Nested(Model):
        q, w = data(), data("part")
        k = param(LogNormal(0, 1))
        s = scan(step, 0.5, X, args=(k, np.log(q) * w[1], q))
        y = observed(Normal(s, 1.0), dims="obs")

    a, state, states = 0.3, 0.5, []
    for x in X:
        state = 0.3 * state + x * exact_integral(np.log(Q) * W[1] + Q, np.exp(a))
        states.append(state)
    found = as_posterior(Nested(q=Q, w=W, y=Y)).log_density(np.array([[a]]))
    np.testing.assert_allclose(found, norm.logpdf(a) + norm.logpdf(Y, states).sum(), rtol=1e-9)
