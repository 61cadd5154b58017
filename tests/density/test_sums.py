"""Sums and simple operations that are simplified while a model is written down, against NumPy."""

import numpy as np
import pytest

from probmodel import Model, param, potential
from probmodel.compiler.symbols import Symbol
from probmodel.density import as_posterior
from probmodel.distributions import Binomial, Uniform
from probmodel.functions import log_density

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


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_slopes_where_both_terms_of_logaddexp_are_impossible(engine):
    """As where states of a N-mixture are summed out one by one: the first ones have no mass."""

    class Counted(Model):
        p = param(Uniform(0, 1))
        total = -np.inf
        for n in range(4):
            total = np.logaddexp(total, log_density(Binomial(n, p), np.array([3, 2])))
        term = potential(total)

    density = as_posterior(Counted())
    density.use_engine(engine)
    x = np.array([[0.3], [-1.2]])
    p = 1.0 / (1.0 + np.exp(-x[:, 0]))
    found = density(x)
    # Three seen of three; two of two, or of three. The last term is of the logit's derivative.
    direct = 3 * np.log(p) + np.log(p**2 + 3 * p**2 * (1 - p)) + np.log(p * (1 - p))
    slope = (5 - 3 * p / (1 + 3 * (1 - p))) * (1 - p) + 1 - 2 * p
    np.testing.assert_allclose(found.logp, direct, rtol=1e-13)
    np.testing.assert_allclose(found.grad[:, 0], slope, rtol=1e-13)
    assert np.isfinite(density.hvp(x, np.ones((2, 1)))).all()


NEUTRAL = {"add": (0, None), "subtract": (None, 0.0), "multiply": (None, 1.0), "divide": (None, 1)}


@pytest.mark.parametrize("name", NEUTRAL)
def test_neutral_numbers_make_no_step(name):
    x = Symbol("input", (), np.ones(3))
    operands = [x if o is None else o for o in NEUTRAL[name]]
    assert getattr(np, name)(*operands) is x
    wide = [x if o is None else np.full((2, 3), o) for o in NEUTRAL[name]]
    assert getattr(np, name)(*wide).op == "view"
