"""A traced function on a batch of chains: its values, and derivatives pulled back through it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.over_rows import OverRows
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import Symbol
from probmodel.compiler.tracing import Scope, Trace
from probmodel.expressions import Closure
from probmodel.model.evaluation import Evaluator
from probmodel.types import Array


class BatchedFunction:
    """A function of some arguments and of what it captured, each with a leading row axis.

    Parameters
    ----------
    closure : the traced function
    shapes : of its arguments, for one row
    captured : what is behind ``closure.captured``: constants, which are built in, and the shapes,
        for one row, of what varies

    Attributes
    ----------
    shapes, shape : of the arguments and of the result, for one row
    n_arguments : how many inputs are arguments; the others are what it captured that varies
    """

    def __init__(
        self,
        closure: Closure,
        shapes: Sequence[tuple[int, ...]],
        captured: Sequence[tuple[int, ...] | Array],
    ) -> None:
        self._closure = closure
        self.shapes = tuple(shapes)
        self._evaluator = Evaluator()
        for symbol, shape in zip(closure.arguments, shapes, strict=True):
            self._evaluator.define(symbol, np.zeros(shape), random=True)
        varying = []
        for node, known in zip(closure.captured, captured, strict=True):
            random = isinstance(known, tuple)
            self._evaluator.define(node, np.zeros(known) if random else known, random=random)
            varying += [node] if random else []
        self._inputs = [*closure.arguments, *varying]
        self.n_arguments = len(closure.arguments)
        self.shape = self._evaluator.shape(closure.body)
        self.constant = self._evaluator.is_constant(closure.body)

    def _body(self, trace: Trace, *given: Any) -> Any:
        for expression, value in zip(self._inputs, given, strict=True):
            trace.define(expression, value)
        return trace.value(self._closure.body)

    @cached_property
    def over_rows(self) -> OverRows:
        """The function as it is written down."""
        shapes = [self._evaluator.shape(expression) for expression in self._inputs]
        return OverRows(Scope(self._evaluator, {}), self._body, shapes)

    @property
    def step(self) -> OverRows:
        """The function of a recurrence, whose state is its first argument: flat, as its result."""
        state, *others = self.over_rows.shapes

        def step(trace: Trace, flat: Any, *rest: Any) -> Any:
            return anp.reshape(self._body(trace, anp.reshape(flat, state), *rest), (-1,))

        return OverRows(self.over_rows.scope, step, [(prod(state),), *others])

    def uses(self, position: int) -> bool:
        """Whether the result depends on an argument."""
        program = self.over_rows.program
        symbols = ordered(o for o in program.outputs if isinstance(o, Symbol))
        return any(s is program.inputs[position] for s in symbols)

    def values(self, *inputs: Any) -> Any:
        """Return the results, (rows, *shape), traceable by autograd."""
        if self.constant:
            value = self._evaluator.value(self._closure.body)
            return np.broadcast_to(value, (len(inputs[0]), *self.shape))
        return self.over_rows(*inputs)

    def pull_back(self, weight: Array, *inputs: Array) -> list[Array]:
        """Return derivatives of the sum of ``weight`` times the results, one for each input.

        The weight, (rows, *shape), and the inputs lead with the rows.
        """
        if self.constant:
            return [np.zeros(np.shape(a)) for a in inputs]
        return self.over_rows.pulled(weight, *inputs)


class BoundFunction:
    """A batched function with what it captured: one set of values for each chain.

    Its arguments may have further axes in front of the chain axis.

    Parameters
    ----------
    function : a batched function
    captured : (chains, ...) each
    """

    def __init__(self, function: BatchedFunction, captured: Sequence[Array]) -> None:
        self.function = function
        self.captured = list(captured)

    def values(self, *arguments: Array) -> Array:
        """Results for one value of each argument per chain: (chains, *shape)."""
        return self.function.values(*arguments, *self.captured)

    def jacobian(self, position: int, arguments: Sequence[Array]) -> Array:
        """Return the derivatives of a vector result in a vector argument: (*lead, n, m).

        ``position`` is that of the argument; the arguments are (*lead, ...), of which the last axis
        of ``lead`` is the chain axis.
        """
        function = self.function
        lead = self._lead(arguments)
        size = int(np.prod(function.shape, dtype=int))
        units = np.eye(size).reshape(size, *(1,) * len(lead), *function.shape)
        weight = np.broadcast_to(units, (size, *lead, *function.shape))
        repeated = [np.broadcast_to(a, (size, *np.shape(a))) for a in arguments]
        slopes = self._pull(weight, repeated)[position]
        return np.moveaxis(slopes.reshape(size, *lead, -1), 0, -2)

    def pull_back(
        self, weight: Array, arguments: Sequence[Array]
    ) -> tuple[list[Array], list[Array]]:
        """Return the derivatives of the sum of ``weight`` times the results.

        Those in the arguments, (*lead, ...) each, and those in what was captured, (chains, ...)
        each, summed over the axes in front of the chains.
        """
        slopes = self._pull(weight, arguments)
        n = self.function.n_arguments
        own = [s.reshape(np.shape(a)) for s, a in zip(slopes[:n], arguments, strict=True)]
        captured = [
            s.reshape(-1, *c.shape).sum(axis=0)
            for s, c in zip(slopes[n:], self.captured, strict=True)
        ]
        return own, captured

    def _lead(self, arguments: Sequence[Array]) -> tuple[int, ...]:
        """Axes in front of one value of the first argument."""
        return arguments[0].shape[: arguments[0].ndim - len(self.function.shapes[0])]

    def _pull(self, weight: Array, arguments: Sequence[Array]) -> list[Array]:
        lead = self._lead(arguments)
        rows = int(np.prod(lead, dtype=int))
        flat = [a.reshape(rows, *a.shape[len(lead) :]) for a in arguments]
        flat += [
            np.broadcast_to(c, (*lead, *c.shape[1:])).reshape(rows, *c.shape[1:])
            for c in self.captured
        ]
        return self.function.pull_back(weight.reshape(rows, *self.function.shape), *flat)
