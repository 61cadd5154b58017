"""The NumPy engine: a program of one chain, run for all chains at once.

The program is written out as one Python function, which is cheaper than a list of steps, and can be
read: see `NumpyProgram.source`. Arrays lead with the axis of chains; arrays that are known lack it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from probmodel.compiler.array_programs import for_arrays
from probmodel.compiler.numpy_writer import Writer
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import Symbol
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.compiler.tracing import Program


class NumpyProgram:
    """Outputs of a program as a function of its inputs, for a batch of chains.

    Parameters
    ----------
    program : of one chain

    Attributes
    ----------
    source : of the function
    operations, numbers : how many there are, and how many numbers their results are made of
    """

    def __init__(self, program: Program) -> None:
        inputs, outputs = program
        self._in = [x.shape for x in inputs]
        self._out = [np.shape(o) for o in outputs]
        writer, written = Writer(inputs), for_arrays(outputs)
        symbols = list(ordered(o for o in written if isinstance(o, Symbol)))
        self.numbers = sum(s.size for s in symbols)
        self.operations = sum(getattr(s.index, "operations", 1) for s in symbols)
        self.source = writer.function(written)
        exec(compile(self.source, "<NumPy program>", "exec"), writer.names)
        self._run: Callable[..., tuple[Array, ...]] = writer.names["run"]

    def __call__(self, *inputs: Array) -> tuple[Array, ...]:
        """Return outputs, (chains, ...) each, at inputs, (chains, ...) each.

        Raises a ValueError if an input has another shape. Values never raise.
        """
        given = [np.ascontiguousarray(x, dtype=np.float64) for x in inputs]
        chains = len(given[0])
        for x, shape in zip(given, self._in, strict=True):
            if x.shape != (chains, *shape):
                raise ValueError(f"an input has shape {x.shape} instead of {(chains, *shape)}")
        if not chains:
            return tuple(np.zeros((0, *shape)) for shape in self._out)
        with np.errstate(all="ignore"):
            return self._run(*given)
