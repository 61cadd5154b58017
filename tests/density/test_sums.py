"""Sums and simple operations that are rearranged while a model is recorded, against NumPy."""

import autograd.numpy as anp
import numpy as np
import pytest

from probmodel import Model, param, potential
from probmodel.density import as_posterior
from probmodel.density import primitives as own
from probmodel.density.arithmetic import divide
from probmodel.density.batching import RULES
from probmodel.density.program import Recorder
from probmodel.density.sums import total

Y = np.linspace(-1.0, 2.0, 40)
EXPRESSIONS = {
    "normal": lambda m, s: -0.5 * ((Y - m) / np.exp(s)) ** 2 - s,
    "factors": lambda m, s: 3.0 * (m * Y) / 2.0,
    "numbers": lambda m, s: 2.0 - (m + Y) + 1.5,
    "table": lambda m, s: (m * Y[:, None]) ** 2 - s * Y,
    "reciprocal": lambda m, s: 2.0 / (m * Y + 4.0),
    "negative": lambda m, s: -((m - Y) ** 2),
    "neutral": lambda m, s: 0.0 + 1.0 * (m - 0.0) / 1.0 + (0.0 - s) * 1.0,
    "logaddexp": lambda m, s: np.logaddexp(m * Y, s),
    "several": lambda m, s: np.logaddexp(m * Y, s - Y) * np.logaddexp(m, s),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_sum_over_the_elements(name):
    expression = EXPRESSIONS[name]

    class Sums(Model):
        m = param()
        s = param()
        term = potential(expression(m, s))

    density = as_posterior(Sums())
    x = np.random.default_rng(1).normal(size=(3, 2))
    direct = np.array([np.sum(expression(m, s)) for m, s in x])
    logp, grad = density(x)
    np.testing.assert_allclose(logp, direct, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(density.log_density(x), direct, rtol=1e-13, atol=1e-13)
    step = 1e-6
    for j, e in enumerate(step * np.eye(2)):
        above, below = (np.array([np.sum(expression(*p)) for p in x + d]) for d in (e, -e))
        slope = (above - below) / (2.0 * step)
        # Central differences: rounding of the sum over the step, and the step squared.
        np.testing.assert_allclose(grad[:, j], slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())
    one = density.hvp(x, np.ones((3, 2)))
    np.testing.assert_allclose(one, density.hessian(x).sum(axis=2), rtol=1e-10, atol=1e-10)


def test_squares_are_summed_in_one_step():
    recorder = Recorder()
    x = recorder.input((5,))
    square = recorder.emit(anp.square, x, shape=(5,))
    scaled = recorder.emit(anp.multiply, square, -0.5, shape=(5,))
    steps = recorder.finish([total(recorder, scaled)]).steps
    assert [step.primitive for step in steps] == [own.sum_squares, anp.multiply]


def test_what_divides_many_elements_is_inverted_once():
    for n, last in ((4, anp.divide), (64, anp.multiply)):
        recorder = Recorder()
        x, scale = recorder.input((n,)), recorder.input(())
        steps = recorder.finish([divide(recorder, (n,), x, scale)]).steps
        assert steps[-1].primitive is last
        assert (steps[0].primitive is anp.reciprocal) == (last is anp.multiply)


NEUTRAL = {"add": (0, None), "subtract": (None, 0.0), "multiply": (None, 1.0), "divide": (None, 1)}


@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_numbers_make_no_step(name):
    recorder = Recorder()
    x = recorder.input((3,))
    operands = [x if o is None else o for o in NEUTRAL[name]]
    assert RULES[name](recorder, (3,), *operands) is x
    assert RULES[name](recorder, (2, 3), *operands) is not x
