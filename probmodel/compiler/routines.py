"""Machine code that moves chains: their gradients, trajectories and transitions.

    evaluate   log densities and gradients at given places
    follow     trajectories, see `trajectories`
    move       transitions: trajectories whose ends are accepted or not, one after the other

The functions call that of a program by its address, so they are made once for all programs.
Python calls these three, with arrays as NumPy's objects.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir

from probmodel.compiler.blocks import POINTER, BlockFunction, BlockModule
from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask
from probmodel.compiler.rows import Parts, rows
from probmodel.compiler.trajectories import GIVEN, POINTS, RESULTS, FollowBlock, Trajectory

DECIDED = (*RESULTS, "accept_prob")


def routines(lanes: int) -> Any:
    """Write the module of all functions."""
    m = BlockModule("trajectories", lanes)
    parts = rows(m)
    _evaluate(m, parts)
    block = FollowBlock(m, parts, Trajectory(m, parts).f).f
    _follow(m, block)
    _move(m, block)
    return m.module


def _evaluate(m: BlockModule, parts: Parts) -> None:
    """Write evaluate(memory, x, logp, gradient, begin, end), of the chains in between."""
    f = BlockFunction(m, "evaluate", [*[POINTER] * 3, INT, INT])
    *arrays, begin, end = f.args
    x, logp, gradient = map(f.elements, arrays)
    one, ones, zeros = ir.Constant(DOUBLE, 1.0), f.w.number(1.0), f.w.number(0.0)
    with f.count_to(end, step=m.lanes, start=begin) as first:
        f.call(parts.take, f.memory("x"), x, one, ones.value, first, end)
        f.call_block()
        f.scatter(logp, f.chains(first, end), INT(0), f.get(f.memory("logp"), INT(0)))
        f.call(parts.give, f.memory("gradient"), gradient, zeros.value, first, end)
    f.end()


def _follow(m: BlockModule, block: BlockFunction) -> None:
    """Write follow(memory, ..., begin, end, chains): all that a block's function takes."""
    f = BlockFunction(m, "follow", [*[POINTER] * 7, *[INT] * 3])
    *arrays, begin, end, chains = f.args
    arrays = [f.elements(array) for array in arrays]
    with f.count_to(end, step=m.lanes, start=begin) as first:
        f.call(block, *arrays, first, end, chains)
    f.end()


# -- transitions -----------------------------------------------------------------------------------


def _move(m: BlockModule, block: BlockFunction) -> None:
    """Write move(memory, states, momenta, given, u, out, results, begin, end, chains, n).

    Arrays are those of a block's function, one after the other for n transitions, but for the
    states, (n + 1, 2, chains, dim): positions and gradients, of which the first are given. ``u``
    has one column more, that of the acceptance; ``results`` is (n, `DECIDED`, chains).
    """
    f = BlockFunction(m, "move", [*[POINTER] * 6, *[INT] * 4])
    *arrays, begin, end, chains, n = f.args
    states, momenta, given, u, out, results = map(f.elements, arrays)
    b, size = f.b, f.b.mul(chains, f.field("dim"))
    columns = b.mul(chains, f.field("finest"))

    def nth(array: Any, i: Any, width: Any) -> Any:
        return f.b.gep(array, [f.b.mul(i, width)])

    with f.count_to(end, step=m.lanes, start=begin) as first, f.count_to(n) as i:
        b, rows = f.b, f.chains(first, end)
        x = nth(states, i, b.mul(size, INT(2)))
        own = nth(given, i, b.mul(chains, INT(len(GIVEN))))
        levels = nth(u, i, b.add(columns, chains))
        ends = nth(out, i, b.mul(size, INT(len(POINTS))))
        found = nth(results, i, b.mul(chains, INT(len(DECIDED))))
        points = x, nth(x, INT(1), size), nth(momenta, i, size)
        f.call(block, *points, own, levels, ends, found, first, end, chains)
        number = {
            name: f.gather(found, rows, b.mul(chains, INT(k))) for k, name in enumerate(RESULTS)
        }
        probability = _acceptance(f, number)
        f.scatter(found, rows, b.mul(chains, INT(len(RESULTS))), probability)
        accepted = f.gather(nth(levels, INT(1), columns), rows, INT(0)) < probability
        logp = f.w.select(accepted, number["logp"], f.gather(own, rows, INT(0)))
        f.scatter(nth(own, INT(len(GIVEN)), chains), rows, INT(0), logp)
        _select(f, accepted, rows, size, (ends, x, nth(x, INT(2), size)))
    f.end()


def _acceptance(f: BlockFunction, found: dict[str, Lanes]) -> Lanes:
    """Metropolis-Hastings probability; zero where the ratio is not finite."""
    log_ratio = found["before"] - found["after"] + found["log_weight"]
    fine = f.is_finite(found["logp"]) & f.is_finite(log_ratio) & found["failed"].equals(0.0)
    downwards = f.w.select(log_ratio < 0.0, log_ratio, 0.0)
    return f.w.select(fine, f.w.call("exp", downwards), 0.0)


def _select(
    f: BlockFunction, accepted: Mask, rows: list[Any], size: Any, arrays: tuple[Any, Any, Any]
) -> None:
    """Copy position and gradient of each chain: of the first array where accepted, or the second.

    They go to the third.
    """
    proposed, old, new = arrays
    dim = f.field("dim")
    for lane, row in enumerate(rows):
        taken = f.b.extract_element(accepted.value, ir.IntType(32)(lane))
        source = f.b.select(taken, proposed, old)
        for k in range(2):
            start = f.b.add(f.b.mul(row, dim), f.b.mul(size, INT(k)))
            with f.each() as i:
                at = f.b.add(start, i)
                f.b.store(f.b.load(f.b.gep(source, [at])), f.b.gep(new, [at]))
