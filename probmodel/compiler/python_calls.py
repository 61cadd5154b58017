"""Calls of functions in NumPy, for what has no operation of its own.

The function of a call takes arrays that lead with rows, (rows, *shape), a row being a chain, and
returns (rows, *shape). Where autograd asks for its derivatives, another call is written down: its
function returns those in all wanted arguments side by side, flat, and is differentiated in turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode, backward_pass, primitive_vjps
from autograd.extend import defvjp_argnums, primitive, vspace
from autograd.tracer import isbox, new_box, trace_stack

from probmodel.compiler.differentiation import alone, taken
from probmodel.compiler.symbols import Symbol, positions
from probmodel.types import Array

# Solvers, by the names of the operations: a function of the shape of the result, that of the first
# operand, and what the traced function captured, an array, or a shape for what varies; and of the
# operation's options. It returns a function of rows of the first operand and of what varies.
# `probmodel.density` has them.
SOLVERS: dict[str, Callable[..., Callable[..., Any]]] = {}


class Function:
    """What a call computes.

    Parameters
    ----------
    name : for reports
    function : of arrays, which autograd can differentiate. It may have an attribute ``with_vjp``: a
        function of the positions of some arguments, and of all, to the value and what takes a
        derivative back to those.
    operands : its arguments, of which symbols come with each call, and others are known
    shape : of the result, for one row
    rows : whether the function wants rows of what is known, too

    Attributes
    ----------
    name, shape : as given
    positions : of the operands that come with each call
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        operands: Sequence[Any],
        shape: tuple[int, ...],
        *,
        rows: bool = False,
    ) -> None:
        self.name, self.shape = name, shape
        self._function, self._rows = function, rows
        self._operands = [None if is_unknown(o) else _plain(o) for o in operands]
        self.positions = [i for i, o in enumerate(self._operands) if o is None]
        self._wanted: tuple[int, ...] = ()  # arguments in which derivatives will be asked for
        self._last = threading.local()

    def __call__(self, *args: Array) -> Array:
        """Return values; what takes derivatives back is kept for the call that will ask."""
        if self._wanted:
            value, pull = self._with_vjp(self._wanted, args)
            self._last.call = args, pull
        else:
            value = self.traced(*args)
        value = np.asarray(value, dtype=float)
        if value.shape != (len(args[0]), *self.shape):
            raise ValueError(
                f"{self.name} returned an array of shape {value.shape} for {len(args[0])} rows, "
                f"each of which has {self.shape}"
            )
        return value

    def traced(self, *args: Any) -> Any:
        """Return values, traceable by autograd."""
        value = self._function(*self._all(args))
        shape = (len(args[0]), *self.shape)
        return value if np.shape(value) == shape else value + np.zeros(shape)

    def expect(self, wanted: tuple[int, ...]) -> None:
        """Prepare for derivatives in some arguments."""
        self._wanted = wanted

    def pulled(self, wanted: tuple[int, ...], g: Array, args: Sequence[Array]) -> Any:
        """Return derivatives of the sum of ``g`` times the values, in some arguments."""
        known, pull = vars(self._last).pop("call", ((), None))
        same = len(known) == len(args) and all(map(_same, known, args))
        if not same or wanted != self._wanted:
            pull = self._with_vjp(wanted, args)[1]
        return pull(g)

    def pulled_by_autograd(self, wanted: tuple[int, ...], g: Any, args: Sequence[Any]) -> Any:
        """Return the same, traceable by autograd."""
        return self._by_autograd(wanted, args)[1](g)

    @property
    def origin(self) -> Function:
        """The function whose derivatives it returns, or itself."""
        derivatives = isinstance(self._function, _Derivatives)
        return self._function.function if derivatives else self  # type: ignore[attr-defined]

    @property
    def wanted(self) -> tuple[int, ...] | None:
        """In which arguments of that function it returns derivatives; None for values."""
        return getattr(self._function, "wanted", None)

    @property
    def problem(self) -> Any:
        """What it solves, if there is machine code for that."""
        return getattr(self.origin._function, "problem", None)

    @property
    def operations(self) -> int:
        """How many operations on arrays it takes, about."""
        return 1 if self.problem is None else int(self.problem.operations)

    def filled(self, args: Sequence[Any]) -> list[Any]:
        """Return all operands, of which some come with a call."""
        full = list(self._operands)
        for i, arg in zip(self.positions, args, strict=True):
            full[i] = arg
        return full

    def _all(self, args: Sequence[Any]) -> list[Any]:
        full = self.filled(args)
        if self._rows:
            for i, known in enumerate(self._operands):
                if known is not None:
                    full[i] = np.broadcast_to(known, (len(args[0]), *np.shape(known)))
        return full

    def _with_vjp(self, wanted: Sequence[int], args: Sequence[Array]) -> tuple[Any, Any]:
        where, full = [self.positions[i] for i in wanted], self._all(args)
        own = getattr(self._function, "with_vjp", None)
        if own is not None:
            value, pull = own(where, *full)
        elif self._function in primitive_vjps:
            value = self._function(*full)
            pull = primitive_vjps[self._function](where, value, full, {})
        else:
            value, pull = self._by_autograd(wanted, args)
        return value, pull

    def _by_autograd(self, wanted: Sequence[int], args: Sequence[Any]) -> tuple[Any, Any]:
        def of_wanted(moving: Any) -> Any:
            full = list(args)
            for i, x in zip(wanted, moving, strict=True):
                full[i] = x
            return self.traced(*full)

        return _followed(of_wanted, tuple(args[i] for i in wanted))


