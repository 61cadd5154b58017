"""Symbolic arrays of one chain: NumPy's functions, and autograd's rules, write a program with them.

A `Symbol` is an operation with its operands and carries its value at one point, which tells shape
and type. NumPy's functions, the special functions of this package, and autograd's derivative rules,
which are made of these, take symbols for arrays, through NumPy's protocols; what they return is the
next operation. So a log density that is evaluated once at a symbol is written down, and so is its
gradient, by `differentiation`. Whatever no symbol touches is computed on the spot.

Few operations are left, however a formula is written:

    elementwise   functions of numbers, see `ELEMENTWISE`; operands broadcast
    view          the elements of another array in some order: any reshape, slice, index, transpose,
                  repetition or broadcast
    place         zeros, with the elements of another array added at some places
    sum, max, min over some axes
    recurrence    y[t] = x[t] + sum_k a_k[t] y[t-1-k] along the last axis, from either end
    matmul        known matrix times vector
    factor, solve, product    of stacks of matrices: Cholesky factors, triangular systems, products
    equations, determinant    of stacks of square matrices of any kind
    hidden Markov    log likelihoods of series, with all their derivatives
    call    a function in NumPy, of arrays that lead with chains; see `python_calls`
    scan    a recurrence of any kind; see `scans`
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from autograd.tracer import isbox

from probmodel.numerics.special import Recorded
from probmodel.types import Array

# Functions of numbers, by the name of NumPy's or SciPy's function.
ELEMENTWISE = frozenset(
    {
        "add", "subtract", "multiply", "divide", "power", "negative", "absolute", "square", "sqrt",
        "reciprocal", "sign", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
        "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh",
        "arccosh", "arctanh", "maximum", "minimum", "logaddexp", "floor", "ceil", "remainder",
        "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
        "logical_or", "logical_not", "isnan", "isfinite", "isinf", "where", "gammaln", "psi",
        "zeta", "expit", "log_expit", "erf", "erfc", "ndtr", "log_ndtr", "ndtri", "erfcx", "betaln",
        "gammainc", "gammaincc", "i0e", "i1e",
    }
)  # fmt: skip
_NAMES = {
    "true_divide": "divide", "abs": "absolute", "fabs": "absolute", "mod": "remainder",
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not",
}  # fmt: skip
_IDENTITIES = frozenset({"positive", "conjugate", "real"})


# What functions do with symbols: those of NumPy, reductions by their ufunc, and special functions
# of this package, by name. `array_functions` and `formulas` have them.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {}
FORMULAS: dict[str, Callable[..., Any]] = {}


class NotTraceableError(Exception):
    """A function that no operation stands for."""


class RareCases(threading.local):
    """Whether special functions write down formulas of rare cases, though no element may be one.

    On numbers they ask first whether any element is, and leave the formula out if not. A formula
    that is written down must serve all.
    """

    always = False

    @contextmanager
    def included(self) -> Iterator[None]:
        """Have them all written down."""
        before, self.always = self.always, True
        try:
            yield
        finally:
            self.always = before


RARE_CASES = RareCases()


def _unary(ufunc: Any) -> Any:
    return lambda a: ufunc(a)


def _binary(ufunc: Any) -> tuple[Any, Any]:
    """Return an operator, and the one for operands that are the other way round."""
    return lambda a, b: ufunc(a, b), lambda a, b: ufunc(b, a)


class Symbol(Recorded):
    """An operation of a program, and its value at one point.

    Attributes
    ----------
    op : name of the operation; ``"input"`` for what is given
    args : operands: symbols, and arrays that are known
    index : of views and places, the positions of the elements, flat; of reductions the axes; of
        calls the function
    value : at one point
    """

    __array_priority__ = 1000.0

    def __init__(self, op: str, args: tuple[Any, ...], value: Array, index: Any = None) -> None:
        self.op, self.args, self.value, self.index = op, args, np.asarray(value), index

    def with_args(self, args: tuple[Any, ...]) -> Symbol:
        """Return the same operation of other operands; itself if they are its own."""
        same = all(a is b for a, b in zip(args, self.args, strict=True))
        return self if same else Symbol(self.op, args, self.value, self.index)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.value.shape

    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: np.transpose(self))

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return f"<{self.op} {self.shape}>"

    __hash__ = object.__hash__  # as fast as may be: programs are walked through by sets

    def __bool__(self) -> bool:
        raise NotTraceableError("a formula asks whether a value that is not known is true")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotTraceableError("a formula asks for numbers of a value that is not known")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if any(isbox(a) for a in args):
            return NotImplemented
        if method == "reduce" and ufunc in REDUCTIONS:
            return REDUCTIONS[ufunc](*args, **kwargs)
        if method != "__call__" or kwargs:
            raise NotTraceableError(f"np.{ufunc.__name__}.{method} with {', '.join(kwargs)}")
        return record(ufunc.__name__, ufunc, args)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if function not in FUNCTIONS:
            raise NotTraceableError(f"np.{function.__name__}")
        return FUNCTIONS[function](*args, **kwargs)

    def record(self, function: Callable[..., Any], args: tuple[Any, ...], **kwargs: Any) -> Any:
        """Write down a special function of this package."""
        own = FORMULAS.get(function.__name__)
        if own is not None:
            return own(*args, **kwargs)
        if not function.__module__.startswith("probmodel.numerics.special"):
            raise NotTraceableError(function.__name__)
        with RARE_CASES.included():
            return function(*args, **kwargs)

    __eq__ = _binary(np.equal)[0]
    __ne__ = _binary(np.not_equal)[0]
    __invert__ = _unary(np.logical_not)
    __neg__ = _unary(np.negative)
    __abs__ = _unary(np.absolute)
    __add__, __radd__ = _binary(np.add)
    __sub__, __rsub__ = _binary(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.divide)
    __pow__, __rpow__ = _binary(np.power)
    __matmul__, __rmatmul__ = _binary(np.matmul)
    __and__, __rand__ = _binary(np.logical_and)
    __or__, __ror__ = _binary(np.logical_or)
    __lt__, __gt__ = _binary(np.less)
    __le__, __ge__ = _binary(np.less_equal)

    def __getitem__(self, index: Any) -> Any:
        return view(self, positions(self.shape)[index])

    def reshape(self, *shape: Any) -> Any:
        """Return the elements in another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def astype(self, dtype: Any) -> Symbol:
        """Return the symbol: all numbers are floating-point numbers."""
        return self

    view = astype

    def swapaxes(self, first: int, second: int) -> Any:
        """Return the elements with two axes swapped."""
        return np.swapaxes(self, first, second)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Sum over axes."""
        return np.sum(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None) -> Any:
        """Whether all elements along some axes are true."""
        return np.all(self) if axis is None else np.min(np.not_equal(self, 0.0), axis=axis)

    def any(self, axis: Any = None) -> Any:
        """Whether an element along some axes is true."""
        return np.any(self) if axis is None else np.max(np.not_equal(self, 0.0), axis=axis)


def value_of(x: Any) -> Any:
    """Return the value of a symbol at its point, or an array as it is."""
    return x.value if isinstance(x, Symbol) else x


def positions(shape: Sequence[int]) -> Array:
    """Return the flat position of each element of an array of a shape."""
    return np.arange(prod(shape)).reshape(shape)


# -- operations ------------------------------------------------------------------------------------


def record(name: str, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Write down a function of numbers, and simplify it where that is plain."""
    name = _NAMES.get(name, name)
    if name in _IDENTITIES:
        return args[0]
    if isinstance(function, np.ufunc) and function in FUNCTIONS:
        return FUNCTIONS[function](*args)
    if name not in ELEMENTWISE:
        raise NotTraceableError(name)
    args = tuple(a if isinstance(a, Symbol) else np.asarray(a, dtype=float) for a in args)
    if len(args) == 1 and _repeats(args[0]):
        return view(record(name, function, args[0].args), args[0].index)
    function = getattr(np, name) if name.startswith("logical") else function
    with np.errstate(all="ignore"):
        value = np.asarray(function(*map(value_of, args)), dtype=float)
    if not value.size:
        return value
    plain = _plain(name, args, value)
    return Symbol(name, args, value) if plain is None else plain


