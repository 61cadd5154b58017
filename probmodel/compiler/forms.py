"""Arrays as known factors times cores: what is the same along an axis is computed once.

Machine code runs many operations at each element; NumPy runs one at all elements. So factors that
are numbers are put together, and multiplied once with what is small; operations see cores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.compiler.patterns import first_along, repeated_axes, without_ones
from probmodel.compiler.symbols import Symbol, positions
from probmodel.types import Array

_FACTOR = 2.0**60  # factors between this and its reciprocal are put together


@lru_cache(maxsize=1024)
def _of_shape(shape: tuple[int, ...]) -> Array:
    """Return an array that stands for the values, which are not known."""
    return np.broadcast_to(0.0, shape)


class Form(NamedTuple):
    """An array of a shape, as a number times a core that is broadcast to it.

    Attributes
    ----------
    number : a factor
    core : a symbol, or an array that is known; its axes have length one, or are missing in front,
        where all elements are the same
    shape : of the array
    """

    number: float
    core: Any
    shape: tuple[int, ...]


class Cores:
    """The operations of a program, of which none stands twice.

    Symbols have no values but shapes.
    """

    def __init__(self) -> None:
        self._forms: dict[Symbol, Form] = {}
        self._made: dict[Any, Symbol] = {}
        self._known: dict[Any, Array] = {}
        self._same: dict[int, tuple[Array, Array]] = {}  # by identity of arrays that are kept
        self._scaled: dict[Symbol, Form] = {}  # products with a number, taken apart
        self._products: set[Symbol] = set()  # and sums of such: they are added up as products
        self._depth = 0  # of sums that are taken apart

    def of(self, x: Any) -> Form:
        """Return the form of a symbol that is written down, or of an array that is known."""
        if isinstance(x, Symbol):
            return self._forms[x]
        x = np.asarray(x, dtype=float)
        return Form(1.0, self._kept(_compressed(x)), x.shape)

    def made(self, op: str, args: Sequence[Any], shape: tuple[int, ...], index: Any = None) -> Any:
        """Return an operation, always the same one for the same operands."""
        args = tuple(a if isinstance(a, Symbol) else self._kept(a) for a in args)
        key = op, shape, tuple(map(id, args)), key_of(index)
        if key not in self._made:
            self._made[key] = made = Symbol(op, args, _of_shape(shape), index)
            if op in ("multiply", "square") or (
                op in ("add", "subtract")
                and any(not isinstance(a, Symbol) or self._core(a) in self._products for a in args)
            ):
                self._products.add(made)
        return self._made[key]

    def _core(self, x: Symbol) -> Symbol:
        """Return what is multiplied with a number, or the symbol itself."""
        core: Symbol = self._scaled[x].core if x in self._scaled else x
        return core

    def _kept(self, array: Any) -> Array:
        if id(array) not in self._same:
            numbers = np.asarray(array, dtype=float)
            kept = self._known.setdefault((numbers.shape, numbers.tobytes()), numbers)
            self._same[id(array)] = kept, array
        return self._same[id(array)][0]

    def lean(self, x: Symbol) -> Form:
        """Return the form of a symbol: its leading axes of length one are left out."""
        return Form(1.0, self.reshaped(x, without_ones(x.shape)), x.shape)

    def reshaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Return the elements in another shape, of the same size."""
        if x.shape == shape:
            return x
        return self._viewed(x, positions(shape)) if isinstance(x, Symbol) else x.reshape(shape)

    def _viewed(self, x: Symbol, index: Array) -> Symbol:
        if x.op == "view":
            x, index = x.args[0], x.index.reshape(-1)[index]
        if index.shape == x.shape and np.array_equal(index.reshape(-1), np.arange(x.size)):
            return x
        made: Symbol = self.made("view", (x,), index.shape, index)
        return made

    def scaled(self, form: Form) -> Any:
        """Return the core times the number."""
        number, core, _ = form
        if number == 1.0:
            return core
        if not isinstance(core, Symbol):
            return self._kept(number * core)
        if number == -1.0:
            made = self.made("negative", (core,), core.shape)
        else:
            made = self.made("multiply", (np.asarray(number), core), core.shape)
        self._scaled[made] = form
        return made

    def full(self, form: Form) -> Any:
        """Return the array with all its elements."""
        x = self.scaled(form)
        if x.shape == form.shape:
            return x
        if not isinstance(x, Symbol):
            return np.broadcast_to(x, form.shape)
        return self._viewed(x, np.broadcast_to(positions(x.shape), form.shape))

    def taken(self, form: Form, index: Array) -> Form:
        """Return the elements at flat positions; those that are repeated along an axis once."""
        number, core, shape = form
        if not isinstance(core, Symbol):
            return self.of(np.broadcast_to(self.scaled(form), shape).reshape(-1)[index])
        own = index
        if core.size != prod(shape):
            own = np.broadcast_to(positions(core.shape), shape).reshape(-1)[index]
        own = first_along(own, repeated_axes(own))
        own = own.reshape(without_ones(own.shape))
        return Form(number, self._viewed(core, own), index.shape)


