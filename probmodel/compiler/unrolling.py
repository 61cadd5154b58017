"""Short axes, such as that of the components of a mixture, written out.

A sum over three components is two additions, so that all that a mixture does with an observation
runs in one loop over observations. As a sum over an axis, it would end a loop, and another would
read what that has kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.compiler.schedule import REDUCED, ordered
from probmodel.compiler.symbols import ELEMENTWISE, Symbol, positions, view
from probmodel.types import Array

_SHORT = 4  # elements of an axis, at most
_LONG = 16  # elements of all other axes, at least
_MOST = 200  # operations that are written out
_JOINED = {"sum": "add", "max": "maximum", "min": "minimum"}


class Parts(NamedTuple):
    """What a symbol is along an axis: one symbol, without the axis, for each of its elements."""

    axis: int
    symbols: Sequence[Symbol]


@np.errstate(all="ignore")
def unrolled(outputs: Sequence[Any]) -> list[Any]:
    """Return outputs without sums and extremes over short axes."""
    symbols = list(ordered(o for o in outputs if isinstance(o, Symbol)))
    axes = _short_axes(symbols)
    if not axes:
        return list(outputs)
    written = _Unrolled(axes)
    for symbol in symbols:
        written.write(symbol)
    return [written.whole(o) if isinstance(o, Symbol) else o for o in outputs]


def _short_axes(symbols: Iterable[Symbol]) -> dict[tuple[int, ...], int]:
    """Return the axis that is written out, by the shape of arrays."""
    symbols = list(symbols)
    axes: dict[tuple[int, ...], int] = {}
    for symbol in symbols:
        if symbol.op in REDUCED:
            (x,) = symbol.args
            short = [a for a in symbol.index if 1 < x.shape[a] <= _SHORT]
            if short and x.size >= _LONG * x.shape[short[0]]:
                axes.setdefault(x.shape, short[0])
    written = sum(s.shape[axes[s.shape]] for s in symbols if s.shape in axes)
    return axes if written <= _MOST else {}


class _Unrolled:
    """Symbols of the new program, by those of the old one."""

    def __init__(self, axes: dict[tuple[int, ...], int]) -> None:
        self._axes = axes
        self._new: dict[Symbol, Symbol] = {}
        self._parts: dict[Symbol, Parts] = {}

    def write(self, symbol: Symbol) -> None:
        """Write one operation, whose operands are written."""
        if symbol.op in ELEMENTWISE and symbol.shape in self._axes:
            axis = self._axes[symbol.shape]
            self._parts[symbol] = Parts(axis, [
                Symbol(symbol.op, tuple(self._part(a, symbol, axis, k) for a in symbol.args), value)
                for k, value in enumerate(np.moveaxis(symbol.value, axis, 0))
            ])  # fmt: skip
        elif symbol.op in REDUCED and symbol.args[0] in self._parts:
            self._reduce(symbol, self._parts[symbol.args[0]])
        elif symbol.op == "view" and symbol.args[0] in self._parts:
            pass  # as what reads it needs it
        else:
            args = tuple(self.whole(a) if isinstance(a, Symbol) else a for a in symbol.args)
            self._new[symbol] = symbol.with_args(args)

    def whole(self, symbol: Symbol) -> Symbol:
        """Return the symbol that has all elements."""
        if symbol not in self._new:
            if symbol in self._parts:
                axis, parts = self._parts[symbol]
                index = tuple(np.moveaxis(positions(symbol.shape), axis, 0))
                self._new[symbol] = Symbol("place", tuple(parts), symbol.value, index)
            else:
                self._new[symbol] = self._viewed(symbol.args[0], symbol.index)
        return self._new[symbol]

    def _part(self, x: Any, symbol: Symbol, axis: int, k: int) -> Any:
        """Return what an operand of a symbol, broadcast to it, is at an element of an axis."""
        own = axis - symbol.ndim + np.ndim(x)
        if own < 0:
            return self.whole(x) if isinstance(x, Symbol) else x
        k = k if x.shape[own] > 1 else 0
        if not isinstance(x, Symbol):
            return x.take(k, own)
        if x in self._parts and self._parts[x].axis == own:
            return self._parts[x].symbols[k]
        source, index = (x.args[0], x.index) if x.op == "view" else (x, positions(x.shape))
        return self._viewed(source, index.take(k, own))

    def _viewed(self, source: Symbol, index: Array) -> Any:
        """Return elements of a symbol; of one of its parts, if they all lie there."""
        if source in self._parts:
            axis, parts = self._parts[source]
            where = list(np.unravel_index(index, source.shape))
            along = where.pop(axis)
            if np.all(along == along.flat[0]):
                part = parts[int(along.flat[0])]
                inside = np.ravel_multi_index(tuple(where), part.shape) if where else 0 * index
                return view(part, inside)
        return view(self.whole(source), index)

    def _reduce(self, symbol: Symbol, parts: Parts) -> None:
        """Join the parts, or reduce each, if their axis stays."""
        axis, symbols = parts
        others = tuple(a - (a > axis) for a in symbol.index if a != axis)
        if axis not in symbol.index:
            left = axis - sum(a < axis for a in symbol.index)
            values = np.moveaxis(symbol.value, left, 0)
            reduced = [
                Symbol(symbol.op, (part,), value, others)
                for part, value in zip(symbols, values, strict=True)
            ]
            self._parts[symbol] = Parts(left, reduced)
            return
        ufunc = getattr(np, _JOINED[symbol.op])
        joined = symbols[0]
        for part in symbols[1:]:
            joined = Symbol(ufunc.__name__, (joined, part), ufunc(joined.value, part.value))
        self._new[symbol] = Symbol(symbol.op, (joined,), symbol.value, others) if others else joined
