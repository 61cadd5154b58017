"""Symbols that answer to Python's operators and to NumPy's functions by recording the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from probmodel.errors import Located, Location, ModelError
from probmodel.expressions.advice import instead_of, not_a_function
from probmodel.expressions.array_calls import ARRAY_CALLS, array_call
from probmodel.expressions.array_methods import ArrayMethods
from probmodel.expressions.location import call_error, caller_location, calling_library
from probmodel.expressions.operations import (
    OPERATIONS,
    Operation,
    operation_for,
    operation_for_ufunc,
)
from probmodel.expressions.running_code import array_refusal

# What to write in the place of functions that need values.
LIBRARIES = {
    "scipy.stats": "declare distributions of probmodel.distributions by param(...) or "
    "observed(...), or write log_density(Normal(mu, sigma), y) of probmodel.functions",
    "scipy.special": "logsumexp, softmax and log_softmax are in probmodel.functions; gammaln, "
    "betaln, psi, expit, logit, log_expit, erf, erfc, erfinv, ndtr, log_ndtr, ndtri, xlogy, "
    "xlog1py, i0e and i1e take symbols",
    "scipy.linalg": "np.linalg.cholesky, np.linalg.solve, np.linalg.inv, np.linalg.det and @ take "
    "symbols, and log_determinant is in probmodel.functions",
    "scipy.signal": "linear_recurrence and scan of probmodel.functions filter series",
    "scipy.interpolate": "use interpolate of probmodel.functions",
    "scipy.integrate": "use solve_ode or integrate_1d of probmodel.functions, or np.trapezoid",
    "scipy.optimize": "use solve_newton of probmodel.functions",
}


class SymbolAttributeError(ModelError, AttributeError):
    """A symbol was asked for an attribute that it does not have."""


def _left(name: str) -> Callable[[Expression, Any], Apply]:
    """Return the method of an operator with a symbol on its left."""

    def applied(self: Expression, other: Any) -> Apply:
        return Apply(OPERATIONS[name], (self, other))

    return applied


def _right(name: str) -> Callable[[Expression, Any], Apply]:
    """Return the method of an operator with a symbol on its right, and none on its left."""

    def applied(self: Expression, other: Any) -> Apply:
        return Apply(OPERATIONS[name], (other, self))

    return applied


class Expression(Located, ArrayMethods):
    """A quantity of a model that has no value yet.

    Operators, indexing and the NumPy functions listed in the documentation build a graph of
    expressions. Everything that would need a value raises a `ModelError` at the line that asked.
    """

    __array_priority__ = 1000.0
    __pandas_priority__ = 5000  # above that of data frames: what they meet is this class's to do
    __hash__ = object.__hash__

    def __init__(self, location: Location | None = None) -> None:
        self.location = location if location is not None else caller_location()

    # -- NumPy's protocols ---------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:
            _refuse("in-place assignment to a symbol", "write `a = a + b` instead of `a += b`")
        if method != "__call__":
            _refuse(
                f"np.{ufunc.__name__}.{method}", "use np.sum, np.prod, np.max or np.cumsum instead"
            )
        if kwargs:
            _refuse(f"np.{ufunc.__name__} with {next(iter(kwargs))}=", "np.where chooses elements")
        if ufunc in ARRAY_CALLS:
            return array_call(ufunc, _recorded, inputs, {})
        return Apply(operation_for_ufunc(ufunc), inputs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        if func in ARRAY_CALLS:
            return array_call(func, _recorded, args, kwargs)
        return apply(operation_for(func), *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        _refuse(*array_refusal())

    # -- operators -----------------------------------------------------------------------------

    def _unless_left_alone(self, name: str, other: Any) -> Any:
        """Apply an operator, but let what NumPy leaves alone, such as a kernel, do it itself."""
        if getattr(type(other), "__array_ufunc__", True) is None:
            return NotImplemented
        return Apply(OPERATIONS[name], (self, other))

    def __add__(self, other: Any) -> Any:
        return self._unless_left_alone("add", other)

    def __mul__(self, other: Any) -> Any:
        return self._unless_left_alone("multiply", other)

    def __neg__(self) -> Apply:
        return Apply(OPERATIONS["negative"], (self,))

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Apply:
        return Apply(OPERATIONS["absolute"], (self,))

    def __invert__(self) -> Apply:
        return Apply(OPERATIONS["logical_not"], (self,))

    def __getitem__(self, index: Any) -> Apply:
        return Apply(OPERATIONS["getitem"], (self, index))

    __radd__ = _right("add")
    __rmul__ = _right("multiply")
    __sub__, __rsub__ = _left("subtract"), _right("subtract")
    __truediv__, __rtruediv__ = _left("divide"), _right("divide")
    __pow__, __rpow__ = _left("power"), _right("power")
    __matmul__, __rmatmul__ = _left("matmul"), _right("matmul")
    __mod__, __rmod__ = _left("remainder"), _right("remainder")
    __and__, __rand__ = _left("logical_and"), _right("logical_and")
    __or__, __ror__ = _left("logical_or"), _right("logical_or")
    __lt__, __gt__ = _left("less"), _left("greater")
    __le__, __ge__ = _left("less_equal"), _left("greater_equal")
    __eq__, __ne__ = _left("equal"), _left("not_equal")  # type: ignore[assignment]

    # -- what a symbol cannot do ---------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        _refuse(
            "`if`, `and`, `or`, min(), max() or bool() on a symbol",
            "a model has no branches: choose element by element with np.where(condition, a, b), "
            "np.minimum(a, b) or np.maximum(a, b)",
        )

    def __iter__(self) -> Iterator[Any]:
        _refuse(
            "a loop over a symbol (for, list(), sum(), min(), unpacking)",
            "take its elements by index, as in `S, I = y[0], y[1]`, or write whole-array "
            "expressions, such as 2 * a, np.sum(a), np.max(a) or a[1:] - a[:-1]",
        )

    def __len__(self) -> NoReturn:
        _refuse("len() of a symbol", "its size is known only when data is bound; name it with dims")

    def __float__(self) -> NoReturn:
        _refuse(
            "a symbol as a plain number, for float(), a function of the math module or an element "
            "of a NumPy array (h[0] = a),",
            "use NumPy's functions, such as np.exp in the place of math.exp, and collect elements "
            "in a list, np.stack([a, b]), or join them with np.concatenate or scan",
        )

    __complex__ = __float__

    def __int__(self) -> NoReturn:
        _refuse(
            "a symbol as a whole number (int(), range(), a size or an index of a list)",
            "sizes are integer data, data(dtype=int), and symbols are indices of symbols only; "
            "arange, zeros, ones, full, eye and linspace of probmodel.functions take such sizes",
        )

    __index__ = __trunc__ = __int__

    def __round__(self, digits: int | None = None) -> NoReturn:
        _refuse("round() of a symbol", "round draws of it afterwards; np.round(a) is a step")

    def __format__(self, form: str) -> str:
        if form:
            _refuse(
                f"printing a symbol in the format {form!r}",
                "it has no value yet; format draws of it afterwards",
            )
        return repr(self)

    def __xor__(self, other: Any) -> NoReturn:
        _refuse("a ^ b with a symbol", "a power is a ** b, and logical operators are & | ~")

    __rxor__ = __xor__

    def __floordiv__(self, other: Any) -> NoReturn:
        _refuse("a // b with a symbol", "write np.floor(a / b)")

    __rfloordiv__ = __divmod__ = __rdivmod__ = __floordiv__

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        _refuse(
            "in-place assignment to a symbol",
            "build the array with np.concatenate, np.stack or np.where",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to be called, as the function of its name would be."""
        if calling_library():  # pandas calls what it is indexed by, if that can be called
            self.__array__()
        raise call_error(not_a_function(repr(self)), symbol=self)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        instead = instead_of(name) or (
            f"np.{name}(a)" if name in OPERATIONS else "NumPy's functions"
        )
        raise SymbolAttributeError(
            f"a symbol has no attribute {name!r}: it has no value yet. Use {instead}; sizes and "
            "axes are named by dims.",
            location=caller_location(),
            attribute=name,
        )

    # A symbol is what it is by its identity, and never changes: it is its own copy.

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class Constant(Expression):
    """A number or an array written in the model."""

    def __init__(self, value: Any, location: Location | None = None) -> None:
        super().__init__(location)
        self.value = settle(value)


