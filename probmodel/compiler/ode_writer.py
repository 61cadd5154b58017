"""Machine code of Runge-Kutta solutions, and of derivatives taken back through them.

Notation and algorithm are those of `runge_kutta` and `adjoint` in `numerics.solvers`: the chains in
the lanes take their steps together, each of a size of its own, zero for one that has arrived or
whose step was refused. Steps are kept, and gone through once more on the way back:

    lambda      derivative in the state after a step, then in that before it    (n,)
    kappa_i     derivative in stage i, k_i = f(t + c_i h, Y_i)                  (s, n)

    kappa_i = h b_i lambda, and what comes from values inside the step
    from the last stage to the first, with d_i = kappa_i' df/dy at Y_i, and kappa_i of implicit
    stages as `implicit_stages` changes it:
        lambda += d_i,    kappa_j += h a_ij d_i for j < i
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.ir as ir
import numpy as np

from probmodel.compiler.blocks import Variable
from probmodel.compiler.control import INT
from probmodel.compiler.explicit_stages import ExplicitStages
from probmodel.compiler.implicit_stages import ImplicitStages
from probmodel.compiler.lane_memory import LaneMemory
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask
from probmodel.compiler.part_writer import Part
from probmodel.compiler.symbols import Symbol
from probmodel.numerics.solvers.runge_kutta import GROW, SAFETY, SHRINK

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission

_LANE = ir.IntType(32)


class Steps(NamedTuple):
    """The steps of a solution, as places in the memory.

    Attributes
    ----------
    stages : of one step at a time
    number : how many there are
    t, h, y, reached : their starts, their sizes, the states at their starts, and how many of the
        requested times come before; of these one more, after the last step
    """

    stages: ExplicitStages
    number: int
    t: int
    h: int
    y: int
    reached: int


class OdeWriter(LaneMemory):
    """Writes a solution, or derivatives of its weighted sum in some of what it is made from."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        super().__init__(emission)
        self.symbol, function = symbol, symbol.index
        self.problem, self.wanted, self.forward = function.problem, function.wanted, function.origin
        own = function.filled(symbol.args)
        if self.wanted is not None:
            self.weight = emission.reader(own.pop())
            own = self.forward.filled(own)
        self.given = [emission.reader(operand) for operand in own]
        self.tableau, self.tolerances = self.problem.tableau, self.problem.tolerances
        self.over_rows = self.problem.function.over_rows
        (self.n,) = self.over_rows.shapes[1]
        self.numbers = range(len(self.tableau.b))  # of the stages
        self.start, self.end = float(self.problem.times[0]), float(self.problem.times[-1])
        self.times = np.ascontiguousarray(self.problem.times[1:], dtype=float)

    def write(self) -> None:
        """Write it; what needs a solution that is not there yet has one of its own."""
        e, size = self.e, len(self.times) * self.n
        if self.wanted is None or self.forward not in e.solutions:
            values = e.offsets[self.symbol] if self.wanted is None else e.scratch(size)
            e.solutions[self.forward] = self._solve(values)
        if self.wanted is not None:
            self._pull_back(e.solutions[self.forward])

    # -- forwards: `runge_kutta.solve` -------------------------------------------------------------

    def _solve(self, values: int) -> Steps:
        e, b, w, most = self.e, self.b, self.w, self.tolerances.max_steps
        t_at, h_at, reached_at = (e.scratch(most + 1) for _ in range(3))
        kind = ImplicitStages if self.tableau.implicit else ExplicitStages
        stages = kind(e, self.problem, self.given[1:])
        kept = Steps(stages, e.scratch(1), t_at, h_at, e.scratch((most + 1) * self.n), reached_at)
        y = e.scratch(self.n)
        with self.count(self.n) as c:
            self.set(y, c, Lanes(w, self.given[0](c)))
        t = Variable(self, w.number(self.start))
        stages.slope(t.get(), self.reader(y), stages.k)
        h = Variable(self, self._first_step(stages, t.get(), y))
        active = Variable(self, self.w.ones(abs(h.get()) < np.inf))
        reached, rejected = (Variable(self, w.number(0.0)) for _ in range(2))
        number = e.place_for(INT(0))
        with b.if_then(w.any(active.get() > 0.0)), e.repeat() as condition:
            i = b.load(number)
            self.set(kept.reached, i, reached.get())
            self._step(kept, i, y, values, t, h, active, rejected, reached)
            following = b.add(i, INT(1))
            b.store(following, number)
            self.set(kept.reached, following, reached.get())
            more = b.icmp_signed("<", following, INT(most))
            condition.append(b.and_(w.any(active.get() > 0.0), more))
        b.store(b.load(number), e.pointer_at(kept.number, INT))
        complete = reached.get() >= float(len(self.times))
        with e.count_to(INT(len(self.times) * self.n)) as k:
            self.set(values, k, w.select(complete, self.get(values, k), np.nan))
        return kept

    def _step(
        self, kept: Steps, i: Any, y: int, values: int, t: Variable, h: Variable,
        active: Variable, rejected: Variable, reached: Variable,
    ) -> None:  # fmt: skip
        """Try a step of each chain, and write down values at requested times that lie inside it."""
        w, tableau, stages = self.w, self.tableau, kept.stages
        going = active.get() > 0.0
        begin, rest = t.get(), self.end - t.get()
        size = w.select(going, w.select(h.get() < rest, h.get(), rest), 0.0)
        solved = stages.write(begin, size, y)
        after = stages.moved(y, size, tableau.b)
        error = self._norm(
            lambda c: size * stages.combined(tableau.error, c),
            lambda c: self.f("maximum", abs(self.get(y, c)), abs(after(c))),
        )
        error = w.select(error < np.inf, error, np.inf)
        accepted = going & solved & (error <= 1.0)
        stages.keep(i, accepted, y)
        self.set(kept.t, i, begin)
        self.set(kept.h, i, w.select(accepted, size, 0.0))
        with self.count(self.n) as c:
            self.set(kept.y, self.b.add(self.b.mul(i, INT(self.n)), c), self.get(y, c))
        arrived = accepted & size.equals(rest)
        end = begin + size
        self._pass(reached, w.select(accepted, end, -np.inf))
        before = self.get(kept.reached, i)
        with self._inside(before, reached.get(), begin, size) as (new, which, u):
            value = stages.moved(y, size, u)
            with self.count(self.n) as c:
                self._put_lanes(values, which, c, new, value(c))
        k, last = stages.k, stages.row(stages.k, self.numbers[-1])
        with self.count(self.n) as c:
            self.set(y, c, w.select(accepted, after(c), self.get(y, c)))
        with self.count(self.n) as c:
            self.set(k, c, w.select(accepted, self.get(last, c), self.get(k, c)))
        t.set(w.select(arrived, self.end, w.select(accepted, end, begin)))
        h.set(size * self._factor(error, solved, rejected.get() > 0.0))
        rejected.set(self.w.ones(going & ~accepted))
        active.set(self.w.ones(going & ~arrived & (t.get() + h.get() > t.get())))

    def _factor(self, error: Lanes, solved: Mask, rejected: Mask) -> Lanes:
        """See `runge_kutta._factor`."""
        power = self.w.number(-1.0 / (self.tableau.order + 1))
        factor = SAFETY * self.f("power", error, power)
        most = self.w.select(rejected, 1.0, GROW)
        factor = self.w.select(factor < SHRINK, SHRINK, factor)
        factor = self.w.select(factor > most, most, factor)
        return self.w.select(solved, factor, SHRINK)

    def _first_step(self, stages: ExplicitStages, t: Lanes, y: int) -> Lanes:
        """See `runge_kutta._first_step`; the slope is the first stage."""
        w, k = self.w, stages.k

        def length(error: Callable[[Any], Lanes]) -> Lanes:
            return self._norm(error, lambda c: abs(self.get(y, c)))

        size = length(lambda c: self.get(y, c))
        speed = length(lambda c: self.get(k, c))
        small = (size < 1e-5) | (speed < 1e-5)
        h = w.select(small, 1e-6, 0.01 * size / w.select(small, 1.0, speed))
        there = stages.row(k, 1)
        stages.slope(t + h, lambda c: self.get(y, c) + h * self.get(k, c), there)
        bend = length(lambda c: self.get(there, c) - self.get(k, c)) / h
        most = self.f("maximum", speed, bend)
        bent = most > 1e-15
        power = w.number(1.0 / (self.tableau.order + 1))
        root = self.f("power", 0.01 / w.select(bent, most, 1.0), power)
        straight = self.f("maximum", w.number(1e-6), 1e-3 * h)
        return self.f("minimum", 100.0 * h, w.select(bent, root, straight))

    def _norm(self, error: Callable[[Any], Lanes], size: Callable[[Any], Lanes]) -> Lanes:
        """Root mean square of an error over its tolerance at elements of such sizes."""
        total = Variable(self, self.w.number(0.0))
        with self.count(self.n) as c:
            ratio = error(c) / (self.tolerances.absolute + self.tolerances.relative * size(c))
            total.set(total.get() + ratio * ratio)
        return self.f("sqrt", total.get() / float(self.n))

    # -- backwards: `adjoint.pull_back` ------------------------------------------------------------

    def _pull_back(self, steps: Steps) -> None:
        e, b, w = self.e, self.b, self.w
        stages, adjoint = steps.stages, e.scratch(self.n)
        pull = stages.part(self.over_rows.derivatives)
        with self.count(self.n) as c:
            self.set(adjoint, c, w.number(0.0))
        with e.count_to(INT(self.symbol.size)) as k:
            e.put(self.symbol, k, e.splat(0.0))
        count = b.load(e.pointer_at(steps.number, INT))
        with b.if_then(b.icmp_signed(">", count, INT(0))), e.count_to(count, down=True) as i:
            t, h = self.get(steps.t, i), self.get(steps.h, i)
            with self.count(self.n) as c:
                self.set(stages.at, c, self.get(steps.y, b.add(b.mul(i, INT(self.n)), c)))
            stages.again(i, t, h)
            for j in self.numbers:
                with self.count(self.n) as c:
                    slope = h * self.tableau.b[j] * self.get(adjoint, c)
                    self.set(stages.row(stages.k, j), c, slope)
            before, after = (self.get(steps.reached, k) for k in (i, b.add(i, INT(1))))
            with self._inside(before, after, t, h) as (new, place, u), self.count(self.n) as c:
                g = w.select(new, self._weight_at(place, c), 0.0)
                self.add(adjoint, c, g)
                for j in self.numbers:
                    self.add(stages.row(stages.k, j), c, h * u[j] * g)
            with e.count_to(INT(len(self.numbers)), down=True) as j:
                time = t + h * stages.node(j)
                stages.take_back(j, time, h)
                self._through_stage(stages, pull, j, time, h, adjoint)
        for start, position in self._results():
            if position == 0:
                with self.count(self.n) as c:
                    e.put(self.symbol, b.add(INT(start), c), self.get(adjoint, c).value)

    def _through_stage(
        self, stages: ExplicitStages, pull: Part, j: Any, t: Lanes, h: Lanes, adjoint: int
    ) -> None:
        """Take the derivative in a slope back to the state, to earlier stages, and to the rest."""
        e, b = self.e, self.b
        pull.give(0, INT(0), t.value)
        with self.count(self.n) as c:
            own = stages.index(j, c)
            pull.give(1, c, self.get(stages.at, own).value)
            pull.give(len(pull.sizes) - 1, c, self.get(stages.k, own).value)
        pull.run()
        with self.count(self.n) as c:
            self.add(adjoint, c, Lanes(self.w, pull.result(b.add(INT(1), c))))
        with b.if_then(b.icmp_signed(">", j, INT(0))), e.count_to(j) as earlier:
            share = h * stages.weight(j, earlier)
            with self.count(self.n) as c:
                d = Lanes(self.w, pull.result(b.add(INT(1), c)))
                self.add(stages.k, stages.index(earlier, c), share * d)
        starts = np.cumsum([0, *pull.sizes])
        for start, position in self._results():
            if position > 0:
                argument = position + 1
                with e.count_to(INT(pull.sizes[argument])) as k:
                    place = b.add(INT(start), k)
                    found = pull.result(b.add(INT(int(starts[argument])), k))
                    e.put(self.symbol, place, b.fadd(e.get(self.symbol, place), found))

    def _results(self) -> list[tuple[int, int]]:
        """Where derivatives begin in the result, and in which operand they are."""
        positions = [self.forward.positions[i] for i in self.wanted]
        sizes = [self.n, *(int(np.prod(s, dtype=int)) for s in self.over_rows.shapes[2:])]
        starts = np.cumsum([0, *(sizes[p] for p in positions)])
        return [(int(start), p) for start, p in zip(starts, positions, strict=False)]

    # -- requested times ---------------------------------------------------------------------------

    def _pass(self, reached: Variable, end: Lanes) -> None:
        """Count the requested times up to the end of a step."""
        w, times = self.w, self.e.pointer(self.times, DOUBLE)
        end = end + 1e-12 * max(abs(self.start), float(np.abs(self.times).max()))

        def passed() -> Mask:
            count = reached.get()
            there = self._lanes(lambda i: self.b.load(self.b.gep(times, [i])), self._whole(count))
            return (count < float(len(self.times))) & (there <= end)

        with self.b.if_then(w.any(passed())), self.e.repeat() as condition:
            reached.set(reached.get() + self.w.ones(passed()))
            condition.append(w.any(passed()))

    @contextmanager
    def _inside(
        self, before: Lanes, after: Lanes, t: Lanes, h: Lanes
    ) -> Iterator[tuple[Mask, list[Any], list[Lanes]]]:
        """Write a loop over the requested times inside a step.

        Yields
        ------
        Which chains have one more, its number in each lane, and the weights of the stages there.
        """
        w, times = self.w, self.e.pointer(self.times, DOUBLE)
        with self.b.if_then(w.any(before < after)):
            number = Variable(self, before)
            with self.e.repeat() as condition:
                new = number.get() < after
                at = self._whole(number.get())
                there = self._lanes(lambda i: self.b.load(self.b.gep(times, [i])), at)
                u = w.select(new, (there - t) / h, 0.0)
                between = self.tableau.between
                yield new, at, [w.polynomial(u, [0.0, *between[j]]) for j in self.numbers]
                number.set(number.get() + 1.0)
                condition.append(w.any(number.get() < after))

    def _whole(self, count: Lanes) -> list[Any]:
        """Return the numbers of requested times as whole numbers; the last one stands for more."""
        last = float(len(self.times) - 1)
        held = self.w.select(count > last, last, count)
        return [self.b.fptosi(n, INT) for n in self._split(held)]

    def _split(self, x: Lanes) -> list[Any]:
        return [self.b.extract_element(x.value, _LANE(lane)) for lane in range(self.w.lanes)]

    def _lanes(self, read: Callable[[Any], Any], at: Sequence[Any]) -> Lanes:
        """Put together a vector of numbers that are read at a position for each lane."""
        value: Any = ir.Constant(self.w.type, ir.Undefined)
        for lane, i in enumerate(at):
            value = self.b.insert_element(value, read(i), _LANE(lane))
        return Lanes(self.w, value)

    def _weight_at(self, at: Sequence[Any], c: Any) -> Lanes:
        """Read the weight of an element of the solution at a time for each lane."""
        lanes = iter(range(self.w.lanes))

        def read(i: Any) -> Any:
            vector = self.weight(self.b.add(self.b.mul(i, INT(self.n)), c))
            return self.b.extract_element(vector, _LANE(next(lanes)))

        return self._lanes(read, at)

    def _put_lanes(self, values: int, at: Sequence[Any], c: Any, where: Mask, new: Lanes) -> None:
        """Write an element of the solution at a time for each lane, where a mask holds."""
        b = self.b
        for lane, (i, number) in enumerate(zip(at, self._split(new), strict=True)):
            element = b.mul(b.add(b.mul(i, INT(self.n)), c), INT(self.w.lanes))
            place = self.e.pointer_at(b.add(INT(values + lane), element), DOUBLE)
            chosen = b.extract_element(where.value, _LANE(lane))
            b.store(b.select(chosen, number, b.load(place)), place)
