"""Programs of a function, and both engines that run them."""

import numpy as np

from probmodel.compiler.differentiation import gradient_of
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.tracing import Program

CHAINS = (9, 1, 4)  # of which machine code has vectors of eight, one and four


def chains_in_turn(*numbers):
    """How many chains for these numbers: along each of them, every kind of vector in its turn."""
    return CHAINS[sum(numbers) % len(CHAINS)]


def written(function, dim):
    """Value and gradient of a function of a vector."""
    symbol = Symbol("input", (), np.random.default_rng(0).uniform(0.5, 1.5, dim))
    value, slopes = gradient_of(function, symbol)
    return Program((symbol,), (value, *slopes))


def machine_of(function, dim):
    return Machine(written(function, dim))


def engines(function, dim):
    program = written(function, dim)
    yield Machine(program)
    yield NumpyProgram(program)