class _Derivatives:
    """The function of a function's arguments, and of weights of its values, to derivatives."""

    def __init__(self, function: Function, wanted: tuple[int, ...]) -> None:
        self.function, self.wanted = function, wanted

    def __call__(self, *args: Any) -> Any:
        *own, g = args
        if any(map(isbox, args)):
            parts, xp = self.function.pulled_by_autograd(self.wanted, g, own), anp
        else:
            parts, xp = self.function.pulled(self.wanted, g, own), np
        return xp.concatenate([xp.reshape(part, (len(g), -1)) for part in parts], axis=1)


def called(
    name: str,
    function: Callable[..., Any],
    operands: Sequence[Any],
    shape: tuple[int, ...],
    *,
    rows: bool = False,
) -> Any:
    """Write down a call, with parameters as `Function` has them; autograd may follow operands."""
    if not any(map(is_unknown, operands)):
        first, *others = map(_plain, operands)
        operands = [Symbol("add", (np.zeros(()), first), first), *others]
    unknown = [o for o in operands if is_unknown(o)]
    return _recorded(Function(name, function, operands, shape, rows=rows), *unknown)


@primitive
def _recorded(function: Function, *args: Symbol) -> Any:
    with alone(), np.errstate(all="ignore"):
        (value,) = function(*(a.value[None] for a in args))
    return Symbol("call", args, value, function)


def _pull(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    function, *own = args
    wanted = tuple(i - 1 for i in argnums)
    shapes = [np.shape(own[i]) for i in wanted]
    ends = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in shapes)])

    def pull(g: Any) -> tuple[Any, ...]:
        function.expect(wanted)
        derivatives = _Derivatives(function, wanted)
        flat = called(function.name, derivatives, [*own, g], (int(ends[-1]),), rows=True)
        every = positions((ends[-1],))
        return tuple(
            taken(flat, every[start:end].reshape(shape))
            for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
        )

    return pull


defvjp_argnums(_recorded, _pull)


def _followed(function: Callable[[Any], Any], x: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return a value, and what takes a derivative back; zeros if it does not depend on ``x``."""
    with trace_stack.new_trace() as number:
        end = function(new_box(x, number, VJPNode.new_root()))
    if isbox(end) and end._trace == number:
        return end._value, lambda g: backward_pass(g, end._node)
    return end, lambda g: vspace(x).zeros()


def is_unknown(operand: Any) -> bool:
    """Whether an operand comes with each call."""
    return isinstance(_plain(operand), Symbol)


def _plain(value: Any) -> Any:
    while isbox(value):
        value = value._value
    return value


def _same(a: Array, b: Array) -> bool:
    return a is b or a.tobytes() == b.tobytes()
