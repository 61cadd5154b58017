"""Functions on rows of a block: those that read and write arrays, and products with a root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from probmodel.compiler.blocks import POINTER, BlockFunction, BlockModule, Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes

SIDE_BY_SIDE = 4  # rows of a matrix, or directions, that are worked off together
_WIDEST = 8  # lanes of a vector that a register may hold


class Parts(NamedTuple):
    """The functions.

    Attributes
    ----------
    take, give : read an array into a row, write a row to an array
    push : product = C momentum
    pull : slope = C' product
    """

    take: BlockFunction
    give: BlockFunction
    push: BlockFunction
    pull: BlockFunction


def rows(m: BlockModule) -> Parts:
    """Write all of them into a module."""
    low_rank, dense = _low_rank(m), _dense(m)
    push, pull = (_product(m, low_rank, dense, transposed) for transposed in (False, True))
    return Parts(_take(m), _give(m), push, pull)


def _take(m: BlockModule) -> BlockFunction:
    """Write take(fields, memory, row, array, sign, rows, first, end): read an array into a row.

    The row is a place in the memory; ``rows`` are ones for the chains that are meant.
    """
    f = BlockFunction(m, "take", [POINTER, POINTER, DOUBLE, m.vector, INT, INT], internal=True)
    row, array, sign, rows, first, end = f.args
    meant, sign = Lanes(f.w, rows) > 0.0, f.w.same(sign)
    starts = f.starts(f.chains(first, end), f.field("dim"))

    def put(i: Any, value: Lanes) -> None:
        f.put(row, i, f.w.select(meant, value * sign, f.get(row, i)))

    with _tiles(f) as i:
        rows = [f.vector_at(array, f.b.add(start, i)) for start in starts]
        for k, value in enumerate(_transposed(f, rows)):
            put(f.b.add(i, INT(k)), value)
    with _others(f) as i:
        put(i, f.gather(array, starts, i))
    f.end()
    return f


def _give(m: BlockModule) -> BlockFunction:
    """Write give(fields, memory, row, array, lost, first, end): write a row to an array.

    ``lost`` are ones for the chains that are to have zeros.
    """
    f = BlockFunction(m, "give", [POINTER, POINTER, m.vector, INT, INT], internal=True)
    row, array, lost, first, end = f.args
    fine = Lanes(f.w, lost).equals(0.0)
    starts = f.starts(f.chains(first, end), f.field("dim"))

    def got(i: Any) -> Lanes:
        return f.w.select(fine, f.get(row, i), 0.0)

    with _tiles(f) as i:
        columns = [got(f.b.add(i, INT(k))) for k in range(f.w.lanes)]
        for start, value in zip(starts, _transposed(f, columns), strict=True):
            f.put_vector_at(array, f.b.add(start, i), value)
    with _others(f) as i:
        f.scatter(array, starts, i, got(i))
    f.end()
    return f


@contextmanager
def _tiles(f: BlockFunction) -> Iterator[Any]:
    """Write a loop over the coordinates, as many at a time as there are lanes."""
    end = _in_tiles(f)
    with f.b.if_then(f.b.icmp_signed(">", end, INT(0))), f.count_to(end, step=f.w.lanes) as i:
        yield i


@contextmanager
def _others(f: BlockFunction) -> Iterator[Any]:
    """Write a loop over the coordinates that no tile has."""
    first, end = _in_tiles(f), f.field("dim")
    with f.b.if_then(f.b.icmp_signed("<", first, end)), f.count_to(end, start=first) as i:
        yield i


def _in_tiles(f: BlockFunction) -> Any:
    """Return how many coordinates tiles have: none for vectors wider than a register."""
    size = f.w.lanes if f.w.lanes <= _WIDEST else 1 << 62
    return f.b.and_(f.field("dim"), INT(-size))


def _transposed(f: BlockFunction, rows: Sequence[Lanes]) -> Sequence[Lanes]:
    """Return the columns of a square of numbers, given its rows.

    Blocks off the diagonal change places: halves of the square, then halves of its quarters, ...
    """
    values, half = [row.value for row in rows], len(rows) // 2
    lanes = range(len(rows))
    while half:
        upper = [j if not j & half else len(rows) + j - half for j in lanes]
        lower = [j + half if not j & half else len(rows) + j for j in lanes]
        for r in (r for r in lanes if not r & half):
            a, b = values[r], values[r + half]
            values[r], values[r + half] = f.shuffled(a, b, upper), f.shuffled(a, b, lower)
        half //= 2
    return [Lanes(f.w, value) for value in values]


def _low_rank(m: BlockModule) -> BlockFunction:
    """Write the function of v + U (F - I) U'v, for the row "product"; see `roots.LowRank`.

    Four columns of U lie together, (dim, 4), then the next four.
    """
    f = BlockFunction(m, "low_rank", internal=True)
    v, weights = f.memory("product"), f.memory("weights")
    basis, factors = f.array("basis"), f.array("factors")
    stride = f.b.mul(f.field("dim"), INT(SIDE_BY_SIDE))
    tiles = f.b.sdiv(f.field("rank"), INT(SIDE_BY_SIDE))

    def entry(tile: Any, i: Any, k: int) -> Lanes:
        start = f.b.add(f.b.mul(tile, stride), f.b.mul(i, INT(SIDE_BY_SIDE)))
        return f.one(basis, f.b.add(start, INT(k)))

    with f.each(tiles) as tile:
        sums = [Variable(f, f.w.number(0.0)) for _ in range(SIDE_BY_SIDE)]
        with f.each() as i:
            value = f.get(v, i)
            for k, total in enumerate(sums):
                total.set(f.w.fma(entry(tile, i, k), value, total.get()))
        for k, total in enumerate(sums):
            at = f.b.add(f.b.mul(tile, INT(SIDE_BY_SIDE)), INT(k))
            f.put(weights, at, total.get() * f.one(factors, at))
    with f.each(tiles) as tile:
        at = f.b.mul(tile, INT(SIDE_BY_SIDE))
        held = [f.get(weights, f.b.add(at, INT(k))) for k in range(SIDE_BY_SIDE)]
        with f.each() as i:
            value = f.get(v, i)
            for k, weight in enumerate(held):
                value = f.w.fma(entry(tile, i, k), weight, value)
            f.put(v, i, value)
    f.end()
    return f


def _dense(m: BlockModule) -> BlockFunction:
    """Write dense(fields, memory, matrix, from, to); four rows of the matrix lie together."""
    f = BlockFunction(m, "dense", [POINTER] * 3, internal=True)
    matrix, source, target = f.args
    n = f.field("dim")
    with f.count_to(n, step=SIDE_BY_SIDE) as first:
        sums = [Variable(f, f.w.number(0.0)) for _ in range(SIDE_BY_SIDE)]
        tile = f.b.gep(matrix, [f.b.mul(first, n)])
        with f.each() as j:
            value, at = f.get(source, j), f.b.mul(j, INT(SIDE_BY_SIDE))
            for k, total in enumerate(sums):
                total.set(f.w.fma(f.one(tile, f.b.add(at, INT(k))), value, total.get()))
        for k, total in enumerate(sums):
            f.put(target, f.b.add(first, INT(k)), total.get())
    f.end()
    return f


def _product(
    m: BlockModule, low_rank: BlockFunction, dense: BlockFunction, transposed: bool
) -> BlockFunction:
    """Write the function of product = C momentum, or of slope = C' product."""
    f = BlockFunction(m, "pull" if transposed else "push", internal=True)
    product, scale = f.memory("product"), f.array("scale")
    names = ("product", "slope") if transposed else ("momentum", "product")
    source, target = map(f.memory, names)

    def scaled() -> None:
        f.change(product, lambda i, v: f.one(scale, i) * v)

    is_dense = f.b.icmp_signed("!=", f.field("matrix"), INT(0))
    has_rank = f.b.icmp_signed("!=", f.field("rank"), INT(0))
    with f.b.if_else(is_dense) as (then, otherwise):
        with then:
            f.call(dense, f.array("transposed" if transposed else "matrix"), source, target)
        with otherwise:
            scaled() if transposed else f.copy(source, product)
            with f.b.if_then(has_rank):
                f.call(low_rank)
            f.copy(product, target) if transposed else scaled()
    f.end()
    return f
