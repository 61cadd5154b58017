"""Machine code that runs: LLVM makes it, for this processor, from what `emission` writes."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from probmodel.compiler.emission import Emission
from probmodel.compiler.simplify import shared
from probmodel.compiler.symbols import Symbol, place, positions
from probmodel.compiler.tracing import Program
from probmodel.types import Array

LANES = 8  # chains in a vector, where there are more than four
FEW = 4
_ALIGNED = 64  # bytes


class Machine:
    """The log density and gradient of a program, as machine code.

    Parameters
    ----------
    program : of one chain

    Attributes
    ----------
    dim : number of coordinates
    """

    def __init__(self, program: Program) -> None:
        logp, gradient = shared(program.outputs)
        self.dim = program.x.size
        x = program.x
        if not isinstance(logp, Symbol):
            logp = Symbol("add", (np.zeros(()), logp), logp)
        if not (isinstance(gradient, Symbol) and gradient.op == "place"):
            everywhere = Symbol("add", (np.zeros(self.dim), gradient), np.zeros(self.dim))
            gradient = place(everywhere, positions((self.dim,)), (self.dim,))
        self._outputs: tuple[Any, Any, Any] = x, np.reshape(logp, ()), gradient
        self._made: dict[int, _Code] = {}
        self._lock = threading.Lock()  # of the memory that the code works in

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return log density, (chains,), and gradient, (chains, dim), at (chains, dim)."""
        chains = len(x)
        x = np.ascontiguousarray(x, dtype=np.float64)
        logp, gradient = np.empty(chains), np.empty(x.shape)
        if not chains:
            return logp, gradient
        lanes = LANES if chains > FEW else FEW if chains > 1 else 1
        with self._lock:
            if lanes not in self._made:
                self._made[lanes] = _Code(*self._outputs, lanes)
            code = self._made[lanes]
            code.run(x.ctypes.data, logp.ctypes.data, gradient.ctypes.data, code.memory, chains)
        return logp, gradient


class _Code:
    """Machine code for vectors of some lanes, and the memory that it works in."""

    def __init__(self, x: Symbol, logp: Symbol, gradient: Symbol, lanes: int) -> None:
        emission = Emission(x, logp, gradient, lanes)
        self._arrays = emission.arrays  # the code reads them where they lie
        self._engine = _compiled(str(emission.module))
        address = self._engine.get_function_address("run")
        kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
        self.run = ctypes.CFUNCTYPE(None, *kinds)(address)
        buffer = np.empty(8 * emission.memory + _ALIGNED, dtype=np.uint8)
        self._buffer = buffer
        self.memory = buffer.ctypes.data + -buffer.ctypes.data % _ALIGNED


@cache
def _target() -> Any:
    """Return what makes code for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


def _target_machine() -> Any:
    return _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )


def _compiled(source: str) -> Any:
    """Make machine code of a module."""
    target = _target_machine()
    module = llvm.parse_assembly(source)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.slp_vectorization = options.loop_vectorization = False
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine
