"""Programs: the source of a gradient, and densities without terms."""

import numpy as np

from probmodel import Model, observed, param, potential
from probmodel.density import as_posterior
from probmodel.density.allocator import keep_freed_memory
from probmodel.distributions import Normal


def test_source_can_be_read():
    class Line(Model):
        slope = param(Normal(0, 1))
        y = observed(Normal(2.0 * slope, 1), dims="obs")

    source = as_posterior(Line(y=[1.0, 2.0])).gradient_source
    assert source.startswith("def run(")
    compile(source, "gradient", "exec")


def test_a_model_of_constants_and_potentials():
    class Flat(Model):
        x = param()
        fixed = potential(-1.5)
        y = observed(Normal(0, 1), dims="obs")

    logp, grad = as_posterior(Flat(y=[0.0]))(np.zeros((2, 1)))
    np.testing.assert_allclose(logp, -1.5 - 0.5 * np.log(2 * np.pi))
    np.testing.assert_array_equal(grad, 0.0)


def test_allocator_answers():
    assert keep_freed_memory() in (True, False)
