"""Tuples by their parts: numbers and arrays, as data files and results hold them.

A part is named by its place, ``name.1`` or ``name.2.1``. An array of tuples has the parts of a
tuple, and each of them the axes of the array before its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from probmodel.stan.stan_values import Tuple, Value
from probmodel.stan.syntax.nodes import Type

Join = Callable[[Sequence[Value]], Value]


def parts_of(type: Type, name: str) -> dict[str, Type]:
    """Return the types of the parts of a declaration, by name; of what is no tuple, its own."""
    if type.kind != "tuple":
        return {name: type}
    found: dict[str, Type] = {}
    for k, item in enumerate(type.items):
        whole = replace(item, array=(*type.array, *item.array))
        found |= parts_of(whole, f"{name}.{k + 1}")
    return found


def taken_apart(value: Any, join: Join) -> list[Value]:
    """Return the parts of a value, in order; an empty array of tuples has none.

    Parameters
    ----------
    value : of a tuple, or an array of tuples, or no tuple
    join : makes an array of values of one shape
    """
    if isinstance(value, Tuple):
        return [part for item in value.items for part in taken_apart(item, join)]
    if isinstance(value, list):
        rows = [taken_apart(item, join) for item in value]
        return [join(column) for column in zip(*rows, strict=True)]
    return [value]


def put_together(type: Type, parts: Sequence[Value]) -> Any:
    """Return the value that has these parts."""
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


def _at(value: Value, i: int) -> Value:
    array = np.asarray(value.array)
    return value.like(array[:, i] if value.laned else array[i])
