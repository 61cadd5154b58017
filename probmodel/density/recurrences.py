"""Recurrences on a batch of chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.python_calls import SOLVERS
from probmodel.density.batched_function import BatchedFunction, BoundFunction
from probmodel.density.solver_primitive import Pulled, as_primitive
from probmodel.expressions import Closure
from probmodel.types import Array


class Scan:
    """A recurrence ``state = f(state, elements of sequences)`` for a batch of chains.

    Parameters
    ----------
    function : of the state and one element of each sequence
    length : number of steps
    """

    def __init__(self, function: BatchedFunction, length: int) -> None:
        self.function = function
        self.length = length
        self.n_sequences = function.n_arguments - 1

    def run(self, initial: Array, *rest: Array) -> Array:
        """States after each step: (chains, length, *state); sequences are (chains, length, ...)."""
        sequences, captured = rest[: self.n_sequences], rest[self.n_sequences :]
        states = np.empty((len(initial), self.length, *initial.shape[1:]))
        state = initial
        for i in range(self.length):
            state = self.function.values(state, *(s[:, i] for s in sequences), *captured)
            states[:, i] = state
        return states

    def run_with_vjp(self, initial: Array, *rest: Array) -> Pulled:
        """Return the same, and what pulls derivatives back.

        The states are known then, so that all Jacobians are computed at once; what is left is a
        linear recurrence backwards.
        """
        states = self.run(initial, *rest)
        sequences, captured = rest[: self.n_sequences], rest[self.n_sequences :]
        bound = BoundFunction(self.function, captured)
        before = np.concatenate([initial[:, None], states[:, :-1]], axis=1)
        arguments = [np.swapaxes(a, 0, 1) for a in (before, *sequences)]

        def vjp(g: Array) -> tuple[Array, ...]:
            jacobian = bound.jacobian(0, arguments)
            flat = np.swapaxes(g, 0, 1).reshape(*jacobian.shape[:2], -1)
            weight = np.empty_like(flat)
            slope = np.zeros_like(flat[0])
            for i in range(self.length - 1, -1, -1):
                weight[i] = flat[i] + slope
                slope = np.einsum("cnm,cn->cm", jacobian[i], weight[i])
            own, others = bound.pull_back(weight.reshape(arguments[0].shape), arguments)
            in_sequences = [np.swapaxes(s, 0, 1) for s in own[1:]]
            return (slope.reshape(initial.shape), *in_sequences, *others)

        return states, vjp

    def traced(self, initial: Any, *rest: Any) -> Any:
        """Return the same, traceable by autograd."""
        sequences, captured = rest[: self.n_sequences], rest[self.n_sequences :]
        states, state = [], initial
        for i in range(self.length):
            state = self.function.values(state, *(s[:, i] for s in sequences), *captured)
            states.append(state)
        return anp.stack(states, axis=1)


def scan_solver(
    shape: tuple[int, ...],
    leading: Sequence[tuple[int, ...]],
    captured: Sequence[tuple[int, ...] | Array],
    *,
    function: Closure,
    length: Any,
) -> Callable[..., Any]:
    """Return what runs a recurrence, as a primitive."""
    initial, *sequences = leading
    batched_function = BatchedFunction(function, [initial, *(s[1:] for s in sequences)], captured)
    recurrence = Scan(batched_function, shape[0])
    return as_primitive(recurrence.run, recurrence.run_with_vjp, recurrence.traced)


SOLVERS["scan"] = scan_solver
