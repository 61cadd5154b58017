"""Lines of a NumPy program: variables, operands, and what is known.

``n`` is the number of chains, ``v3`` an operation, and ``v3_2`` the same with two axes of length
one behind that of the chains, so that it broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.compiler.patterns import Affine
from probmodel.compiler.symbols import Symbol
from probmodel.types import Array

_NUMPY: dict[str, Any] = {
    **{
        name: getattr(np, name)
        for name in (
            "array", "ascontiguousarray", "broadcast_to", "empty", "full", "matmul", "ndarray",
            "vecdot", "zeros",
        )
    },
    "one": np.ones(()),
    "add_accumulate": np.add.accumulate,
    "add_reduce": np.add.reduce,
    "maximum_reduce": np.maximum.reduce,
    "minimum_reduce": np.minimum.reduce,
}  # fmt: skip


class Line(NamedTuple):
    """A statement: the variable that it sets, if any, and those that it takes."""

    target: str
    text: str
    uses: tuple[str, ...]


class Source:
    """The lines of a function, and what they refer to.

    Attributes
    ----------
    names : what the function refers to
    """

    def __init__(self, inputs: Sequence[Symbol]) -> None:
        self.names: dict[str, Any] = dict(_NUMPY)
        self._inputs = inputs
        self._lines: list[Line] = []
        self._variables: dict[Symbol, str] = {x: f"x{i}" for i, x in enumerate(inputs)}
        self._variants: dict[tuple[str, str], str] = {}
        self._constants: dict[tuple[int, str], tuple[str, Any]] = {}
        self._truths: set[Symbol] = set()
        self._solid: set[Symbol] = set(inputs)  # their elements lie one after another
        self._inverted: set[Symbol] = set()  # factors with which more than one system is solved
        self._uses: list[str] = []  # of the line that is being written

    def _statements(self) -> list[str]:
        """Return the lines; variables are deleted after they were used for the last time."""
        last = {name: i for i, line in enumerate(self._lines) for name in line.uses}
        last.update(dict.fromkeys(self._uses, len(self._lines)))  # of the results
        statements = []
        for i, (target, text, uses) in enumerate(self._lines):
            statements.append(f"{target} = {text}" if target else text)
            over = sorted({v for v in uses if last[v] == i and v[0] == "v" and v != target})
            if over:
                statements.append(f"del {', '.join(over)}")
        return statements

    def _let(self, target: str, text: str) -> None:
        self._lines.append(Line(target, text, tuple(self._uses)))
        self._uses = []

    def _used(self, name: str) -> str:
        self._uses.append(name)
        return name

    def _constant(self, array: Array) -> str:
        """Name an array that is known."""
        key = id(array), array.dtype.char
        if key not in self._constants:
            self._constants[key] = f"k{len(self._constants)}", array
            self.names[self._constants[key][0]] = array
        return self._constants[key][0]

    def _known(self, key: str, array: Array, changed: Any) -> str:
        """Name what is made of an array that is known."""
        own = id(array), key
        if own not in self._constants:
            self._constants[own] = f"k{len(self._constants)}", array
            self.names[self._constants[own][0]] = changed
        return self._constants[own][0]

    def _raw(self, x: Symbol, rank: int) -> str:
        """Return a variable, with axes in front so that it broadcasts to a rank."""
        name = self._variables[x]
        return self._with_axes(name, x.ndim, rank)

    def _with_axes(self, name: str, own_rank: int, rank: int) -> str:
        if own_rank >= rank:
            return self._used(name)
        axes = ", None" * (rank - own_rank)
        return self._variant(name, str(rank - own_rank), f"{name}[:{axes}]")

    def _variant(self, name: str, suffix: str, text: str) -> str:
        if (name, suffix) not in self._variants:
            made = f"v{name[1:]}_{suffix}"
            self._lines.append(Line(made, text, (name,)))
            self._variants[name, suffix] = made
        return self._used(self._variants[name, suffix])

    def _operand(self, x: Any, rank: int) -> str:
        """Return numbers that broadcast to a rank."""
        if not isinstance(x, Symbol):
            return self._constant(x)
        name = self._variables[x]
        if x in self._truths:
            name = self._variant(name, "f", f"{name}.astype(float)")
            self._uses.pop()
        return self._with_axes(name, x.ndim, rank)

    def _truth(self, x: Any, rank: int) -> str:
        """Return truth values, or numbers that stand for them."""
        return self._raw(x, rank) if isinstance(x, Symbol) else self._known("?", x, x != 0.0)

    def _rows(self, x: Any) -> str:
        """Return numbers in one axis behind the chains'."""
        text = self._operand(x, 0)
        if isinstance(x, Symbol):
            return text if x.ndim == 1 else f"{text}.reshape(n, {x.size})"
        return self._known("flat", x, x.reshape(-1))

    def _batched(self, x: Any) -> str:
        """Return numbers that have the chains' axis."""
        text = self._operand(x, np.ndim(x))
        return text if isinstance(x, Symbol) else f"broadcast_to({text}, {shape_source(x.shape)})"

    def _function(self, name: str, function: Any) -> str:
        self.names[name] = function
        return name


def sizes_source(shape: tuple[int, ...]) -> str:
    """Return the sizes of an array of all chains as source."""
    return ", ".join(("n", *map(str, shape)))


def shape_source(shape: tuple[int, ...]) -> str:
    """Return the shape of an array of all chains as source."""
    return f"({sizes_source(shape)},)"


def cut_source(pattern: Affine) -> str | None:
    """Return a slice of one axis, or a number, as source."""
    first, steps, shape = pattern
    if not shape or shape == (1,):
        return f"{first}:{first + 1}" if shape else str(first)
    step, end = steps[0], first + steps[0] * shape[0]
    if step == 0:
        return None
    cut = f"{first}:{end if end >= 0 else ''}"
    return cut if step == 1 else f"{cut}:{step}"


def strided_source(name: str, pattern: Affine, size: int, truth: bool) -> str:
    """Return elements of each chain's contiguous array, where they lie, as source."""
    width, kind = (1, "bool") if truth else (8, "float")
    steps = ", ".join(str(width * s) for s in (size, *pattern.steps))
    shape = shape_source(pattern.shape)
    return f"ndarray({shape}, {kind}, {name}, {width * pattern.first}, ({steps},))"
