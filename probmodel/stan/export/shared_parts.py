"""What the blocks of a program have in common: names, sizes, data, and the block of constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.expressions import Expression
from probmodel.model.binding import Binding
from probmodel.stan.export.code_blocks import Block, declared
from probmodel.stan.export.code_forms import Form, Place, kind_of
from probmodel.stan.export.identifiers import Names
from probmodel.stan.export.rule_book import Rules
from probmodel.stan.export.size_names import Sizes, literal
from probmodel.types import Array

_LARGEST = 2**31 - 1


class Shared:
    """Names, sizes and data of a program.

    Parameters
    ----------
    binding : of the model
    names : identifiers
    arrays : names of the arrays that are written in the model's class
    rules : how operations and distributions are written

    Attributes
    ----------
    data : what the program is given, by name
    declarations : lines of the data block, by name
    constants : the block of transformed data; what it knows is known everywhere
    point_arrays : points of kernels as arrays, by the name of the matrix that holds them
    functions : the functions block, a list of definitions
    from_one : names of whole numbers in the data that count from 0 in the model and from 1 here
    """

    def __init__(
        self, binding: Binding, names: Names, arrays: dict[str, Array], rules: Rules
    ) -> None:
        self.binding, self.names, self.rules = binding, names, rules
        self.evaluator = binding.evaluator
        self.sizes = Sizes(self.evaluator)
        self.data: dict[str, Any] = {}
        self.size_lines: dict[str, str] = {}
        self.declarations: dict[str, str] = {}
        self.constants = Block()
        self.functions: list[str] = []
        self.from_one: set[str] = set()
        self.point_arrays: dict[str, str] = {}
        self._arrays = arrays
        self._dims: dict[str, Place] = {}
        self._given: list[tuple[Array, Form]] = []

    def dim(self, name: str, size: int) -> Place:
        """Return the size of a dim, which becomes a datum."""
        if name not in self._dims:
            own = self.names.fresh(f"n_{name}")
            self.size_lines[own] = f"int<lower=0> {own};"
            self.data[own] = int(size)
            self._dims[name] = Place(own)
        return self._dims[name]

    def datum(self, name: str, value: Array, sizes: tuple[Place, ...], bounds: str = "",
              note: str = "", is_real: bool = False) -> Form:  # fmt: skip
        """Declare a datum of its own name, and return it."""
        whole = value.dtype.kind in "iub" and not is_real
        whole = whole and bool(np.all(np.abs(value.astype(float)) <= _LARGEST))
        kind = kind_of(value.ndim, bool(whole))
        comment = f"  // {note}" if note else ""
        self.declarations[name] = f"{declared(kind, sizes, bounds)} {name};{comment}"
        plain = value.astype(int) if whole else value.astype(float)
        self.data[name] = plain.tolist()
        return Form(name, kind)

    def given(self, node: Expression | None, value: Array, stem: str = "constant",
              note: str = "") -> Form:  # fmt: skip
        """Return data that are computed from the model's, or written in its class."""
        for known, form in self._given:
            if known.dtype == value.dtype and np.array_equal(known, value):
                return form
        sizes = literal(value.shape) if node is None else self.sizes.of(node)
        own = getattr(node, "name", None) or self._written(value) or stem
        name = self.names.fresh(own)
        form = self.datum(name, value, sizes, "", note)
        self._given.append((value, form))
        return form

    def from_data(self, value: Array, stem: str) -> str:
        """Return an array that comes from data: by the name of a datum, if it is one."""
        for name, array in self.binding.data.items():
            same = array.shape == value.shape and np.array_equal(array, value)
            if same and self.names.of(name) in self.data and array.dtype.kind == "f":
                return self.names.of(name)
        return self.given(None, value, stem).text

    def _written(self, value: Array) -> str:
        """Return the name that an array has in the model's class; empty if none."""
        for name, array in self._arrays.items():
            if np.shape(array) == value.shape and np.array_equal(array, value):
                return name
        return ""
