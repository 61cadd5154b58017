"""Programs for arrays: fewer passes over them, as each operation is one.

Machine code runs many operations at each element; NumPy runs one at all elements. So here

- what is the same along an axis is computed once,
- factors that are numbers are put together, and multiplied once with what is small,
- sums over repeated elements are products, and a known summand is added up beforehand,
- derivatives of repetitions are sums over axes,
- equal operations are computed once.

Rounding may differ in the last digits from that of the program as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.compiler.patterns import (
    first_along,
    padded,
    regular,
    repeated_axes,
    without_ones,
)
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import ELEMENTWISE, Symbol, positions
from probmodel.types import Array

_SMALL = 16.0  # numbers that may be added up apart from what they were added to
_FACTOR = 2.0**60  # factors between this and its reciprocal are put together


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


def for_arrays(outputs: Sequence[Any]) -> list[Any]:
    """Return a program that takes fewer passes over arrays.

    Symbols of the result have no values but shapes. Operands of its operations broadcast, those of
    places as well; reductions leave out axes; a recurrence has coefficients that broadcast.
    """
    forms = Forms()
    for symbol in ordered(o for o in outputs if isinstance(o, Symbol)):
        forms.write(symbol)
    return [forms.full(forms.of(o)) for o in outputs]


class Forms:
    """The forms of the symbols of a program."""

    def __init__(self) -> None:
        self._forms: dict[Any, Form] = {}
        self._made: dict[Any, Symbol] = {}
        self._known: dict[Any, Array] = {}
        self._same: dict[int, tuple[Array, Array]] = {}  # by identity of arrays that are kept
        self._scaled: dict[Symbol, Form] = {}  # products with a number, taken apart

    def of(self, x: Any) -> Form:
        """Return the form of a symbol that is written down, or of an array that is known."""
        if isinstance(x, Symbol):
            return self._forms[x]
        x = np.asarray(x, dtype=float)
        return Form(1.0, self._kept(_compressed(x)), x.shape)

    def write(self, symbol: Symbol) -> None:
        """Write down one operation whose operands are."""
        if symbol.op == "input":
            form = self.lean(symbol)
        elif not any(isinstance(a, Symbol) and not _is_known(self.of(a)) for a in symbol.args):
            form = self.of(symbol.value)
        elif symbol.op in ELEMENTWISE:
            form = self._elementwise(symbol.op, [self.of(a) for a in symbol.args], symbol.shape)
        else:
            form = _OPERATIONS[symbol.op](self, symbol, [self.of(a) for a in symbol.args])
        assert form.shape == symbol.shape
        self._forms[symbol] = form

    # -- arrays ------------------------------------------------------------------------------------

    def made(self, op: str, args: Sequence[Any], shape: tuple[int, ...], index: Any = None) -> Any:
        """Return an operation, always the same one for the same operands."""
        args = tuple(a if isinstance(a, Symbol) else self._kept(a) for a in args)
        key = op, tuple(map(id, args)), _key(index)
        if key not in self._made:
            self._made[key] = Symbol(op, args, np.broadcast_to(0.0, shape), index)
        return self._made[key]

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

    # -- functions of numbers ----------------------------------------------------------------------

    def _elementwise(self, name: str, forms: Sequence[Form], shape: tuple[int, ...]) -> Form:
        own = _ARITHMETIC.get(name)
        form = None if own is None else own(self, *forms)
        return self._plain(name, forms, shape) if form is None else form._replace(shape=shape)

    def _plain(self, name: str, forms: Sequence[Form], shape: tuple[int, ...]) -> Form:
        """Return a function of arrays as they are; of fewer elements, if it takes repeated ones."""
        args = [self.scaled(f) for f in forms]
        own = [a for a in args if isinstance(a, Symbol)]
        others = [a for a in args if not isinstance(a, Symbol) and a.ndim]
        source = _gathered(self._scaled[own[0]].core if own[0] in self._scaled else own[0])
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
        if a.core is b.core and a.number + b.number != 0.0:
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

    # -- other operations --------------------------------------------------------------------------

    def view(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return some elements."""
        return self.taken(forms[0], symbol.index)

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

    def sum(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return a sum over axes."""
        return self.total(forms[0], symbol.index)

    def total(self, form: Form, axes: Sequence[int]) -> Form:
        """Return a sum over axes."""
        number, core, shape = form
        if core in self._scaled:
            number, core = number * self._scaled[core].number, self._scaled[core].core
        lengths = padded(core.shape, len(shape))
        number *= prod(shape[a] // lengths[a] for a in axes)
        left = tuple(n for a, n in enumerate(shape) if a not in axes)
        kept = tuple(n for a, n in enumerate(lengths) if a not in axes)
        over = tuple(a for a in axes if lengths[a] > 1)
        if not over:
            return Form(number, self.reshaped(core, without_ones(kept)), left)
        parts = self._apart(core, lengths, axes)
        if parts is not None:
            return parts._replace(number=parts.number * number, shape=left)
        own = tuple(a - len(lengths) + core.ndim for a in over)
        after = tuple(n for a, n in enumerate(core.shape) if a not in own)
        total = self.made("sum", (core,), after, own)
        return Form(number, self.reshaped(total, without_ones(kept)), left)

    def _apart(self, core: Symbol, lengths: tuple[int, ...], axes: Sequence[int]) -> Form | None:
        """Add up summands apart, and take factors out that are the same for all elements."""
        if core.op not in ("add", "subtract", "multiply"):
            return None
        forms = [Form(1.0, a, lengths) for a in core.args]
        same = [
            all(padded(a.shape, len(lengths))[axis] == 1 for axis in axes) for a in core.args
        ]
        if core.op == "multiply":
            if not any(same):
                return None
            left = tuple(n for a, n in enumerate(lengths) if a not in axes)
            return self.multiply(*(
                self._without(f, axes, left) if apart else self._added_up(f, axes)
                for f, apart in zip(forms, same, strict=True)
            ))  # fmt: skip
        small = [self._is_small(a, apart) for a, apart in zip(core.args, same, strict=True)]
        others = [a for a, apart in zip(core.args, small, strict=True) if not apart]
        if not any(small) or not all(map(self._is_product, others)):
            return None
        a, b = (self._added_up(f, axes) for f in forms)
        return self.add(a, b if core.op == "add" else b._replace(number=-b.number))

    def _without(self, form: Form, axes: Sequence[int], left: tuple[int, ...]) -> Form:
        """Leave out axes along which all elements are the same."""
        lengths = padded(form.core.shape, len(form.shape))
        kept = tuple(n for a, n in enumerate(lengths) if a not in axes)
        return Form(form.number, self.reshaped(form.core, without_ones(kept)), left)

    def _added_up(self, form: Form, axes: Sequence[int]) -> Form:
        if isinstance(form.core, Symbol):
            return self.total(form, axes)
        total = np.sum(np.broadcast_to(form.core, form.shape), axis=tuple(axes))
        return self.of(total)

    def _is_product(self, x: Symbol) -> bool:
        """Whether a sum needs no array of its summands, for they are products, or end in such."""
        core = self._scaled[x].core if x in self._scaled else x
        if core.op in ("add", "subtract"):
            return any(not isinstance(a, Symbol) or self._is_product(a) for a in core.args)
        return core.op in ("multiply", "square")

    def _is_small(self, x: Any, same: bool) -> bool:
        """Whether a summand may be added up apart without a loss of digits that counts."""
        if not isinstance(x, Symbol):
            return bool(np.all(np.abs(x) <= _SMALL))
        form = self._scaled.get(x, Form(1.0, x, ()))
        return same and form.core.op == "log" and abs(form.number) <= _SMALL

    def extreme(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return the largest or smallest element along axes."""
        number, core, shape = forms[0]
        op = symbol.op if number > 0.0 else {"max": "min", "min": "max"}[symbol.op]
        lengths = padded(core.shape, len(shape))
        axes = tuple(a - len(lengths) + core.ndim for a in symbol.index if lengths[a] > 1)
        after = tuple(n for a, n in enumerate(core.shape) if a not in axes)
        found = self.made(op, (core,), after, axes) if axes else core
        kept = tuple(n for a, n in enumerate(lengths) if a not in symbol.index)
        return Form(number, self.reshaped(found, without_ones(kept)), symbol.shape)

    def place(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return an array to which others are added at some places."""
        parts: dict[Any, tuple[Form, Array]] = {}
        for form, index in zip(forms, symbol.index, strict=True):
            form, index = self._added_at(form, index.reshape(form.shape))
            key = _key(index)
            if key in parts:
                form = self.add(parts[key][0], form)
            parts[key] = form, index
        forms, indices = zip(*parts.values(), strict=True)
        number = forms[0].number if len({f.number for f in forms}) == 1 else 1.0
        if len(indices) == 1:
            inverse = _inverse(indices[0], symbol.shape)
            if inverse is not None:
                return self.taken(forms[0], inverse)
        args = [self.scaled(f._replace(number=f.number / number)) for f in forms]
        placed = self.made("place", args, symbol.shape, indices)
        return self.lean(placed)._replace(number=number)

    def _added_at(self, form: Form, index: Array) -> tuple[Form, Array]:
        """Add up the elements of a part that have the same place, where they fill axes."""
        if not isinstance(form.core, Symbol):
            return form, index
        found = regular(index)
        if found is not None and found.shape != index.shape and 0 in found.steps:
            form = self.taken(form, positions(form.shape).reshape(found.shape))
            index = index.reshape(found.shape)
        axes = repeated_axes(index)
        if not axes:
            return form, index
        kept = tuple(n for a, n in enumerate(index.shape) if a not in axes)
        return self.total(form, axes), first_along(index, axes).reshape(kept)

    def matmul(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return a known matrix times a vector."""
        matrix, vector = symbol.args[0], self.full(forms[1]._replace(number=1.0))
        product = self.made("matmul", (matrix, vector), symbol.shape)
        return self.lean(product)._replace(number=forms[1].number)

    def recurrence(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return a recurrence; coefficients that stay the same are left as they are."""
        driven = self.full(forms[0]._replace(number=1.0))
        args = driven, *(self.scaled(f) for f in forms[1:])
        found = self.made("recurrence", args, symbol.shape, symbol.index)
        return self.lean(found)._replace(number=forms[0].number)

    def product(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return products of matrices."""
        found = self._whole(symbol, [f._replace(number=1.0) for f in forms])
        return found._replace(number=forms[0].number * forms[1].number)

    def _whole(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return an operation that takes its operands as they are."""
        args = [self.full(f) for f in forms]
        return self.lean(self.made(symbol.op, args, symbol.shape, symbol.index))


_OPERATIONS: dict[str, Callable[[Forms, Symbol, Sequence[Form]], Form]] = {
    "view": Forms.view, "place": Forms.place, "sum": Forms.sum, "max": Forms.extreme,
    "min": Forms.extreme, "recurrence": Forms.recurrence, "matmul": Forms.matmul,
    "product": Forms.product, "factor": Forms._whole, "solve": Forms._whole,
    "hidden Markov": Forms._whole, "call": Forms._whole,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[..., Form | None]] = {
    "multiply": Forms.multiply,
    "divide": Forms.divide,
    "add": Forms.add,
    "where": Forms.where,
    "log_expit": Forms.log_expit,
    "subtract": lambda forms, a, b: forms.add(a, b._replace(number=-b.number)),
    "negative": lambda forms, a: a._replace(number=-a.number),
    "square": lambda forms, a: forms.multiply(a, a),
    "reciprocal": lambda forms, a: forms.divide(Form(1.0, np.ones(()), ()), a),
}


def _compressed(x: Array) -> Array:
    """Leave one of the elements that are the same along an axis."""
    for axis in range(x.ndim):
        first = x.take([0], axis)
        if x.shape[axis] > 1 and x.size and np.array_equal(x, np.broadcast_to(first, x.shape)):
            x = first
    return x.reshape(without_ones(x.shape))


def _number_out(form: Form) -> Form:
    """Make a core that is a known number a factor."""
    core = form.core
    if isinstance(core, Symbol) or core.ndim or not 1.0 / _FACTOR < abs(float(core)) < _FACTOR:
        return form
    return Form(form.number * float(core), np.ones(()), form.shape)


def _is_known(form: Form) -> bool:
    return not isinstance(form.core, Symbol)


def _is_zero(form: Form) -> bool:
    return _is_known(form) and not form.core.ndim and float(form.core) == 0.0


def _gathered(x: Symbol) -> Symbol | None:
    """Return a view of fewer elements; None if a symbol is none."""
    return x if x.op == "view" and x.size > x.args[0].size else None


def _inverse(index: Array, shape: tuple[int, ...]) -> Array | None:
    """Return which element comes to each place; None if not one to each."""
    size, flat = prod(shape), index.reshape(-1)
    if len(flat) != size or np.any(np.bincount(flat, minlength=size) != 1):
        return None
    inverse = np.empty(size, dtype=int)
    inverse[flat] = np.arange(size)
    return inverse.reshape(shape)


def _key(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.shape, x.tobytes()
    if isinstance(x, Iterable) and not isinstance(x, str):
        return tuple(map(_key, x))
    return x
