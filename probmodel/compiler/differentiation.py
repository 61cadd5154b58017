"""Derivatives of what symbols write down, written down by autograd's rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode
from autograd.extend import VSpace, defvjp, defvjp_argnums, primitive
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.numpy.numpy_vspaces import ArrayVSpace
from autograd.tracer import isbox, new_box, trace_stack
from autograd.util import toposort

from probmodel.compiler.symbols import Symbol, place, positions, value_of, view
from probmodel.numerics.special import where
from probmodel.types import Array

_lock = threading.RLock()


@contextmanager
def alone() -> Iterator[None]:
    """Let no other thread use autograd here at the same time: all count traces by one number.

    What ends with an exception leaves that number as it was.
    """
    with _lock:
        top = trace_stack.top
        try:
            yield
        except BaseException:
            trace_stack.top = top
            raise


class NotDifferentiableError(Exception):
    """An operation whose derivative cannot be written down.

    Attributes
    ----------
    node : of autograd's
    cause : what was raised
    """

    def __init__(self, node: Any, cause: Exception) -> None:
        super().__init__(str(cause))
        self.node, self.cause = node, cause


@primitive
def taken(x: Any, index: Array) -> Any:
    """Return the elements of an array at flat positions, in the shape of these."""
    return view(x, index)


@primitive
def placed(g: Any, index: Array, shape: tuple[int, ...]) -> Any:
    """Return zeros of a shape to which elements are added at flat positions."""
    return place(g, index, shape)


_FAR_OUT = 350.0  # cosh(x)^2 overflows beyond 355


def _at_hand(x: Any) -> Any:
    """Return the numbers inside the boxes of autograd: those of a symbol, at its point."""
    while isbox(x):
        x = x._value
    return value_of(x)


def _still(g: Any, found: Any, infinite: Any) -> Any:
    """Return ``found``, a slope times ``g``: zero, where ``g`` is, if it is infinite somewhere.

    What is infinite by its form, as a rate over a dose of zero, stays so whatever the parameters
    are. A function that is level there, which is what a ``g`` of zero says, does not move with
    them: ``exp(-rate / dose)`` is zero. An infinite slope would make a NaN of that. ``infinite``
    are numbers at one point that tell where it is.
    """
    return where(anp.equal(g, 0.0), 0.0, found) if np.any(infinite) else found


def _zero(x: Any) -> Any:
    return np.equal(_at_hand(x), 0.0)


def _infinite(x: Any) -> Any:
    return np.isinf(_at_hand(x))


# Autograd's own rule takes the square of the divisor, which is not finite, or zero, at many scales.
defvjp(
    anp.divide,
    lambda ans, x, y: unbroadcast_f(x, lambda g: _still(g, g / y, _zero(y))),
    lambda ans, x, y: unbroadcast_f(y, lambda g: _still(g, -g * ans / y, _zero(y))),
)
defvjp(
    anp.multiply,
    lambda ans, x, y: unbroadcast_f(x, lambda g: _still(g, y * g, _infinite(y))),
    lambda ans, x, y: unbroadcast_f(y, lambda g: _still(g, x * g, _infinite(x))),
)
defvjp(anp.log, lambda ans, x: lambda g: _still(g, g / x, _zero(x)))


def _known(x: Any, test: Callable[[Any], Any]) -> bool:
    """Whether numbers that are no symbols pass a test, all of them."""
    return not isbox(x) and not isinstance(x, Symbol) and bool(np.all(test(x)))


def _power_slope(x: Any, y: Any) -> Any:
    """Return the slope of x to the y in x: zero, where x is, if it is infinite there.

    A zero that depends on parameters is one by its form, as a dose of zero over its scale, and
    does not move with them. An infinite slope would make a NaN of that.
    """
    less = anp.where(y, y - 1, 1.0)
    if _known(y, lambda y: (y >= 1) | (y == 0)) or _known(x, lambda x: x != 0):
        return y * x**less
    steep = anp.logical_and(anp.equal(x, 0.0), anp.less(y, 1.0))
    return where(steep, 0.0, y * where(steep, 1.0, x) ** less)


def _exponent_slope(ans: Any, x: Any) -> Any:
    """Return the slope of x to the y in y, zero where x is."""
    if _known(x, lambda x: x != 0):
        return anp.log(x) * ans
    zero = anp.equal(x, 0.0)
    return anp.log(where(zero, 1.0, x)) * where(zero, 0.0, ans)


def _root_slope(ans: Any) -> Any:
    """Return the slope of a square root, zero where the root is: see `_power_slope`."""
    zero = anp.equal(ans, 0.0)
    return where(zero, 0.0, 0.5 / where(zero, 1.0, ans))


defvjp(
    anp.power,
    lambda ans, x, y: unbroadcast_f(x, lambda g: g * _power_slope(x, y)),
    lambda ans, x, y: unbroadcast_f(y, lambda g: g * _exponent_slope(ans, x)),
)
defvjp(anp.sqrt, lambda ans, x: lambda g: g * _root_slope(ans))


def _slope_of_tanh(x: Any) -> Any:
    """Return the slope of tanh: zero where the square of cosh is infinite, so that its own is."""
    far = anp.greater(anp.abs(x), _FAR_OUT)
    return where(far, 0.0, 1.0 / anp.cosh(where(far, 0.0, x)) ** 2)


defvjp(anp.tanh, lambda ans, x: lambda g: g * _slope_of_tanh(x))


def _parts(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """Return the derivatives of joined arrays: of each, the part of ``g`` in its place."""
    axis, *arrays = args
    shapes = [x.shape if hasattr(x, "shape") else np.shape(x) for x in arrays]
    ends = np.cumsum([shape[axis] for shape in shapes]).tolist()
    before = (slice(None),) * (axis % np.ndim(ans))
    slices = {i: (*before, slice(ends[i - 1] - shapes[i - 1][axis], ends[i - 1])) for i in argnums}
    return lambda g: tuple(g[slices[i]] for i in argnums)


# That of autograd adds up the sizes anew for each array, which takes minutes for many thousands.
defvjp_argnums(anp.concatenate_args, _parts)
defvjp(taken, lambda ans, x, index: lambda g: placed(g, index, np.shape(x)), argnums=(0,))
defvjp(placed, lambda ans, g, index, shape: lambda h: taken(h, index), argnums=(0,))


class SymbolBox(ArrayBox):  # type: ignore[misc]
    """A symbol that autograd follows."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return taken(self, positions(anp.shape(self))[index])


