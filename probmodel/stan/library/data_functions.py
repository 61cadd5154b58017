"""Functions of what is known when the program is run: sizes, and orders of data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probmodel.stan.values import Value, integer

# Functions of sizes: `shape` and `kind` of a value are known, whatever decides its elements.
SIZES: dict[str, Callable[..., Value]] = {
    "rows": lambda x: integer(x.shape[-2] if x.kind == "matrix" else x.shape[-1]),
}

# Functions of arrays of numbers, whose values data must decide: of NumPy arrays, and their kind.
OF_DATA: dict[str, tuple[Callable[..., Any], str]] = {}
