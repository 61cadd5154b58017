"""Values while a program is run: numbers that are known, and elements that parameters decide.

A program is run once, with its data, before there are draws. What data decide is known then. What
parameters decide is traced: each element of it has a number, under which the `Graph` knows how it
is computed. Arrays of such numbers are indexed, cut, joined and filled like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.types import Array

RANKS = {"int": 0, "real": 0, "complex": 0, "vector": 1, "row_vector": 1, "matrix": 2}
MOST_ELEMENTS = 100_000_000  # of one variable
UNSET = np.iinfo(np.int64).min  # an integer that was declared and not assigned


class Value:
    """A number or an array of a program.

    Parameters
    ----------
    kind : ``int``, ``real``, ``complex``, ``vector``, ``row_vector`` or ``matrix``: what it is, or
        what it is an array of
    array : numbers; if ``traced``, those of elements in the graph. They say whether a vector or a
        matrix is complex
    traced : whether parameters decide some of its elements
    laned : whether its first axis runs over the lanes in which the program is run side by side
        (iterations of a loop, or draws)
    source : of data, which elements of which variable these are: (name, flat positions)
    """

    __slots__ = ("array", "kind", "laned", "shared", "source", "traced")

    def __init__(
        self,
        kind: str,
        array: Any,
        traced: bool = False,
        laned: bool = False,
        source: tuple[str, Any] | None = None,
    ) -> None:
        if (
            kind != "int"
            and not traced
            and isinstance(array, np.ndarray)
            and array.dtype.kind in "iub"
        ):
            # what is put into its elements later may be no whole numbers
            array = array.astype(complex if kind == "complex" else float)
        self.kind, self.array, self.traced, self.laned = kind, array, traced, laned
        self.source = source
        self.shared = False  # whether others may hold the array, so that it is copied before change

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, without lanes."""
        shape: tuple[int, ...] = getattr(self.array, "shape", ())
        return shape[1:] if self.laned else shape

    @property
    def rank(self) -> int:
        """Number of axes, without lanes."""
        return getattr(self.array, "ndim", 0) - self.laned

    @property
    def array_rank(self) -> int:
        """How many of these are axes of the array around what ``kind`` names."""
        return self.rank - RANKS[self.kind]

    @property
    def known(self) -> bool:
        """Whether it is one array of numbers, the same in all lanes."""
        return not (self.traced or self.laned)

    @property
    def is_complex(self) -> bool:
        """Whether it holds complex numbers."""
        return self.kind == "complex" or np.iscomplexobj(self.array)

    @property
    def declared_kind(self) -> str:
        """Name of the type that it is, or is an array of, such as ``complex_vector``."""
        return f"complex_{self.kind}" if RANKS[self.kind] and self.is_complex else self.kind

    def like(self, array: Any, kind: str | None = None) -> Value:
        """Return other elements of the same sort: what they are depends on the same things."""
        found = Value(kind or self.kind, array, self.traced, self.laned)
        found.shared = np.may_share_memory(array, self.array)
        return found

    def __repr__(self) -> str:
        marks = "traced " * self.traced + "laned " * self.laned
        return f"<{marks}{self.kind} {self.shape}>"


class Tuple:
    """A tuple of values.

    Parameters
    ----------
    items : its elements
    """

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = tuple(items)


def share(value: Any) -> Any:
    """Return a value after marking its arrays, also those in tuples, as ones others may hold."""
    if isinstance(value, Value):
        value.shared = True
    elif isinstance(value, Tuple | list):
        for item in value.items if isinstance(value, Tuple) else value:
            share(item)
    return value


def integer(number: int) -> Value:
    """Return a whole number that is known."""
    return Value("int", number)


def real(number: float) -> Value:
    """Return a real number that is known."""
    return Value("real", number)


def type_text(value: Any) -> str:
    """Return the type of a value, as Stan writes those of arguments."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, Tuple):
        return f"tuple({', '.join(map(type_text, value.items))})"
    if isinstance(value, list):
        inner = type_text(value[0]) if value else "tuple()"
        found = inner.removeprefix("array[") if inner.startswith("array[") else f"] {inner}"
        return f"array[{',' * inner.startswith('array[')}{found}"
    n = value.array_rank
    return f"array[{',' * (n - 1)}] {value.declared_kind}" if n else str(value.declared_kind)


def kind_of(kind: str, array: Any) -> str:
    """Return a kind, which is ``complex`` where real numbers turn out to be complex ones."""
    return "complex" if kind == "real" and np.iscomplexobj(array) else kind


def unset(declared: str, shape: tuple[int, ...]) -> Array:
    """Return the numbers of a variable that was declared as some type and not assigned."""
    if declared == "int":
        return np.full(shape, UNSET, dtype=np.int64)
    return np.full(shape, complex(np.nan, np.nan) if is_complex_type(declared) else np.nan)


def is_complex_type(declared: str) -> bool:
    """Whether a type, such as ``complex_vector``, holds complex numbers."""
    return declared.startswith("complex")
