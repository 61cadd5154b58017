"""Loops of a program: which operations run together, element by element, and in which order.

Operations on arrays of one shape share a loop where each needs the others at the same element
alone; what they pass on stays in registers. An operation that needs a whole array that an earlier
loop makes, or a sum over it, goes to a later loop, and the array is kept in memory. Numbers are
computed between loops.

A long program, such as a loop over time that is written out, is cut into pieces, each a function of
its own, which pass on numbers in memory: what LLVM takes for a function grows with the square of
its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from probmodel.compiler.symbols import ELEMENTWISE, Symbol, positions
from probmodel.types import Array

REDUCED = frozenset({"sum", "max", "min", "log sum"})  # the last: of the logarithms
WHOLE = frozenset(  # of their operands
    {"factor", "solve", "product", "equations", "determinant", "hidden Markov", "call", "scan"}
)


MOST_STEPS = 200  # of a loop
PIECE = 200  # steps and numbers, from which on a piece ends


class Operand(NamedTuple):
    """Where elements come from.

    Attributes
    ----------
    source : what has them: a symbol that is no view, or an array that is known
    where : their flat positions there
    """

    source: Any
    where: Array

    @property
    def in_order(self) -> bool:
        """Whether they are all elements of the source, one after another."""
        size = self.source.size
        return self.where.size == size and np.array_equal(self.where.reshape(-1), np.arange(size))


class Scatter(NamedTuple):
    """A part of a place: its elements are put, or added, where they belong."""

    target: Symbol
    number: int


class Clear(NamedTuple):
    """Initial values of an array that loops add to: zeros, or minus infinity of a maximum."""

    symbol: Symbol


@dataclass
class Loop:
    """Steps that run together at each element of arrays of a shape.

    Attributes
    ----------
    shape : of the arrays, without axes of length one
    number : position among the loops
    steps : symbols, and parts of places, in order
    direction : 1 or -1 if a scan needs the elements in order, or from the end; 0 if none does
    tiled : whether a product with a matrix takes several elements at once, in any order
    alone : whether it is one operation that takes its operands whole, in loops of its own
    """

    shape: tuple[int, ...]
    number: int
    steps: list[Symbol | Scatter] = field(default_factory=list)
    direction: int = 0
    tiled: bool = False
    alone: bool = False


def operand(x: Any, shape: tuple[int, ...]) -> Operand:
    """Return the elements that stand for ``x`` in an array of a shape, which it is broadcast to."""
    x = x if isinstance(x, Symbol) else np.asarray(x, dtype=float)
    viewed = isinstance(x, Symbol) and x.op == "view"
    source, index = (x.args[0], x.index) if viewed else (x, positions(x.shape))
    return Operand(source, index if index.shape == shape else np.broadcast_to(index, shape))


def is_number(x: Any) -> bool:
    """Whether a symbol is a number that is computed between loops."""
    return isinstance(x, Symbol) and x.size == 1 and (x.op in ELEMENTWISE or x.op in REDUCED)


def in_columns(product: Symbol) -> bool:
    """Whether a matrix times a vector adds up columns, one for each element of the vector."""
    rows, columns = product.args[0].shape
    return bool(rows < columns)


def adds_up(x: Symbol) -> bool:
    """Whether a symbol is complete only once its loop has ended."""
    return x.op in REDUCED or (x.op == "matmul" and in_columns(x))


def squeezed(shape: Iterable[int]) -> tuple[int, ...]:
    """Leave out axes of length one."""
    return tuple(n for n in shape if n != 1)


class Schedule:
    """The loops of a program.

    Parameters
    ----------
    outputs : what is to be computed

    Attributes
    ----------
    loops : in the order in which they run
    numbers : after each loop, the numbers that can be computed then; first, before all loops
    kept : symbols whose elements are kept in memory
    """

    def __init__(self, outputs: Iterable[Symbol]) -> None:
        outputs = list(outputs)
        self.loops: list[Loop] = []
        self._level: dict[Symbol, int] = {}  # the loop after which all of it is known
        self._made: dict[Symbol, int] = {}  # the loop that makes it element by element
        self._uses: list[tuple[Operand, int]] = []
        numbers: list[Symbol] = []
        for symbol in ordered(outputs):
            if is_number(symbol) and symbol.op in ELEMENTWISE:
                operands = [operand(a, symbol.shape) for a in symbol.args]
                self._level[symbol] = max(map(self._ready, operands))
                self._uses += [(o, -1) for o in operands]
                numbers.append(symbol)
            elif symbol.op == "input":
                self._level[symbol] = -1
            elif symbol.op != "view":
                self._level[symbol] = self._place(symbol)
        self.numbers = [
            [s for s in numbers if self._level[s] == k] for k in range(-1, len(self.loops))
        ]
        # In an order of their own, so that equal programs are written alike.
        self.kept = dict.fromkeys(s for s in self._level if self._is_kept(s)) | dict.fromkeys(
            o.source for o, number in self._uses
            if isinstance(o.source, Symbol) and not is_number(o.source)
            and not (self._made.get(o.source) == number and o.in_order)
        )  # fmt: skip
        for output in outputs:
            source = operand(output, output.shape).source
            if not is_number(source):
                self.kept[source] = None

    def _is_kept(self, symbol: Symbol) -> bool:
        return symbol.op in ("input", "place") or symbol.op in WHOLE or (
            symbol.op in REDUCED and symbol.size > 1
        ) or (symbol.op == "matmul" and in_columns(symbol))  # fmt: skip

    def _ready(self, o: Operand, shape: tuple[int, ...] | None = None) -> int:
        """Return the loop after which an operand is known; in which, at an element of a shape."""
        if not isinstance(o.source, Symbol):
            return -1
        level = self._level[o.source]
        made = self._made.get(o.source)
        same = shape is not None and made is not None and squeezed(o.source.shape) == shape
        if same and o.in_order:
            return level - 1  # in the same loop
        return level

    def _place(self, symbol: Symbol) -> int:
        """Put a symbol in a loop, or its parts in several; returns the last."""
        if symbol.op == "place":
            return max(
                self._add(Scatter(symbol, k), [operand(part, index.shape)], index.shape)
                for k, (part, index) in enumerate(zip(symbol.args, symbol.index, strict=True))
            )
        if symbol.op in WHOLE:
            return self._alone(symbol)
        if symbol.op in REDUCED:
            (x,) = symbol.args
            return self._add(symbol, [operand(x, x.shape)], x.shape)
        if symbol.op == "matmul":
            vector = operand(symbol.args[1], symbol.args[1].shape)
            if in_columns(symbol):
                return self._add(symbol, [vector], vector.where.shape)
            return self._add(symbol, [], symbol.shape, whole=[vector])
        operands = [operand(a, symbol.shape) for a in symbol.args]
        direction = int(symbol.index) if symbol.op == "recurrence" else 0
        return self._add(symbol, operands, symbol.shape, direction=direction)

    def _alone(self, symbol: Symbol) -> int:
        """Give an operation that takes its operands whole a place after all that it needs."""
        self._uses += [(operand(a, np.shape(a)), -1) for a in symbol.args]
        self.loops.append(Loop(symbol.shape, len(self.loops), [symbol], alone=True))
        return self.loops[-1].number

    def _add(
        self,
        step: Symbol | Scatter,
        operands: list[Operand],
        shape: tuple[int, ...],
        whole: Iterable[Operand] = (),
        direction: int = 0,
    ) -> int:
        shape = squeezed(shape)
        after = [self._ready(o, shape) for o in operands] + [self._ready(o) for o in whole]
        tiled = isinstance(step, Symbol) and step.op == "matmul"
        loop = self._loop(shape, 1 + max(after, default=-1), direction, tiled)
        loop.steps.append(step)
        self._uses += [(o, loop.number) for o in operands] + [(o, -1) for o in whole]
        if isinstance(step, Symbol) and not adds_up(step):
            self._made[step] = loop.number
        return loop.number

    def _loop(self, shape: tuple[int, ...], first: int, direction: int, tiled: bool) -> Loop:
        """Return the first loop of a shape from a number on; a new one, if there is none."""
        for loop in self.loops[first:]:
            turned = bool(direction) and (loop.tiled or loop.direction not in (0, direction))
            full = loop.alone or len(loop.steps) >= MOST_STEPS
            closed = turned or full or (tiled and bool(loop.direction))
            if loop.shape == shape and not closed:
                break
        else:
            loop = Loop(shape, len(self.loops))
            self.loops.append(loop)
        loop.direction = loop.direction or direction
        loop.tiled = loop.tiled or tiled
        return loop


Item: TypeAlias = Clear | Loop | Symbol


def pieces(schedule: Schedule) -> list[list[Item]]:
    """Return what is to be written, in the order in which it is computed, cut into pieces.

    Solutions of differential equations are in one piece with their derivatives.
    """
    items: list[Item] = [Clear(s) for s in schedule.kept if s.op == "place" or adds_up(s)]
    items += schedule.numbers[0]
    for loop, numbers in zip(schedule.loops, schedule.numbers[1:], strict=True):
        items += [loop, *numbers]
    solved = [k for k, item in enumerate(items) if isinstance(item, Loop) and _solves(item)]
    found: list[list[Item]] = [[]]
    length = 0
    for k, item in enumerate(items):
        if length >= PIECE and not (solved and solved[0] < k <= solved[-1]):
            found.append([])
            length = 0
        found[-1].append(item)
        length += len(item.steps) if isinstance(item, Loop) else 1
    return found


def _solves(loop: Loop) -> bool:
    """Whether a loop is a call that solves differential equations."""
    (step, *_) = loop.steps
    return isinstance(step, Symbol) and step.op == "call" and bool(step.index.problem)


def passed_on(found: Sequence[Sequence[Item]], last: Symbol | None) -> list[Symbol]:
    """Return the numbers of pieces that a later piece needs; ``last`` is needed at the end."""
    piece = {n: k for k, items in enumerate(found) for item in items for n in _numbers(item)}
    uses = [(arg, k) for k, items in enumerate(found) for item in items for arg in _needed(item)]
    if last is not None:
        uses.append((last, len(found) - 1))
    sources = [(arg.args[0] if arg.op == "view" else arg, k) for arg, k in uses]
    return list(dict.fromkeys(source for source, k in sources if piece.get(source, k) != k))


def _steps(item: Item) -> Sequence[Symbol | Scatter]:
    if isinstance(item, Loop):
        return item.steps
    return [] if isinstance(item, Clear) else [item]


def _numbers(item: Item) -> Iterator[Symbol]:
    """Yield the numbers that an item computes."""
    return (step for step in _steps(item) if isinstance(step, Symbol) and is_number(step))


def _needed(item: Item) -> Iterator[Symbol]:
    """Yield what an item is computed from."""
    for step in _steps(item):
        args = [step.target.args[step.number]] if isinstance(step, Scatter) else step.args
        yield from (a for a in args if isinstance(a, Symbol))


def ordered(outputs: Iterable[Symbol]) -> Iterator[Symbol]:
    """Yield all symbols of a program, operands before what is made of them."""
    seen: set[Symbol] = set()
    pending: list[tuple[Symbol, bool]] = [(o, False) for o in reversed(list(outputs))]
    while pending:
        symbol, ready = pending.pop()
        if ready:
            yield symbol
        elif symbol not in seen:
            seen.add(symbol)
            pending.append((symbol, True))
            pending += [(a, False) for a in reversed(symbol.args) if isinstance(a, Symbol)]


def covered_once(place: Symbol) -> tuple[list[bool], Array]:
    """Return which parts of a place have their positions to themselves, and where zeros stay.

    The second are the flat positions that must be zero at first: those of no part, or of several.
    """
    counts = np.zeros(prod(place.shape), dtype=int)
    for index in place.index:
        np.add.at(counts, index.reshape(-1), 1)
    alone = [bool(np.all(counts[index.reshape(-1)] == 1)) for index in place.index]
    touched = np.zeros(len(counts), dtype=bool)
    for own, index in zip(alone, place.index, strict=True):
        if own:
            touched[index.reshape(-1)] = True
    return alone, np.flatnonzero(~touched)
