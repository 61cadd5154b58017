"""Machine code of the No-U-Turn sampler: the chains of a block, each at a leaf of its own.

    leaf      the next leaf of every chain, and the numbers that its tree asks for
    made      what a chain does with it; it calls those below
    complete  joins a whole subtree to the trajectory
    end       writes down a transition, and goes on to the next
    begin     begins a transition
    double    sets out to double a trajectory

See `samplers.hamiltonian.trees`, whose rules and notation these follow. Leaves are made for all
chains at once, chains in the lanes; trees are grown chain by chain, coordinates in the lanes. A
chain that has made all its transitions idles, without momentum and with steps of no length.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.blocks import POINTER, BlockFunction, BlockModule, Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes
from probmodel.compiler.rows import Parts, rows
from probmodel.compiler.trajectories import gradient
from probmodel.compiler.tree_writer import (
    BEFORE,
    DRAW,
    LAST,
    LEAF,
    MOMENTUM,
    NEW,
    NUMBERS,
    RESULTS,
    SUM,
    ZERO,
    TreeWriter,
    tools,
)
from probmodel.numerics.split_mix import JOIN, SIDE


def routines(lanes: int) -> Any:
    """Write the module."""
    m = BlockModule("no_u_turn", lanes)
    parts = rows(m)
    _grow(m, parts, _leaf(m, parts), _Trees(m))
    return m.module


def _grow(m: BlockModule, parts: Parts, leaf: BlockFunction, trees: _Trees) -> None:
    """Write grow(memory, logp, states, momenta, seeds, steps, tree, counts, results, broken, ...).

    The last arguments are begin, end, chains, n, max_depth. ``states`` is (n + 1, 2, chains, dim),
    positions and gradients, of which the first are given; ``results`` is (n, `RESULTS`, chains).
    """
    f = BlockFunction(m, "grow", [*[POINTER] * 9, *[INT] * 5])
    logp, *arrays = map(f.elements, f.args[:9])
    begin, end, *sizes = f.args[9:]
    states, (chains, _, _) = arrays[0], sizes
    one, ones = ir.Constant(DOUBLE, 1.0), f.w.number(1.0).value
    with f.count_to(end, step=m.lanes, start=begin) as first:
        grad = f.b.gep(states, [f.b.mul(chains, f.field("dim"))])
        f.call(parts.take, f.memory("x"), states, one, ones, first, end)
        f.call(parts.take, f.memory("product"), grad, one, ones, first, end)
        f.call(parts.pull)
        f.change(f.memory("momentum"), lambda i, v: f.w.number(0.0))
        numbers = f.memory("tree")
        for name in ("live", "step", "energy", "total", "subtree"):
            f.put(numbers, INT(NUMBERS.index(name)), f.w.number(0.0))
        given = f.gather(logp, f.chains(first, end), INT(0))
        f.put(numbers, INT(NUMBERS.index("draw_logp")), given)
        left = f.b.sub(end, first)
        own = f.b.select(f.b.icmp_signed("<", left, INT(m.lanes)), left, INT(m.lanes))
        with f.count_to(own) as lane:
            f.call(trees.first, lane, f.b.add(first, lane), *arrays, *sizes)
        with f.repeat() as condition:
            f.call(leaf)
            with f.count_to(own) as lane:
                f.call(trees.made, lane, f.b.add(first, lane), *arrays, *sizes)
            live = f.get(numbers, INT(NUMBERS.index("live")))
            condition.append(f.w.any(live > 0.0))
    f.end()


def _leaf(m: BlockModule, parts: Parts) -> BlockFunction:
    """Write the function of one leapfrog step of every chain."""
    f = BlockFunction(m, "leaf", internal=True)
    x, r, s, product = map(f.memory, ("x", "momentum", "slope", "product"))
    numbers, w = f.memory("tree"), f.w

    def number(name: str) -> Lanes:
        return f.get(numbers, INT(NUMBERS.index(name)))

    h, kinetic = number("step"), Variable(f, w.number(0.0))
    half = h * 0.5
    f.change(r, lambda i, v: w.fma(half, f.get(s, i), v))
    f.call(parts.push)
    f.change(x, lambda i, v: w.fma(h, f.get(product, i), v))
    logp, _ = gradient(f)
    f.call(parts.pull)
    with f.each() as i:
        v = w.fma(half, f.get(s, i), f.get(r, i))
        f.put(r, i, v)
        kinetic.set(w.fma(v, v, kinetic.get()))
    weight = number("energy") + logp - kinetic.get() * 0.5
    fine = (weight >= f.w.same(f.field("least"))) & (weight < np.inf)
    weight = w.select(fine, weight, -np.inf)
    grown = _log_sum(f, number("subtree"), weight)
    total = number("total")
    found = {
        "logp": logp, "weight": weight,
        "alpha": w.call("exp", w.select(weight < 0.0, weight, 0.0)),
        "grown": grown, "taking": w.call("exp", weight - grown),
        "joining": w.call("exp", grown - total), "joined": _log_sum(f, total, grown),
    }  # fmt: skip
    for name, value in found.items():
        f.put(numbers, INT(NUMBERS.index(name)), value)
    f.end()
    return f


def _log_sum(f: BlockFunction, a: Lanes, b: Lanes) -> Lanes:
    """Return the logarithm of e^a + e^b."""
    high, low = f.w.select(a < b, b, a), f.w.select(a < b, a, b)
    return high + f.w.call("log1p", f.w.call("exp", low - high))


class _Trees:
    """Writes the functions of the tree of a chain.

    Attributes
    ----------
    first : begins the first transition
    made : takes the newest leaf
    """

    def __init__(self, m: BlockModule) -> None:
        self._m, self._tools = m, tools(m)
        self._double = self._doubled()
        self._begin = self._begun()
        self._end = self._ended()
        self._complete = self._completed()
        self.first, self.made = self._first().f, self._made().f

    def _tree(self, name: str) -> TreeWriter:
        return TreeWriter(self._m, name, self._tools)

    def _doubled(self) -> TreeWriter:
        """Write double(...)."""
        t = self._tree("double")
        b, depth = t.b, t.count("depth")
        forward = t.less(t.uniform(b.add(depth, INT(SIDE))), ir.Constant(DOUBLE, 0.5))
        side = b.zext(forward, INT)
        with b.if_then(b.icmp_signed("!=", side, t.count("side"))):
            t.add(t.row(ZERO), -1.0, t.row(SUM), t.row(SUM))
        t.put_count("side", side)
        for name in LEAF:
            t.to_leaf(name, t.end(side, name))
        t.add(t.row(SUM), -1.0, t.end(side, "momentum"), t.row(LAST))
        t.put("subtree", -np.inf)
        t.put_count("leaf", 0)
        t.f.end()
        return t

    def _begun(self) -> TreeWriter:
        """Write begin(...)."""
        t = self._tree("begin")
        b, r = t.b, t.row(SUM)
        for source, target in zip(t.state(0), t.state(1), strict=True):
            t.copy(source, target)
        t.copy(t.momentum(), r)
        kinetic = t.f.variable(ir.Constant(DOUBLE, 0.0))
        with t.f.each() as i:
            v = b.load(b.gep(r, [i]))
            b.store(b.fadd(b.load(kinetic), b.fmul(v, v)), kinetic)
        half = b.fmul(b.load(kinetic), ir.Constant(DOUBLE, 0.5))
        t.put("energy", b.fsub(half, t.number("draw_logp")))
        for name in ("total", "accepted", "draw_weight"):
            t.put(name, 0.0)
        for name in ("depth", "steps", "moved", "turned", "failed", "diverging"):
            t.put_count(name, 0)
        for side in (0, 1):
            t.copy(t.state(0)[0], t.end(INT(side), "x"))
            t.add(t.row(ZERO), 2.0 * side - 1.0, r, t.end(INT(side), "momentum"))
            t.copy(t.row(DRAW), t.end(INT(side), "slope"))
        t.put_count("side", 1)
        t.put("step", t.step_size())
        t.put("live", 1.0)
        t.call(self._double)
        t.f.end()
        return t

    def _first(self) -> TreeWriter:
        """Write first(...)."""
        t = self._tree("first")
        t.put_count("transition", 0)
        t.from_leaf("slope", t.row(DRAW))
        t.call(self._begin)
        t.f.end()
        return t

    def _ended(self) -> TreeWriter:
        """Write end(...)."""
        t = self._tree("end")
        b = t.b

        def real(count: Any) -> Any:
            return b.sitofp(count, DOUBLE)

        steps = real(t.count("steps"))
        at_most = b.icmp_signed("==", t.count("depth"), t.max_depth)
        reached = b.and_(at_most, b.icmp_signed("==", t.count("turned"), INT(0)))
        results = (
            t.number("draw_logp"), b.fsub(t.number("energy"), t.number("draw_weight")),
            b.fdiv(t.number("accepted"), steps), steps, real(t.count("depth")),
            real(t.count("moved")), b.uitofp(reached, DOUBLE), real(t.count("diverging")),
        )  # fmt: skip
        for name, value in zip(RESULTS, results, strict=True):
            t.write(name, value)
        following = b.add(t.count("transition"), INT(1))
        t.put_count("transition", following)
        with b.if_else(b.icmp_signed("<", following, t.n)) as (then, otherwise):
            with then:
                t.call(self._begin)
            with otherwise:
                for name in ("live", "step"):
                    t.put(name, 0.0)
                t.to_leaf("momentum", t.row(ZERO))
        t.f.end()
        return t

    def _completed(self) -> TreeWriter:
        """Write complete(...)."""
        t = self._tree("complete")
        b, depth, side = t.b, t.count("depth"), t.count("side")
        t.check("turned", t.end(t.other_side(), "momentum"), t.row(ZERO), -1.0)
        with b.if_then(b.icmp_signed(">", depth, INT(0))):
            t.check("turned", t.end(side, "momentum"), t.row(LAST))
        with b.if_then(t.less(t.uniform(b.add(depth, INT(JOIN))), t.number("joining"))):
            for k, target in enumerate([*t.state(1), t.row(DRAW)]):
                t.copy(t.row(NEW + k), target)
            t.put("draw_logp", t.number("new_logp"))
            t.put("draw_weight", t.number("new_weight"))
            t.put_count("moved", 1)
        t.put("total", t.number("joined"))
        for name in LEAF:
            t.from_leaf(name, t.end(side, name))
        depth = b.add(depth, INT(1))
        t.put_count("depth", depth)
        over = b.or_(
            b.icmp_signed("!=", t.count("turned"), INT(0)), b.icmp_signed("==", depth, t.max_depth)
        )
        with b.if_else(over) as (then, otherwise):
            with then:
                t.call(self._end)
            with otherwise:
                t.call(self._double)
        t.f.end()
        return t

    def _made(self) -> TreeWriter:
        """Write made(...)."""
        t = self._tree("made")
        b = t.b
        with b.if_then(t.less(ir.Constant(DOUBLE, 0.0), t.number("live"))):
            steps = t.count("steps")
            t.put_count("steps", b.add(steps, INT(1)))
            t.put("accepted", b.fadd(t.number("accepted"), t.number("alpha")))
            fine = t.less(ir.Constant(DOUBLE, -np.inf), t.number("weight"))
            with b.if_else(fine) as (then, otherwise):
                with then:
                    self._take(t, steps)
                with otherwise:
                    t.from_leaf("x", t.broken())
                    t.put_count("diverging", 1)
                    t.call(self._end)
        t.f.end()
        return t

    def _take(self, t: TreeWriter, steps: Any) -> None:
        """Let the tree have a leaf."""
        b, n = t.b, t.count("leaf")
        ones, even = b.ctpop(n), b.icmp_signed("==", b.and_(n, INT(1)), INT(0))
        t.from_leaf("momentum", t.row(MOMENTUM))
        with b.if_then(even):
            t.copy(t.row(MOMENTUM), t.slot(ones, 0))
            t.copy(t.row(SUM), t.slot(ones, 1))
            with b.if_then(b.icmp_signed(">", n, INT(0))):
                t.copy(t.row(BEFORE), t.slot(ones, 2))
                t.add(t.row(SUM), -1.0, t.row(BEFORE), t.slot(ones, 3))
        t.add(t.row(SUM), 1.0, t.row(MOMENTUM), t.row(SUM))
        with b.if_then(t.less(t.uniform(steps), t.number("taking"))):
            for k, name in enumerate(("x", "gradient", "slope")):
                t.from_leaf(name, t.row(NEW + k))
            t.put("new_logp", t.number("logp"))
            t.put("new_weight", t.number("weight"))
        t.put("subtree", t.number("grown"))
        with b.if_else(even) as (then, otherwise):
            with then:
                self._check_half(t, n, ones)
            with otherwise:
                self._check_trees(t, n, ones)
                t.copy(t.row(MOMENTUM), t.row(BEFORE))
        self._go_on(t, n)

    @staticmethod
    def _check_half(t: TreeWriter, n: Any, ones: Any) -> None:
        """Check the left half with the leaf that is the first of the right one."""
        b = t.b
        with b.if_else(b.icmp_signed(">", n, INT(0))) as (then, otherwise):
            with then:
                left = b.sub(ones, INT(1))
                t.check("failed", t.slot(left, 0), t.slot(left, 1))
            with otherwise, b.if_then(b.icmp_signed(">", t.count("depth"), INT(0))):
                t.check("turned", t.end(t.other_side(), "momentum"), t.row(ZERO), -1.0)

    @staticmethod
    def _check_trees(t: TreeWriter, n: Any, ones: Any) -> None:
        """Check the trees that the leaf completes, and right halves with the last leaf of left."""
        b = t.b
        trees = b.cttz(b.add(n, INT(1)), ir.IntType(1)(0))
        with t.f.count_to(trees) as k:
            start = b.sub(b.sub(ones, INT(1)), k)
            t.check("failed", t.slot(start, 0), t.slot(start, 1))
            with b.if_then(b.icmp_signed(">", k, INT(0))):
                middle = b.add(start, INT(1))
                t.check("failed", t.slot(middle, 2), t.slot(middle, 3))

    def _go_on(self, t: TreeWriter, n: Any) -> None:
        """End the transition, complete the subtree, or wait for the next leaf."""
        b = t.b
        failed = b.icmp_signed("!=", t.count("failed"), INT(0))
        with b.if_else(failed) as (then, otherwise):
            with then:
                t.call(self._end)
            with otherwise:
                following = b.add(n, INT(1))
                t.put_count("leaf", following)
                size = b.shl(INT(1), t.count("depth"))
                with b.if_then(b.icmp_signed("==", following, size)):
                    t.call(self._complete)