def _repeats(x: Any) -> bool:
    """Whether elements are those of a smaller array, each of them once or more."""
    if not isinstance(x, Symbol) or x.op != "view" or x.size <= x.args[0].size:
        return False
    return bool(np.bincount(x.index.reshape(-1), minlength=x.args[0].size).all())


def _plain(name: str, args: tuple[Any, ...], value: Array) -> Any:
    """Return something simpler that is the same, or None."""
    known = [None if isinstance(a, Symbol) else _number(a) for a in args]
    shape = value.shape
    if name in ("add", "multiply"):
        neutral = 0.0 if name == "add" else 1.0
        for i in (0, 1):
            if known[i] == neutral:
                return spread(args[1 - i], shape)
            if name == "multiply" and known[i] == -1.0:
                return np.negative(spread(args[1 - i], shape))
        if name == "add" and any(isinstance(a, Symbol) and a.op == "place" for a in args):
            return _placed_sum(args[0], args[1], value)
    if name == "subtract" and known[1] == 0.0:
        return spread(args[0], shape)
    if name == "subtract" and known[0] == 0.0:
        return np.negative(spread(args[1], shape))
    if name == "divide":
        if known[1] is not None and known[1] != 0.0:
            return args[0] * (1.0 / known[1]) if known[1] != 1.0 else spread(args[0], shape)
        if isinstance(args[1], Symbol) and args[1].size < value.size:
            return args[0] * np.reciprocal(args[1])
    if name == "power" and known[1] is not None:
        return _power(args[0], known[1], shape)
    if name == "negative" and args[0].op == "negative":
        return args[0].args[0]
    return None


