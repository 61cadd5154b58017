"""The tree of one chain in machine code: its numbers, its rows, and what is done to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from probmodel.compiler.blocks import POINTER, BlockFunction, BlockModule, Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes
from probmodel.numerics.split_mix import BITS, GOLDEN, LAST_SHIFT, MIXING

WIDTH = 8  # coordinates in a vector; rows of a tree are padded by zeros to a multiple

# Of the chain in each lane: of the newest leaf, from "logp" to "joined"; of the transition.
NUMBERS = (
    "logp", "weight", "alpha", "grown", "taking", "joining", "joined",
    "live", "step", "energy", "total", "subtree", "accepted", "draw_logp", "draw_weight",
    "new_logp", "new_weight",
)  # fmt: skip
COUNTS = ("transition", "leaf", "depth", "side", "steps", "moved", "turned", "failed", "diverging")
RESULTS = (
    "logp", "energy", "accept_prob", "n_steps", "depth", "accepted", "reached", "diverging"
)  # fmt: skip
# Rows of a tree: slope of the draw; position, gradient and slope of the draw of the subtree; of
# both ends, backward first, position, momentum that leads away, and slope; the sum of the momenta,
# the momentum of the newest leaf and of the one before; the sum before the last leaf of the old
# half. After them, four in each slot: momentum and sum before it, the same for the leaf before.
DRAW, NEW, ENDS, SUM, MOMENTUM, BEFORE, ZERO, LAST, SLOTS = 0, 1, 4, 10, 11, 12, 13, 14, 15
LEAF = ("x", "momentum", "slope")


def tree_rows(max_depth: int) -> int:
    """Return how many rows a tree takes."""
    return SLOTS + 4 * max_depth


class TreeWriter:
    """Writes a function of the tree of one chain.

    Its arguments are lane and chain, and states, momenta, seeds, steps,
    rows and counts of all trees, results, broken, chains, n, max_depth, see `no_u_turn`.
    """

    def __init__(self, m: BlockModule, name: str, tools: dict[str, BlockFunction]) -> None:
        kinds = [*[INT] * 2, *[POINTER] * 8, *[INT] * 3]
        self.f = BlockFunction(m, name, kinds, internal=True)
        self.b, self._tools, self._lanes = self.f.b, tools, m.lanes
        self._lane, self._chain = self.f.args[:2]
        self._states, self._momenta, seeds, self._steps = self.f.args[2:6]
        tree, counts, self._results, self._broken = self.f.args[6:10]
        self._chains, self.n, self.max_depth = self.f.args[10:]
        b, dim = self.b, self.f.field("dim")
        self._width = b.and_(b.add(dim, INT(WIDTH - 1)), INT(-WIDTH))
        kept = b.add(b.mul(self.max_depth, INT(4)), INT(SLOTS))
        self._tree = b.gep(tree, [b.mul(self._chain, b.mul(kept, self._width))])
        integers = INT.as_pointer()
        self._seeds = b.bitcast(seeds, integers)
        own = b.mul(self._chain, INT(len(COUNTS)))
        self._counts = b.gep(b.bitcast(counts, integers), [own])

    def call(self, other: TreeWriter, *args: Any) -> None:
        """Call another function of the same chain."""
        self.f.call(other.f, *self.f.args[: len(other.f.args) - len(args)], *args)

    # -- numbers -----------------------------------------------------------------------------------

    def count(self, name: str) -> Any:
        """Return a whole number of the chain."""
        return self.b.load(self.flag(name))

    def put_count(self, name: str, value: Any) -> None:
        """Change it."""
        self.b.store(INT(value) if isinstance(value, int) else value, self.flag(name))

    def flag(self, name: str) -> Any:
        """Return where it is."""
        return self.b.gep(self._counts, [INT(COUNTS.index(name))])

    def number(self, name: str) -> Any:
        """Return a number of the chain."""
        return self.b.load(self._number(name))

    def put(self, name: str, value: Any) -> None:
        """Change it."""
        value = ir.Constant(DOUBLE, value) if isinstance(value, float) else value
        self.b.store(value, self._number(name))

    def _number(self, name: str) -> Any:
        at = self.b.add(INT(NUMBERS.index(name) * self._lanes), self._lane)
        return self.b.gep(self.f.memory("tree"), [at])

    def uniform(self, number: Any) -> Any:
        """Return a uniform number of the transition."""
        b = self.b
        at = b.add(b.mul(self.count("transition"), self._chains), self._chain)
        mixed = b.add(
            b.load(b.gep(self._seeds, [at])), b.mul(b.add(number, INT(1)), _signed(GOLDEN))
        )
        for shift, factor in MIXING:
            mixed = b.mul(b.xor(mixed, b.lshr(mixed, INT(shift))), _signed(factor))
        mixed = b.xor(mixed, b.lshr(mixed, INT(LAST_SHIFT)))
        whole = b.uitofp(b.lshr(mixed, INT(64 - BITS)), DOUBLE)
        return b.fmul(whole, ir.Constant(DOUBLE, 2.0**-BITS))

    def less(self, a: Any, c: Any) -> Any:
        """Whether one number is less than another."""
        return self.b.fcmp_ordered("<", a, c)

    # -- rows --------------------------------------------------------------------------------------

    def row(self, number: Any) -> Any:
        """Return a row of the tree."""
        number = INT(number) if isinstance(number, int) else number
        return self.b.gep(self._tree, [self.b.mul(number, self._width)])

    def slot(self, number: Any, which: int) -> Any:
        """Return a row of a slot."""
        return self.row(self.b.add(self.b.mul(number, INT(4)), INT(SLOTS + which)))

    def end(self, side: Any, which: str) -> Any:
        """Return a row of an end of the trajectory."""
        return self.row(self.b.add(self.b.mul(side, INT(len(LEAF))), INT(ENDS + LEAF.index(which))))

    def other_side(self) -> Any:
        """Return the side of the end that is not grown."""
        return self.b.xor(self.count("side"), INT(1))

    def array(self, array: Any, number: Any) -> Any:
        """Return the row of the chain in one of several arrays, (chains, dim) each."""
        at = self.b.add(self.b.mul(number, self._chains), self._chain)
        return self.b.gep(array, [self.b.mul(at, self.f.field("dim"))])

    def state(self, after: int) -> list[Any]:
        """Return position and gradient before the transition, or after it."""
        first = self.b.mul(self.b.add(self.count("transition"), INT(after)), INT(2))
        return [self.array(self._states, self.b.add(first, INT(k))) for k in range(2)]

    def momentum(self) -> Any:
        """Return the momentum that the transition begins with."""
        return self.array(self._momenta, self.count("transition"))

    def broken(self) -> Any:
        """Return where the place of a divergence is written to."""
        return self.array(self._broken, self.count("transition"))

    def step_size(self) -> Any:
        """Return the step size of the chain."""
        return self.b.load(self.b.gep(self._steps, [self._chain]))

    def write(self, name: str, value: Any) -> None:
        """Write a result down."""
        b, k = self.b, self.count("transition")
        at = b.add(b.mul(k, INT(len(RESULTS))), INT(RESULTS.index(name)))
        b.store(value, b.gep(self._results, [b.add(b.mul(at, self._chains), self._chain)]))

    def copy(self, source: Any, target: Any) -> None:
        """Copy as many numbers as there are coordinates."""
        self.f.call(self._tools["copy"], source, target)

    def add(self, a: Any, factor: float, c: Any, target: Any) -> None:
        """Write a + factor c to a row of the tree, which all three are."""
        self.f.call(self._tools["add"], a, ir.Constant(DOUBLE, factor), c, target)

    def from_leaf(self, name: str, target: Any) -> None:
        """Copy the chain's row of the newest leaf."""
        self.f.call(self._tools["from lane"], self.f.memory(name), self._lane, target)

    def to_leaf(self, name: str, source: Any) -> None:
        """Replace it."""
        self.f.call(self._tools["to lane"], self.f.memory(name), self._lane, source)

    def check(self, flag: str, momentum: Any, before: Any, sign: float = 1.0) -> None:
        """Set a flag if a stretch turns: from a leaf with this momentum on, up to the newest."""
        self.f.call(
            self._tools["check"], momentum, ir.Constant(DOUBLE, sign), before, self.row(SUM),
            self.row(MOMENTUM), self.b.bitcast(self.flag(flag), POINTER),
        )  # fmt: skip


