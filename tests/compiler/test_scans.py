"""Recurrences of a step that is written down: both engines against a loop, and each other."""

import autograd.numpy as anp
import numpy as np
import pytest
from both_engines import engines

from probmodel import Model, data, deterministic, observed, param
from probmodel.compiler.formulas import LARGE
from probmodel.compiler.over_rows import OverRows
from probmodel.compiler.scans import Scan, scanned
from probmodel.compiler.tracing import Scope
from probmodel.density import as_posterior
from probmodel.distributions import GaussianDLM, HalfNormal, Normal
from probmodel.functions import scan
from probmodel.model.evaluation import Evaluator

SCOPE = Scope(Evaluator(), {})


def step(state, weather, push, rate):
    """Two numbers that turn about each other, each pushed; and what is added up."""
    turned = anp.concatenate([anp.tanh(state[1:] + push), anp.sin(rate[0] * state[:1]) + weather])
    return turned, rate * anp.sum(state**2) + push


def of_steps(length, back, known):
    """A function of a vector, made of a recurrence, and the same by a loop."""
    rng = np.random.default_rng(length)
    weather = rng.standard_normal(length)
    weights = rng.standard_normal((length, 2))
    sums = rng.standard_normal(3)
    written = OverRows(
        SCOPE, lambda trace, *given: anp.concatenate(step(*given)), [(2,), (), (), (3,)]
    )
    repeated = Scan(written, length, 2, back=back)

    def parts(x):
        pushes = x[5:] if not known else np.linspace(-1.0, 1.0, length)
        return x[:2], weather, pushes, x[2:5]

    def value(x):
        found = scanned(repeated, *parts(x))
        ends = anp.reshape(found[: 2 * length], (length, 2))
        return anp.sum(weights * ends**2) + anp.sum(sums * found[2 * length :])

    def looped(x):
        state, weather, pushes, rate = parts(x)
        total = np.zeros(3)
        times = range(length)[::-1] if back else range(length)
        result = 0.0
        for t in times:
            state, more = step(state, weather[t], pushes[t], rate)
            total = total + more
            result = result + anp.sum(weights[t] * state**2)
        return result + anp.sum(sums * total)

    return value, looped, 5 + (0 if known else length)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 8, 17])
def test_values_and_derivatives_are_those_of_a_loop(length, back, known, assert_gradient):
    value, looped, dim = of_steps(length, back, known)
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (17, dim))
    for engine in engines(value, dim):
        # Code for many chains serves fewer: of that for one and for four there is some in turn.
        narrow = {2: (4, 3, 2, 1), 3: (1,)}.get(length, ())
        for chains in (*narrow, 17, 9, 8, 5, 3, 2, 1):
            logp, _ = engine(x[:chains])
            expected = [looped(row) for row in x[:chains]]
            np.testing.assert_allclose(logp, expected, rtol=1e-12, atol=1e-12)
        assert_gradient(engine, lambda x: np.array([looped(row) for row in x]), x[:3])


@pytest.mark.parametrize("length", [1, 2, 7])
def test_engines_agree_to_rounding(length):
    value, _, dim = of_steps(length, True, False)
    x = np.random.default_rng(2).uniform(-1.0, 1.0, (17, dim))
    machine, numpy = (engine(x) for engine in engines(value, dim))
    for found, expected in zip(machine, numpy, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_second_derivatives():
    length = 4

    class Walked(Model):
        start = param(Normal(0, 1), shape=(2, 2))
        push = param(Normal(0, 1), shape=length)
        matrix = param(Normal(0, 1), shape=(2, 2))
        path = deterministic(
            scan(
                lambda s, p, m: np.tanh(m @ s + p) + 0.1 * s[::-1],
                start, push, args=(matrix,),
            )
        )  # fmt: skip
        y = observed(Normal(path[-1, 0, 0] + path[1, 1, 1], 0.5))

    assert_second_derivatives(as_posterior(Walked(y=0.3)))


def assert_second_derivatives(density):
    rng = np.random.default_rng(3)
    x, v = 0.5 * rng.standard_normal((2, 5, density.dim))
    found, h = density.hvp(x, v), 1e-3
    near, back, far, last = (density(x + k * h * v).grad for k in (1, -1, 2, -2))
    expected = (8.0 * (near - back) - (far - last)) / (12.0 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


class Filtered(Model):
    """A Kalman filter whose matrices and start are partly known."""

    s = param(HalfNormal(1.0))
    w = param(HalfNormal(1.0))
    m = param(Normal(0.0, 1.0), shape=2)
    y = observed(
        GaussianDLM(np.eye(2), 0.9 * np.eye(2), s * np.eye(2), w * np.eye(2), m, np.eye(2)),
        dims=("time", "two"),
    )


@pytest.mark.parametrize("length", [1, 2, 3, 8, 17])
def test_a_filter(length, assert_engines):
    series = np.sin(np.arange(2.0 * length)).reshape(length, 2)
    density = as_posterior(Filtered(y=series))
    assert density.calls_back == ()
    x = 0.5 * np.random.default_rng(7).standard_normal((17, density.dim))
    assert_engines(density, None, x, "filter")
    if length == 3:
        assert_second_derivatives(density)


def test_a_recurrence_within_a_recurrence(assert_engines):
    def inner(u, a, rate):
        return 0.5 * np.sin(u) + a * rate

    def outer(s, e, rate):
        return scan(inner, s, length=4, args=(e, rate))[-1]

    class Nested(Model):
        rate = param(Normal(0, 1))
        x = param(Normal(0, 1), shape=3)
        path = deterministic(scan(outer, rate, x, args=(rate,)))
        y = observed(Normal(path, 1.0), dims="time")

    density = as_posterior(Nested(y=np.arange(3.0)))
    x = np.random.default_rng(4).standard_normal((9, density.dim))
    assert_engines(density, None, x, "nested")


def test_it_does_not_call_numpy():
    value, _, dim = of_steps(5, False, False)
    machine, _ = engines(value, dim)
    assert machine.calls_back == ()


def called(s, e, a):
    return np.linalg.inv(np.eye(LARGE + 1) + s**2 + a**2)[0, 1] + e


class Driven(Model):
    """A step with a function that has no operation: it is called within the recurrence."""

    levels = data("time")
    a = param(Normal(0, 1))
    path = deterministic(scan(called, a, levels, args=(a,)), dims="time")
    y = observed(Normal(path, 1.0), dims="time")


def test_a_step_that_calls_numpy(assert_engines):
    density = as_posterior(Driven(levels=np.linspace(0, 1, 6), y=np.zeros(6)))
    assert density.calls_back == ("inv",)
    x = np.random.default_rng(5).standard_normal((17, 1))
    assert_engines(density, None, x, "driven")


def test_rows_that_are_not_finite_stay_alone():
    value, _, dim = of_steps(6, False, False)
    x = np.random.default_rng(6).uniform(-1.0, 1.0, (17, dim))
    for engine in engines(value, dim):
        expected = engine(x)
        for bad in (np.nan, np.inf):
            y = x.copy()
            y[4, 0] = bad
            found, others = engine(y), np.arange(17) != 4
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a[others], b[others])
