"""Machine code that runs: the gradients of a program, and trajectories, on some cores."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.compiler.call_writer import answering
from probmodel.compiler.emission import Emission
from probmodel.compiler.length import too_long, without_repetition
from probmodel.compiler.log_sums import with_log_sums
from probmodel.compiler.native import compiled
from probmodel.compiler.routine_calls import (
    ALIGNED,
    Call,
    GrowCall,
    MoveCall,
    Setting,
    address,
    aligned,
    fields,
    routines,
    setting,
)
from probmodel.compiler.simplify import in_memory, shared
from probmodel.compiler.symbols import NotTraceableError, Symbol
from probmodel.compiler.tracing import Program
from probmodel.compiler.unrolling import unrolled
from probmodel.threads import available_cores, submitted
from probmodel.types import Array, Done, Doublings, Dynamics, Grown, Trajectories, Transitions

LANES = 8  # chains in a vector, where there are more than four
FEW = 4
WIDEST = (
    64  # chains in a vector, where functions in NumPy are called: a call costs much, a row little
)
LONGEST = 1_000_000  # lines that LLVM reads, at a fortieth of a millisecond each
WORTH_A_THREAD = 3e-4  # seconds of a call from which on several are used


class Machine:
    """The log density and gradient of a program, as machine code.

    Chains are worked off on several cores where that pays: where they fill more than one vector,
    and the work takes long beside what it costs to wake a thread.

    Parameters
    ----------
    program : of one chain
    cores : at most; None for all that the process may use
    codes : what another machine of the same program has made, by the lanes; more is added
    exact : results must not depend on earlier calls: a call has code for as many lanes as its
        chains need, never code that was made for more, which differs by rounding

    Raises
    ------
    NotTraceableError
        If the program is so long that LLVM would take more than some dozen seconds.

    Attributes
    ----------
    dim : number of coordinates
    calls_back : names of the parts that the machine code calls functions in NumPy for
    """

    def __init__(
        self,
        program: Program,
        cores: int | None = None,
        codes: dict[int, Any] | None = None,
        exact: bool = False,
    ) -> None:
        program = without_repetition(program)
        logp, gradient = shared(with_log_sums(unrolled(program.outputs)))
        if operations := too_long(program):
            raise NotTraceableError(f"{operations} operations, which would take long to make")
        self.calls_back = program.calls_back
        (x,) = program.inputs
        self.dim = x.size
        if not isinstance(logp, Symbol):
            logp = Symbol("add", (np.zeros(()), logp), logp)
        gradient = in_memory(gradient, self.dim)
        self._outputs: tuple[Any, Any, Any] = x, np.reshape(logp, ()), gradient
        self._codes: dict[int, _Code] = {} if codes is None else codes
        self._made: dict[int, _Worker] = {}  # by the lanes
        self._last: dict[int, _Worker] = {}  # by the number of chains
        self._setting: Setting | None = None  # of the last trajectories
        self._cores = available_cores() if cores is None else cores
        self._exact = exact
        self._lock = threading.Lock()  # of the memory that the code works in

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return log density, (chains,), and gradient, (chains, dim), at (chains, dim)."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        logp, gradient = np.empty(len(x)), np.empty(x.shape)
        if len(x):
            with self._lock:
                worker = self._last.get(len(x)) or self._worker(len(x))
                worker.evaluate(x, logp, gradient, self._cores)
        return logp, gradient

    def simulate_dynamics(self, dynamics: Dynamics) -> Done | None:
        """Do dynamics; None if there is no machine code for the root of the mass matrix."""
        found = self._setting_of(dynamics)
        if found is None:
            return None
        with self._lock:
            worker = self._last.get(len(dynamics.x)) or self._worker(len(dynamics.x))
            return worker.simulate_dynamics(dynamics, found, self._cores)

    def _setting_of(self, t: Dynamics) -> Setting | None:
        if self._setting is None or not self._setting.is_of(t):
            self._setting = setting(t)
        return self._setting if len(t.x) else None

    def _worker(self, chains: int) -> _Worker:
        """Return what works for so many chains: with lanes for all, or what was made for more."""
        lanes = LANES if chains > FEW else FEW if chains > 1 else 1
        while self.calls_back and lanes < min(chains, WIDEST):
            lanes *= 2
        made = [n for n in self._made if n == lanes or (n > lanes and not self._exact)]
        if not made:
            if lanes not in self._codes:
                longest = None if self._codes else LONGEST  # what was begun is gone on with
                self._codes[lanes] = _Code(*self._outputs, lanes, longest)
            self._made[lanes] = _Worker(self._codes[lanes], self.dim)
        self._last = {chains: self._made[min(made, default=lanes)]}
        return self._last[chains]


class _Code:
    """Machine code of a program, for vectors of some lanes: what it is does not change."""

    def __init__(
        self, x: Symbol, logp: Symbol, gradient: Symbol, lanes: int, longest: int | None = None
    ) -> None:
        emission = Emission(x, logp, gradient, lanes)
        written = str(emission.module)
        lines = written.count("\n")
        if longest is not None and lines > longest:
            raise NotTraceableError(f"{lines} instructions, which would take long to make")
        self.lanes, self.memory, self.calls = lanes, emission.memory, emission.calls
        self.slots, self._arrays = emission.slots, emission.arrays  # they are read where they lie
        self.table = np.array([a.ctypes.data for a in emission.arrays], dtype=np.int64)
        self._engine = compiled(written)
        self.block = self._engine.get_function_address("block")
        self.places = dict(zip(("x", "logp", "gradient"), emission.places, strict=True))


class _Worker:
    """Works with some machine code, in a memory of its own."""

    def __init__(self, code: _Code, dim: int) -> None:
        self._code, self._lanes = code, code.lanes  # the code lasts as long as it is kept
        self._routines = routines(code.lanes)
        self._fields, self._size = fields(code.block, code.places, code.memory, dim, code.lanes)
        self._raised = list[BaseException]()
        self._answering: list[Any] = []  # the code calls it
        self._buffers, self._places = list[Array](), list[int]()
        self._add_buffer()
        self._evaluate, self._place = self._routines.evaluate, self._places[0]
        self._trees = np.empty(0)  # memory of those that are grown
        self._pace = 1e-3  # seconds that a gradient of a block takes, at least

    def evaluate(self, x: Array, logp: Array, gradient: Array, cores: int) -> None:
        """Fill in log densities and gradients."""
        chains = len(x)
        if chains <= self._lanes or cores == 1:  # without what the general case takes
            self._evaluate(self._place, x, logp, gradient, 0, chains)
            if self._raised:
                self._raise()
            return

        def part(first: int, end: int, memory: int) -> None:
            self._evaluate(memory, x, logp, gradient, first, end)

        self._share(part, chains, 1.0, cores)

    def simulate_dynamics(self, dynamics: Dynamics, setting: Setting, cores: int) -> Done:
        """Follow trajectories, or make transitions."""
        if isinstance(dynamics, Trajectories):
            call = Call(dynamics)
            self._run(self._routines.follow, call, setting, cores, len(dynamics.x))
            return call.followed()
        if isinstance(dynamics, Transitions):
            moves, n = MoveCall(dynamics), len(dynamics.momenta)
            self._run(self._routines.move, moves, setting, cores, len(dynamics.x), n)
            return moves.moved()
        return self._grow(dynamics, setting, cores)

    def _grow(self, doublings: Doublings, setting: Setting, cores: int) -> Grown:
        """Make transitions of the No-U-Turn sampler."""
        room = GrowCall.room(doublings)
        if self._trees.shape != room:
            self._trees = np.zeros(room)
        call, (n, chains, _) = GrowCall(doublings, self._trees), doublings.momenta.shape
        sizes = chains, n, doublings.max_depth
        self._run(self._routines.grow, call, setting, cores, *sizes)
        return call.grown()

    def _run(
        self,
        routine: Any,
        call: Call | MoveCall | GrowCall,
        setting: Setting,
        cores: int,
        *sizes: int,
    ) -> None:
        """Let a routine work on the arrays of a call; the first of the sizes is that of chains."""
        own = self._fields
        if own.setting is not setting:
            setting.put(own)

        def part(first: int, end: int, memory: int) -> None:
            routine(memory, *call.arrays, first, end, *sizes)

        self._share(part, sizes[0], call.gradients, cores)

    def _share(
        self, part: Callable[[int, int, int], None], chains: int, gradients: float, cores: int
    ) -> None:
        """Work off all blocks, each of about so many gradients, on several cores if that pays."""
        blocks = -(-chains // self._lanes)
        if cores > 1 and blocks > 1 and self._pace * blocks * gradients > WORTH_A_THREAD:
            self._on_cores(part, chains, gradients, min(cores, blocks))
        else:
            part(0, chains, self._places[0])
        if self._raised:
            self._raise()

    def _raise(self) -> None:
        """Raise what was raised in a function that the code has called."""
        raised = self._raised[0]
        self._raised.clear()
        raise raised

    def _on_cores(
        self, part: Callable[[int, int, int], None], chains: int, gradients: float, cores: int
    ) -> None:
        """Share blocks among some cores, and measure what they take."""
        while len(self._buffers) < cores:
            self._add_buffer()
        blocks = -(-chains // self._lanes)
        ends = [self._lanes * (blocks * k // cores) for k in range(cores)] + [chains]

        def work(k: int) -> None:
            part(ends[k], ends[k + 1], self._places[k])

        jobs = [submitted(work, k) for k in range(1, cores)]
        start = time.perf_counter()
        work(0)
        own = -(-ends[1] // self._lanes)
        self._pace = min(self._pace, (time.perf_counter() - start) / (own * gradients))
        for job in jobs:
            job.result()

    def _add_buffer(self) -> None:
        """Make a memory, with functions for the code to call."""
        buffer = np.empty(8 * self._size + 2 * ALIGNED, dtype=np.uint8)
        place = aligned(buffer) + ALIGNED
        start = place - address(buffer)
        memory = buffer[start : start + 8 * self._size].view(np.float64)
        buffer[start - 8 : start].view(np.int64)[0] = self._fields.address
        memory.view(np.int64)[self._code.slots] = address(self._code.table)
        self._answering += answering(self._code.calls, memory, self._lanes, self._raised)
        self._buffers.append(buffer)
        self._places.append(place)
