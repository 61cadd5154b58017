"""Machine code that runs: LLVM makes it, for this processor, from what `emission` writes."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from probmodel.compiler.emission import Emission
from probmodel.compiler.schedule import ordered
from probmodel.compiler.simplify import shared
from probmodel.compiler.symbols import NotTraceableError, Symbol, place, positions
from probmodel.compiler.tracing import Program
from probmodel.types import Array

LANES = 8  # chains in a vector, where there are more than four
FEW = 4
MOST = 2000  # operations of a program, at one to two milliseconds each
WORTH_A_THREAD = 3e-4  # seconds of a gradient from which on several are used
_ALIGNED = 64  # bytes


class Machine:
    """The log density and gradient of a program, as machine code.

    Chains are worked off on several cores where that pays: where they fill more than one vector,
    and a gradient takes long beside what it costs to wake a thread.

    Parameters
    ----------
    program : of one chain
    cores : at most; None for all that the process may use

    Raises
    ------
    NotTraceableError
        If the program is so long that LLVM would take more than a few seconds.

    Attributes
    ----------
    dim : number of coordinates
    """

    def __init__(self, program: Program, cores: int | None = None) -> None:
        logp, gradient = shared(program.outputs)
        count = sum(1 for _ in ordered(o for o in (logp, gradient) if isinstance(o, Symbol)))
        if count > MOST:
            raise NotTraceableError(f"{count} operations, which would take long to make")
        self.dim = program.x.size
        x = program.x
        if not isinstance(logp, Symbol):
            logp = Symbol("add", (np.zeros(()), logp), logp)
        if not (isinstance(gradient, Symbol) and gradient.op == "place"):
            everywhere = Symbol("add", (np.zeros(self.dim), gradient), np.zeros(self.dim))
            gradient = place(everywhere, positions((self.dim,)), (self.dim,))
        self._outputs: tuple[Any, Any, Any] = x, np.reshape(logp, ()), gradient
        self._made: dict[int, _Code] = {}
        self._cores = available_cores() if cores is None else cores
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
            self._made[lanes].run(x, logp, gradient, self._cores)
        return logp, gradient


class _Code:
    """Machine code for vectors of some lanes, and the memory that it works in."""

    def __init__(self, x: Symbol, logp: Symbol, gradient: Symbol, lanes: int) -> None:
        emission = Emission(x, logp, gradient, lanes)
        self._arrays = emission.arrays  # the code reads them where they lie
        self._engine = _compiled(str(emission.module))
        address = self._engine.get_function_address("run")
        kinds = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
        self._function = ctypes.CFUNCTYPE(None, *kinds)(address)
        self._lanes, self._size = lanes, emission.memory
        self._buffers = [self._buffer()]
        self._pace = 0.0  # seconds that a block of chains takes

    def run(self, x: Array, logp: Array, gradient: Array, cores: int) -> None:
        """Fill in log densities and gradients."""
        blocks = -(-len(x) // self._lanes)
        workers = min(cores, blocks) if self._pace * blocks > WORTH_A_THREAD else 1
        if workers == 1:
            start = time.perf_counter()
            self._part(x, logp, gradient, 0)
            self._pace = (time.perf_counter() - start) / blocks
            return
        while len(self._buffers) < workers:
            self._buffers.append(self._buffer())
        ends = [self._lanes * (blocks * k // workers) for k in range(workers)] + [len(x)]

        def work(k: int) -> None:
            cut = slice(ends[k], ends[k + 1])
            self._part(x[cut], logp[cut], gradient[cut], k)

        jobs = [_threads().submit(work, k) for k in range(1, workers)]
        work(0)
        for job in jobs:
            job.result()

    def _part(self, x: Array, logp: Array, gradient: Array, worker: int) -> None:
        memory = self._buffers[worker].ctypes.data
        memory += -memory % _ALIGNED
        self._function(x.ctypes.data, logp.ctypes.data, gradient.ctypes.data, memory, len(x))

    def _buffer(self) -> Array:
        return np.empty(8 * self._size + _ALIGNED, dtype=np.uint8)


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that all densities of the process share."""
    return ThreadPoolExecutor(available_cores(), thread_name_prefix="probmodel")


if hasattr(os, "register_at_fork"):  # threads do not live on in a child
    os.register_at_fork(after_in_child=_threads.cache_clear)


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