class Arithmetic(Cores):
    """Functions of numbers, of forms."""

    def elementwise(self, name: str, forms: Sequence[Form], shape: tuple[int, ...]) -> Form:
        """Return a function of numbers, by its name; an array of a shape."""
        own = _ARITHMETIC.get(name)
        form = None if own is None else own(self, *forms)
        return self._plain(name, forms, shape) if form is None else form._replace(shape=shape)

    def _plain(self, name: str, forms: Sequence[Form], shape: tuple[int, ...]) -> Form:
        """Return a function of arrays as they are; of fewer elements, if it takes repeated ones."""
        args = [self.scaled(f) for f in forms]
        own = [a for a in args if isinstance(a, Symbol)]
        others = [a for a in args if not isinstance(a, Symbol) and a.ndim]
        source = _gathered(self._core(own[0]))
        if len(own) == 1 and not others and source is not None:
            number = self._scaled[own[0]].number if own[0] in self._scaled else 1.0
            inner = self.scaled(Form(number, source.args[0], source.args[0].shape))
            before = [inner if a is own[0] else a for a in args]
            found = self.made(name, before, inner.shape)
            return Form(1.0, self._viewed(found, source.index), shape)
        core = self.made(name, args, np.broadcast_shapes(*(a.shape for a in args)))
        return Form(1.0, core, shape)

    def multiply(self, a: Form, b: Form) -> Form:
        """Return a product; factors that are known numbers are taken out."""
        a, b = _number_out(a), _number_out(b)
        number, shape = a.number * b.number, np.broadcast_shapes(a.shape, b.shape)
        for one, other in ((a, b), (b, a)):
            if not isinstance(one.core, Symbol) and not one.core.ndim and one.core == 1.0:
                return Form(number, other.core, shape)
        if a.core is b.core:
            return Form(number, self.made("square", (a.core,), a.core.shape), shape)
        cores = np.broadcast_shapes(a.core.shape, b.core.shape)
        return Form(number, self.made("multiply", (a.core, b.core), cores), shape)

    def divide(self, a: Form, b: Form) -> Form | None:
        """Return a quotient; known numbers are divided by beforehand."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        if not isinstance(b.core, Symbol):
            with np.errstate(all="ignore"):
                inverse = 1.0 / self.scaled(b)
            if np.all(np.isfinite(inverse)) and np.all(inverse != 0.0):
                return self.multiply(a, Form(1.0, self._kept(inverse), b.shape))
            return None
        a = _number_out(a)
        number = a.number / b.number
        if not isinstance(a.core, Symbol) and not a.core.ndim and a.core == 1.0:
            return Form(number, self.made("reciprocal", (b.core,), b.core.shape), shape)
        cores = np.broadcast_shapes(a.core.shape, b.core.shape)
        return Form(number, self.made("divide", (a.core, b.core), cores), shape)

    def add(self, a: Form, b: Form) -> Form:
        """Return a sum; a factor that both have is taken out."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        if a.core is b.core and a.number * b.number > 0.0:
            return Form(a.number + b.number, a.core, shape)
        cores = np.broadcast_shapes(a.core.shape, b.core.shape)
        known = not (isinstance(a.core, Symbol) and isinstance(b.core, Symbol))
        if abs(a.number) == abs(b.number) and not known:
            op = "add" if a.number == b.number else "subtract"
            return Form(a.number, self.made(op, (a.core, b.core), cores), shape)
        if a.number < 0.0 < b.number and isinstance(a.core, Symbol):
            a, b = b, a
        if b.number < 0.0 and isinstance(b.core, Symbol):
            args = self.scaled(a), self.scaled(b._replace(number=-b.number))
            return Form(1.0, self.made("subtract", args, cores), shape)
        return Form(1.0, self.made("add", (self.scaled(a), self.scaled(b)), cores), shape)

    def log_expit(self, x: Form) -> Form:
        """Return the logarithm of the logistic function by `logaddexp`, which other terms have."""
        turned = self.scaled(x._replace(number=-x.number))
        core = self.made("logaddexp", (np.zeros(()), turned), turned.shape)
        return Form(-1.0, core, x.shape)

    def where(self, condition: Form, a: Form, b: Form) -> Form | None:
        """Return a choice; a factor that both have is taken out."""
        number = b.number if _is_zero(a) else a.number
        if number == 1.0 or not (_is_zero(a) or _is_zero(b) or a.number == b.number):
            return None
        plain = [condition, a._replace(number=1.0), b._replace(number=1.0)]
        return self._plain("where", plain, ())._replace(number=number)


