"""What computes a density: NumPy at first, machine code once that has paid for being made.

    engine    "numpy", "llvm", or "auto"

Machine code takes about a tenth of a second to make, and a gradient a tenth of NumPy's time
afterwards; what surrounds gradients in a trajectory costs nearly nothing then. A density that is
asked for a few gradients, at starting points or while hierarchies are measured, is better off
without it. So it is made when the work that NumPy has done amounts to about the same, and so later
for a long program, such as a loop over time that is written out, whose code takes seconds to make.
That is counted, not timed, so that the same calls have the same results. Densities without
gradients are counted apart, and have machine code of their own.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from probmodel.arguments import one_of, positive
from probmodel.compiler.length import too_long
from probmodel.compiler.symbols import NotTraceableError
from probmodel.compiler.tracing import Program
from probmodel.density.programs import Gradients, Programs
from probmodel.errors import ModelError, reason
from probmodel.model.binding import Binding
from probmodel.types import Array, Done, Dynamics

Engine = Literal["auto", "numpy", "llvm"]
ENGINES = ("auto", "numpy", "llvm")

ENOUGH = 12_000.0  # work after which machine code is made, about microseconds
LATE = 100_000.0  # the same for a scale that chains only pass through: what making it takes
_USUAL = 2000  # operations that are written down, from which on a program counts as a long one
_SLOW = 10_000  # operations of a program whose code may take a second or more to make
_EACH = 100.0  # work for each operation beyond these: about what making its code takes
_ROUNDING = 1e-6  # relative difference between engines that cancellation may explain
_COMPARED = 64  # chains in which engines are compared, at most
_PATIENCE = 256.0  # times as much work, after which engines that still differ are a fault
_AROUND = 75.0  # work around a gradient: kicks, drifts, energies
_STEP = 1.0  # of one operation on an array
_NUMBER = 1e-3  # of each number in it
_TOO_MANY = (
    "too many for machine code, so that it runs in NumPy, which takes longer. Write `for` "
    "statements of the model as whole arrays, or with scan or linear_recurrence."
)

_say: ContextVar[Callable[[str], None] | None] = ContextVar("say", default=None)
_missing = False  # whether it was said that there is no llvmlite


def use_engine(density: Any, engine: str | None, cores: int | None = None) -> None:
    """Let a density begin anew, with an engine or its own; one of no model has just a function."""
    if engine is not None:
        one_of("engine", engine, ENGINES)
    cores = cores if cores is None else positive("cores", cores)
    if hasattr(density, "use_engine"):
        density.use_engine(engine, cores)


def note_length(density: Any, needs: str, quiet: bool) -> None:
    """Warn of a density that NumPy computes because it is too long, at the start of a run.

    ``needs`` is what the method needs of the density.
    """
    about = getattr(density, "about_length", None)
    message = "" if about is None or quiet else about(needs != "log density")
    if message:
        warnings.warn(f"{density.name}: {message}", stacklevel=4)


@contextmanager
def announcing(say: Callable[[str], None] | None) -> Iterator[None]:
    """Tell ``say``, if there is one, of machine code that takes long to make, before it is made."""
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


def _announce(program: Program) -> None:
    """Tell of machine code for a program, if it takes long to make, and will be made."""
    say, operations = _say.get(), program.operations
    if say is not None and operations >= _SLOW and not too_long(program):
        say(f"making machine code for {operations} operations, which takes seconds")


def _agree(found: tuple[Array, ...], expected: tuple[Array, ...]) -> bool:
    """Whether values and gradients are the same but for rounding, in the rows that are finite."""
    (value, gradient), (logp, grad) = found, expected
    logp = np.broadcast_to(logp, value.shape)
    fine = np.isfinite(logp) & np.isfinite(grad).all(axis=1)
    scale = np.max(np.abs(grad), axis=1, initial=1.0)
    with np.errstate(all="ignore"):
        values = np.abs(value - logp) <= _ROUNDING * (1.0 + np.abs(logp))
        slopes = np.max(np.abs(gradient - grad), axis=1, initial=0.0) <= _ROUNDING * scale
    return bool(np.all(values[fine] & slopes[fine]))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let no garbage be collected while a program is traced and written.

    Its many objects refer to each other and live for a moment. Python would search all that a
    process has for such circles meanwhile: for 0.1 s where ArviZ has been imported.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Switch:
    """Turns from NumPy to machine code.

    Parameters
    ----------
    binding : the bound model
    engine : which one, or ``"auto"`` for both in turn
    programs : of the density
    cores : that machine code may use, at most; None for all
    enough : work after which machine code is made, about microseconds; `ENOUGH` by default
    """

    def __init__(
        self,
        binding: Binding,
        engine: Engine,
        programs: Gradients,
        cores: int | None = None,
        enough: float | None = None,
    ) -> None:
        self.engine: Engine = one_of("engine", engine, ENGINES)  # type: ignore[assignment]
        self._binding, self._programs = binding, programs
        self._spent, self.cores = 0.0, cores
        self._enough = ENOUGH if enough is None else enough
        self._machine: Any = None
        self._candidate: Any = None
        self.reason = "it was asked for" if engine == "numpy" else ""

    @cached_property
    def _length(self) -> int:
        """How many operations are written down; those that a solver or scan repeats count once."""
        return self._programs.gradient.operations

    @property
    def in_use(self) -> str:
        """Name of the engine of the last gradient."""
        return "numpy" if self._machine is None else "llvm"

    def snapshot(self) -> tuple[float, float, str]:
        """Return the work that NumPy has done, how much is enough, and which engine is in use."""
        return self._spent, self._enough, self.in_use

    def resume(self, snapshot: tuple[float, float, str], x: Array) -> None:
        """Go on from there; machine code that was in use is made anew, and compared at ``x``."""
        self._spent, self._enough, in_use = snapshot
        if in_use == "llvm" and not self.reason:
            self._machine = self._made(x)

    def settle(self, x: Array) -> None:
        """Make machine code now, or never: work that is shared out is then counted by nobody."""
        if self._machine is None and not self.reason:
            self._machine = self._made(x)
            if self._machine is None and not self.reason:
                self.reason = "machine code could not be compared with NumPy when sampling began"

    def about_length(self) -> str:
        """Say that the density is too long for machine code; empty if not, or the engine is set."""
        operations = too_long(self._programs.gradient) if self.engine == "auto" else 0
        return f"the log density has {operations} operations, {_TOO_MANY}" if operations else ""

    def put_off(self, off: bool) -> None:
        """Make machine code after `LATE`, or after `ENOUGH` again, if it was not tried yet."""
        if self._machine is None and self._candidate is None:
            self._enough = LATE if off else ENOUGH

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return log density, (chains,), and gradient, (chains, dim), at ``x``.

        When machine code is made, both are compared where finite: no mistake of one shall go
        unnoticed. In places where a chain may begin they can differ by rounding alone, so that they
        are compared again, elsewhere, after twice as much work, and so on. Raises a `ModelError` if
        the engine is ``"llvm"`` and there is none.
        """
        if self._machine is None and not self.reason:
            run = self._programs.by_numpy
            self._spent += _AROUND + _STEP * run.operations + _NUMBER * run.numbers * len(x)
            enough = self._enough + _EACH * max(0, self._length - _USUAL)
            if self._spent > enough or (self.engine == "llvm" and self._candidate is None):
                self._machine = self._made(x)
        logp, gradient = (self._programs.by_numpy if self._machine is None else self._machine)(x)
        return logp, gradient

    def rehearse(self, x: Array) -> None:
        """Compute what a call would, which takes as long; machine code comes no sooner for it."""
        if self._machine is None and self.engine != "llvm":
            self._programs.by_numpy(x)
        else:
            self(x)

    def simulate_dynamics(self, dynamics: Dynamics) -> Done | None:
        """Do dynamics in machine code; None if it is not made yet, or cannot do them."""
        machine = self._machine
        return None if machine is None else cast("Done | None", machine.simulate_dynamics(dynamics))

    def _made(self, x: Array) -> Any:
        """Make machine code; None, with the reason kept, if that is not possible."""
        global _missing
        try:
            from probmodel.compiler.machine import Machine
        except ImportError as error:
            self.reason = f"llvmlite cannot be imported: {reason(error)}"
            if not _missing:
                _missing = True
                warnings.warn(f"Densities run in NumPy, as {self.reason}.", stacklevel=2)
            return self._refused()
        try:
            made = self._programs
            _announce(made.gradient)
            with _uncollected():
                given = made.gradient, self.cores, made.codes, made.exact
                machine = self._candidate or Machine(*given)
                found = machine(x)
        except Exception as error:  # a formula may do anything to what it is given
            known = isinstance(error, NotTraceableError)
            self.reason = f"there is no machine code for {error if known else reason(error)}"
            return self._refused()
        some = slice(None, None, -(-len(x) // _COMPARED))
        logp, gradient = found
        if _agree((logp[some], gradient[some]), self._programs.by_numpy(x[some])):
            return machine
        if self._enough < _PATIENCE * ENOUGH:
            self._candidate, self._enough = machine, 2.0 * max(self._spent, ENOUGH)
            return None
        self.reason = "machine code and NumPy differ"
        warnings.warn(
            f"Machine code for {self._binding.name} does not agree with NumPy, which is used "
            "instead. Please report the model.",
            stacklevel=2,
        )
        return self._refused()

    def _refused(self) -> None:
        if self.engine == "llvm":
            raise ModelError(
                f"{self._binding.name} cannot have engine='llvm': {self.reason}. Leave it out, so "
                "that NumPy is used.",
                engine="llvm",
            )


class Engines:
    """What computes a density: one switch for gradients, one for the density alone.

    Parameters
    ----------
    binding, engine, cores : as of `Switch`
    programs : of the density
    """

    def __init__(
        self, binding: Binding, engine: Engine, programs: Programs, cores: int | None
    ) -> None:
        self.gradient = Switch(binding, engine, programs, cores)
        self.value = Switch(binding, engine, programs.value, cores)
        self.engine, self.cores = engine, cores

    @property
    def in_use(self) -> str:
        """``"llvm"`` where one of both has turned to machine code."""
        return min(self.gradient.in_use, self.value.in_use)

    def snapshot(self) -> tuple[tuple[float, float, str], ...]:
        """Return how far both are."""
        return self.gradient.snapshot(), self.value.snapshot()

    def resume(self, snapshot: tuple[tuple[float, float, str], ...], x: Array) -> None:
        """Go on from there."""
        for switch, own in zip((self.gradient, self.value), snapshot, strict=True):
            switch.resume(own, x)

    def put_off(self, off: bool) -> None:
        """Make machine code late, or soon again; see `Switch.put_off`."""
        self.gradient.put_off(off)
        self.value.put_off(off)

    def settle(self, x: Array) -> None:
        """Decide for both; see `Switch.settle`."""
        self.gradient.settle(x)
        self.value.settle(x)
