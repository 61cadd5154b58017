"""Differential equations on a batch of chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.python_calls import SOLVERS
from probmodel.density.batched_function import BatchedFunction, BoundFunction
from probmodel.density.solver_primitive import Pulled, as_primitive, plain
from probmodel.errors import ModelError
from probmodel.expressions import Closure
from probmodel.numerics.solvers.adjoint import Pull, pull_back
from probmodel.numerics.solvers.runge_kutta import Solution, Tolerances, at_fraction, solve
from probmodel.numerics.solvers.tableau import METHODS
from probmodel.types import Array

# Numbers of a chain that machine code may keep of its steps: 64 MiB for the eight chains of a
# vector. They are reserved for the most steps allowed, and touched as far as there are steps.
# Machine code pays for any number of states (measured up to 100), so nothing else limits it.
_KEPT = 2**20


class _OdeSystem:
    """The right-hand side of a differential equation, as the solvers take it."""

    def __init__(self, bound: BoundFunction) -> None:
        self.bound = bound
        self.autonomous = not bound.function.uses(0)

    def __call__(self, t: Array, y: Array) -> Array:
        return self.bound.values(t, y)

    def jacobian(self, t: Array, y: Array) -> Array:
        return self.bound.jacobian(1, (t, y))


class Ode:
    """An initial value problem for a batch of chains.

    Parameters
    ----------
    function : the right-hand side, of time and state
    times : the initial time, and the times at which the state is wanted
    method : a name from `METHODS`
    tolerances : of a step
    """

    def __init__(
        self, function: BatchedFunction, times: Array, method: str, tolerances: Tolerances
    ) -> None:
        self.function = function
        self.times = times
        self.method = method
        self.tableau = METHODS[method]()
        self.tolerances = tolerances

    @property
    def operations(self) -> int:
        """How many operations on arrays a solution takes, about: that of some dozen steps."""
        stage = self.function.over_rows.compiled.operations + 10
        each = 4 if self.tableau.implicit else 1  # steps of Newton's method, and its matrix
        return 30 * len(self.tableau.b) * each * stage

    @property
    def kept(self) -> int:
        """How many numbers of a chain machine code keeps of a solution, at most."""
        (n,) = self.function.shape
        states = len(self.tableau.b) if self.tableau.implicit else 1  # of each step
        return self.tolerances.max_steps * (n * states + 3)

    def _solve(self, initial: Array, captured: Sequence[Array]) -> tuple[_OdeSystem, Solution]:
        system = _OdeSystem(BoundFunction(self.function, captured))
        with np.errstate(all="ignore"):
            return system, solve(system, self.tableau, initial, self.times, self.tolerances)

    def run(self, initial: Array, *captured: Array) -> Array:
        """States at the times: (chains, n), ... -> (chains, times, n)."""
        return self._solve(initial, captured)[1].y

    def run_with_vjp(self, initial: Array, *captured: Array) -> Pulled:
        """Return the same, and what pulls derivatives back through the steps taken."""
        system, solution = self._solve(initial, captured)

        def vjp(g: Array) -> tuple[Array, ...]:
            totals = [np.zeros(np.shape(c)) for c in captured]
            start = np.zeros(initial.shape)
            with np.errstate(all="ignore"):
                for part in pull_back(system, self.tableau, solution, g):
                    if not isinstance(part, Pull):
                        start = part
                        continue
                    slopes = system.bound.pull_back(part.weight, (part.t, part.y))[1]
                    for total, slope in zip(totals, slopes, strict=True):
                        total += slope
            return (start, *totals)

        return solution.y, vjp

    def traced(self, initial: Any, *captured: Any) -> Any:
        """Repeat the steps of a solution with operations that autograd can differentiate."""
        if self.tableau.implicit:
            raise ModelError(
                f"second derivatives through solve_ode(method={self.method!r}) are not known. Use "
                "method='rk45', or a sampler that needs gradients only."
            )
        _, solution = self._solve(plain(initial), [plain(c) for c in captured])
        y, slope, starts, slopes = initial, None, [], []
        for t, size in zip(solution.steps.t, solution.steps.h, strict=True):
            h = size[:, None]
            k = [self.function.values(t, y, *captured) if slope is None else slope]
            for i in range(1, len(self.tableau.b)):
                at = y + h * sum(a * kj for a, kj in zip(self.tableau.A[i], k, strict=False) if a)
                k.append(self.function.values(t + self.tableau.c[i] * size, at, *captured))
            starts.append(y)
            slopes.append(anp.stack(k))
            y = y + h * sum(b * kj for b, kj in zip(self.tableau.b, k, strict=True))
            slope = anp.where(h > 0.0, k[-1], k[0])
        return self._between(solution, anp.stack(starts), anp.stack(slopes))

    def _between(self, solution: Solution, starts: Any, slopes: Any) -> Any:
        """Return the values at the requested times, from the starts of steps and their stages."""
        step, chain, output, fraction = solution.passages
        chains, times, n = solution.y.shape
        h = solution.steps.h[step, chain]
        weights = at_fraction(self.tableau, fraction) * h[:, None]
        rise = anp.sum(weights[:, :, None] * slopes[step, :, chain], axis=1)
        rows = anp.concatenate([starts[step, chain] + rise, np.full((1, n), np.nan)])
        place = np.full((chains, times), -1)
        place[chain, output] = np.arange(len(step))
        return anp.reshape(rows[place.reshape(-1)], (chains, times, n))


def ode_solver(
    shape: tuple[int, ...],
    state: tuple[int, ...],
    captured: Sequence[tuple[int, ...] | Array],
    *,
    function: Closure,
    times: Array,
    method: str,
    rtol: float,
    atol: float,
    max_steps: int,
) -> Callable[..., Any]:
    """Return what solves initial value problems, as a primitive."""
    batched_function = BatchedFunction(function, [(), state], captured)
    problem = Ode(batched_function, times, method, Tolerances(rtol, atol, max_steps))
    solver: Any = as_primitive(problem.run, problem.run_with_vjp, problem.traced)
    if problem.kept < _KEPT:
        solver.problem = problem  # there is machine code for it
    return solver


SOLVERS["solve_ode"] = ode_solver
