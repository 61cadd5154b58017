"""Programs of a function, and both engines that run them."""

import numpy as np

from probmodel.compiler.differentiation import gradient_of
from probmodel.compiler.machine import Machine
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.tracing import Program


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