def tools(m: BlockModule) -> dict[str, BlockFunction]:
    """Write the functions on rows of a tree."""
    return {
        "copy": _copy(m), "add": _add(m), "check": _check(m),
        "from lane": _lane(m, "from_lane", reading=True),
        "to lane": _lane(m, "to_lane", reading=False),
    }  # fmt: skip


def _copy(m: BlockModule) -> BlockFunction:
    """Write copy(fields, memory, source, target)."""
    f = BlockFunction(m, "copy", [POINTER] * 2, internal=True)
    source, target = f.args
    with f.each() as i:
        f.b.store(f.b.load(f.b.gep(source, [i])), f.b.gep(target, [i]))
    f.end()
    return f


def _lane(m: BlockModule, name: str, reading: bool) -> BlockFunction:
    """Write from_lane or to_lane(fields, memory, row, lane, other): copy what one chain has."""
    f = BlockFunction(m, name, [POINTER, INT, POINTER], internal=True)
    row, lane, other = f.args
    b = f.b
    with f.each() as i:
        places = b.gep(row, [b.add(b.mul(i, INT(m.lanes)), lane)]), b.gep(other, [i])
        source, target = places if reading else places[::-1]
        b.store(b.load(source), target)
    f.end()
    return f


def _add(m: BlockModule) -> BlockFunction:
    """Write add(fields, memory, a, factor, c, target)."""
    f = BlockFunction(m, "add", [POINTER, DOUBLE, POINTER, POINTER], internal=True)
    a, factor, c, target = f.args
    w = f.of_width(WIDTH)
    with f.count_to(f.field("dim"), step=WIDTH) as i:
        f.put_vector_at(
            target, i, w.fma(w.same(factor), f.vector_at(c, i, w), f.vector_at(a, i, w))
        )
    f.end()
    return f