_ARITHMETIC: dict[str, Callable[..., Form | None]] = {
    "multiply": Arithmetic.multiply,
    "divide": Arithmetic.divide,
    "add": Arithmetic.add,
    "where": Arithmetic.where,
    "log_expit": Arithmetic.log_expit,
    "subtract": lambda forms, a, b: forms.add(a, b._replace(number=-b.number)),
    "negative": lambda forms, a: a._replace(number=-a.number),
    "square": lambda forms, a: forms.multiply(a, a),
    "reciprocal": lambda forms, a: forms.divide(Form(1.0, np.ones(()), ()), a),
}


def _compressed(x: Array) -> Array:
    """Leave one of the elements that are the same along an axis."""
    for axis in range(x.ndim if x.size else 0):
        first = x.take([0], axis)
        if x.shape[axis] > 1 and np.array_equal(x, np.broadcast_to(first, x.shape)):
            x = first
    return x.reshape(without_ones(x.shape))


def _number_out(form: Form) -> Form:
    """Make a core that is a known number a factor."""
    core = form.core
    if isinstance(core, Symbol) or core.ndim or not 1.0 / _FACTOR < abs(float(core)) < _FACTOR:
        return form
    return Form(form.number * float(core), np.ones(()), form.shape)


def is_known(form: Form) -> bool:
    """Whether no symbol is in a form."""
    return not isinstance(form.core, Symbol)


def _is_zero(form: Form) -> bool:
    return is_known(form) and not form.core.ndim and float(form.core) == 0.0


def _gathered(x: Symbol) -> Symbol | None:
    """Return a view of fewer elements; None if a symbol is none."""
    return x if x.op == "view" and x.size > x.args[0].size else None


def key_of(x: Any) -> Any:
    """Return what tells positions, axes and the like from others."""
    if isinstance(x, np.ndarray):
        return x.shape, x.tobytes()
    if isinstance(x, Iterable) and not isinstance(x, str):
        return tuple(map(key_of, x))
    return x
