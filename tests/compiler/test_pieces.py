"""Long programs, which are cut into functions that pass on numbers."""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np
import pytest
import test_odes
import test_random_programs
from both_engines import written

from probmodel.compiler import schedule
from probmodel.compiler.emission import Emission
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.simplify import in_memory, shared


@pytest.fixture(params=[1, 2, 5])
def short(request, monkeypatch):
    """Pieces of so many steps and numbers."""
    monkeypatch.setattr(schedule, "PIECE", request.param)
    monkeypatch.setattr(schedule, "MOST_STEPS", request.param)


def test_random_programs_in_pieces(short):
    for seed in range(40, 50):
        test_random_programs.check(1000 * seed)


@pytest.mark.parametrize("method", ["rk45", "esdirk43"])
def test_differential_equations_in_pieces(short, method):
    test_odes.test_two_systems_and_a_function_without_parameters(method)


def of_numbers(steps):
    def function(x):
        state, total = x[0], 0.0
        for t in range(steps):
            state = anp.tanh(x[1] * state + np.sin(t))
            total = total + anp.log(1.0 + state**2) * np.cos(t)
        return total

    return function


def of_arrays(steps):
    def function(x):
        state, total = x, 0.0
        for t in range(steps):
            state = anp.tanh(x * state + np.sin(t))
            total = total + anp.sum(state**2)
        return total

    return function


def of_sums_of_logarithms(steps):
    def function(x):
        state = anp.zeros(len(x))
        for t in range(steps):
            table = anp.reshape(state, (-1, 1)) + anp.outer(x, x)
            state = anp.log(anp.sum(anp.exp(table), axis=0)) - (np.cos(t) - x) ** 2
        return anp.sum(state)

    return function


def longest(function, dim):
    """How many lines the longest function has that is written for a program."""
    program = written(function, dim)
    logp, gradient = shared(program.outputs)
    emission = Emission(program.inputs[0], logp, in_memory(gradient, dim), 8)
    return max(len(str(f).splitlines()) for f in emission.module.functions)


@pytest.mark.parametrize("make", [of_numbers, of_arrays, of_sums_of_logarithms])
@pytest.mark.parametrize("dim", [2, 6])
def test_functions_grow_no_longer_with_a_loop_that_is_written_out(monkeypatch, make, dim):
    monkeypatch.setattr(schedule, "PIECE", 20)
    monkeypatch.setattr(schedule, "MOST_STEPS", 20)
    assert longest(make(80), dim) <= 1.2 * longest(make(40), dim)
    function = make(40)
    x = np.random.default_rng(1).uniform(0.2, 0.8, (9, dim))
    logp, gradient = Machine(written(function, dim))(x)
    expected, slopes = NumpyProgram(written(function, dim))(x)
    np.testing.assert_allclose(logp, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-12 * np.abs(slopes).max())


# -- negative control ------------------------------------------------------------------------------


def test_one_piece_grows(monkeypatch):
    monkeypatch.setattr(schedule, "PIECE", 10**9)
    assert longest(of_numbers(80), 2) > 1.8 * longest(of_numbers(40), 2)
