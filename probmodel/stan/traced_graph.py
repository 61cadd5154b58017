"""The graph of what parameters decide: operations on elements, each with a number of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import ModelError
from probmodel.stan.stan_values import Value, kind_of
from probmodel.stan.syntax.nodes import Node
from probmodel.types import Array


@dataclass(frozen=True, eq=False)
class Operation:
    """A function of arrays: of numbers with NumPy, of symbols of the modelling language alike.

    Attributes
    ----------
    name : for messages
    function : of arrays whose last axes are the arguments' own; axes before these are those of
        many calls at once, and broadcast
    ranks : how many axes each argument has, the last one standing for all that follow; axes before
        these broadcast. None for functions of numbers.
    shape : of the result, from the shapes of the arguments and the keywords; by trying without
    batched : whether it can be called for many at once
    single : the same for one call alone, where that is another function
    """

    name: str
    function: Callable[..., Any]
    ranks: tuple[int, ...] | None = None
    shape: Callable[..., tuple[int, ...]] | None = None
    batched: bool = True
    single: Callable[..., Any] | None = None

    def __call__(self, laned: Sequence[bool], *arrays: Any, **keywords: Any) -> Any:
        """Call the function, for many at once where an argument has lanes."""
        function = self.function if self.single is None or any(laned) else self.single
        return function(*arrays, **keywords)

    def own_ranks(self, count: int) -> tuple[int, ...]:
        """Return how many axes each of some arguments has."""
        if self.ranks is None:
            return (0,) * count
        return (*self.ranks, *self.ranks[-1:] * count)[:count]


Keywords = tuple[tuple[str, Any], ...]


class Step(NamedTuple):
    """An operation with its operands.

    Attributes
    ----------
    operation : which; None for a leaf, whose name is among the ``keywords``
    keywords : what else it is given
    operands : numbers of elements, one or an array of them each; negative ones are constants
    laned : which operands have lanes along their first axis
    shape : of the result; the first axis is that of lanes if an operand has them
    start : number of its first element
    place : in the program
    statement_order : a number, or one for each lane: what has a greater one comes later
    """

    operation: Operation | None
    keywords: Keywords
    operands: tuple[Any, ...]
    laned: tuple[bool, ...]
    shape: tuple[int, ...]
    start: int
    place: Node | None
    statement_order: Any = 0


class Loop(NamedTuple):
    """A loop of the program, once run.

    Attributes
    ----------
    node : its statement
    starts : index of the first step of each iteration, and that after the last one
    contents : the elements of variables that it changes, by name, at these times
    """

    node: Node
    starts: tuple[int, ...]
    contents: tuple[dict[str, Array], ...]


class Graph:
    """All steps, in the order in which they were made: operands before what is made of them.

    Attributes
    ----------
    steps, size : the steps, and how many elements they have
    loops : of the program, as far as they have run; see `rolled_loops`
    statement_order : of what is computed now, see `Step`
    missing : a constant that stands for elements that a lane has not set
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.size = 0
        self.loops: list[Loop] = []
        self.statement_order: Any = 0
        self._numbers = np.empty(64)
        self._known = 0
        self._single: dict[Any, int] = {}
        self.missing = int(self._kept(np.asarray(np.nan)))

    def mark(self) -> tuple[int, int, int]:
        """Return how much there is, so that what comes can be undone."""
        return len(self.steps), self.size, len(self.loops)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forget all steps since a mark."""
        del self.steps[mark[0] :], self.loops[mark[2] :]
        self.size = mark[1]

    def leaf(self, name: str, shape: tuple[int, ...], place: Node | None = None) -> Any:
        """Return the elements of something that is given from outside."""
        return self.made(None, (("name", name),), (), (), shape, place)

    def constants(self, numbers: Any) -> Any:
        """Return elements that are numbers; complex ones, if they have no imaginary part."""
        if np.iscomplexobj(numbers):
            numbers = _real_part(numbers)
        if np.ndim(numbers):
            return self._kept(np.asarray(numbers, dtype=float))
        number = float(numbers)
        key = number or str(number)  # zeros have signs
        if key not in self._single:
            self._single[key] = int(self._kept(np.asarray(number)))
        return self._single[key]

    def _kept(self, numbers: Array) -> Array:
        start, self._known = self._known, self._known + numbers.size
        if self._known > len(self._numbers):
            grown = np.empty(2 * self._known)
            grown[:start] = self._numbers[:start]
            self._numbers = grown
        self._numbers[start : self._known] = numbers.reshape(-1)
        return -1 - np.arange(start, self._known).reshape(numbers.shape)

    def numbers(self, elements: Any) -> Any:
        """Return the numbers of elements that are constants."""
        return self._numbers[-1 - np.asarray(elements)]

    def same(self) -> Array:
        """Return elements by their numbers, with one constant in the place of all equal ones."""
        bits = self._numbers[: self._known].view(np.int64)  # zeros have signs
        _, first, place = np.unique(bits, return_index=True, return_inverse=True)
        return np.concatenate([np.arange(self.size), (-1 - first[place])[::-1]])

    def step_of(self, element: int) -> Step | None:
        """Return the step that computes an element; None for constants."""
        if element < 0:
            return None
        return self.steps[bisect_right(self.steps, element, key=lambda s: s.start) - 1]

    def elements(self, value: Value) -> Any:
        """Return the numbers of a value's elements; constants for what is known."""
        return value.array if value.traced else self.constants(value.array)

    def apply(
        self,
        operation: Operation,
        values: Sequence[Value],
        kind: str,
        keywords: Keywords = (),
        place: Node | None = None,
    ) -> Value:
        """Compute an operation where all is known, and record it otherwise."""
        laned = tuple(v.laned for v in values)
        if not any(v.traced for v in values):
            with np.errstate(all="ignore"):
                arrays = aligned(operation, [v.array for v in values], laned)
                found = _as_numbers(operation(laned, *arrays, **dict(keywords)))
            return Value(kind_of(kind, found), found, laned=any(laned))
        operands = tuple(self.elements(v) for v in values)
        shape = self._shape(operation, keywords, operands, laned)
        array = self.made(operation, keywords, operands, laned, shape, place)
        return Value(kind, array, True, any(laned))

    def _shape(
        self, operation: Operation, keywords: Keywords, operands: Sequence[Any], laned: Any
    ) -> tuple[int, ...]:
        shapes = tuple(np.shape(o) for o in operands)
        if operation.ranks is None:
            if not any(shapes):
                return ()
            return np.broadcast_shapes(*map(np.shape, aligned(operation, operands, laned)))
        own = [s[1:] if lane else s for s, lane in zip(shapes, laned, strict=True)]
        lanes = {s[:1] for s, lane in zip(shapes, laned, strict=True) if lane} or {()}
        if operation.shape is not None:
            return (*next(iter(lanes)), *operation.shape(*own, **dict(keywords)))
        with np.errstate(all="ignore"):
            found = operation.function(*map(_probe, own), **dict(keywords))
        return (*next(iter(lanes)), *np.shape(found))

    def made(
        self,
        operation: Operation | None,
        keywords: Keywords,
        operands: tuple[Any, ...],
        laned: tuple[bool, ...],
        shape: tuple[int, ...],
        place: Node | None,
    ) -> Any:
        """Record an operation with its operands; returns its elements."""
        start, order = self.size, self.statement_order
        self.steps.append(Step(operation, keywords, operands, laned, shape, start, place, order))
        if not shape:
            self.size += 1
            return start
        self.size += prod(shape)
        return np.arange(start, self.size).reshape(shape)


