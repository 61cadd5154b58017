"""Roots of systems of equations on a batch of chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.over_rows import OverRows
from probmodel.compiler.own_elements import depends_on_own
from probmodel.compiler.python_calls import SOLVERS
from probmodel.density.batched_function import BatchedFunction, BoundFunction
from probmodel.density.solver_primitive import Pulled, as_primitive, plain
from probmodel.expressions import Closure
from probmodel.numerics.solvers.newton_iteration import find_roots
from probmodel.types import Array


class Equations:
    """Equations ``f(x) = 0`` for a batch of chains, with derivatives of the implicit function.

    Parameters
    ----------
    function : of x, and of what it captured
    tolerance, max_steps : of the search
    """

    def __init__(self, function: BatchedFunction, tolerance: float, max_steps: int) -> None:
        self.function = function
        self.tolerance = tolerance
        self.max_steps = max_steps

    @cached_property
    def apart(self) -> bool:
        """Whether each equation is one of its own unknown alone: the Jacobian is diagonal."""
        function = self.function
        return not function.constant and depends_on_own(function.over_rows.program, 0)

    @cached_property
    def _slopes(self) -> OverRows:
        """Derivatives in x of the sum of the equations, each with a weight, which comes last."""
        return self.function.over_rows.derivatives_in([0])

    def _diagonal(self, x: Array, captured: Sequence[Array]) -> Array:
        return np.asarray(self._slopes(x, *captured, np.ones(x.shape)))

    def _one_by_one(self, guess: Array, captured: Sequence[Array]) -> Array:
        """Solve each equation for its own unknown, all at the same time."""

        def values(x: Array) -> Array:
            found = self.function.values(x.reshape(guess.shape), *captured)
            return np.reshape(found, (-1, 1))

        def slopes(x: Array) -> Array:
            return self._diagonal(x.reshape(guess.shape), captured).reshape(-1, 1, 1)

        start = guess.reshape(-1, 1)
        return find_roots(values, slopes, start, self.tolerance, self.max_steps).reshape(
            guess.shape
        )

    def _solver(self, x: Array, captured: Sequence[Array]) -> Callable[..., Any]:
        """Return what multiplies with the inverse of the Jacobian, or with its transpose."""
        bound = BoundFunction(self.function, captured)
        if self.apart:
            with np.errstate(all="ignore"):
                slope = self._diagonal(x, captured)
                inverse = np.where(slope == 0.0, np.nan, 1.0 / slope)
            return lambda v, transposed=False: inverse * v
        inverses = _inverses(bound.jacobian(0, (x,)))
        return lambda v, transposed=False: anp.einsum(
            "cij,ci->cj" if transposed else "cij,cj->ci", inverses, v
        )

    def run(self, guess: Array, *captured: Array) -> Array:
        """Roots: (chains, n), ... -> (chains, n)."""
        bound = BoundFunction(self.function, captured)
        with np.errstate(all="ignore"):
            if self.apart:
                return self._one_by_one(guess, captured)
            return find_roots(
                bound.values,
                lambda x: bound.jacobian(0, (x,)),
                guess,
                self.tolerance,
                self.max_steps,
            )

    def run_with_vjp(self, guess: Array, *captured: Array) -> Pulled:
        """Return the roots, and what pulls derivatives back: ``dx = -(df/dx)^-1 df``."""
        x = self.run(guess, *captured)
        bound = BoundFunction(self.function, captured)

        def vjp(g: Array) -> tuple[Array, ...]:
            weight = -self._solver(x, captured)(g, transposed=True)
            _, slopes = bound.pull_back(weight, (x,))
            return (np.zeros(guess.shape), *slopes)

        return x, vjp

    def traced(self, guess: Any, *captured: Any) -> Any:
        """Return the roots with two Newton steps from them, which autograd can differentiate twice.

        One step at a root has the first derivative of the implicit function, and two have the
        second, even though the matrix of both is held.
        """
        plainly = [plain(c) for c in captured]
        x: Any = self.run(plain(guess), *plainly)
        solve = self._solver(x, plainly)
        for _ in range(2):
            x = x - solve(self.function.values(x, *captured))
        return x


def _inverses(jacobian: Array) -> Array:
    """Inverse matrices; NaN for a chain whose matrix has none."""
    inverse = np.full(jacobian.shape, np.nan)
    good = np.asarray(np.isfinite(jacobian).all(axis=(1, 2)))
    good &= np.linalg.cond(np.where(good[:, None, None], jacobian, 0.0)) < 1.0 / np.finfo(float).eps
    inverse[good] = np.linalg.inv(jacobian[good])
    return inverse


def newton_solver(
    shape: tuple[int, ...],
    state: tuple[int, ...],
    captured: Sequence[tuple[int, ...] | Array],
    *,
    function: Closure,
    tolerance: float,
    max_steps: int,
) -> Callable[..., Any]:
    """Return what solves systems of equations, as a primitive."""
    batched_function = BatchedFunction(function, [state], captured)
    equations = Equations(batched_function, tolerance, max_steps)
    return as_primitive(equations.run, equations.run_with_vjp, equations.traced)


SOLVERS["solve_newton"] = newton_solver
