"""Functions that take functions: solvers of equations, integrals, and sums over slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from probmodel.errors import nearest
from probmodel.functions import integrate_1d, solve_newton, solve_ode
from probmodel.functions.quadrature import points_between
from probmodel.numerics.solvers.newton_iteration import find_roots
from probmodel.numerics.solvers.runge_kutta import Tolerances, solve
from probmodel.numerics.solvers.tableau import METHODS
from probmodel.stan.complaints import Sources
from probmodel.stan.indexing import LanesDifferError, select
from probmodel.stan.library.density_names import LAPLACE, no_laplace
from probmodel.stan.lowering import Lowering
from probmodel.stan.operators import Frame
from probmodel.stan.stan_values import Tuple, Value, integer, real
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Graph, Operation
from probmodel.stan.transform_calls import Transforms
from probmodel.types import Array

# Stan's solvers of differential equations, and the method that each of them is here.
ODES = {
    "ode_rk45": "rk45", "ode_ckrk": "rk45", "ode_adams": "rk45", "ode_bdf": "esdirk43",
    "integrate_ode": "rk45", "integrate_ode_rk45": "rk45", "integrate_ode_adams": "rk45",
    "integrate_ode_bdf": "esdirk43",
}  # fmt: skip
ROOTS = ("solve_newton", "solve_powell", "algebra_solver", "algebra_solver_newton")
_SUMS = ("integrate_1d", "reduce_sum", "reduce_sum_static", "map_rect")
_ONE_BY_ONE = {*ODES, *ROOTS, "integrate_1d", "map_rect"}  # not in many lanes at once
_MOST_STEPS = 2000


def takes_function(name: str) -> bool:
    """Whether a function of Stan takes a function for its first argument."""
    base = name.removesuffix("_tol")
    return base in (*ODES, *ROOTS, *_SUMS, "dae", "ode_adjoint_tol_ctl")


class HigherOrder(Transforms):
    """Runs programs, with the functions that take functions.

    Attributes
    ----------
    targets : calls of ``target()``, by the name of what stands for its value
    """

    def __init__(self, functions: Sequence[n.Function], sources: Sources) -> None:
        super().__init__(functions, sources)
        self.targets: dict[str, n.Call] = {}

    def special(self, node: n.Call) -> Callable[[n.Call, Frame], Any] | None:
        """Return what evaluates a call that is given a function."""
        name = node.name.removesuffix("_tol")
        if name in self.functions or node.name in self.functions:
            return None
        by_lane = (self._side_by_side and self.lanes is not None) or self.counted is not None
        if by_lane and name in _ONE_BY_ONE:
            raise LanesDifferError
        if name in ODES:
            return self._ode
        if name in ROOTS:
            return self._root
        others = {
            "integrate_1d": self._integral, "reduce_sum": self._reduce_sum,
            "reduce_sum_static": self._reduce_sum, "map_rect": self._map_rect,
            "target": self._current_target,
        }  # fmt: skip
        if name in ("dae", "ode_adjoint_tol_ctl") or node.name == "ode_adjoint_tol_ctl":
            self.fail(f"{node.name} is not supported; ode_bdf solves stiff systems.", node)
        if name.startswith(LAPLACE):
            self.fail(no_laplace(node.name), node)
        return others.get(name) or super().special(node)

    def _current_target(self, node: n.Call, frame: Frame) -> Value:
        """Return an element that stands for the value: an error, once something needs it."""
        name = f"target() {len(self.targets)}"
        self.targets[name] = node
        return Value("real", self.graph.leaf(name, (), node), True)

    def no_target(self, name: str) -> NoReturn:
        """Raise an error for a value of ``target()`` that something needs."""
        self.fail("the value of target() is not known before there are draws.", self.targets[name])

    def _function(self, node: n.Call) -> str:
        """Return the name of the function that a call is given first."""
        if not node.args or not isinstance(node.args[0], n.Name):
            self.fail(f"{node.name} takes a function first.", node)
        name = node.args[0].name
        for old, new in (("_lupdf", "_lpdf"), ("_lupmf", "_lpmf")):
            name = name.removesuffix(old) + new if name.endswith(old) else name
        for full in (name, f"{name}_lpdf", f"{name}_lpmf"):
            if full in self.functions:
                return full
        self.fail(
            f"there is no function {name!r} in the functions block.{nearest(name, self.functions)}",
            node.args[0],
        )

    def _after_first(self, node: n.Call, frame: Frame) -> list[Any]:
        return [self.evaluate(a, frame) for a in node.args[1:]]

    # -- a function as one of symbols, and as one of numbers ---------------------------------------

    def _traced(
        self,
        name: str,
        inputs: Sequence[Value],
        args: Sequence[Any],
        node: n.Node,
        lanes: int | None = None,
    ) -> Callable[..., Any]:
        """Trace a function once; returns one of expressions: of the inputs and what is traced.

        ``inputs`` are examples of what changes from call to call, of which there are so many
        ``lanes`` along a first axis; None for one without such. Those of the other arguments that
        are known are part of it.
        """
        outer = self.graph, self.guards, self.lanes
        self.graph, self.guards, self.lanes = Graph(), [], lanes
        many = () if lanes is None else (lanes,)
        try:
            names = [f"input {i}" for i in range(len(inputs))]
            leaves = [
                Value(v.kind, self.graph.leaf(leaf, (*many, *v.shape)), True, bool(many))
                for leaf, v in zip(names, inputs, strict=True)
            ]

            def inner(value: Value) -> Value:
                names.append(f"argument {len(names)}")
                return Value(value.kind, self.graph.leaf(names[-1], value.shape), True)

            given = [_with_traced(value, inner) for value in args]
            found = self.user_function(name, [*leaves, *given], node)
            if not isinstance(found, Value):
                self.fail(f"{name} must return numbers.", node)
            graph, elements = self.graph, self.graph.elements(found)
        finally:
            self.graph, self.guards, self.lanes = outer

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
        if len(grid) < 2:
            self.fail(f"{node.name} needs times at which it is solved; there are none.", node)
        start = self.real(start)
        method = ODES[stem]
        extra = _traced_parts(args)
        if not (extra or start.traced):
            return self._solved(name, method, start, grid, args, limits, node)
        slope = self._traced(name, [real(0.5), start], args, node)

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
        y0 = self._in_lanes(start)
        function = self._numeric(name, args, node)
        system = _System(lambda t, y: function(("real", start.kind), t, y))
        tolerances = Tolerances(limits[0], limits[1], int(limits[2]))
        with np.errstate(all="ignore"):
            found = solve(system, METHODS[method](), y0, grid, tolerances).y
        return self._of_lanes(start.kind, found)

    def _in_lanes(self, value: Value) -> Array:
        """Return the numbers of a value in all lanes, one without any."""
        return np.asarray(
            value.array if value.laned else np.repeat(value.array[None], self.lanes or 1, 0)
        )

    def _of_lanes(self, kind: str, found: Array) -> Value:
        """Return a value of what was found in all lanes."""
        return Value(kind, found if self.lanes else found[0], laned=bool(self.lanes))

    # -- equations, integrals ----------------------------------------------------------------------

    def _root(self, node: n.Call, frame: Frame) -> Value:
        """Solve a system of equations; see `solve_newton`.

        The guess may come from parameters: a root does not depend on it, nor do slopes.
        """
        name, (guess, *args) = self._function(node), self._after_first(node, frame)
        if node.name.startswith("algebra_solver"):
            args = args[:3]
        elif node.name.endswith("_tol"):
            args = args[3:]
        guess = self.real(guess)
        extra = _traced_parts(args)
        if not (extra or guess.traced):
            return self._known_root(name, guess, args, node)
        equations = self._traced(name, [guess], args, node)

        def root(start: Any, *captured: Any) -> Any:
            return solve_newton(equations, start, *captured)

        ranks = tuple(v.rank for v in (guess, *extra))
        operation = Operation(node.name, root, ranks, lambda *_: guess.shape, batched=False)
        return self.graph.apply(operation, [guess, *extra], "vector", (), node)

    def _known_root(self, name: str, guess: Value, args: Any, node: n.Node) -> Value:
        start = self._in_lanes(guess)
        function = self._numeric(name, args, node)
        system = _System(lambda _, x: function(("vector",), x))
        found = find_roots(
            lambda x: system(x, x), lambda x: system.jacobian(x, x), start, 1e-9, 100
        )
        return self._of_lanes("vector", found)

    def _integral(self, node: n.Call, frame: Frame) -> Value:
        """Integrate over one variable; see `probmodel.functions.integrate_1d`."""
        name, (lower, upper, *args) = self._function(node), self._after_first(node, frame)
        ends, args = [self.real(v) for v in (lower, upper)], args[:3]
        if not any(v.traced for v in (*ends, *args)):
            return self._known_integral(name, ends, args, node)
        limits = [None if v.traced else float(v.array) for v in ends]
        points = points_between(*limits)
        integrand = self._traced(name, [real(0.5), real(0.5)], args, node, points)
        extra = _traced_parts(args)

        def integral(*given: Any) -> Any:
            (a, b), captured = given[:2], given[2:]
            a, b = (x if limit is None else limit for x, limit in zip((a, b), limits, strict=True))
            return integrate_1d(_with_distance(integrand, a, b), a, b, *captured)

        ranks = tuple(v.rank for v in (*ends, *extra))
        operation = Operation("integrate_1d", integral, ranks, lambda *_: (), batched=False)
        return self.graph.apply(operation, [*ends, *extra], "real", (), node)

    def _known_integral(
        self, name: str, ends: Sequence[Value], args: Sequence[Value], node: n.Node
    ) -> Value:
        """Integrate a function of numbers, for each of the lanes."""
        found = []
        for i in range(self.lanes or 1):
            own = [Value(v.kind, v.array[i]) if v.laned else v for v in (*ends, *args)]
            a, b = (float(v.array) for v in own[:2])
            function = self._numeric(name, own[2:], node)
            at = _with_distance(partial(function, ("real", "real")), a, b)
            with np.errstate(all="ignore"):
                found.append(float(integrate_1d(at, a, b)) if a != b else 0.0)
        return Value("real", np.array(found) if self.lanes else found[0], laned=bool(self.lanes))

    # -- sums and maps -----------------------------------------------------------------------------

    def _reduce_sum(self, node: n.Call, frame: Frame) -> Any:
        """Call the function once, with all elements."""
        name, (elements, _, *args) = self._function(node), self._after_first(node, frame)
        size = len(elements) if isinstance(elements, list) else elements.shape[0]
        if not size:
            return real(0.0)
        return self.user_function(name, [elements, integer(1), integer(size), *args], node)

    def _map_rect(self, node: n.Call, frame: Frame) -> Value:
        """Call the function for each of some rows, and join what it returns."""
        name, (shared, *rows) = self._function(node), self._after_first(node, frame)
        found: list[Value] = []
        for i in range(rows[0].shape[0]):
            args = [select(v, [integer(i + 1)]) for v in rows]
            found.append(self.user_function(name, [shared, *args], node))
        if not found:
            return Value("vector", np.zeros(0))
        joined = found[0]
        for part in found[1:]:
            joined = self.named("append_row", [joined, part], node)
        return joined


def _with_traced(value: Any, made: Callable[[Value], Value]) -> Any:
    """Return an argument with others in the place of its parts that parameters decide, in order."""
    if isinstance(value, Tuple):
        return Tuple([_with_traced(item, made) for item in value.items])
    if isinstance(value, list):
        return [_with_traced(item, made) for item in value]
    return made(value) if isinstance(value, Value) and value.traced else value


def _traced_parts(args: Sequence[Any]) -> list[Value]:
    """Return what parameters decide of some arguments, and of the elements of tuples, in order."""
    found: list[Value] = []

    def keep(value: Value) -> Value:
        found.append(value)
        return value

    _with_traced(list(args), keep)
    return found


def _with_distance(function: Callable[..., Any], a: Any, b: Any) -> Callable[..., Any]:
    """Give a function of a point the distance to the nearer limit, too; NaN if one is infinite."""
    infinite = any(isinstance(x, float) and np.isinf(x) for x in (a, b))

    def at(x: Any, *more: Any) -> Any:
        distance = x * np.nan if infinite else np.where(x - a < b - x, a - x, b - x)
        return function(x, distance, *more)

    return at


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
