"""Functions that take functions: solvers of equations, integrals, and sums over slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.functions import integrate_1d, solve_newton, solve_ode
from probmodel.numerics.solvers.newton_iteration import find_roots
from probmodel.numerics.solvers.runge_kutta import Tolerances, solve
from probmodel.numerics.solvers.tableau import METHODS
from probmodel.stan.lowering import Lowering
from probmodel.stan.operators import Frame, as_real
from probmodel.stan.stan_values import Value, integer, real
from probmodel.stan.statements import Interpreter
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Graph, Operation
from probmodel.types import Array

# Stan's solvers of differential equations, and the method that each of them is here.
_ODES = {
    "ode_rk45": "rk45", "ode_ckrk": "rk45", "ode_adams": "rk45", "ode_bdf": "esdirk43",
    "integrate_ode": "rk45", "integrate_ode_rk45": "rk45", "integrate_ode_adams": "rk45",
    "integrate_ode_bdf": "esdirk43",
}  # fmt: skip
_ROOTS = ("solve_newton", "solve_powell", "algebra_solver", "algebra_solver_newton")
_MOST_STEPS = 2000


class HigherOrder(Interpreter):
    """Runs programs, with the functions that take functions."""

    def special(self, node: n.Call) -> Callable[[n.Call, Frame], Any] | None:
        """Return what evaluates a call that is given a function."""
        name = node.name.removesuffix("_tol")
        if name in self.functions:
            return None
        if name in _ODES:
            return self._ode
        if name in _ROOTS:
            return self._root
        others = {
            "integrate_1d": self._integral, "reduce_sum": self._reduce_sum,
            "reduce_sum_static": self._reduce_sum, "map_rect": self._map_rect,
            "target": self._current_target,
        }  # fmt: skip
        if name in ("dae", "ode_adjoint_tol_ctl") or node.name == "ode_adjoint_tol_ctl":
            self.fail(f"{node.name} is not supported; ode_bdf solves stiff systems.", node)
        return others.get(name)

    def _current_target(self, node: n.Call, frame: Frame) -> Any:
        self.fail("the value of target() is not known before there are draws.", node)

    def _function(self, node: n.Call) -> str:
        """Return the name of the function that a call is given first."""
        if not node.args or not isinstance(node.args[0], n.Name):
            self.fail(f"{node.name} takes a function first.", node)
        name = node.args[0].name
        if not any(f"{name}{end}" in self.functions for end in ("", "_lpdf", "_lpmf")):
            self.fail(f"there is no function {name!r} in the functions block.", node.args[0])
        return name

    def _after_first(self, node: n.Call, frame: Frame) -> list[Any]:
        return [self.evaluate(a, frame) for a in node.args[1:]]

    # -- a function as one of symbols, and as one of numbers ---------------------------------------

    def _traced(
        self, name: str, inputs: Sequence[Value], args: Sequence[Any], node: n.Node
    ) -> Callable[..., Any]:
        """Trace a function once; returns one of expressions: of the inputs and what is traced.

        Parameters
        ----------
        name : of the function
        inputs : examples of what changes from call to call
        args : what it takes besides; those that are known are part of it
        node : where it is called
        """
        outer, guards = self.graph, self.guards
        self.graph, self.guards = Graph(), []
        try:
            names = [f"input {i}" for i in range(len(inputs))]
            leaves = [
                Value(v.kind, self.graph.leaf(leaf, v.shape), True)
                for leaf, v in zip(names, inputs, strict=True)
            ]
            given: list[Any] = []
            for i, value in enumerate(args):
                if isinstance(value, Value) and value.traced:
                    names.append(f"argument {i}")
                    value = Value(value.kind, self.graph.leaf(names[-1], value.shape), True)
                given.append(value)
            found = self.user_function(name, [*leaves, *given], node)
            if not isinstance(found, Value):
                self.fail(f"{name} must return numbers.", node)
            graph, elements = self.graph, self.graph.elements(found)
        finally:
            self.graph, self.guards = outer, guards

        def function(*symbols: Any) -> Any:
            leaf = dict(zip(names, symbols, strict=True)).__getitem__
            return Lowering(graph, [elements], leaf).expression(elements)

        return function

    def _numeric(self, name: str, args: Sequence[Any], node: n.Node) -> Callable[..., Array]:
        """Return a function of numbers, for many lanes: (lanes, ...) to (lanes, ...)."""

        def function(kinds: Sequence[str], *arrays: Array) -> Array:
            before, self.lanes = self.lanes, len(arrays[-1])
            try:
                inputs = [Value(k, a, laned=True) for k, a in zip(kinds, arrays, strict=True)]
                found = self.user_function(name, [*inputs, *args], node)
            finally:
                self.lanes = before
            array = np.asarray(found.array, dtype=float)
            return array if found.laned else np.repeat(array[None], len(arrays[-1]), 0)

        return function

    # -- differential equations --------------------------------------------------------------------

    def _ode(self, node: n.Call, frame: Frame) -> Value:
        """Solve a differential equation; see `solve_ode`."""
        name, rest = self._function(node), self._after_first(node, frame)
        stem = node.name.removesuffix("_tol")
        old = stem.startswith("integrate")
        start, t0, times, *args = rest
        limits = [1e-6, 1e-6, float(_MOST_STEPS)]
        if old and len(args) == 6:
            given, args = args[3:], args[:3]
        elif node.name.endswith("_tol"):
            given, args = args[:3], args[3:]
        else:
            given = []
        for i, value in enumerate(given):
            limits[i] = float(self.common(value, node, "a tolerance"))
        grid = np.concatenate(
            [np.atleast_1d(self.common(v, node, "times")) for v in (t0, times)]
        ).astype(float)
        start = as_real(start)
        method = _ODES[stem]
        if not any(isinstance(v, Value) and v.traced for v in (start, *args)):
            return self._solved(name, method, start, grid, args, limits, node)
        slope = self._traced(name, [real(0.5), start], args, node)
        extra = [v for v in args if isinstance(v, Value) and v.traced]

        def solution(y0: Any, *captured: Any) -> Any:
            return solve_ode(
                slope, y0, grid[0], grid[1:], *captured, method=method, rtol=limits[0],
                atol=limits[1], max_steps=max(int(min(limits[2], 10**6)), 1),
            )  # fmt: skip

        shape = (len(grid) - 1, *start.shape)
        ranks = tuple(v.rank for v in (start, *extra))
        operation = Operation(stem, solution, ranks, lambda *_: shape, batched=False)
        return self.graph.apply(operation, [start, *extra], start.kind, (), node)

    def _solved(
        self,
        name: str,
        method: str,
        start: Value,
        grid: Array,
        args: Any,
        limits: Any,
        node: n.Node,
    ) -> Value:
        """Solve it for numbers, in all lanes at once."""
        lanes = self.lanes
        y0 = np.asarray(start.array if start.laned else np.repeat(start.array[None], lanes or 1, 0))
        function = self._numeric(name, args, node)
        system = _System(lambda t, y: function(("real", start.kind), t, y))
        tolerances = Tolerances(limits[0], limits[1], int(limits[2]))
        with np.errstate(all="ignore"):
            found = solve(system, METHODS[method](), y0, grid, tolerances).y
        return Value(start.kind, found if lanes else found[0], laned=bool(lanes))

    # -- equations, integrals ----------------------------------------------------------------------

    def _root(self, node: n.Call, frame: Frame) -> Value:
        """Solve a system of equations; see `solve_newton`."""
        name, (guess, *args) = self._function(node), self._after_first(node, frame)
        if node.name.startswith("algebra_solver"):
            args = args[:3]
        elif node.name.endswith("_tol"):
            args = args[3:]
        guess = as_real(guess)
        if not any(isinstance(v, Value) and v.traced for v in args):
            return self._known_root(name, guess, args, node)
        if guess.traced:
            self.fail("the guess must come from data.", node)
        equations = self._traced(name, [guess], args, node)
        extra = [v for v in args if isinstance(v, Value) and v.traced]

        def root(*captured: Any) -> Any:
            return solve_newton(equations, guess.array, *captured)

        ranks = tuple(v.rank for v in extra)
        operation = Operation(node.name, root, ranks, lambda *_: guess.shape, batched=False)
        return self.graph.apply(operation, extra, "vector", (), node)

    def _known_root(self, name: str, guess: Value, args: Any, node: n.Node) -> Value:
        lanes = self.lanes
        start = np.asarray(
            guess.array if guess.laned else np.repeat(guess.array[None], lanes or 1, 0)
        )
        function = self._numeric(name, args, node)
        system = _System(lambda _, x: function(("vector",), x))
        found = find_roots(
            lambda x: system(x, x), lambda x: system.jacobian(x, x), start, 1e-9, 100
        )
        return Value("vector", found if lanes else found[0], laned=bool(lanes))

    def _integral(self, node: n.Call, frame: Frame) -> Value:
        """Integrate over one variable; see `probmodel.functions.integrate_1d`."""
        name, (lower, upper, *args) = self._function(node), self._after_first(node, frame)
        args = args[:3]
        rtol = 1e-6
        point = real(0.5)
        values = [as_real(v) for v in (lower, upper)]
        if any(v.laned for v in [*values, *args]):
            self.fail("integrate_1d is not supported in generated quantities.", node)
        integrand = self._traced(name, [point, point], args, node)
        extra = [v for v in args if isinstance(v, Value) and v.traced]

        def integral(a: Any, b: Any, *captured: Any) -> Any:
            def at(x: Any, *more: Any) -> Any:
                return integrand(x, np.nan, *more)

            return integrate_1d(at, a, b, *captured, rtol=rtol)

        ranks = tuple(v.rank for v in (*values, *extra))
        operation = Operation("integrate_1d", integral, ranks, lambda *_: (), batched=False)
        return self.graph.apply(operation, [*values, *extra], "real", (), node)

    # -- sums and maps -----------------------------------------------------------------------------

    def _reduce_sum(self, node: n.Call, frame: Frame) -> Any:
        """Call the function once, with all elements."""
        name, (elements, _, *args) = self._function(node), self._after_first(node, frame)
        size = len(elements) if isinstance(elements, list) else elements.shape[0]
        ends = [integer(1), integer(size)]
        for full in (name, f"{name}_lpdf", f"{name}_lpmf"):
            if full in self.functions:
                return self.user_function(full, [elements, *ends, *args], node)
        return None

    def _map_rect(self, node: n.Call, frame: Frame) -> Value:
        """Call the function for each of some rows, and join what it returns."""
        name, (shared, *rows) = self._function(node), self._after_first(node, frame)
        if any(v.laned for v in rows):
            self.fail("map_rect is not supported in generated quantities.", node)
        found = []
        for i in range(rows[0].shape[0]):
            args = [Value(v.kind, np.asarray(v.array)[i], v.traced) for v in rows]
            found.append(self.user_function(name, [shared, *args], node))
        traced = any(v.traced for v in found)
        parts = [self.graph.elements(v) if traced else v.array for v in found]
        return Value("vector", np.concatenate([np.reshape(p, -1) for p in parts]), traced)


class _System:
    """A system of equations for all lanes, with its Jacobian by differences."""

    autonomous = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self._function = function

    def __call__(self, t: Array, y: Array) -> Array:
        return self._function(t, y)

    def jacobian(self, t: Array, y: Array) -> Array:
        """Central differences: (lanes, n, n)."""
        columns = []
        for i in range(y.shape[-1]):
            step = 1e-6 * np.maximum(1.0, np.abs(y[:, i]))
            move = np.zeros_like(y)
            move[:, i] = step
            columns.append((self(t, y + move) - self(t, y - move)) / (2.0 * step[:, None]))
        return np.stack(columns, axis=-1)


__all__ = ["HigherOrder", "ModelError"]