def _check(m: BlockModule) -> BlockFunction:
    """Write check(fields, memory, start, sign, before, sum, momentum, flag).

    With T the sum without what was before the stretch, the flag is set if T'(sign start) <= 0 or
    T'momentum <= 0.
    """
    f = BlockFunction(m, "check", [POINTER, DOUBLE, *[POINTER] * 4], internal=True)
    start, sign, before, total, momentum, flag = f.args
    b, w = f.b, f.of_width(WIDTH)
    dots = [Variable(f, w.number(0.0)) for _ in range(2)]
    with f.count_to(f.field("dim"), step=WIDTH) as i:
        own = f.vector_at(total, i, w) - f.vector_at(before, i, w)
        for dot, end in zip(dots, (start, momentum), strict=True):
            dot.set(w.fma(own, f.vector_at(end, i, w), dot.get()))
    first, last = (_sum(f, dot.get()) for dot in dots)
    zero = ir.Constant(DOUBLE, 0.0)
    turns = b.or_(b.fcmp_ordered("<=", b.fmul(first, sign), zero), b.fcmp_ordered("<=", last, zero))
    with b.if_then(turns):
        b.store(INT(1), b.bitcast(flag, INT.as_pointer()))
    f.end()
    return f


def _sum(f: BlockFunction, values: Lanes) -> Any:
    """Return the sum over the lanes."""
    numbers: Sequence[Any] = [
        f.b.extract_element(values.value, ir.IntType(32)(k)) for k in range(WIDTH)
    ]
    while len(numbers) > 1:
        numbers = [f.b.fadd(a, c) for a, c in zip(numbers[::2], numbers[1::2], strict=True)]
    return numbers[0]


def _signed(number: int) -> Any:
    """Return a constant of 64 bits."""
    return INT(number - (1 << 64) if number >> 63 else number)
