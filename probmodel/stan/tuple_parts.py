"""Tuples and complex numbers by their parts: real numbers and arrays, as results hold them.

A part of a tuple is named by its place, ``name.1`` or ``name.2.1``, and those of a complex number
``name.real`` and ``name.imag``. An array has the parts of an element, and each of them the axes of
the array before its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from probmodel.stan.stan_values import RANKS, Tuple, Value, is_complex_type
from probmodel.stan.syntax.nodes import Type

Join = Callable[[Sequence[Value]], Value]


def parts_of(type: Type, name: str) -> dict[str, Type]:
    """Return the types of the parts of a declaration, by name; of what has none, its own."""
    if is_complex_type(type.kind):
        part = replace(type, kind=type.kind.removeprefix("complex_").replace("complex", "real"))
        return {f"{name}.real": part, f"{name}.imag": part}
    if type.kind != "tuple":
        return {name: type}
    found: dict[str, Type] = {}
    for k, item in enumerate(type.items):
        whole = replace(item, array=(*type.array, *item.array))
        found |= parts_of(whole, f"{name}.{k + 1}")
    return found


def taken_apart(type: Type, value: Any, join: Join) -> list[Value]:
    """Return the parts of a value, in order; an empty array of tuples has none.

    The value is a tuple, an array of tuples, or no tuple; ``join`` makes an array of values of one
    shape.
    """
    if isinstance(value, Tuple):
        pairs = zip(type.items, value.items, strict=True)
        return [part for item, own in pairs for part in taken_apart(item, own, join)]
    if isinstance(value, list):
        rows = [taken_apart(type, item, join) for item in value]
        return [join(column) for column in zip(*rows, strict=True)]
    return _real_and_imaginary(value) if is_complex_type(type.kind) else [value]


def put_together(type: Type, parts: Sequence[Value]) -> Any:
    """Return the value that has these parts."""
    if is_complex_type(type.kind):
        return _complex(*parts)
    if type.kind != "tuple":
        return parts[0]
    if type.array:
        element = replace(type, array=type.array[1:])
        count = parts[0].shape[0]
        return [put_together(element, [_at(part, i) for part in parts]) for i in range(count)]
    items, start = [], 0
    for item in type.items:
        stop = start + len(parts_of(item, ""))
        items.append(put_together(item, parts[start:stop]))
        start = stop
    return Tuple(items)


def _real_and_imaginary(value: Value) -> list[Value]:
    """Return both parts; what parameters decide is real, and has zeros for the other."""
    kind = value.kind if RANKS[value.kind] else "real"
    if value.traced:
        return [value.like(value.array, kind), Value(kind, np.zeros(value.shape)[()])]
    return [value.like(np.asarray(part(value.array))[()], kind) for part in (np.real, np.imag)]


def _complex(real: Value, imaginary: Value) -> Value:
    """Return the complex numbers that have these parts."""
    array = np.empty(np.shape(real.array), dtype=complex)
    array.real, array.imag = real.array, imaginary.array
    return real.like(array[()], real.kind if RANKS[real.kind] else "complex")


def _at(value: Value, i: int) -> Value:
    array = np.asarray(value.array)
    return value.like(array[:, i] if value.laned else array[i])
