"""Programs for arrays: fewer passes over them, as each operation is one.

Beside what `forms` does,

- sums over repeated elements are products, and known summands are added up beforehand,
- derivatives of repetitions are sums over axes,
- what moves each element to one place is a view.

Rounding may differ in the last digits from that of the program as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.compiler.forms import Arithmetic, Form, is_known, key_of
from probmodel.compiler.patterns import first_along, padded, regular, repeated_axes, without_ones
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import ELEMENTWISE, Symbol, positions
from probmodel.types import Array

_SMALL = 16.0  # numbers that may be added up apart from what they were added to
_DEEP = 50  # summands that are added up apart


def for_arrays(outputs: Sequence[Any]) -> list[Any]:
    """Return a program that takes fewer passes over arrays.

    Symbols of the result have no values but shapes. Operands of its operations broadcast, those of
    places as well; reductions leave out axes; a recurrence has coefficients that broadcast.
    """
    forms = Forms()
    for symbol in ordered(o for o in outputs if isinstance(o, Symbol)):
        forms.write(symbol)
    return [forms.full(forms.of(o)) for o in outputs]


class Forms(Arithmetic):
    """The forms of the symbols of a program."""

    def write(self, symbol: Symbol) -> None:
        """Write down one operation whose operands are."""
        if symbol.op == "input":
            form = self.lean(symbol)
        elif not any(isinstance(a, Symbol) and not is_known(self.of(a)) for a in symbol.args):
            form = self.of(symbol.value)
        elif symbol.op in ELEMENTWISE:
            form = self.elementwise(symbol.op, [self.of(a) for a in symbol.args], symbol.shape)
        else:
            form = _OPERATIONS[symbol.op](self, symbol, [self.of(a) for a in symbol.args])
        assert form.shape == symbol.shape
        self._forms[symbol] = form

    def view(self, symbol: Symbol, forms: Sequence[Form]) -> Form:
        """Return some elements."""
        return self.taken(forms[0], symbol.index)

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
        if core.op == "where" and not isinstance(core.args[0], Symbol):
            return self._chosen(core, lengths, axes)
        if core.op not in ("add", "subtract", "multiply"):
            return None
        forms = [Form(1.0, a, lengths) for a in core.args]
        same = [all(padded(a.shape, len(lengths))[axis] == 1 for axis in axes) for a in core.args]
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
        if not any(small) or any(self._core(a) not in self._products for a in others):
            return None
        if self._depth == _DEEP:
            return None
        self._depth += 1
        a, b = (self._added_up(f, axes) for f in forms)
        self._depth -= 1
        return self.add(a, b if core.op == "add" else b._replace(number=-b.number))

    def _chosen(self, core: Symbol, lengths: tuple[int, ...], axes: Sequence[int]) -> Form | None:
        """Add up elements that are chosen beforehand, of which the others are zero, if few are."""
        condition, x, zero = core.args[0] != 0.0, core.args[1], core.args[2]
        if not isinstance(x, Symbol):
            condition, x, zero = ~condition, zero, x
        chosen = np.flatnonzero(np.broadcast_to(condition, lengths))
        if isinstance(zero, Symbol) or np.any(zero != 0.0):
            return None
        if not 0 < 2 * len(chosen) <= prod(lengths):
            return None
        left = tuple(n for a, n in enumerate(lengths) if a not in axes)
        sums = np.broadcast_to(np.expand_dims(positions(left), tuple(axes)), lengths)
        elements = self.taken(Form(1.0, x, lengths), chosen)
        return self.placed([elements], [sums.reshape(-1)[chosen]], left)

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
        indices = [i.reshape(f.shape) for f, i in zip(forms, symbol.index, strict=True)]
        return self.placed(forms, indices, symbol.shape)

    def placed(
        self, forms: Sequence[Form], indices: Sequence[Array], shape: tuple[int, ...]
    ) -> Form:
        """Return an array of a shape, to which others are added at flat positions."""
        parts: dict[Any, tuple[Form, Array]] = {}
        for form, index in zip(forms, indices, strict=True):
            form, index = self._added_at(form, index)
            key = key_of(index)
            if key in parts:
                form = self.add(parts[key][0], form)
            parts[key] = form, index
        forms, indices = zip(*parts.values(), strict=True)
        number = forms[0].number if len({f.number for f in forms}) == 1 else 1.0
        if len(indices) == 1:
            inverse = _inverse(indices[0], shape)
            if inverse is not None:
                return self.taken(forms[0], inverse)
        args = [self.scaled(f._replace(number=f.number / number)) for f in forms]
        placed = self.made("place", args, shape, indices)
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
    "equations": Forms._whole, "determinant": Forms._whole,
    "hidden Markov": Forms._whole, "call": Forms._whole, "scan": Forms._whole,
}  # fmt: skip


def _inverse(index: Array, shape: tuple[int, ...]) -> Array | None:
    """Return which element comes to each place; None if not one to each."""
    size, flat = prod(shape), index.reshape(-1)
    if len(flat) != size or np.any(np.bincount(flat, minlength=size) != 1):
        return None
    inverse = np.empty(size, dtype=int)
    inverse[flat] = np.arange(size)
    return inverse.reshape(shape)
