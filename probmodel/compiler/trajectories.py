"""Machine code of whole trajectories of Hamiltonian dynamics, for a block of chains.

    trajectory     one of each chain
    follow_block   those that are tried with ever shorter steps

See `samplers.hamiltonian`, its `dynamics` and `step_halving`, which these follow to the letter.

    x          position                                                  (chains, dim)
    r          whitened momentum                                         (chains, dim)
    g          gradient of the log density                               (chains, dim)
    s          slope, C'g, for the root C of the inverse mass matrix     (chains, dim)

Chains of a block are at one step together. One that has ended stays where it is, and what is
computed for it is what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.blocks import POINTER, BlockFunction, BlockModule, Variable
from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask
from probmodel.compiler.rows import Parts

# What a trajectory leaves in the memory: (), energies of its ends, their range, and so on.
FOUND = ("logp", "before", "after", "spread", "lost", "taken")
GIVEN = ("logp", "step_size", "n_steps")
RESULTS = ("logp", "before", "after", "first", "log_weight", "level", "failed", "taken")
POINTS = ("x", "gradient", "momentum")


# -- one trajectory --------------------------------------------------------------------------------


class _Start(NamedTuple):
    """Where a trajectory begins, as arguments of the function that follows it.

    Attributes
    ----------
    x, grad, momentum : arrays, (chains, dim)
    out : where steps are recorded
    first, end, chains : chains of the block, chain after the last one, chains of all arrays
    sign : of the momentum
    moving : ones for chains that are to move, zeros for those that stay
    logp, h, n : log density, step size, number of steps
    """

    x: Any
    grad: Any
    momentum: Any
    out: Any
    first: Any
    end: Any
    chains: Any
    sign: Any
    moving: Any
    logp: Any
    h: Any
    n: Any


class Trajectory:
    """Writes the function that follows one trajectory of each chain of a block.

    It leaves `FOUND` in the memory, and the ends in the rows "x" and "momentum".
    """

    def __init__(self, m: BlockModule, parts: Parts) -> None:
        kinds = [*[POINTER] * 4, *[INT] * 3, DOUBLE, *[m.vector] * 4]
        self.f = f = BlockFunction(m, "trajectory", kinds, internal=True)
        self._parts, self._start = parts, _Start(*f.args)
        logp, self._h, self._n = (Lanes(f.w, a) for a in self._start[-3:])
        self._live = Variable(f, (Lanes(f.w, self._start.moving) > 0.0) & (self._n > 0.0))
        self._lost, self._logp = Variable(f, f.w.mask(False)), Variable(f, logp)
        self._count, self._zero = f.variable(INT(0)), f.w.number(0.0)
        before = self._begin() - logp
        low, high, after = (Variable(f, before) for _ in range(3))
        taken, step = Variable(f, self._zero), Variable(f, self._zero)
        with f.repeat() as condition:
            live = self._live.get()
            self._step()
            energy = self._kick_last() - self._logp.get()
            after.set(energy)
            low.set(f.w.select(energy < low.get(), energy, low.get()))
            high.set(f.w.select(energy > high.get(), energy, high.get()))
            stages = f.w.same(f.b.sitofp(f.field("stages"), DOUBLE))
            taken.set(taken.get() + f.w.select(live, stages, 0.0))
            step.set(step.get() + 1.0)
            self._record()
            near = high.get() - low.get() <= f.w.same(f.field("hopeless"))
            live = live & ~self._lost.get() & near & (step.get() < self._n)
            self._live.set(live)
            left = f.b.icmp_signed("<", f.b.load(self._count), f.field("recorded"))
            condition.append(f.b.or_(f.w.any(live), left))
        found = (
            self._logp.get(), before, after.get(), high.get() - low.get(),
            f.w.ones(self._lost.get()), taken.get(),
        )  # fmt: skip
        for k, value in enumerate(found):
            f.put(f.memory("found"), INT(k), value)
        f.end()

    def _begin(self) -> Lanes:
        """Put the start of chains that are to move in the memory; returns the kinetic energy."""
        f, start = self.f, self._start
        one = ir.Constant(DOUBLE, 1.0)
        rows = (
            ("x", start.x, one), ("momentum", start.momentum, start.sign),
            ("product", start.grad, one),
        )  # fmt: skip
        for name, array, sign in rows:
            f.call(
                self._parts.take, f.memory(name), array, sign, start.moving, start.first, start.end
            )
        f.call(self._parts.pull)
        return self._kick(self._zero)

    def _step(self) -> None:
        """All of a step but its last kick."""
        f, live = self.f, self._live.get()
        x, product = f.memory("x"), f.memory("product")
        kicks, drifts = f.array("kicks"), f.array("drifts")
        with f.each(f.field("stages")) as stage:
            drift = f.one(drifts, stage) * self._h
            self._kick(f.one(kicks, stage) * self._h)
            f.call(self._parts.push)
            f.change(x, lambda i, v: f.w.select(live, f.w.fma(drift, f.get(product, i), v), v))
            self._evaluate(live)
            f.call(self._parts.pull)

    def _evaluate(self, live: Mask) -> None:
        """Compute the gradient; chains where it is not finite are lost."""
        logp, fine = gradient(self.f)
        self._lost.set(self._lost.get() | (live & ~fine))
        self._logp.set(self.f.w.select(self._lost.get(), -np.inf, logp))

    def _kick_last(self) -> Lanes:
        f = self.f
        return self._kick(f.one(f.array("kicks"), f.field("stages")) * self._h)

    def _kick(self, kick: Lanes) -> Lanes:
        """Kick the momentum; returns the kinetic energy."""
        f, live = self.f, self._live.get()
        r, s = f.memory("momentum"), f.memory("slope")
        total = Variable(f, self._zero)
        with f.each() as i:
            v = f.get(r, i)
            v = f.w.select(live, f.w.fma(kick, f.get(s, i), v), v)
            f.put(r, i, v)
            total.set(f.w.fma(v, v, total.get()))
        return total.get() * 0.5

    def _record(self) -> None:
        """Write down the point, if that is asked for."""
        f, start = self.f, self._start
        b, steps = f.b, f.field("recorded")
        with b.if_then(b.icmp_signed(">", steps, INT(0))):
            step = b.load(self._count)
            passed, total = b.mul(step, start.chains), b.mul(steps, start.chains)
            lost = f.w.ones(self._lost.get()).value
            put_points(f, self._parts, start.out, passed, total, lost, start.first, start.end)
            logp = b.gep(start.out, [b.mul(b.mul(total, INT(len(POINTS))), f.field("dim"))])
            rows = f.chains(start.first, start.end)
            f.scatter(logp, rows, passed, self._logp.get())
            b.store(b.add(step, INT(1)), self._count)


def gradient(f: BlockFunction) -> tuple[Lanes, Mask]:
    """Compute the program; leave the gradient in the row "product" where all is finite, or zeros.

    Returns the log density, -inf where not all is finite, and where it is.
    """
    f.call_block()
    source, logp = f.memory("gradient"), f.get(f.memory("logp"), INT(0))
    zero = Variable(f, logp * 0.0)
    with f.each() as i:
        zero.set(f.w.fma(f.get(source, i), 0.0, zero.get()))
    fine = zero.get().equals(0.0)
    with f.each() as i:
        f.put(f.memory("product"), i, f.w.select(fine, f.get(source, i), 0.0))
    return f.w.select(fine, logp, -np.inf), fine


def put_points(
    f: BlockFunction,
    parts: Parts,
    out: Any,
    passed: Any,
    total: Any,
    lost: Any,
    first: Any,
    end: Any,
) -> None:
    """Write positions, gradients and momenta to arrays of ``total`` rows, after some rows."""
    dim = f.field("dim")
    for k, name in enumerate(POINTS):
        start = f.b.mul(f.b.add(f.b.mul(total, INT(k)), passed), dim)
        zeros = lost if name == "gradient" else f.w.number(0.0).value
        f.call(parts.give, f.memory(name), f.b.gep(out, [start]), zeros, first, end)


# -- trajectories with ever shorter steps ----------------------------------------------------------


class FollowBlock:
    """Writes the function of a block.

    Its arguments are x, grad, momentum, given, u, out, results, first, end, chains. ``given`` is
    (`GIVEN`, chains), ``results`` is (`RESULTS`, chains), u is (chains, finest). The points go to
    ``out``, (3, chains, dim), or, of all steps that are to be recorded, (3, steps, chains, dim),
    with their log densities, (steps, chains), after them.
    """

    def __init__(self, m: BlockModule, parts: Parts, trajectory: BlockFunction) -> None:
        self.f = f = BlockFunction(m, "follow_block", [*[POINTER] * 7, *[INT] * 3], internal=True)
        self._trajectory = trajectory
        *self._points, self._given, self._u, self._out, self._results = f.args[:7]
        self._first, self._end, self._all = f.args[7:]
        self._rows = f.chains(self._first, self._end)
        self._block(parts)
        f.end()

    def _block(self, parts: Parts) -> None:
        f, w = self.f, self.f.w
        logp, self._h, self._n = (self._number(self._given, k) for k in range(len(GIVEN)))
        self._logp, self._before, self._after = (Variable(f, logp) for _ in range(3))
        self._level, self._kept_first, self._weight, self._taken = (
            Variable(f, w.number(0.0)) for _ in range(4)
        )
        self._left, self._lost = Variable(f, f.w.mask(True)), Variable(f, f.w.mask(False))
        self._levels(logp)
        lost, failed = self._lost.get(), self._left.get()
        with f.b.if_then(f.b.icmp_signed("==", f.field("recorded"), INT(0))):
            put_points(
                f, parts, self._out, INT(0), self._all, f.w.ones(lost).value, self._first, self._end
            )
        with f.b.if_then(w.any(self._level.get() > 0.0)):
            self._back(failed)
        found = (
            self._logp.get(), self._before.get(), self._after.get(), self._kept_first.get(),
            self._weight.get(), self._level.get(), f.w.ones(failed), self._taken.get(),
        )  # fmt: skip
        for k, value in enumerate(found):
            f.scatter(self._results, self._rows, f.b.mul(self._all, INT(k)), value)

    def _number(self, array: Any, k: int) -> Lanes:
        """Read a number of each chain."""
        return self.f.gather(array, self._rows, self.f.b.mul(self._all, INT(k)))

    def _levels(self, logp: Lanes) -> None:
        """Halve the steps of the chains that are not content with their trajectories."""
        f, w, b = self.f, self.f.w, self.f.b
        level, width = f.variable(INT(0)), Variable(f, w.number(1.0))
        with f.repeat() as condition:
            j, left = b.load(level), self._left.get()
            kept, found = self._tried(self._points, 1.0, left, width.get(), logp)
            lost = found["lost"] > 0.0
            for variable, name in (
                (self._logp, "logp"), (self._before, "before"), (self._after, "after")
            ):  # fmt: skip
                variable.set(w.select(left, found[name], variable.get()))
            self._lost.set((self._lost.get() & ~left) | (left & lost))
            is_first, is_last = (b.icmp_signed("==", j, n) for n in (INT(0), f.field("finest")))
            self._level.set(w.select(left, f.w.same(b.sitofp(j, DOUBLE)), self._level.get()))
            first = b.select(is_first, kept.value, self._kept_first.get().value)
            self._kept_first.set(Lanes(w, first))
            refused = left & ~(kept > self._threshold(j, is_last))
            self._left.set(refused)
            with b.if_then(b.not_(is_last)):
                self._weigh(refused, kept, lambda a, b: a - b)
            width.set(width.get() * 0.5)
            b.store(b.add(j, INT(1)), level)
            condition.append(b.and_(w.any(refused), b.not_(is_last)))

    def _threshold(self, j: Any, is_last: Any) -> Lanes:
        """Return what the probability of keeping to level j has to exceed: u, or 0 for the last."""
        f, b = self.f, self.f.b
        threshold = Variable(f, f.w.number(0.0))
        with b.if_then(b.not_(is_last)):
            starts = f.starts(self._rows, f.field("finest"))
            threshold.set(f.gather(self._u, starts, j))
        return threshold.get()

    def _weigh(self, rows: Mask, kept: Lanes, join: Callable[[Lanes, Lanes], Lanes]) -> None:
        """Join the log probability of passing over a level to the weight of some chains."""
        w = self.f.w
        with self.f.b.if_then(w.any(rows)):
            passed = w.call("log1p", -kept)
            weight = self._weight.get()
            self._weight.set(w.select(rows, join(weight, passed), weight))

    def _back(self, failed: Mask) -> None:
        """Weigh the levels that were passed over by those that would be from the other end."""
        f, w, b = self.f, self.f.w, self.f.b
        level, width = f.variable(INT(0)), Variable(f, w.number(1.0))
        size = b.mul(self._all, f.field("dim"))
        ends = [b.gep(self._out, [b.mul(size, INT(k))]) for k in range(len(POINTS))]

        def asked() -> Mask:
            number = f.w.same(b.sitofp(b.load(level), DOUBLE))
            return (self._level.get() > number) & ~failed & f.is_finite(self._weight.get())

        with f.repeat() as condition:
            rows = asked()
            kept, _ = self._tried(ends, -1.0, rows, width.get(), self._logp.get())
            self._weigh(rows, kept, lambda a, b: a + b)
            width.set(width.get() * 0.5)
            b.store(b.add(b.load(level), INT(1)), level)
            condition.append(w.any(asked()))

    def _tried(
        self, points: list[Any], sign: float, rows: Mask, width: Lanes, logp: Lanes
    ) -> tuple[Lanes, dict[str, Lanes]]:
        """Follow trajectories of some chains.

        Returns the probability of keeping to their level, and what was found.
        """
        f, w = self.f, self.f.w
        n, most = self._n / width, f.w.same(f.field("most"))
        n = w.select(n < most, n, most)
        n = w.select(n > self._n, n, self._n)
        f.call(
            self._trajectory, *points, self._out, self._first, self._end, self._all,
            ir.Constant(DOUBLE, sign), f.w.ones(rows).value, logp.value, (self._h * width).value,
            n.value,
        )  # fmt: skip
        found = {name: f.get(f.memory("found"), INT(k)) for k, name in enumerate(FOUND)}
        self._taken.set(self._taken.get() + found["taken"])
        near = (found["spread"] <= f.w.same(f.field("hopeless"))) & ~(found["lost"] > 0.0)
        beyond = found["spread"] - f.w.same(f.field("tolerated"))
        kept = w.call("exp", -w.select(beyond > 0.0, beyond, 0.0))
        return w.select(near, kept, 0.0), found
