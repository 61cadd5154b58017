"""Machine code of the stages of implicit Runge-Kutta steps; notation as in `ode_writer`.

Newton's method solves for a stage, as `runge_kutta.stages` does, with one matrix for a step:

    k_j = f(t + c_j h, base + h d k_j),   k_j += (I - h d J)^-1 (f - k_j)

On the way back a derivative in the stage becomes one in its slope, with J at the state Y_j:

    kappa_j = (I - h d J')^-1 kappa_j

The states of the stages are kept: it would take Newton's method to find them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.blocks import Variable
from probmodel.compiler.control import INT
from probmodel.compiler.elimination import Elimination
from probmodel.compiler.explicit_stages import ExplicitStages
from probmodel.compiler.lanes import DOUBLE, Lanes, Mask
from probmodel.numerics.solvers.runge_kutta import NEWTON_STEPS, NEWTON_TOLERANCE

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class ImplicitStages(ExplicitStages):
    """Writes the stages of one step, and what takes derivatives back through them.

    Parameters
    ----------
    emission, problem, captured : as of `ExplicitStages`
    """

    def __init__(
        self, emission: Emission, problem: Any, captured: Sequence[Callable[[Any], Any]]
    ) -> None:
        super().__init__(emission, problem, captured)
        n, self._tolerances = self.n, problem.tolerances
        self._step_share = float(self.tableau.A[1, 1])  # d
        self._solved = INT(self.number - 1)  # stages
        self._size = INT((self.number - 1) * n)
        self._states = emission.scratch(self._tolerances.max_steps * (self.number - 1) * n)
        self._matrix, self._inverse = emission.scratch(n * n), emission.scratch(n * n)
        self._base, self._gap, self._scale = (emission.scratch(n) for _ in range(3))
        self._elimination = Elimination(emission, n, self._matrix)
        self._slopes = self.part(self._over_rows.derivatives_in([1]))
        self._weight = len(self._slopes.sizes) - 1
        with self.each() as c:
            self._slopes.give(self._weight, c, emission.splat(0.0))

    # -- forwards ----------------------------------------------------------------------------------

    def write(self, t: Lanes, h: Lanes, y: int) -> Mask:
        """Compute all stages but the first; return which chains' equations hold."""
        tolerances, step = self._tolerances, h * self._step_share
        with self.each() as i:
            size = abs(self.get(y, i))
            self.set(self._scale, i, tolerances.absolute + tolerances.relative * size)
            with self.each() as c:
                self.set(self._inverse, self.index(i, c), self._unit(i, c))
        self._set_matrix(t, step, self.reader(y), transposed=False)
        self._elimination.write(self._inverse, self.n)
        solved = Variable(self, self.w.mask(True))
        with self.e.count_to(self._solved) as before:
            j = self.b.add(before, INT(1))
            with self.each() as c:
                self.set(self._base, c, self.get(y, c))
                self.set(self.k, self.index(j, c), self.get(self.k, self.index(before, c)))
            with self.e.count_to(j) as earlier:
                share = h * self.weight(j, earlier)
                with self.each() as c:
                    self.add(self._base, c, share * self.get(self.k, self.index(earlier, c)))
            solved.set(solved.get() & self._newton(j, t + h * self.node(j), step))
        found: Mask = solved.get()
        return found

    def _newton(self, j: Any, t: Lanes, step: Lanes) -> Mask:
        """Solve for a stage, from what it is on; a chain that has found it stays there."""

        def state(c: Any) -> Lanes:
            return self.get(self._base, c) + step * self.get(self.k, self.index(j, c))

        b, converged = self.b, Variable(self, self.w.mask(False))
        number = self.variable(INT(0))
        with self.e.repeat() as condition:
            self.slope(t, state, self._gap)
            with self.each() as c:
                self.add(self._gap, c, -self.get(self.k, self.index(j, c)))
            size = self._improve(j, step, converged.get())
            converged.set(size <= NEWTON_TOLERANCE)
            following = b.add(b.load(number), INT(1))
            b.store(following, number)
            more = b.icmp_signed("<", following, INT(NEWTON_STEPS))
            wanted = self.w.any((size < np.inf) & ~converged.get())
            condition.append(b.and_(wanted, more))
        with self.each() as c:
            self.set(self.at, self.index(j, c), state(c))
        found: Mask = converged.get()
        return found

    def _improve(self, j: Any, step: Lanes, done: Mask) -> Lanes:
        """Change a stage by a Newton step, and return how large that is beside the tolerance."""
        largest = Variable(self, self.w.number(0.0))
        with self.each() as i:
            total = Variable(self, self.w.number(0.0))
            with self.each() as c:
                entry = self.get(self._inverse, self.index(i, c))
                total.set(self.w.fma(entry, self.get(self._gap, c), total.get()))
            change = self.w.select(done, 0.0, total.get())
            self.add(self.k, self.index(j, i), change)
            ratio = abs(step * change) / self.get(self._scale, i)
            largest.set(self.f("maximum", largest.get(), ratio))
        found: Lanes = largest.get()
        return found

    def keep(self, i: Any, accepted: Mask, y: int) -> None:
        """Keep the states of the stages that were solved for; where it has not moved, its start."""
        place = self.b.mul(i, self._size)
        with self.e.count_to(self._solved) as before, self.each() as c:
            own = self.index(before, c)
            state = self.get(self.at, self.b.add(own, INT(self.n)))
            state = self.w.select(accepted, state, self.get(y, c))
            self.set(self._states, self.b.add(place, own), state)

    # -- backwards ---------------------------------------------------------------------------------

    def again(self, i: Any, t: Lanes, h: Lanes) -> None:
        """Find the states of all stages of a step, given that of the first."""
        place = self.b.mul(i, self._size)
        with self.e.count_to(self._size) as k:
            state = self.get(self._states, self.b.add(place, k))
            self.set(self.at, self.b.add(k, INT(self.n)), state)

    def take_back(self, j: Any, t: Lanes, h: Lanes) -> None:
        """Take a derivative in a stage back to one in its slope, in the row of ``k``."""
        with self.b.if_then(self.b.icmp_signed(">", j, INT(0))):
            step = h * self._step_share
            self._set_matrix(
                t, step, lambda c: self.get(self.at, self.index(j, c)), transposed=True
            )
            with self.each() as c:
                self.set(self._gap, c, self.get(self.k, self.index(j, c)))
            self._elimination.write(self._gap, 1)
            with self.each() as c:
                self.set(self.k, self.index(j, c), self.get(self._gap, c))

    # -- the matrix --------------------------------------------------------------------------------

    def _set_matrix(
        self, t: Lanes, step: Lanes, y: Callable[[Any], Lanes], *, transposed: bool
    ) -> None:
        """Write down ``I - step * J`` at a state: row after row of J by a unit weight."""
        slopes = self._slopes
        slopes.give(0, INT(0), t.value)
        with self.each() as c:
            slopes.give(1, c, y(c).value)
        with self.each() as i:
            slopes.give(self._weight, i, self.e.splat(1.0))
            slopes.run()
            slopes.give(self._weight, i, self.e.splat(0.0))
            with self.each() as c:
                entry = self._unit(i, c) - step * Lanes(self.w, slopes.result(c))
                place = self.index(c, i) if transposed else self.index(i, c)
                self.set(self._matrix, place, entry)

    def _unit(self, i: Any, c: Any) -> Lanes:
        """Return an element of the unit matrix."""
        one = self.b.uitofp(self.b.icmp_signed("==", i, c), DOUBLE)
        return self.w.same(one)