def aligned(operation: Operation, arrays: Sequence[Any], laned: Sequence[bool]) -> Sequence[Any]:
    """Give arrays with lanes axes of length one behind these, so that batches broadcast."""
    if not any(laned):
        return arrays
    own = operation.own_ranks(len(arrays))
    batch = [np.ndim(a) - lane - rank for a, lane, rank in zip(arrays, laned, own, strict=True)]
    most = max(batch)
    return [
        a.reshape(a.shape[0], *(1,) * (most - rank), *a.shape[1:]) if lane and rank < most else a
        for a, lane, rank in zip(arrays, laned, batch, strict=True)
    ]


def _as_numbers(found: Any) -> Any:
    """Return truth values as the whole numbers 0 and 1, which can be added up."""
    if isinstance(found, bool | np.bool_):
        return int(found)
    is_truth = isinstance(found, np.ndarray) and found.dtype.kind == "b"
    return found.astype(np.int64) if is_truth else found


def _real_part(numbers: Any) -> Any:
    """Return complex numbers as real ones; those that were not set count as real.

    Raises a `ModelError` if there is an imaginary part.
    """
    if np.any((np.imag(numbers) != 0) & ~np.isnan(numbers)):
        raise ModelError(
            "complex numbers must come from data alone, or stand in generated quantities; here "
            "they meet what parameters decide. Compute real and imaginary part as two real numbers."
        )
    return np.real(numbers)


def _probe(shape: tuple[int, ...]) -> Any:
    """Return numbers that functions of arrays, matrices too, can be tried with."""
    if len(shape) == 2 and shape[0] == shape[1]:
        return np.eye(shape[0]) + 0.1
    return np.full(shape, 0.5)