class Symbol(Expression):
    """A named leaf: data or a parameter."""

    def __init__(self, name: str | None = None, location: Location | None = None) -> None:
        super().__init__(location)
        self.name = name


class FreeSymbol(Symbol):
    """The unconstrained value behind a parameter; unlike other symbols it knows its shape."""

    def __init__(self, name: str, shape: tuple[int, ...], location: Location | None = None) -> None:
        super().__init__(name, location)
        self.shape = shape


class Apply(Expression):
    """An operation applied to arguments, which may be nested in tuples, lists and slices.

    ``name`` is set when the model gives the expression a name of its own. ``doubt`` says what a
    value that is not a number stands for, where the operation itself says little.
    """

    name: str | None = None
    doubt: str | None = None

    def __init__(
        self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> None:
        super().__init__()
        if operation.elementwise:
            args = tuple(map(_numbers, args))
        self.operation = operation
        self.args: tuple[Any, ...] = settle(args)
        self.kwargs: dict[str, Any] = settle(kwargs or {})


def _recorded(name: str, *operands: Any, **options: Any) -> Apply:
    return Apply(OPERATIONS[name], operands, options)


def apply(operation: Operation, *args: Any, **kwargs: Any) -> Apply:
    """Record a call, with keyword spellings of array arguments made positional.

    Lists among arrays that are joined become arrays, as NumPy has it: ``[[x], y]``.
    """
    operands, options = operation.normalise(args, kwargs)
    if operation.name == "where" and len(operands) != 3:
        _refuse(
            "np.where(condition) of a symbol, which returns the places where it holds,",
            "how many there are may vary: choose element by element with np.where(condition, a, "
            "b), and find places in data before, np.flatnonzero(x > 0)",
        )
    if operation.operands == ("arrays",) and isinstance(operands[0], list | tuple):
        operands = ([_as_array(part) for part in operands[0]],)
    return Apply(operation, operands, options)


def _as_array(value: Any) -> Any:
    """Return a list that has symbols in it as an array, and anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    parts = [_as_array(part) for part in value]
    symbolic = any(isinstance(part, Expression) for part in parts)
    return Apply(OPERATIONS["stack"], (parts,)) if symbolic else value


def _numbers(value: Any) -> Any:
    """Return a list of numbers as an array, and anything else as it is."""
    if not isinstance(value, list | tuple):
        return value
    try:
        array = np.array(value)
    except (ValueError, TypeError, ModelError):  # ragged, or with symbols
        return value
    return array if array.dtype.kind in "biuf" else value


def of_data(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return a function of arguments that must come from data, symbolic or not.

    It is computed when data is bound, and is an array from then on; ``name`` is how it is printed.
    """
    if not any(isinstance(arg, Expression) for arg in args):
        return function(*args)
    return Apply(Operation(name, function, static=True), args)


def as_expression(value: Any) -> Expression:
    """Return ``value`` itself if it is symbolic, else a constant."""
    return value if isinstance(value, Expression) else Constant(value)


def call_of(
    function: Any, args: Sequence[Any], event_ndims: Sequence[int], primitive: Any = None
) -> Apply:
    """Record a call of a function of ``xp`` and of arguments with so many event axes each."""
    options = {"function": function, "event_ndims": tuple(event_ndims), "primitive": primitive}
    return Apply(OPERATIONS["call"], tuple(map(as_expression, args)), options)


def settle(value: Any) -> Any:
    """Return what a call is given as it is now, out of reach of later changes by the caller.

    Arrays, and what NumPy makes arrays of, become arrays that nobody can write to, also inside
    lists, tuples, dicts and slices. Raises a `ModelError` if it says by ``refused_as_value`` that
    it is no value: a distribution that was not declared, for instance.
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, list | tuple):
        kind = list if isinstance(value, list) else tuple
        return kind(settle(item) for item in value)
    if isinstance(value, dict):
        return {key: settle(item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(settle(value.start), settle(value.stop), settle(value.step))
    if hasattr(type(value), "refused_as_value"):
        raise call_error(value.refused_as_value(), given=value)
    if isinstance(value, np.generic) or not hasattr(value, "__array__"):
        return value
    if isinstance(value, np.ndarray) and not value.flags.writeable and value.base is None:
        return value  # settled before
    try:
        copy = np.array(value)
    except TypeError as error:  # ArviZ's trees have the method, to say that they cannot
        what = f"{type(value).__name__} is not a number or an array."
        raise call_error(what, given=value) from error
    copy.setflags(write=False)
    return copy


def _refuse(what: str, instead: str) -> NoReturn:
    library = calling_library()
    if library.startswith("scipy"):
        what, instead = f"a function of {library} on a symbol", LIBRARIES.get(library, instead)
    raise call_error(
        f"{what} is not possible while the model is declared; {instead}.", operation=what
    )
