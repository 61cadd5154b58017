"""Whether each element of a result depends on one element of an input, which the program tells."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import ELEMENTWISE, Symbol
from probmodel.types import Array

_NONE, _SEVERAL = -1, -2


def depends_on_own(program: Any, position: int) -> bool:
    """Whether element i of the one output depends on no element of an input but element i.

    It is certain if so: operations that are not known to keep elements apart count as ones that
    mix them.
    """
    (result,) = program.outputs
    if not isinstance(result, Symbol):
        return False
    x, found = program.inputs[position], dict[Symbol, Array]()
    for symbol in ordered([result]):
        if symbol is x:
            found[symbol] = np.arange(symbol.size).reshape(symbol.shape)
        else:
            args = [found[a] for a in symbol.args if isinstance(a, Symbol)]
            found[symbol] = _elements(symbol, args)
    own = found[result].reshape(-1)
    return x.size == own.size and bool(np.all((own == _NONE) | (own == np.arange(own.size))))


def _elements(symbol: Symbol, args: list[Array]) -> Array:
    """Return the element of the input that each element of a symbol depends on."""
    none = np.full(symbol.shape, _NONE)
    if all(np.all(a == _NONE) for a in args):
        return none
    if symbol.op in ELEMENTWISE:
        for a in args:
            none = _joined(none, np.broadcast_to(a, symbol.shape))
        return none
    if symbol.op == "view":
        return np.asarray(args[0].reshape(-1)[symbol.index])
    if symbol.op == "place":
        return _placed(symbol, args, none)
    if symbol.op in ("sum", "max", "min"):
        least = np.where(args[0] == _NONE, np.iinfo(int).max, args[0]).min(axis=symbol.index)
        most = args[0].max(axis=symbol.index)
        one = np.where((least == most) & (least != _SEVERAL), most, _SEVERAL)
        return np.asarray(np.where(most == _NONE, np.where(least < 0, _SEVERAL, _NONE), one))
    return np.full(symbol.shape, _SEVERAL)


def _placed(symbol: Symbol, args: list[Array], found: Array) -> Array:
    """Return the same of parts in their places, of which each place may take several."""
    flat, parts = found.reshape(-1), iter(args)
    for arg, index in zip(symbol.args, symbol.index, strict=True):
        own = next(parts) if isinstance(arg, Symbol) else np.full(np.shape(arg), _NONE)
        places = np.reshape(index, -1)
        if len(np.unique(places)) < len(places) and np.any(own != _NONE):
            return np.full(symbol.shape, _SEVERAL)
        flat[places] = _joined(flat[places], own.reshape(-1))
    return flat.reshape(symbol.shape)


def _joined(a: Array, b: Array) -> Array:
    """Return what elements depend on that depend on both."""
    either = np.where(a == _NONE, b, a)
    return np.where((a == b) | (a == _NONE) | (b == _NONE), either, _SEVERAL)