class SymbolSpace(ArrayVSpace):  # type: ignore[misc]
    """What autograd knows of arrays of a symbol's shape."""

    def __init__(self, symbol: Symbol) -> None:
        self.shape, self.dtype = symbol.shape, np.dtype(float)


SymbolBox.register(Symbol)
VSpace.register(Symbol, SymbolSpace)


def gradient_of(function: Callable[..., Any], *xs: Symbol) -> tuple[Any, list[Any]]:
    """Write down a function that is one number, and its derivatives, at some symbols.

    Raises a `NotDifferentiableError` from what a rule of derivation raises.
    """
    roots = [VJPNode.new_root() for _ in xs]
    with alone(), trace_stack.new_trace() as number:
        end = function(*(new_box(x, number, root) for x, root in zip(xs, roots, strict=True)))
    if not isbox(end):
        return end, [np.zeros(x.shape) for x in xs]
    value, last = end._value, end._node
    slopes: dict[Any, Any] = {last: np.ones(())}
    for node in toposort(last):
        slope = slopes[node] if node in roots else slopes.pop(node)
        try:
            with alone():
                parts = tuple(node.vjp(slope))
        except Exception as error:
            raise NotDifferentiableError(node, error) from error
        for parent, part in zip(node.parents, parts, strict=True):
            slopes[parent] = part if parent not in slopes else slopes[parent] + part
    return value, [slopes.get(r, np.zeros(x.shape)) for x, r in zip(xs, roots, strict=True)]
