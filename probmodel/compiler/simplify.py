"""Simplification of a program once it is written down: equal operations are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import Symbol, place, positions


def shared(outputs: Sequence[Any]) -> list[Any]:
    """Return outputs in which no operation stands twice, with the same operands."""
    known: dict[Any, Symbol] = {}
    new: dict[Symbol, Symbol] = {}
    for symbol in ordered(o for o in outputs if isinstance(o, Symbol)):
        args = tuple(new[a] if isinstance(a, Symbol) else a for a in symbol.args)
        key = symbol.op, symbol.shape, tuple(map(_key, args)), _key(symbol.index)
        if key not in known:
            known[key] = symbol.with_args(args)
        new[symbol] = known[key]
    return [new[o] if isinstance(o, Symbol) else o for o in outputs]


def _key(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.shape, x.dtype.char, x.tobytes()
    if isinstance(x, tuple):
        return tuple(map(_key, x))
    return x


def in_memory(x: Any, size: int) -> Symbol:
    """Return a vector as a place, which lies in memory as a whole."""
    if isinstance(x, Symbol) and x.op == "place":
        return x
    everywhere = Symbol("add", (np.zeros(size), x), np.zeros(size))
    placed: Symbol = place(everywhere, positions((size,)), (size,))
    return placed
