"""The compiled gradient: its source, shared slots, outputs that are inputs or constants."""

import autograd.numpy as anp
import numpy as np

from probmodel import Model, observed, param, potential
from probmodel.density import as_posterior
from probmodel.density.allocator import keep_freed_memory
from probmodel.density.program import Recorder
from probmodel.distributions import Normal


def test_source_can_be_read():
    class Line(Model):
        slope = param(Normal(0, 1))
        y = observed(Normal(2.0 * slope, 1), dims="obs")

    source = as_posterior(Line(y=[1.0, 2.0])).gradient_source
    assert source.startswith("def gradient(v0):")
    compile(source, "gradient", "exec")


def test_a_slot_used_twice_adds_up():
    recorder = Recorder()
    x = recorder.input((3,))
    y = recorder.emit(anp.multiply, x, x, shape=(3,))
    z = recorder.emit(anp.sum, y, axis=1, shape=())
    program = recorder.finish([z])
    value = np.arange(6.0).reshape(2, 3)
    total, (grad,) = program.sum_and_gradient(value)
    np.testing.assert_allclose(total, (value**2).sum(axis=1))
    np.testing.assert_allclose(grad, 2 * value)


def test_outputs_that_are_inputs_and_constants():
    recorder = Recorder()
    x, unused = recorder.input(()), recorder.input((2,))
    y = recorder.emit(anp.exp, x, shape=())
    program = recorder.finish([x, y, np.array(3.0)])
    total, grads = program.sum_and_gradient(np.array([0.0, 1.0]), np.zeros((2, 2)))
    np.testing.assert_allclose(total, [4.0, 4.0 + np.e])
    np.testing.assert_allclose(grads[0], [2.0, 1.0 + np.e])
    assert grads[unused.slot] is None
    values = program.values([np.array([0.0, 1.0]), np.zeros((2, 2))])
    np.testing.assert_array_equal(values[2], [3.0, 3.0])


def test_an_output_that_others_use():
    recorder = Recorder()
    x = recorder.input(())
    y = recorder.emit(anp.exp, x, shape=())
    z = recorder.emit(anp.multiply, y, 2.0, shape=())
    _, (grad,) = recorder.finish([y, z]).sum_and_gradient(np.array([0.5]))
    np.testing.assert_allclose(grad, 3 * np.exp([0.5]))


def test_steps_that_nothing_needs_are_dropped():
    recorder = Recorder()
    x = recorder.input(())
    recorder.emit(anp.sin, x, shape=())
    y = recorder.emit(anp.exp, x, shape=())
    assert len(recorder.finish([y]).steps) == 1


def test_a_density_inside_an_expression_is_weighed():
    recorder = Recorder()
    x = recorder.input((3,))
    inner = recorder.emit_density(Normal(0, 1), [x, 0.0, 1.0])
    outer = recorder.emit(anp.multiply, inner, 3.0, shape=())
    value = np.arange(6.0).reshape(2, 3)
    _, (grad,) = recorder.finish([outer]).sum_and_gradient(value)
    np.testing.assert_allclose(grad, -3 * value)


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