def _power(x: Symbol, exponent: float, shape: tuple[int, ...]) -> Any:
    x = spread(x, shape)
    if exponent == 0.0:
        return np.ones(shape)
    simple: dict[float, Callable[[Any], Any]] = {
        1.0: lambda x: x,
        2.0: np.square,
        3.0: lambda x: x * np.square(x),
        4.0: lambda x: np.square(np.square(x)),
        0.5: np.sqrt,
        -1.0: np.reciprocal,
        -2.0: lambda x: np.reciprocal(np.square(x)),
        -0.5: lambda x: np.reciprocal(np.sqrt(x)),
    }
    return simple[exponent](x) if exponent in simple else None


def _number(array: Array) -> float | None:
    """Return the number that an array consists of, or None."""
    if not array.size:
        return None
    first = float(array.flat[0])
    return first if array.size == 1 or bool(np.all(array == first)) else None


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """Broadcast to a shape."""
    if np.shape(x) == shape:
        return x
    if not isinstance(x, Symbol):
        return np.broadcast_to(x, shape)
    return view(x, np.broadcast_to(positions(x.shape), shape))


def view(x: Any, index: Array) -> Any:
    """Return the elements of ``x`` at flat positions."""
    index = np.asarray(index)
    if not index.size:
        return np.zeros(index.shape)
    if not isinstance(x, Symbol):
        return np.asarray(x).reshape(-1)[index]
    if x.op == "view":
        x, index = x.args[0], x.index.reshape(-1)[index]
    if index.shape == x.shape and np.array_equal(index.reshape(-1), np.arange(x.size)):
        return x
    return Symbol("view", (x,), x.value.reshape(-1)[index], index)


def place(g: Any, index: Array, shape: tuple[int, ...]) -> Any:
    """Return zeros of a shape to which the elements of ``g`` are added at flat positions."""
    values = np.zeros(prod(shape))
    np.add.at(values, index.reshape(-1), np.asarray(value_of(g)).reshape(-1))
    values = values.reshape(shape)
    if not isinstance(g, Symbol) or not index.size:
        return values
    if g.op == "place":
        flat = index.reshape(-1)
        return Symbol("place", g.args, values, tuple(flat[own] for own in g.index))
    return Symbol("place", (g,), values, (index,))


def _placed_sum(a: Any, b: Any, value: Array) -> Any:
    """Return the sum of two arrays, of which one at least has parts in their places, as such."""
    parts: list[Any] = []
    places: list[Any] = []
    for x in (a, b):
        x = spread(x, value.shape)
        if not isinstance(x, Symbol):
            return None
        own = x.op == "place"
        parts += x.args if own else (x,)
        places += x.index if own else (positions(value.shape),)
    return Symbol("place", tuple(parts), value, tuple(places))
