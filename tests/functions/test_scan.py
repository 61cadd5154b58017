"""Nonlinear recurrences: values by a loop, derivatives by differences."""

import numpy as np
import pytest

from probmodel import Model, ModelError, ShapeError, data, deterministic, observed, param
from probmodel.compiler import scans
from probmodel.compiler.over_rows import OverRows
from probmodel.density import as_posterior
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import scan


def ricker(n, rain, r, k):
    return n * np.exp(r * (1.0 - n / k) + 0.1 * rain)


class Population(Model):
    rain = data("year")
    start = param(LogNormal(0, 1))
    r = param(LogNormal(0, 0.5))
    k = param(LogNormal(1, 0.5))
    n = deterministic(scan(ricker, start, rain, args=(r, k)), dims="year")
    counts = observed(LogNormal(np.log(n), 0.1), dims="year")


def population():
    rng = np.random.default_rng(1)
    rain = rng.standard_normal(9)
    model = Population(rain=rain, counts=rng.lognormal(1.0, 0.3, 9))
    return model, rain, 0.3 * rng.standard_normal((4, 3))


def test_states_are_those_of_a_loop():
    model, rain, x = population()
    values = as_posterior(model).constrain(x)
    for i in range(len(x)):
        n = values["start"][i]
        for t, water in enumerate(rain):
            n = ricker(n, water, values["r"][i], values["k"][i])
            np.testing.assert_allclose(values["n"][i, t], n, rtol=1e-12)


def test_derivatives(assert_derivatives):
    model, _, x = population()
    assert_derivatives(model, x)


def test_a_wrong_recursion_backwards_would_be_found(assert_derivatives, monkeypatch):
    right = scans._step_back

    def scaled(*args):
        step = right(*args)
        return OverRows(step.scope, lambda *given: 0.99 * step.function(*given), step.shapes)

    monkeypatch.setattr(scans, "_step_back", scaled)
    model, _, x = population()
    with pytest.raises(AssertionError):
        assert_derivatives(model, x, second=None)


def rotate(state, shock, angle):
    turned = np.stack([
        np.cos(angle) * state[0] - np.sin(angle) * state[1],
        np.sin(angle) * state[0] + np.cos(angle) * state[1],
    ])  # fmt: skip
    return np.tanh(turned + shock)


class Oscillator(Model):
    angle = param(Normal(0.5, 0.2))
    shocks = param(Normal(0, 0.3), shape=(6, 2))
    path = deterministic(scan(rotate, [1.0, 0.0], shocks, args=(angle,)))
    y = observed(Normal(path[:, 0], 0.2), dims="time")


def test_vector_states_and_sequences_of_parameters(assert_derivatives):
    rng = np.random.default_rng(4)
    model = Oscillator(y=rng.standard_normal(6))
    assert_derivatives(model, 0.5 * rng.standard_normal((3, 13)))


def test_a_length_stands_for_sequences():
    class Doubling(Model):
        years = data(dtype=int)
        a = param(LogNormal(0, 1))
        path = deterministic(scan(lambda s, a: a * s, 1.0, length=years, args=(a,)))

    values = as_posterior(Doubling(years=4)).constrain(np.log([[2.0], [3.0]]))
    np.testing.assert_allclose(values["path"], [[2, 4, 8, 16], [3, 9, 27, 81]])


def test_a_recurrence_of_data_alone():
    class Known(Model):
        x = data("t")
        total = deterministic(scan(lambda s, xi: 0.5 * s + xi, 0.0, x))
        a = param(Normal(0, 1))

    values = as_posterior(Known(x=[1.0, 1.0, 2.0])).constrain(np.zeros((1, 1)))
    np.testing.assert_allclose(values["total"], [[1.0, 1.5, 2.75]])


def declare(call):
    class Wrong(Model):
        a = param(Normal(0, 1))
        z = deterministic(call(a))

    return Wrong()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: scan(lambda s: s, a), ModelError, "needs a sequence, or length="),
        (lambda a: scan(lambda s: s, a, length=0), ShapeError, "at least 1"),
        (lambda a: scan(lambda s: [s, s], a, length=3), ShapeError, "one new value for each"),
        (lambda a: scan(lambda s, x, z: s + x, a, [1.0, 2.0], [1.0]), ShapeError, "2 elements"),
        (lambda a: scan(lambda s, x, b: s + b * x, a, [1.0, 2.0], a), ShapeError, r"by args="),
        (lambda a: scan(lambda s: s, a, [1.0, 2.0]), ModelError, "is called with"),
    ],
)
def test_wrong_declarations_name_the_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        declare(call)
    assert caught.value.location.file == __file__
