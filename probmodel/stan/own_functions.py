"""Overloads of a program's own functions: a call means the one that promotes least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from probmodel.stan.stan_values import Tuple, Value
from probmodel.stan.syntax.nodes import Function, Type

_NUMBERS = ("int", "real", "complex")  # each can be promoted to those behind it


def closest(functions: Sequence[Function], args: Sequence[Any]) -> Function | None:
    """Return the function that takes values with the fewest promotions; None if none takes them."""
    best, fewest = None, 0
    for function in functions:
        if len(function.arguments) != len(args):
            continue
        pairs = zip(function.arguments, args, strict=True)
        count = _total([promotions(argument.type, value) for argument, value in pairs])
        if count is not None and (best is None or count < fewest):
            best, fewest = function, count
    return best


def promotions(type: Type, value: Any) -> int | None:
    """Return how many steps from whole to real to complex a type asks for; None if it is another.

    The value is a `Value`, a `Tuple`, or a list of these, of an argument or a result.
    """
    if isinstance(value, list):  # an array of tuples
        if not type.array:
            return None
        return promotions(replace(type, array=type.array[1:]), value[0]) if value else 0
    if isinstance(value, Tuple):
        if type.array or len(type.items) != len(value.items):
            return None
        pairs = zip(type.items, value.items, strict=True)
        return _total([promotions(item, part) for item, part in pairs])
    if not isinstance(value, Value) or value.array_rank != len(type.array):
        return None
    given, takes = value.declared_kind, type.kind
    if given in _NUMBERS and takes in _NUMBERS:
        steps = _NUMBERS.index(takes) - _NUMBERS.index(given)
        return steps if steps >= 0 else None
    return 0 if given == takes else 1 if takes == f"complex_{given}" else None


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
